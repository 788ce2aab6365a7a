//! Many users of one store at once, and users that are killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use hydra_pyindex::Cache;

use super::repo::{Repo, SHOP, right, write_below};

/// Folder of the repository and of the store, rounds, and a number for the changes, for a child.
const CHILD: &str = "HYDRA_TEST_STORE_CHILD";

/// Writes the files of a round: the whole of [`SHOP`], changed by the round.
fn change(root: &Path, round: u64) {
    for (number, (path, text)) in SHOP.into_iter().enumerate() {
        let more = (round + number as u64) % 5;
        write_below(
            root,
            path,
            format!("{text}# {round}\ndef more{more}():\n    return {round}\n"),
        );
    }
    let coming = root.join("coming.py");
    if round.is_multiple_of(2) {
        write_below(
            root,
            "coming.py",
            "from pkg.factory import make\nx = make()\n",
        );
    } else if coming.exists() {
        std::fs::remove_file(coming).expect("it was there");
    }
}

#[test]
fn eight_threads_share_one_store() {
    let repos: Vec<Repo> = (0..4).map(|_| Repo::new(&SHOP)).collect();
    let store = repos[0].store();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (repos, store) = (&repos, &store);
            scope.spawn(move || {
                for round in 0..6 {
                    // Each with a connection of its own, opened while others write.
                    let cache = Cache::open(store).expect("a store");
                    right(&repos[(number + round) % 4].root(), &cache);
                }
            });
        }
    });
    let cache = repos[0].cache();
    for repo in &repos {
        assert_eq!(right(&repo.root(), &cache), super::NOTHING);
    }
}

#[test]
fn eight_threads_make_one_store_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..100 {
        let store = folder.path().join(format!("{round}.sqlite"));
        let together = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    together.wait();
                    Cache::open(&store).expect("a store");
                });
            }
        });
    }
}

#[test]
fn eight_threads_share_one_connection_over_changing_repositories() {
    let repos: Vec<Repo> = (0..8).map(|_| Repo::new(&SHOP)).collect();
    let cache = repos[0].cache();
    std::thread::scope(|scope| {
        for (number, repo) in repos.iter().enumerate() {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..5 {
                    change(&repo.root(), round * 8 + number as u64);
                    right(&repo.root(), cache);
                }
            });
        }
    });
}

#[test]
fn four_processes_share_one_store() {
    let one = Repo::new(&SHOP);
    let repos = [Repo::new(&SHOP), Repo::new(&SHOP), Repo::new(&SHOP)];
    // Twice the same, unchanged repository, and three that change.
    let mut children = vec![
        child(&one.root(), &one.store(), 8, None),
        child(&one.root(), &one.store(), 8, None),
    ];
    for (number, repo) in repos.iter().enumerate() {
        children.push(child(&repo.root(), &one.store(), 8, Some(number as u64)));
    }
    for mut child in children {
        assert!(child.wait().expect("a child of this process").success());
    }
    let cache = one.cache();
    assert_eq!(right(&one.root(), &cache), super::NOTHING);
    for repo in &repos {
        assert_eq!(right(&repo.root(), &cache), super::NOTHING);
    }
}

#[test]
fn a_killed_process_leaves_the_store_whole() {
    let repo = Repo::new(&SHOP);
    let other = Repo::new(&SHOP);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..20 {
        let mut child = child(&repo.root(), &repo.store(), u64::MAX, Some(round * 1000));
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        // libtest has words of its own.
        let begun = lines.find(|line| line.as_ref().is_ok_and(|l| l.ends_with("begun")));
        assert!(begun.is_some(), "the child failed");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(random % 40_000));
        child.kill().expect("a child of this process");
        let status = child.wait().expect("a child of this process");
        assert_eq!(
            status.code(),
            None,
            "it was killed, and did not fail before"
        );
        // Once with what the dead process left, once more from the start.
        let cache = repo.cache();
        right(&other.root(), &cache);
        if round % 2 == 0 {
            right(&repo.root(), &cache);
            assert_eq!(right(&repo.root(), &cache), super::NOTHING);
        }
    }
}

/// This test program again, as [`in_a_child_process_repositories_are_indexed_over_and_over`].
fn child(root: &Path, store: &Path, rounds: u64, changes: Option<u64>) -> Child {
    let changes = changes.map_or_else(String::new, |from| from.to_string());
    let (root, store) = (root.display(), store.display());
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "--nocapture"])
        .arg("cache::company::in_a_child_process_repositories_are_indexed_over_and_over")
        .env(CHILD, format!("{root}\n{store}\n{rounds}\n{changes}"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts")
}

/// Not a test of its own: the tests above run it in other processes.
#[test]
fn in_a_child_process_repositories_are_indexed_over_and_over() {
    let Ok(job) = std::env::var(CHILD) else {
        return;
    };
    let words: Vec<&str> = job.split('\n').collect();
    let [root, store, rounds, changes] = words[..] else {
        panic!("not a job: {job}");
    };
    let rounds: u64 = rounds.parse().expect("a number of rounds");
    let changes: Option<u64> = changes.parse().ok();
    writeln!(std::io::stdout(), "\nbegun").expect("the parent listens");
    for round in 0..rounds {
        if let Some(from) = changes {
            change(Path::new(root), from + round);
        }
        let cache = Cache::open(store).expect("a store");
        right(Path::new(root), &cache);
    }
}
