//! Folders that were not made to be indexed: each file is indexed, marked as broken, or skipped
//! with a reason; nothing crashes or hangs, and the rest is indexed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hydra_core::{RepoPath, Silent};
use hydra_pyindex::{Cache, Options, Parser, RepoIndex};

const PARSERS: [Parser; 2] = [Parser::Ruff, Parser::Rustpython];
/// How deep generated programs nest.
const DEPTH: usize = 10_000;
/// The largest file that is read unless told otherwise.
const LIMIT: usize = 2 << 20;

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Indexed,
    Broken(String),
    Skipped(String),
}

impl Fate {
    fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }

    fn reason(&self) -> &str {
        match self {
            Self::Skipped(reason) => reason,
            _ => "",
        }
    }
}

fn options(parser: Parser) -> Options {
    Options {
        parser,
        jobs: 2,
        ..Options::default()
    }
}

fn build(root: &Path, parser: Parser) -> (RepoIndex, BTreeMap<String, Fate>) {
    let index = RepoIndex::build_with(root, &options(parser), None, &Silent)
        .expect("there is a file that can be read");
    let mut fates = BTreeMap::new();
    for path in index.files() {
        fates.insert(path.to_string(), Fate::Indexed);
    }
    for (path, error) in index.broken() {
        fates.insert(path.to_string(), Fate::Broken(error.to_owned()));
    }
    for skipped in index.skipped() {
        assert!(!skipped.reason.is_empty(), "{} has no reason", skipped.path);
        let reason = skipped.reason.clone();
        let before = fates.insert(skipped.path.clone(), Fate::Skipped(reason));
        assert_eq!(before, None, "{} has two fates", skipped.path);
    }
    (index, fates)
}

/// What is asked of every index here: the sound files are whole, and every answer can be given.
fn assert_the_rest_is_indexed(index: &RepoIndex) {
    let used = index.dependencies(&"total@sound/orders.py".into());
    let used: Vec<_> = used.iter().map(|d| d.unit.as_str()).collect();
    assert_eq!(used, ["price@sound/prices.py"]);
    for unit in index.units() {
        assert_eq!(index.unit(&unit.id), Some(unit));
        index.edges(&unit.id);
    }
}

fn write(root: &Path, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    let folder = path.parent().expect("below the root");
    fs::create_dir_all(folder).expect("a folder");
    fs::write(&path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn repository() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    write(root.path(), "sound/__init__.py", "");
    write(
        root.path(),
        "sound/prices.py",
        "def price(x):\n    return x\n",
    );
    write(
        root.path(),
        "sound/orders.py",
        "from .prices import price\ndef total(xs):\n    return sum(price(x) for x in xs)\n",
    );
    root
}

const PYTHON_2: [(&str, &str); 7] = [
    (
        "print.py",
        "def a():\n    print 'a', 1\n    print >>f, 'b'\n    print\ndef b(): return a()\n",
    ),
    (
        "exec.py",
        "def a():\n    exec 'x = 1' in {}\n    exec code\ndef b(): return a()\n",
    ),
    (
        "ticks.py",
        "def a(x):\n    return `x` + ` x, 1 `\ndef b(): return a(1)\n",
    ),
    (
        "except.py",
        "def a():\n    try:\n        pass\n    except E, e:\n        raise E, 'text', tb\n    return 0777 + 10L\ndef b(): return a()\n",
    ),
    (
        "parameters.py",
        "def a((x, y), z):\n    if x <> y: return ur'x'\n    return lambda (k, v): k\ndef b(): return a()\n",
    ),
    (
        "decorated.py",
        "class A:\n    __metaclass__ = M\n    @property\n    def x(self): print self\nraise A, 'b'\nassert a, `b`\n",
    ),
    // After the tests of lib2to3: what its own grammar is shown.
    (
        "fixers.py",
        "d.has_key(k)\nimport urllib2, __builtin__\nfrom itertools import izip as z\nprint >> sys.stderr, \\\n  'x'\nwith open('x') as a, b: exec(a)\nx = [y for y in 1, 2, 3]\ndef f(a, (b, (c,)), *d): yield\n",
    ),
];

#[test]
fn python_2_is_broken_or_skipped_and_the_rest_is_indexed() {
    let root = repository();
    for (path, text) in PYTHON_2 {
        write(root.path(), Path::new("old").join(path), text);
    }
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        for (path, _) in PYTHON_2 {
            let fate = &fates[&format!("old/{path}")];
            match parser {
                Parser::Ruff => assert!(fate.is_broken(), "{path}: {fate:?}"),
                Parser::Rustpython => {
                    assert!(fate.reason().contains("syntax error"), "{path}: {fate:?}");
                }
            }
        }
        if parser == Parser::Ruff {
            // Of a broken file what parses is kept.
            let used = index.dependencies(&"b@old/print.py".into());
            assert_eq!(used[0].unit.as_str(), "a@old/print.py");
        }
    }
}

#[test]
fn the_test_data_of_lib2to3_has_a_fate_each() {
    let print = "import lib2to3.tests as t; print(t.__path__[0])";
    let output = Command::new("python3")
        .args(["-W", "ignore", "-c", print])
        .output();
    let folder = output.ok().map(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        PathBuf::from(folder).join("data")
    });
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: python3 has no lib2to3.tests with a data folder");
        return;
    };
    for parser in PARSERS {
        let (index, fates) = build(&folder, parser);
        let whole = fates.values().filter(|f| **f == Fate::Indexed).count();
        println!("{}: {whole} of {} files", parser.name(), fates.len());
        for (path, fate) in &fates {
            println!("  {path}: {fate:?}");
        }
        assert!(whole > 0 && whole < fates.len());
        index.units().for_each(|unit| {
            index.edges(&unit.id);
        });
    }
}

/// Python refuses brackets this deep; so does the index.
const BRACKETS: &str = "nested deeper than 200";

/// Programs that nest, and what the reason to skip them says, if they are skipped.
fn deep(depth: usize) -> Vec<(&'static str, String, Option<&'static str>)> {
    let around = |open: &str, middle: &str, close: &str| {
        format!(
            "x = {}{middle}{}\n",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let indented = |line: &str, levels: usize| {
        let lines = (0..levels).map(|level| format!("{}{line}\n", " ".repeat(level)));
        lines.collect::<String>() + &" ".repeat(levels) + "pass\n"
    };
    let bracketed = Some(BRACKETS);
    vec![
        ("parentheses", around("(", "1", ")"), bracketed),
        ("lists", around("[", "", "]"), bracketed),
        ("dicts", around("{1:", "2", "}"), bracketed),
        ("calls_in_calls", around("f(", "", ")"), bracketed),
        ("minus", around("-", "1", ""), None),
        ("not", around("not ", "1", ""), None),
        ("lambda", around("lambda: ", "1", ""), None),
        ("conditional", around("a if b else ", "c", ""), None),
        ("attributes", around("", "a", ".b"), None),
        ("calls", around("", "a", "()"), None),
        ("subscripts", around("", "a", "[0]"), None),
        ("sum", around("a + ", "b", ""), None),
        ("power", around("a ** ", "b", ""), None),
        ("comparison", around("a < ", "b", ""), None),
        ("and_or", around("a and b or ", "c", ""), None),
        ("assignments", around("a = ", "b", ""), None),
        ("strings", around("f'{a}' ", "''", ""), None),
        ("f_strings", around("f'{", "a", "}'"), None),
        ("defs", indented("def f():", 900), None),
        ("ifs", indented("if a:", 900), None),
        ("classes", indented("class A:", 900), None),
        ("too_many_ifs", indented("if a:", 1_100), None),
        (
            "elif",
            format!("if a: b\n{}else: c\n", "elif a: b\n".repeat(depth)),
            None,
        ),
        (
            "sequence_pattern",
            format!(
                "match x:\n    case {}: pass\n",
                around("[", "a", "]")[4..].trim()
            ),
            bracketed,
        ),
        (
            "or_pattern",
            format!("match x:\n    case {}c: pass\n", "a.b | ".repeat(depth)),
            None,
        ),
        (
            "dotted_pattern",
            format!("match x:\n    case {}b: pass\n", "a.".repeat(depth)),
            None,
        ),
        (
            "type_subscripts",
            format!("x: {}", &around("list[", "int", "]")[4..]),
            bracketed,
        ),
        (
            "union",
            format!("x: {}", &around("a | ", "b", "")[4..]),
            None,
        ),
        (
            "string_annotation",
            format!("x: '{}'\n", around("list[", "int", "]")[4..].trim()),
            None,
        ),
        (
            "short_string_annotation",
            format!("x: '{}a'\n", "-".repeat(390)),
            None,
        ),
        (
            "lambdas_in_defaults",
            format!("x = {}a\n", "lambda a=".repeat(depth)),
            None,
        ),
    ]
}

#[test]
fn deep_programs_are_indexed_or_skipped_with_a_reason() {
    let root = repository();
    let deep = deep(DEPTH);
    for (name, text, _) in &deep {
        write(root.path(), format!("deep/{name}.py"), text);
    }
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        for (name, _, reason) in &deep {
            let fate = &fates[&format!("deep/{name}.py")];
            match (*reason, *name, parser) {
                (Some(reason), ..) => {
                    assert!(fate.reason().contains(reason), "{name}: {fate:?}");
                }
                // The nested quotes end the string before.
                (_, "f_strings", _) | (_, "lambdas_in_defaults", _) => {
                    assert_ne!(*fate, Fate::Indexed, "{name}");
                }
                (_, "too_many_ifs", _) => assert!(fate.reason().contains("indented"), "{fate:?}"),
                _ => assert_eq!(*fate, Fate::Indexed, "{name}"),
            }
        }
    }
}

#[test]
fn a_kept_index_of_deep_files_answers_on_a_small_stack() {
    let root = repository();
    for name in ["minus", "sum", "attributes"] {
        let deep = deep(10 * DEPTH).into_iter().find(|(n, ..)| *n == name);
        let (_, text, _) = deep.expect("it is in the list");
        write(
            root.path(),
            format!("{name}.py"),
            format!("import sound.prices\n{text}"),
        );
    }
    let store = tempfile::tempdir().expect("a folder");
    for parser in PARSERS {
        for _ in 0..2 {
            let cache = Cache::open(store.path().join("index")).expect("a cache");
            let options = options(parser);
            let index = RepoIndex::build_with(root.path(), &options, Some(&cache), &Silent)
                .expect("it can be indexed");
            let paths: Vec<RepoPath> = index.files().cloned().collect();
            assert_eq!(paths.len(), 6);
            for path in paths {
                index.imports(&path);
            }
        }
    }
}

#[test]
fn a_file_just_below_the_limit_is_indexed_however_it_is_made() {
    let root = repository();
    let fill = |head: &str, part: &str, tail: &str| {
        let parts = (LIMIT - head.len() - tail.len()) / part.len();
        format!("{head}{}{tail}", part.repeat(parts))
    };
    let files = [
        // In a debug build a term takes kilobytes of stack: most of the file is a comment.
        (
            "sum.py",
            fill(&format!("x = {}a\n# ", "a+".repeat(20 * DEPTH)), "x", "\n"),
        ),
        ("strings.py", fill("x = f'{a}'", " 'b'", "\n")),
        // ruff's parser has no stack for these.
        ("lambdas.py", fill("x = ", "lambda a=", "1\n")),
    ];
    for (name, text) in &files {
        assert!(text.len() <= LIMIT && text.len() > LIMIT - 16, "{name}");
        write(root.path(), name, text);
    }
    write(root.path(), "over.py", "#".repeat(LIMIT + 1));
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        for (name, _) in &files[..2] {
            assert_eq!(fates[*name], Fate::Indexed, "{name}");
        }
        assert!(fates["lambdas.py"].reason().contains("lambdas"));
        assert!(fates["over.py"].reason().contains("more than 2097152"));
    }
}

#[test]
fn names_that_may_be_many_things_cost_bounded_memory() {
    let root = repository();
    let text = format!("{}x = {}b\n", "a,".repeat(30_000), "b or ".repeat(20_000));
    write(root.path(), "names.py", text);
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        assert_eq!(fates["names.py"], Fate::Indexed);
    }
}

#[test]
fn attributes_that_are_made_of_themselves_cost_bounded_work() {
    let root = repository();
    let text = "class C:\n    def m(self):\n".to_owned() + &"        self.a = self.a\n".repeat(300);
    write(root.path(), "self_made.py", text);
    let (index, fates) = build(root.path(), Parser::Ruff);
    assert_the_rest_is_indexed(&index);
    assert_eq!(fates["self_made.py"], Fate::Indexed);
}

#[test]
fn a_huge_file_is_skipped_by_its_size_unread() {
    let root = repository();
    let generated = fs::File::create(root.path().join("generated.py")).expect("a file");
    generated.set_len(50 << 20).expect("a sparse file");
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        let reason = fates["generated.py"].reason();
        assert!(reason.starts_with("52428800 bytes, more than"), "{reason}");
    }
}

/// Files by their bytes, and what the reason to skip them says, if they are skipped.
const ENCODED: [(&str, &[u8], Option<&str>); 11] = [
    ("latin.py", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", None),
    (
        "koi.py",
        b"#!/usr/bin/python\n# coding: koi8-r\nx = '\xc1'\n",
        None,
    ),
    ("marked.py", b"\xef\xbb\xbfx = 1\n", None),
    (
        "undeclared.py",
        b"x = 1\ny = '\xe9'\n",
        Some("not UTF-8 (line 2)"),
    ),
    ("truncated.py", b"x = '\xe4\xb8", Some("not UTF-8")),
    ("unknown.py", b"# coding: klingon\nx = 1\n", Some("klingon")),
    ("ascii.py", b"# coding: ascii\nx = '\xe9'\n", Some("ASCII")),
    ("utf_16_le.py", b"\xff\xfex\0=\x001\0\n\0", Some("NUL")),
    ("utf_16_be.py", b"\xfe\xff\0x\0=\x001\0\n", Some("NUL")),
    ("nul.py", b"x = 1\n\0\n", Some("NUL")),
    ("empty.py", b"", None),
];

#[test]
fn files_of_any_encoding_have_a_fate() {
    let root = repository();
    for (path, bytes, _) in ENCODED {
        write(root.path(), path, bytes);
    }
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        for (path, _, reason) in ENCODED {
            let fate = &fates[path];
            match reason {
                Some(reason) => assert!(fate.reason().contains(reason), "{path}: {fate:?}"),
                None => assert_eq!(*fate, Fate::Indexed, "{path}"),
            }
        }
    }
}

fn fifo(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status();
    assert!(status.expect("mkfifo").success());
}

#[test]
fn links_pipes_and_folders_are_passed_over() {
    let root = repository();
    let at = |path: &str| root.path().join(path);
    let outside = tempfile::tempdir().expect("a folder");
    write(outside.path(), "secret.py", "def secret(): pass\n");
    fs::create_dir_all(at("loops/folder.py")).expect("a folder");
    write(root.path(), "loops/folder.py/inner.py", "x = 1\n");
    let links = [
        ("..", "loops/parent"),
        (".", "loops/here"),
        ("itself.py", "loops/itself.py"),
        ("second", "loops/first"),
        ("first", "loops/second"),
        ("nowhere.py", "loops/broken.py"),
        ("../sound/prices.py", "loops/file.py"),
    ];
    for (target, link) in links {
        symlink(target, at(link)).expect("a link");
    }
    symlink(outside.path(), at("loops/outside")).expect("a link");
    symlink(outside.path().join("secret.py"), at("loops/secret.py")).expect("a link");
    fifo(&at("loops/pipe.py"));
    fifo(&at("loops/pipe"));
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        assert_eq!(fates["loops/pipe.py"].reason(), "not a regular file");
        assert_eq!(fates["loops/folder.py/inner.py"], Fate::Indexed);
        for link in [
            "parent",
            "here",
            "itself.py",
            "first",
            "second",
            "broken.py",
            "file.py",
            "outside",
            "secret.py",
        ] {
            assert_eq!(fates[&format!("loops/{link}")].reason(), "a link", "{link}");
        }
        assert_eq!(fates.len(), 3 + 2 + links.len() + 2);
        assert!(index.units().all(|unit| unit.name != "secret"));
    }
}

/// Whether permissions mean nothing to whoever runs the tests.
fn sees_all(path: &Path) -> bool {
    fs::read(path).is_ok()
}

#[test]
fn what_must_not_be_read_is_skipped() {
    let root = repository();
    write(root.path(), "closed.py", "x = 1\n");
    write(root.path(), "locked/inner.py", "x = 1\n");
    let mode = |path: &str, mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(root.path().join(path), permissions).expect("own files");
    };
    mode("closed.py", 0);
    mode("locked", 0);
    if sees_all(&root.path().join("closed.py")) {
        println!("nothing is hidden from this user");
    } else {
        let (index, fates) = build(root.path(), Parser::Ruff);
        assert_the_rest_is_indexed(&index);
        assert!(fates["closed.py"].reason().contains("ermission"));
        assert!(fates["locked"].reason().contains("can't be read"));
    }
    mode("locked", 0o700);
}

#[test]
fn odd_names_are_indexed_or_skipped_with_a_reason() {
    let root = repository();
    let names = [
        "a b.py",
        "c#2.py",
        "d@e.py",
        "été.py",
        "..py",
        ".py",
        "f'g.py",
        "new\nline.py",
        "%s.py",
        "中文/#@ .py",
        "-.py",
        "__init__.py/x@y#3.py",
    ];
    for name in names {
        write(
            root.path(),
            Path::new("odd").join(name),
            "def f(): pass\ndef f(): f()\n",
        );
    }
    write(root.path(), "odd/back\\slash.py", "x = 1\n");
    write(
        root.path(),
        OsStr::from_bytes(b"odd/not\xff utf.py"),
        "x = 1\n",
    );
    for parser in PARSERS {
        let (index, fates) = build(root.path(), parser);
        assert_the_rest_is_indexed(&index);
        for name in names {
            assert_eq!(fates[&format!("odd/{name}")], Fate::Indexed, "{name:?}");
        }
        assert!(fates["odd/back\\slash.py"].reason().contains("backslash"));
        assert!(
            fates["odd/not\u{fffd} utf.py"]
                .reason()
                .contains("not UTF-8")
        );
        assert_eq!(fates.len(), 3 + names.len() + 2);
    }
}
