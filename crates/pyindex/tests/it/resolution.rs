//! Names, traced through small repositories.

use hydra_core::RepoPath;
use hydra_pyindex::{EdgeKind, Provenance, RepoIndex};
use proptest::prelude::*;

fn index(files: &[(&str, &str)]) -> RepoIndex {
    RepoIndex::from_sources(
        files
            .iter()
            .map(|(path, text)| (RepoPath::new(*path).expect("a path"), (*text).to_owned())),
    )
    .expect("threads")
}

fn uses(index: &RepoIndex, unit: &str) -> Vec<String> {
    assert!(
        index.unit(&unit.into()).is_some(),
        "{unit} is not in the index"
    );
    index
        .dependencies(&unit.into())
        .into_iter()
        .map(|d| d.unit.0)
        .collect()
}

const PACKAGE: [(&str, &str); 2] = [
    ("pkg/__init__.py", "from .low import helper as exported\n"),
    (
        "pkg/low.py",
        "LIMIT = 3\ndef helper():\n    return LIMIT\nclass Base:\n    def greet(self):\n        return 1\n",
    ),
];

fn with(path: &str, text: &str) -> RepoIndex {
    let mut files = PACKAGE.to_vec();
    files.push((path, text));
    index(&files)
}

#[test]
fn every_form_of_import_leads_to_the_definition() {
    for text in [
        "from pkg.low import helper\ndef f():\n    return helper()\n",
        "from pkg.low import helper as h\ndef f():\n    return h()\n",
        "import pkg.low\ndef f():\n    return pkg.low.helper()\n",
        "import pkg.low as m\ndef f():\n    return m.helper()\n",
        "from pkg import low\ndef f():\n    return low.helper()\n",
        "from pkg import exported\ndef f():\n    return exported()\n",
        "import pkg\ndef f():\n    return pkg.exported()\n",
        "from pkg.low import *\ndef f():\n    return helper()\n",
        "def f():\n    from pkg.low import helper\n    return helper()\n",
    ] {
        let index = with("app.py", text);
        assert_eq!(uses(&index, "f@app.py"), ["helper@pkg/low.py"], "{text}");
    }
}

#[test]
fn an_import_and_its_stand_in_both_count() {
    let text = "try:\n    from pkg.low import helper\nexcept ImportError:\n    helper = None\ndef f():\n    return helper()\n";
    let index = with("app.py", text);
    assert_eq!(
        uses(&index, "f@app.py"),
        ["helper@app.py", "helper@pkg/low.py"]
    );
}

#[test]
fn relative_imports_climb() {
    let index = with(
        "pkg/sub/deep/x.py",
        "from ...low import helper\nfrom ... import low\ndef f():\n    return helper() + low.LIMIT\n",
    );
    assert_eq!(
        uses(&index, "f@pkg/sub/deep/x.py"),
        ["LIMIT@pkg/low.py", "helper@pkg/low.py"]
    );
}

#[test]
fn a_package_below_another_folder_has_its_own_root() {
    let index = index(&[
        ("project-1.0/src/lib/__init__.py", ""),
        ("project-1.0/src/lib/a.py", "def g(): pass\n"),
        (
            "project-1.0/tests/t.py",
            "from lib.a import g\ndef test(): g()\n",
        ),
    ]);
    assert_eq!(
        uses(&index, "test@project-1.0/tests/t.py"),
        ["g@project-1.0/src/lib/a.py"]
    );
}

#[test]
fn what_hides_a_name_hides_the_unit() {
    for text in [
        "def g(): pass\ndef f(g):\n    return g()\n",
        "def g(): pass\ndef f(*g):\n    return g\n",
        "def g(): pass\ndef f():\n    for g in ():\n        g()\n",
        "def g(): pass\ndef f():\n    return [g for g in ()]\n",
        "def g(): pass\ndef f():\n    with open('x') as g:\n        g()\n",
        "def g(): pass\ndef f():\n    try:\n        pass\n    except OSError as g:\n        g\n",
        "def g(): pass\ndef f(x):\n    match x:\n        case [g]:\n            return g\n",
        "def g(): pass\ndef f():\n    if (g := 1):\n        return g\n",
        "def g(): pass\nf = lambda g: g\n",
    ] {
        assert!(
            uses(&index(&[("a.py", text)]), "f@a.py").is_empty(),
            "{text}"
        );
    }
}

#[test]
fn class_names_are_not_visible_in_methods() {
    let index = index(&[(
        "a.py",
        "def size(): pass\nclass C:\n    def size(self): pass\n    def f(self):\n        return size()\n",
    )]);
    assert_eq!(uses(&index, "C.f@a.py"), ["size@a.py"]);
}

#[test]
fn global_reaches_the_module_variable() {
    let index = index(&[(
        "a.py",
        "COUNT = 0\ndef f():\n    global COUNT\n    COUNT = COUNT + 1\n",
    )]);
    assert_eq!(uses(&index, "f@a.py"), ["COUNT@a.py"]);
}

#[test]
fn self_and_super_reach_members_of_bases_in_other_files() {
    let index = with(
        "app.py",
        "from pkg.low import Base\nclass C(Base):\n    def own(self): pass\n    def f(self):\n        self.own()\n        return self.greet()\n    def greet(self):\n        return super().greet()\n    @staticmethod\n    def s(self):\n        return self.own()\n",
    );
    assert_eq!(
        uses(&index, "C.f@app.py"),
        ["C.own@app.py", "C.greet@app.py"]
    );
    assert_eq!(
        uses(&index, "C.greet@app.py"),
        ["Base@pkg/low.py", "Base.greet@pkg/low.py"]
    );
    assert!(uses(&index, "C.s@app.py").is_empty());
    let edges = index.dependencies(&"C@app.py".into());
    assert_eq!(edges[0].unit.as_str(), "Base@pkg/low.py");
    assert_eq!(
        (edges[0].kind, edges[0].provenance),
        (EdgeKind::Inherit, Provenance::Import)
    );
}

#[test]
fn decorators_defaults_and_annotations_count() {
    let index = index(&[(
        "a.py",
        "D = 1\nclass T: pass\nclass U: pass\nclass E(Exception): pass\ndef deco(g): return g\n@deco\ndef f(x: 'T' = D) -> U:\n    raise E(f'{D}')\n",
    )]);
    let kinds: Vec<_> = index
        .dependencies(&"f@a.py".into())
        .into_iter()
        .map(|d| (d.unit.0, d.kind))
        .collect();
    let expect = |name: &str, kind| (format!("{name}@a.py"), kind);
    assert_eq!(
        kinds,
        [
            expect("D", EdgeKind::Read),
            expect("T", EdgeKind::Annotate),
            expect("U", EdgeKind::Annotate),
            expect("E", EdgeKind::Raise),
            expect("deco", EdgeKind::Decorate),
        ]
    );
    let unit = index.unit(&"f@a.py".into()).expect("f");
    assert!(unit.source.starts_with("@deco\ndef f("), "{}", unit.source);
    assert_eq!(unit.signature, "def f(x: 'T' = D) -> U:");
    assert_eq!((unit.start_line, unit.end_line), (6, 8));
}

#[test]
fn a_name_defined_twice_keeps_both_units() {
    let index = index(&[(
        "a.py",
        "if 1:\n    def f(): return 1\nelse:\n    def f(): return 2\n",
    )]);
    let ids: Vec<_> = index.units().map(|u| u.id.as_str()).collect();
    assert_eq!(ids, ["f@a.py", "f@a.py#2"]);
    let path = RepoPath::new("a.py").expect("a path");
    assert_eq!(
        index.find(&path, "f").map(|u| u.id.as_str()),
        Some("f@a.py#2")
    );
}

#[test]
fn import_cycles_end() {
    let index = index(&[
        ("p/__init__.py", "from .a import x\n"),
        (
            "p/a.py",
            "from .b import x\nfrom .b import *\ndef f(): return x\n",
        ),
        ("p/b.py", "from .a import x\nfrom .a import *\n"),
    ]);
    assert!(uses(&index, "f@p/a.py").is_empty());
}

#[test]
fn the_pool_never_shows_the_target() {
    let secret = "return the_secret_body";
    let mut files = PACKAGE.to_vec();
    let text = format!(
        "from pkg import exported\nimport other\nclass C:\n    def other_method(self): pass\n    def target(self):\n        import hidden\n        def inner(): pass\n        {secret}\n"
    );
    files.push(("app.py", &text));
    files.push(("other.py", "def o(): pass\n"));
    files.push(("hidden.py", "def h(): pass\n"));
    let index = index(&files);
    let pool = index.pool(&"C.target@app.py".into());
    let ids: Vec<_> = pool.iter().map(|u| u.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "C.other_method@app.py",
            "o@other.py",
            "LIMIT@pkg/low.py",
            "helper@pkg/low.py",
            "Base@pkg/low.py",
            "Base.greet@pkg/low.py",
        ]
    );
    assert!(pool.iter().all(|u| !u.source.contains(secret)));
}

#[test]
fn broken_files_are_marked_and_deep_ones_skipped() {
    let deep = format!("x = {}{}\n", "(".repeat(5000), ")".repeat(5000));
    let long = format!("x = {}1\n", "1 + ".repeat(20_000));
    let index = index(&[
        ("bad.py", "def f(:\n    pass\ndef g(): pass\n"),
        ("deep.py", &deep),
        ("long.py", &long),
        ("ok.py", "y = 1\n"),
    ]);
    let skipped: Vec<_> = index.skipped().iter().map(|s| s.path.as_str()).collect();
    assert_eq!(skipped, ["deep.py"]);
    let broken: Vec<_> = index.broken().map(|(path, _)| path.as_str()).collect();
    assert_eq!(broken, ["bad.py"]);
    let units: Vec<_> = index.units().map(|u| u.id.as_str()).collect();
    assert_eq!(units, ["f@bad.py", "g@bad.py", "x@long.py", "y@ok.py"]);
}

#[test]
fn links_and_unreadable_encodings_are_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("utf8.py"), "a = 'é'\n").expect("written");
    std::fs::write(at("latin.py"), b"# -*- coding: latin-1 -*-\nb = '\xe9'\n").expect("written");
    std::fs::write(at("bad.py"), b"c = '\xe9'\n").expect("written");
    std::os::unix::fs::symlink("/etc/passwd", at("link.py")).expect("linked");
    let index = RepoIndex::build(folder.path(), &hydra_core::Silent).expect("two files");
    let units: Vec<_> = index.units().map(|u| u.source.as_str()).collect();
    assert_eq!(units, ["b = 'é'", "a = 'é'"]);
    let skipped: Vec<_> = index.skipped().iter().map(|s| s.path.as_str()).collect();
    assert_eq!(skipped, ["bad.py", "link.py"]);
}

proptest! {
    #[test]
    fn no_text_breaks_the_index(text in "([a-zA-Zéß_ .:,=()\\[\\]{}@*\"'#\\\\\n\t]|def |class |import |from |return |    |lambda ){0,60}") {
        let index = index(&[("a.py", &text)]);
        for unit in index.units() {
            prop_assert!(unit.end_byte <= text.len() && unit.start_byte <= unit.end_byte);
            index.dependencies(&unit.id);
            index.pool(&unit.id);
        }
    }
}
