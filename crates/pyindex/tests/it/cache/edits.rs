//! Random edits: whatever is taken from the store must be what a new index would say.

use hydra_core::Silent;
use hydra_pyindex::RepoIndex;
use proptest::prelude::*;

use super::repo::{Recorder, Repo, assert_said, options, told};

/// Where files may stand. Two pairs are one module; the folder `loose` is no package unless the
/// edits make it one.
const PATHS: [&str; 11] = [
    "app.py",
    "base.py",
    "pkg/__init__.py",
    "pkg/base.py",
    "pkg/base/__init__.py",
    "pkg/shapes.py",
    "pkg/sub/__init__.py",
    "pkg/sub/deep.py",
    "loose/__init__.py",
    "loose/base.py",
    "loose/run.py",
];

/// Statements that any file may hold. They name few things, so that most names mean something
/// somewhere, and what they mean changes with the edits.
const STATEMENTS: [&str; 44] = [
    "from pkg import *\n",
    "from pkg.base import *\n",
    "from .sub.deep import *\n",
    "from base import *\n",
    "from . import base\n",
    "from . import shapes, sub\n",
    "from .base import Base\n",
    "from ..base import Base, make\n",
    "from pkg.base import Base as Root\n",
    "from pkg.shapes import Circle, make\n",
    "from pkg import Circle, make\n",
    "from pkg.sub import deep\n",
    "from pkg.sub.deep import Circle\n",
    "from base import Base, make\n",
    "from loose import base\n",
    "import pkg\n",
    "import pkg.shapes\n",
    "import pkg.sub.deep as deep\n",
    "import base\n",
    "import run\n",
    "if TYPE_CHECKING:\n    from pkg.base import Base\n",
    "try:\n    from pkg.sub.deep import make\nexcept ImportError:\n    from base import make\n",
    "__all__ = ['Base', 'make']\n",
    "__all__ = ['base', 'Circle', '_hidden']\n",
    "class Base:\n    def area(self):\n        return make()\n    def me(self):\n        return self\n",
    "class Base:\n    size = make()\n    @property\n    def area(self) -> 'Circle':\n        return LIMIT\n",
    "class Circle(Base):\n    def twice(self):\n        return super().area() + self.me().area()\n",
    "class Circle(base.Base):\n    def __init__(self):\n        self.made = make()\n    def go(self):\n        return self.made.area().twice()\n",
    "class Circle(Root, Base):\n    def me(self):\n        return self\n",
    "class Holder:\n    held: Circle\n    def __enter__(self):\n        return self.held\n    def __iter__(self):\n        return iter([Circle()])\n",
    "def make():\n    return Circle()\n",
    "def make() -> 'Base':\n    return LIMIT\n",
    "def make():\n    return pkg.shapes.make()\n",
    "made = make()\n",
    "LIMIT = 3\n",
    "def _hidden(one: Base, more: list[Circle]):\n    return one.area(), [m.twice() for m in more]\n",
    "def run():\n    return make().area(), made.me().twice(), LIMIT\n",
    "def run():\n    return pkg.make().me(), pkg.shapes.LIMIT, pkg.sub.deep.Circle().go()\n",
    "def run():\n    with Holder() as held:\n        return held.twice(), base.make(), deep.make().area()\n",
    "def run(x=LIMIT):\n    from pkg.sub.deep import made\n    return made.area(), Circle().made\n",
    "del make\n",
    "def __getattr__(name):\n    return LIMIT\n",
    "def broken(:\n",
    "'''Words.'''\n",
];

#[derive(Debug, Clone)]
enum Edit {
    /// A file comes, or changes: its statements, and lines of comments above them.
    Write(usize, Vec<usize>, usize),
    /// A statement is added to a file.
    Append(usize, usize),
    /// Every definition moves, and means what it meant.
    Comment(usize),
    Remove(usize),
    Rename(usize, usize),
    /// It can't be decoded.
    Spoil(usize),
    /// A folder becomes a project.
    Project(usize),
    /// The next index is made with the store opened anew.
    Reopen,
}

const PROJECTS: [&str; 3] = [
    "pyproject.toml",
    "loose/setup.cfg",
    "pkg/sub/pyproject.toml",
];

fn edit() -> impl Strategy<Value = Edit> {
    let path = 0..PATHS.len();
    let statement = 0..STATEMENTS.len();
    prop_oneof![
        6 => (path.clone(), statements(), 0..3usize).prop_map(|(p, s, c)| Edit::Write(p, s, c)),
        6 => (path.clone(), statement).prop_map(|(p, s)| Edit::Append(p, s)),
        3 => path.clone().prop_map(Edit::Comment),
        2 => path.clone().prop_map(Edit::Remove),
        2 => (path.clone(), path.clone()).prop_map(|(a, b)| Edit::Rename(a, b)),
        1 => path.prop_map(Edit::Spoil),
        1 => (0..PROJECTS.len()).prop_map(Edit::Project),
        1 => Just(Edit::Reopen),
    ]
}

fn statements() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..STATEMENTS.len(), 1..9)
}

fn text(statements: &[usize]) -> String {
    statements.iter().map(|s| STATEMENTS[*s]).collect()
}

/// Makes the edit; whether there was anything to do.
fn make(repo: &Repo, edit: &Edit) -> bool {
    let place = |path: usize| repo.root().join(PATHS[path]);
    let current = |path: usize| std::fs::read(place(path)).ok();
    match edit {
        Edit::Write(path, chosen, comments) => {
            let comments = "# A comment.\n".repeat(*comments);
            repo.write(PATHS[*path], comments + &text(chosen));
        }
        Edit::Append(path, statement) => {
            let mut now = current(*path).unwrap_or_default();
            now.extend_from_slice(STATEMENTS[*statement].as_bytes());
            repo.write(PATHS[*path], now);
        }
        Edit::Comment(path) => match current(*path) {
            Some(now) => repo.write(PATHS[*path], [b"# More.\n\n", &now[..]].concat()),
            None => return false,
        },
        Edit::Remove(path) if place(*path).exists() => repo.remove(PATHS[*path]),
        Edit::Rename(from, to) if place(*from).exists() => {
            repo.write(PATHS[*to], "");
            repo.rename(PATHS[*from], PATHS[*to]);
        }
        Edit::Spoil(path) => repo.write(PATHS[*path], b"x = '\xff'\n"),
        Edit::Project(path) if repo.root().join(PROJECTS[*path]).exists() => {
            repo.remove(PROJECTS[*path]);
        }
        Edit::Project(path) => repo.write(PROJECTS[*path], ""),
        Edit::Remove(_) | Edit::Rename(..) => return false,
        Edit::Reopen => {}
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_edit_the_index_is_what_a_new_one_is(
        files in prop::collection::vec((0..PATHS.len(), statements()), 6..9),
        edits in prop::collection::vec(edit(), 1..14),
    ) {
        let repo = Repo::new(&[]);
        for (path, chosen) in files {
            repo.write(PATHS[path], text(&chosen));
        }
        let mut cache = repo.cache();
        let first = RepoIndex::build_with(&repo.root(), &options(), Some(&cache), &Silent);
        prop_assert!(first.is_ok());
        for edit in &edits {
            if !make(&repo, edit) {
                continue;
            }
            if matches!(edit, Edit::Reopen) {
                drop(cache);
                cache = repo.cache();
            }
            let heard = Recorder::default();
            let kept = RepoIndex::build_with(&repo.root(), &options(), Some(&cache), &heard);
            let fresh = RepoIndex::build_with(&repo.root(), &options(), None, &Silent);
            assert_said(&told(&kept), &told(&fresh));
            prop_assert!(heard.warnings().is_empty());
        }
    }
}
