//! Where an import leads: what is external is told apart from what is missing.

use hydra_core::RepoPath;
use hydra_pyindex::{ImportTarget, RepoIndex};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

fn targets(text: &str) -> Vec<(String, ImportTarget)> {
    let files = [
        ("pkg/__init__.py", "import os\nfrom .low import helper\n"),
        ("pkg/low.py", "def helper(): pass\n"),
        ("pkg/lazy.py", "def __getattr__(name): ...\n"),
        ("pkg/all.py", "from requests import *\n"),
        ("pkg/space/deep.py", "X = 1\n"),
        ("app.py", text),
    ];
    let files = files.map(|(file, text)| (path(file), text.to_owned()));
    let index = RepoIndex::from_sources(files).expect("threads");
    let imports = index.imports(&path("app.py")).into_iter();
    imports
        .map(|import| (import.bound, import.target))
        .collect()
}

#[test]
fn every_import_leads_somewhere_that_has_a_name() {
    let unit = |id: &str| ImportTarget::Unit(id.into());
    let module = |file: &str| ImportTarget::Module(path(file));
    for (text, bound, target) in [
        ("import os.path", "os", ImportTarget::External),
        ("import requests as r", "r", ImportTarget::External),
        ("from yaml import load", "load", ImportTarget::External),
        ("import pkg.low", "pkg", module("pkg/low.py")),
        ("import pkg.low as m", "m", module("pkg/low.py")),
        ("from pkg import low", "low", module("pkg/low.py")),
        (
            "from pkg import helper as h",
            "h",
            unit("helper@pkg/low.py"),
        ),
        ("from pkg.low import *", "*", module("pkg/low.py")),
        ("import pkg.nothing", "pkg", ImportTarget::Missing),
        (
            "from pkg.low import nothing",
            "nothing",
            ImportTarget::Missing,
        ),
        ("from .nothing import x", "x", ImportTarget::Missing),
        ("from pkg.lazy import made", "made", ImportTarget::Dynamic),
        ("from pkg import os", "os", ImportTarget::Passed),
        ("from pkg.all import get", "get", ImportTarget::Passed),
        ("import pkg.space", "pkg", ImportTarget::Namespace),
        ("from pkg import space", "space", ImportTarget::Namespace),
        (
            "from pkg.space import deep",
            "deep",
            module("pkg/space/deep.py"),
        ),
    ] {
        let found = targets(&format!("{text}\n"));
        assert_eq!(found, [(bound.to_owned(), target)], "{text}");
    }
}
