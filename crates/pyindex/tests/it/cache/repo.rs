//! A repository on disk that tests change, and what an index says of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hydra_core::{Progress, ProgressTask, Silent};
use hydra_pyindex::{Cache, IndexError, Options, Parser, RepoIndex, Work};
use tempfile::TempDir;

/// Eight files: a class with a base class in another file, a function that makes one, a use of it
/// whose type is inferred over three files, a re-export, and two files apart from the rest.
pub const SHOP: [(&str, &str); 8] = [
    (
        "app.py",
        "from pkg.factory import make\ndef run():\n    return make().area()\n",
    ),
    ("lonely.py", "def alone():\n    return 1\n"),
    (
        "other.py",
        "from lonely import alone\ndef two():\n    return alone()\n",
    ),
    (
        "pkg/__init__.py",
        "from .shapes import Circle as Exported\n",
    ),
    (
        "pkg/base.py",
        "LIMIT = 3\nclass Base:\n    def area(self):\n        return LIMIT\n",
    ),
    (
        "pkg/factory.py",
        "from .shapes import Circle\ndef make():\n    return Circle()\n",
    ),
    (
        "pkg/shapes.py",
        "from .base import Base\nclass Circle(Base):\n    def twice(self):\n        return self.area() * 2\n",
    ),
    (
        "user.py",
        "import pkg\ndef use():\n    return pkg.Exported().twice()\n",
    ),
];

/// A folder for a repository, and another one for the store.
pub struct Repo {
    folder: TempDir,
}

impl Repo {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let repo = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        fs::create_dir(repo.root()).expect("a new folder");
        for (path, text) in files {
            repo.write(path, text);
        }
        repo
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Where the tests keep the store.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store/index.sqlite")
    }

    pub fn cache(&self) -> Cache {
        Cache::open(self.store()).expect("a store in a temporary folder")
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write_below(&self.root(), path, text);
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).expect("the file is there");
    }

    pub fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root().join(from), self.root().join(to)).expect("the file is there");
    }

    /// Indexes with the store, and proves that the index is what a new one without a store is.
    pub fn check(&self, cache: &Cache) -> Work {
        right(&self.root(), cache)
    }
}

pub fn write_below(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("a folder");
    }
    fs::write(path, text).expect("a file in a temporary folder");
}

/// Two threads: a pool is made for each index.
pub fn options() -> Options {
    Options {
        jobs: 2,
        ..Options::default()
    }
}

pub fn with_parser(parser: Parser) -> Options {
    Options {
        parser,
        ..options()
    }
}

/// Indexes with the store; fails if the user is warned, or if a new index is another.
pub fn right(root: &Path, cache: &Cache) -> Work {
    let heard = Recorder::default();
    let index = RepoIndex::build_with(root, &options(), Some(cache), &heard).expect("an index");
    assert_eq!(heard.warnings(), Vec::<String>::new());
    same(root, &index);
    index.work()
}

/// Fails if a new index without a store differs.
pub fn same(root: &Path, index: &RepoIndex) {
    let fresh = RepoIndex::build_with(root, &options(), None, &Silent).expect("an index");
    assert_said(&said(index), &said(&fresh));
}

/// Compares line by line, so that a failure shows the lines that differ.
pub fn assert_said(with_store: &[String], fresh: &[String]) {
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        let lines = these.iter().filter(|line| !those.contains(line));
        lines.cloned().collect()
    };
    assert!(
        with_store == fresh,
        "only with the store: {:#?}\nonly without: {:#?}",
        only(with_store, fresh),
        only(fresh, with_store),
    );
}

/// Everything that an index says, or why there is none.
pub fn told(index: &Result<RepoIndex, IndexError>) -> Vec<String> {
    match index {
        Ok(index) => said(index),
        Err(e) => vec![e.to_string()],
    }
}

/// Everything that an index says.
pub fn said(index: &RepoIndex) -> Vec<String> {
    let mut lines = Vec::new();
    for unit in index.units() {
        lines.push(format!("{unit:?}"));
        for edge in index.edges(&unit.id) {
            lines.push(format!("{} -> {edge:?}", unit.id));
        }
        for dependency in index.dependencies(&unit.id) {
            lines.push(format!("{} needs {dependency:?}", unit.id));
        }
        let pool = index.pool(&unit.id);
        let pool: Vec<&str> = pool.iter().map(|u| u.id.as_str()).collect();
        lines.push(format!("{} may use {pool:?}", unit.id));
    }
    for path in index.files() {
        lines.push(format!("{path} is {:?}", index.text(path)));
        lines.push(format!("{path} imports {:?}", index.imported_files(path)));
        lines.push(format!("{path} says {:?}", index.import_statements(path)));
        for import in index.imports(path) {
            lines.push(format!("{path} has {import:?}"));
        }
    }
    lines.push(format!("skipped: {:?}", index.skipped()));
    lines.push(format!("broken: {:?}", index.broken().collect::<Vec<_>>()));
    lines.push(format!("{} edges", index.edge_count()));
    lines.push(format!("size: {:?}", index.size()));
    lines
}

/// Keeps what the user is told.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    pub fn warnings(&self) -> Vec<String> {
        self.0.lock().expect("no test panics with it").clone()
    }
}

impl Progress for Recorder {
    fn start(&self, _: &str, _: Option<u64>) -> Box<dyn ProgressTask> {
        Box::new(Silent)
    }

    fn warn(&self, message: &str) {
        let mut heard = self.0.lock().expect("no test panics with it");
        heard.push(message.to_owned());
    }
}
