//! BM25 against rank-bm25's numbers, and prompts made from a small repository.

use hydra_core::records::Task;
use hydra_core::{RepoPath, Silent};
use hydra_pyindex::RepoIndex;
use hydra_retrieve::{Bm25, NoContext, bm25_scores, retrieve};

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
    let done = retrieve(&Bm25::default(), &[(&task, &index)], &Silent);
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
    let done = retrieve(&NoContext, &[(&task, &index)], &Silent);
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
    let done = retrieve(
        &Bm25 { top: 1 },
        &[(&lost, &index), (&task, &index)],
        &Silent,
    );
    assert_eq!(done.failed.len(), 1);
    assert!(done.failed[0].reason.contains("Order.lost"));
    assert_eq!(done.retrievals.len(), 1);
}
