use hydra_core::Silent;
use hydra_pyindex::*;
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let o = Options {
        jobs: 1,
        ..Default::default()
    };
    let cache = std::env::args().nth(3).map(|p| Cache::open(p).unwrap());
    for _ in 0..n {
        let t = std::time::Instant::now();
        let i = RepoIndex::build_with(root.as_ref(), &o, cache.as_ref(), &Silent).unwrap();
        let e = t.elapsed();
        let t = std::time::Instant::now();
        drop(i);
        eprintln!("{e:?} drop {:?}", t.elapsed());
    }
}
