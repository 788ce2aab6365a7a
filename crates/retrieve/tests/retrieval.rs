//! BM25 against rank-bm25's numbers, and prompts made from a small repository.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hydra_core::records::{Hit, Task};
use hydra_core::{RepoPath, Silent};
use hydra_dar::{DarScorer, Embedder};
use hydra_pyindex::RepoIndex;
use hydra_retrieve::{
    Bm25, Dar, Dense, Hydra, NoContext, RetrieveError, Retrieved, Retriever, Target, bm25_scores,
};

/// Retrieves into a folder that is thrown away.
fn retrieve(retriever: &dyn Retriever, tasks: &[(&Task, &RepoIndex)]) -> Retrieved {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("retrieval.jsonl");
    hydra_retrieve::retrieve(retriever, tasks, &out, &Silent).expect("it retrieves")
}

#[test]
fn scores_are_those_of_rank_bm25() {
    let text = include_str!("fixtures/bm25.json");
    let fixture: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let strings = |v: &serde_json::Value| v.as_str().expect("text").to_owned();
    let documents: Vec<String> = fixture["documents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(strings)
        .collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for case in fixture["cases"].as_array().expect("a list") {
        let query = strings(&case["query"]);
        let scores = bm25_scores(&documents, &query);
        for (ours, theirs) in scores
            .iter()
            .zip(case["scores"].as_array().expect("a list"))
        {
            let theirs = theirs.as_f64().expect("a number");
            assert!((ours - theirs).abs() < 1e-12, "{query}: {ours} {theirs}");
        }
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

const SECRET: &str = "return sum(price(i) for i in items)";

fn shop() -> (RepoIndex, Task) {
    let index = RepoIndex::from_sources([
        (
            path("shop/orders.py"),
            format!(
                "import math\nfrom .prices import price\n\nLIMIT = 3\n\nclass Order:\n    def total(self, items):\n        \"\"\"The total price.\"\"\"\n        {SECRET}\n\n    def count(self):\n        return LIMIT\n"
            ),
        ),
        (
            path("shop/prices.py"),
            "RATE = 2\n\ndef price(item):\n    return item * RATE\n\nclass Sale:\n    pass\n".to_owned(),
        ),
    ])
    .expect("threads");
    let task = Task {
        id: "t/0".into(),
        project: "shop".to_owned(),
        path: path("shop/orders.py"),
        target: "Order.total".to_owned(),
        prompt: "def total(self, items):\n    \"\"\"The total price.\"\"\"".to_owned(),
        signature: "def total(self, items):".to_owned(),
        docstring: Some("The total price.".to_owned()),
        dependencies: Vec::new(),
    };
    (index, task)
}

#[test]
fn the_prompt_has_the_published_layout_and_not_the_body() {
    let (index, task) = shop();
    let done = retrieve(&Bm25::default(), &[(&task, &index)]);
    let found = &done.retrievals[0];
    assert_eq!((found.pool, found.hits.len()), (5, 5));
    assert!(found.hits.windows(2).all(|w| w[0].score >= w[1].score));
    assert!(!found.prompt.contains(SECRET), "{}", found.prompt);
    assert_eq!(
        found.prompt,
        "You are a Python programmer working with a repository. Here is all the context you may find useful to complete the function:\n\
         #FILE: shop/prices.py\n\
         class Sale:\n    pass\n\n\
         RATE = 2\n\n\
         def price(item):\n    return item * RATE\n\n\
         #CURRENT FILE: shop/orders.py\n\
         import math\nfrom .prices import price\n\n\
         LIMIT = 3\n\n\
         def count(self):\n    return LIMIT\n\n\
         Based on the information above, please complete the function in the current file:\n\
         def total(self, items):\n    \"\"\"The total price.\"\"\""
    );
}

#[test]
fn without_context_the_prompt_is_the_request_alone() {
    let (index, task) = shop();
    let done = retrieve(&NoContext, &[(&task, &index)]);
    assert!(done.retrievals[0].hits.is_empty());
    assert_eq!(done.retrievals[0].prompt.lines().count(), 4);
}

#[test]
fn a_target_that_is_not_there_is_reported_and_the_others_go_on() {
    let (index, task) = shop();
    let lost = Task {
        target: "Order.lost".to_owned(),
        ..task.clone()
    };
    let done = retrieve(&Bm25 { top: 1 }, &[(&lost, &index), (&task, &index)]);
    assert_eq!(done.failed.len(), 1);
    assert!(done.failed[0].reason.contains("Order.lost"));
    assert_eq!(done.retrievals.len(), 1);
}

/// Stops like a killed process after some targets, and counts them.
struct Counting(AtomicUsize, usize);

impl Retriever for Counting {
    fn name(&self) -> &str {
        "bm25"
    }

    fn retrieve(&self, target: &Target) -> Result<Vec<Hit>, RetrieveError> {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) < self.1, "stopped");
        Bm25::default().retrieve(target)
    }
}

#[test]
fn a_stopped_run_goes_on_where_it_stopped_and_ends_with_the_same_bytes() {
    let (index, task) = shop();
    let tasks: Vec<Task> = (0..6)
        .map(|n| Task {
            id: format!("t/{n}").as_str().into(),
            prompt: format!("{} {n} price", task.prompt),
            ..task.clone()
        })
        .collect();
    let tasks: Vec<_> = tasks.iter().map(|task| (task, &index)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, parts) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    let run = |out: &Path, most: usize| {
        let counting = Counting(AtomicUsize::new(0), most);
        let done = std::panic::catch_unwind(|| {
            hydra_retrieve::retrieve(&counting, &tasks, out, &Silent).expect("it retrieves")
        });
        (done, counting.0.into_inner())
    };
    run(&whole, 6).0.expect("it ends");
    assert!(run(&parts, 4).0.is_err());
    let (done, asked) = run(&parts, 6);
    assert_eq!(asked, 2);
    assert_eq!(done.expect("it ends").milliseconds.len(), 6);
    let read = |path: &Path| std::fs::read(path).expect("written");
    assert_eq!(read(&whole), read(&parts));
    assert!(!folder.path().join("b.jsonl.partial").exists());
}

#[test]
fn learned_retrievers_rank_the_pool_and_hydra_adds_what_bm25_lacks() {
    let (index, task) = shop();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dar/tests/fixtures/bert");
    let scorer = || DarScorer::load(&model, &Default::default()).expect("a model");
    let hits = |retriever: &dyn Retriever| {
        retrieve(retriever, &[(&task, &index)]).retrievals[0]
            .hits
            .clone()
    };

    let all = hits(&Dar::new(scorer(), 0.0));
    assert_eq!(all.len(), 5);
    assert!(all.windows(2).all(|w| w[0].score >= w[1].score));
    assert!(
        all.iter()
            .all(|hit| hit.retriever == "dar" && (0.0..=1.0).contains(&hit.score))
    );
    assert!(hits(&Dar::new(scorer(), 1.01)).is_empty());
    let middle = all[2].score;
    assert_eq!(hits(&Dar::new(scorer(), middle)).len(), 3);

    let bm25 = Bm25 { top: 2 };
    let both = hits(&Hydra {
        bm25,
        dar: Dar::new(scorer(), 0.0),
    });
    let similar = hits(&bm25);
    assert_eq!(both[..2], similar[..]);
    let mut units: Vec<_> = both.iter().map(|hit| hit.unit.clone()).collect();
    assert_eq!(
        both.iter().map(|hit| hit.rank).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    units.sort();
    units.dedup();
    assert_eq!(units.len(), 5);

    let embedder = Embedder::load(&model, &Default::default()).expect("an encoder");
    let near = hits(&Dense::new(embedder, 3));
    assert_eq!(near.len(), 3);
    assert!(
        near.iter()
            .all(|hit| hit.retriever == "dense" && hit.score <= 1.0 + 1e-9)
    );
}
