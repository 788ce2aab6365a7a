//! No file, whatever is in it, brings the index down; the rest is indexed, and what it says holds.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use hydra_core::{RepoPath, Silent};
use hydra_pyindex::{Options, Parser, RepoIndex};
use proptest::prelude::*;

const PARSERS: [Parser; 2] = [Parser::Ruff, Parser::Rustpython];
const DEEP: usize = 10_000;

fn options(parser: Parser) -> Options {
    Options {
        parser,
        ..Options::default()
    }
}

/// Asks everything, and checks the answers against the texts.
fn check(index: &RepoIndex) {
    let mut ids = HashSet::new();
    for unit in index.units() {
        assert!(ids.insert(&unit.id), "{} twice", unit.id);
        assert_eq!(index.unit(&unit.id), Some(unit));
        let text = index.text(&unit.path).expect("its file is in the index");
        let slice = text
            .get(unit.start_byte..unit.end_byte)
            .expect("a span lies on the boundaries of characters");
        assert!(!slice.is_empty(), "{} has no text", unit.id);
        let first = slice.split('\n').next();
        let source = unit.source.split('\n').next();
        let indented = first.is_some_and(|f| source.is_some_and(|s| f.ends_with(s)));
        assert!(indented, "{}: {first:?} and {source:?}", unit.id);
        let line = |at: usize| {
            1 + text.as_bytes()[..at]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
        };
        assert_eq!(unit.start_line, line(unit.start_byte), "{}", unit.id);
        assert_eq!(unit.end_line, line(unit.end_byte - 1), "{}", unit.id);
        assert!((unit.start_line..=unit.end_line).contains(&unit.head_line));
        let lines = text.lines().count().max(1);
        for edge in index.edges(&unit.id) {
            assert!(index.unit(&edge.unit).is_some(), "{}", edge.unit);
            assert!(edge.line <= lines + 1, "{} on {}", unit.id, edge.line);
        }
        index.pool(&unit.id);
    }
    for path in index.files() {
        index.imports(path);
        index.imported_files(path);
        index.import_statements(path);
    }
}

/// Texts that nest or repeat something as often as a generated file might.
fn degenerate() -> Vec<(&'static str, String)> {
    let chain = |before: &str, root: &str, after: &str| {
        format!("x = {}{root}{}\n", before.repeat(DEEP), after.repeat(DEEP))
    };
    let indented = |line: &str| {
        let lines = (0..300).map(|depth| format!("{}{line}\n", " ".repeat(depth)));
        lines.collect::<String>() + &" ".repeat(300) + "pass\n"
    };
    vec![
        ("parentheses", chain("(", "1", ")")),
        ("lists", chain("[", "1", "]")),
        ("dicts", chain("{1:", "1", "}")),
        ("minus", chain("-", "1", "")),
        ("not", chain("not ", "1", "")),
        ("lambda", chain("lambda: ", "1", "")),
        ("lambda in defaults", chain("lambda a=", "1", "")),
        ("conditional", chain("a if a else ", "1", "")),
        ("power", chain("a ** ", "1", "")),
        ("sum", chain("", "a", " + a")),
        ("comparison", chain("", "a", " < a")),
        ("or", chain("", "a", " or a")),
        ("attributes", chain("", "a", ".a")),
        ("calls", chain("", "a", "()")),
        ("subscripts", chain("", "a", "[0]")),
        ("calls in calls", chain("a(", "", ")")),
        (
            "await",
            format!("async def f():\n    return {}a\n", "await ".repeat(DEEP)),
        ),
        (
            "yield",
            format!("def f():\n    x = {}1\n", "yield ".repeat(DEEP)),
        ),
        ("assignments", chain("a = ", "1", "")),
        ("union annotation", format!("x: {}a\n", "a | ".repeat(DEEP))),
        (
            "string annotation",
            format!("x: \"{}a\"\n", "a | ".repeat(DEEP)),
        ),
        (
            "nested annotation",
            format!("x: {}int{}\n", "list[".repeat(150), "]".repeat(150)),
        ),
        ("exports", format!("__all__ = {}[]\n", "[] + ".repeat(DEEP))),
        ("elif", format!("if a: b\n{}", "elif a: b\n".repeat(DEEP))),
        (
            "except",
            format!("try: a\n{}", "except A as b: a\n".repeat(DEEP)),
        ),
        (
            "pattern",
            format!("match x:\n    case {}1: pass\n", "a.b | ".repeat(DEEP)),
        ),
        (
            "nested pattern",
            format!(
                "match x:\n    case {}1{}: pass\n",
                "[".repeat(190),
                "]".repeat(190)
            ),
        ),
        ("ifs", indented("if a:")),
        ("functions", indented("def a():")),
        ("classes", indented("class a:")),
        (
            "f-strings",
            format!("x = f'{}'\n", "{a:{b}}".repeat(DEEP / 10)),
        ),
        ("strings", format!("x = {}\n", "'a' ".repeat(DEEP))),
        (
            "decorators",
            format!("{}def f(): pass\n", "@a\n".repeat(DEEP)),
        ),
        ("with", format!("with {}a: pass\n", "a as b, ".repeat(DEEP))),
        ("stars", "from a import *\nx\n".repeat(DEEP / 10)),
        (
            "bases",
            (0..500)
                .map(|n| format!("class A{}(A{n}): pass\n", n + 1))
                .collect(),
        ),
        (
            "diamonds",
            (0..60)
                .map(|n| {
                    format!(
                        "class A{0}(A{n}, B{n}): pass\nclass B{0}(A{n}, B{n}): pass\n",
                        n + 1
                    )
                })
                .collect(),
        ),
        (
            "aliases",
            (0..2000).map(|n| format!("a{} = a{n}\n", n + 1)).collect(),
        ),
        (
            "self",
            format!(
                "class C:\n  def m(self):\n{}",
                "    self.a = self.a\n".repeat(300)
            ),
        ),
        (
            "isinstance",
            format!(
                "def f(a):\n{}",
                "    isinstance(a, A)\n    a.b\n".repeat(500)
            ),
        ),
        ("open brackets", "x = (\n".repeat(DEEP)),
        ("quotes", "'".repeat(DEEP)),
        ("backslashes", "\\\n".repeat(DEEP)),
        (
            "keywords",
            "print del async type match else: ".repeat(DEEP / 10),
        ),
    ]
}

#[test]
fn what_nests_ten_thousand_deep_is_indexed_or_refused() {
    for (name, text) in degenerate() {
        for parser in PARSERS {
            let files = [("deep.py", text.clone()), ("ok.py", "y = 1\n".to_owned())];
            let files = files.map(|(path, text)| (RepoPath::new(path).expect("a path"), text));
            let index = RepoIndex::from_sources_with(files, &options(parser)).expect("threads");
            check(&index);
            let named: Vec<_> = index.units().map(|u| u.id.as_str()).collect();
            assert!(named.contains(&"y@ok.py"), "{name} with {parser:?}");
        }
    }
}

/// Python 2, in the manner of lib2to3's test data.
const PYTHON_2: &str = "import os, sys\nprint 'x', `os`\nexec 'y = 1' in {}\ndef kept():\n    return os\n\
    try:\n    raise E, 'v'\nexcept (A, B), e:\n    print >>sys.stderr, e\nx = 0777L <> 1\ndef also((a, b)): pass\n";

#[test]
fn every_strange_file_has_a_line_and_the_rest_is_indexed() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let write = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("written");
    };
    write("pkg/__init__.py", b"from .good import helper\n");
    write("pkg/good.py", "def helper():\n    return 'é'\n".as_bytes());
    write(
        "odd names/a b#c@d.py",
        b"from pkg import helper\ndef f(): helper()\n",
    );
    write("odd names/größe.py", b"def g(): pass\n");
    write("folder.py/inside.py", b"def i(): pass\n");
    write("two.py", PYTHON_2.as_bytes());
    write("latin.py", b"# coding: latin-1\nx = '\xe9'\n");
    write("undeclared.py", b"x = '\xe9'\n");
    write("utf16.py", b"\xff\xfex\x00=\x001\x00");
    write("binary.py", b"\x7fELF\x00\x00");
    write("empty.py", b"");
    write("back\\slash.py", b"x = 1\n");
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff.py");
    fs::write(root.join(odd), b"x = 1\n").expect("written");
    let huge = fs::File::create(root.join("huge.py")).expect("created");
    huge.set_len(50 << 20).expect("a sparse file");
    // Just small enough, and nothing but brackets.
    write("nested.py", &b"[".repeat(2 << 20));
    symlink("..", root.join("pkg/up")).expect("linked");
    symlink("self.py", root.join("self.py")).expect("linked");
    symlink("/etc/passwd", root.join("out.py")).expect("linked");
    symlink("nowhere", root.join("broken_link.py")).expect("linked");
    nix::unistd::mkfifo(&root.join("fifo.py"), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");

    for parser in PARSERS {
        let index = RepoIndex::build_with(root, &options(parser), None, &Silent).expect("files");
        check(&index);
        let skipped: BTreeSet<_> = index.skipped().iter().map(|s| s.path.as_str()).collect();
        let mut wanted = BTreeSet::from([
            "back\\slash.py",
            "binary.py",
            "broken_link.py",
            "fifo.py",
            "huge.py",
            "nested.py",
            "odd\u{fffd}.py",
            "out.py",
            "pkg/up",
            "self.py",
            "undeclared.py",
            "utf16.py",
        ]);
        let broken: Vec<_> = index.broken().map(|(path, _)| path.as_str()).collect();
        if parser == Parser::Ruff {
            assert_eq!(broken, ["two.py"]);
            assert!(index.unit(&"kept@two.py".into()).is_some());
        } else {
            wanted.insert("two.py");
        }
        assert_eq!(skipped, wanted, "{parser:?}");
        assert!(index.skipped().iter().all(|s| !s.reason.is_empty()));
        let used = index.dependencies(&"f@odd names/a b#c@d.py".into());
        assert_eq!(used[0].unit.as_str(), "helper@pkg/good.py");
        for id in [
            "g@odd names/größe.py",
            "i@folder.py/inside.py",
            "x@latin.py",
        ] {
            assert!(index.unit(&id.into()).is_some(), "{id} with {parser:?}");
        }
    }
}

#[test]
fn lib2to3s_test_data_is_indexed_as_far_as_it_goes() {
    let ask = "import lib2to3, os; print(os.path.dirname(lib2to3.__file__))";
    let output = std::process::Command::new("python3")
        .args(["-W", "ignore", "-c", ask])
        .output();
    let found = output.ok().filter(|o| o.status.success());
    let folder = found.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    let Some(folder) = folder.filter(|f| Path::new(f).join("tests/data").is_dir()) else {
        println!("skipped: no python3 with lib2to3's tests");
        return;
    };
    for parser in PARSERS {
        let index = RepoIndex::build_with(Path::new(&folder), &options(parser), None, &Silent)
            .expect("lib2to3 is Python");
        check(&index);
        let strange = index.skipped().len() + index.broken().count();
        assert!(strange > 0 && index.files().count() > 50, "{parser:?}");
    }
}

const PIECES: &[&str] = &[
    "def f(a, *b, c: 'C' = 1, **d) -> C:\n",
    "    ",
    "\t",
    "return ",
    "class C(B, metaclass=M):\n",
    "async def g():\n",
    "await ",
    "yield ",
    "@p.setter\n",
    "@overload\n",
    "self.x = ",
    "cls",
    "super().f()",
    "from . import b\n",
    "from .b import *\n",
    "import pkg.b as m\n",
    "from pkg import g\n",
    "global C\n",
    "nonlocal a\n",
    "del C\n",
    "x: int = ",
    "(y := ",
    ")",
    "[z for z in ",
    "]",
    "{",
    "}",
    "lambda a: ",
    "if C:\n",
    "else:\n",
    "elif f:\n",
    "try:\n",
    "except E as e:\n",
    "finally:\n",
    "with C() as w:\n",
    "for i, j in w:\n",
    "match w:\n",
    "    case C(q=1) as r:\n",
    "f'{C!r:{w}}'",
    "'''é\n'''",
    "\"",
    "'",
    "# above\n",
    "\\\n",
    "\r\n",
    "\x0c",
    "\n",
    "__all__ = ['f']\n",
    "type T[K: C] = list[K]\n",
    "C",
    "f",
    "g",
    "é",
    "ﬁ",
    "m",
    ".",
    ",",
    "=",
    ":",
    "pass\n",
    "raise C from e\n",
    "isinstance(a, C)",
    "getattr(a, 'f')",
];

fn python() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_program_is_indexed_alike_on_one_thread_and_on_two(
        a in python(), init in python(), b in python(),
    ) {
        let files = [("a.py", a), ("pkg/__init__.py", init), ("pkg/b.py", b)];
        for parser in PARSERS {
            let index = |jobs| {
                let files = files.clone();
                let files = files.map(|(path, text)| (RepoPath::new(path).expect("a path"), text));
                let options = Options { jobs, ..options(parser) };
                RepoIndex::from_sources_with(files, &options).expect("threads")
            };
            let (one, two) = (index(1), index(2));
            check(&one);
            prop_assert!(one.units().eq(two.units()));
            for unit in one.units() {
                prop_assert_eq!(one.edges(&unit.id), two.edges(&unit.id));
            }
        }
    }

    #[test]
    fn any_bytes_on_disk_are_indexed_or_skipped(
        bytes in prop::collection::vec(any::<u8>(), 0..200), text in python(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("ok.py"), "y = 1\n").expect("written");
        fs::write(folder.path().join("any.py"), &bytes).expect("written");
        fs::write(folder.path().join("both.py"), [text.as_bytes(), &bytes].concat()).expect("written");
        for parser in PARSERS {
            let index = RepoIndex::build_with(folder.path(), &options(parser), None, &Silent)
                .expect("a file");
            check(&index);
            prop_assert!(index.unit(&"y@ok.py".into()).is_some());
        }
    }
}
