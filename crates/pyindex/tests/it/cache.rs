//! The store of what was indexed before: what it saves, and that it never changes an answer.

mod company;
mod damage;
mod edits;
mod repo;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use hydra_core::Silent;
use hydra_pyindex::{Cache, Parser, RepoIndex, Work};

use repo::{Recorder, Repo, SHOP, options, right, said, with_parser};

const fn work(parsed: usize, resolved: usize) -> Work {
    Work { parsed, resolved }
}

const NOTHING: Work = work(0, 0);

/// [`SHOP`] on disk, indexed once.
fn shop() -> (Repo, Cache) {
    let repo = Repo::new(&SHOP);
    let cache = repo.cache();
    assert_eq!(repo.check(&cache), work(SHOP.len(), SHOP.len()));
    (repo, cache)
}

#[test]
fn a_second_run_does_nothing_and_says_the_same() {
    let (repo, cache) = shop();
    assert_eq!(repo.check(&cache), NOTHING);
    drop(cache);
    assert_eq!(repo.check(&repo.cache()), NOTHING, "by another process");
}

#[test]
fn broken_and_skipped_files_are_known_from_before_too() {
    let (repo, cache) = shop();
    repo.write("half.py", "def fine():\n    return 1\ndef broken(:\n");
    repo.write("data.py", b"\0\0");
    repo.write("latin.py", b"x = '\xe9'\n");
    repo.write("old.py", "print 'x'\nexec 'y' in z\n");
    assert_eq!(repo.check(&cache).parsed, 2);
    assert_eq!(repo.check(&cache), NOTHING);
}

#[test]
fn a_file_that_one_parser_refuses_is_not_parsed_again() {
    let repo = Repo::new(&SHOP);
    repo.write("broken.py", "def (:\n");
    let cache = repo.cache();
    let options = with_parser(Parser::Rustpython);
    let build = || RepoIndex::build_with(&repo.root(), &options, Some(&cache), &Silent);
    let first = build().expect("an index");
    assert_eq!(first.work(), work(SHOP.len() + 1, SHOP.len()));
    let second = build().expect("an index");
    assert_eq!(second.work(), NOTHING);
    assert_eq!(said(&first), said(&second));
}

#[test]
fn a_change_resolves_the_file_and_those_that_rest_on_it() {
    let (repo, cache) = shop();
    let change = |path: &str, more: &str| {
        let (_, text) = SHOP.iter().find(|(p, _)| *p == path).expect("a file");
        repo.write(path, format!("{text}{more}"));
        let work = repo.check(&cache);
        assert_eq!(work.parsed, 1, "{path}");
        work.resolved
    };
    let more = "def more():\n    return more\n";
    // Nothing rests on it.
    assert_eq!(change("app.py", more), 1);
    // `other` imports it.
    assert_eq!(change("lonely.py", more), 2);
    // `user` reaches through the re-export.
    assert_eq!(change("pkg/__init__.py", more), 2);
    // `app` infers a type from it.
    assert_eq!(change("pkg/factory.py", more), 2);
    // The subclass; who makes one of it, for its `__init__`; who infers its type; who calls what
    // it inherits. Not the package, which only names the subclass.
    assert_eq!(change("pkg/base.py", more), 5);
    // The same and the package; not the base class.
    assert_eq!(change("pkg/shapes.py", more), 5);
}

#[test]
fn what_other_files_cannot_see_resolves_the_file_alone() {
    let (repo, cache) = shop();
    for text in [
        "# Why?\nLIMIT = 3\nclass Base:\n    def area(self):\n        return LIMIT\n",
        "'''Words.'''\nLIMIT = 3\nclass Base:\n    def area(self):\n        return LIMIT\n",
        "LIMIT = 3\nclass Base:\n    '''More\n    words.'''\n\n    def area(self):\n        '''Words.'''\n        pass\n        return (\n            LIMIT\n        )\n",
        "LIMIT = 4000 + 5\n\n\nclass Base:\n    def area(self): return LIMIT\n",
    ] {
        repo.write("pkg/base.py", text);
        assert_eq!(repo.check(&cache), work(1, 1), "{text}");
    }
    // They see this.
    repo.write(
        "pkg/base.py",
        "LIMIT = 3\nclass Base:\n    def area(self):\n        return LIMIT, Base()\n",
    );
    assert_eq!(repo.check(&cache), work(1, 5));
}

#[test]
fn what_other_files_see_resolves_them_too() {
    const CLASSES: &str = "class A:\n    def go(self):\n        return 1\nclass B(A):\n    def go(self):\n        return 2\n";
    // Each pair differs in one respect.
    for (before, after) in [
        // What a function gives.
        ("def make():\n    return A()\n", "def make():\n    A()\n"),
        (
            "def make():\n    A()\n    return B()\n",
            "def make():\n    return A()\n    B()\n",
        ),
        (
            "async def make():\n    return A()\n",
            "def make():\n    return A()\n",
        ),
        // What is exported.
        (
            "make = A\n__all__ = ['make']\n",
            "make = A\n__all__ = ['A']\n",
        ),
        // Which of two comes last.
        (
            "from late import *\nmake = A\n",
            "make = A\nfrom late import *\n",
        ),
        ("make = A\nmake = B\n", "make = B\nmake = A\n"),
        ("make = A\nif A:\n    make = B\n", "make = A\nA\nmake = B\n"),
        ("make = A\n", "make = A()\n"),
        ("class make(A):\n    pass\n", "class make(B):\n    pass\n"),
    ] {
        let repo = Repo::new(&[
            ("late.py", "def make():\n    return 1\n"),
            (
                "user.py",
                "from given import *\ndef use():\n    return make().go(), make.go()\n",
            ),
        ]);
        let cache = repo.cache();
        for text in [before, after, before] {
            repo.write("given.py", format!("{CLASSES}{text}"));
            let resolved = repo.check(&cache).resolved;
            assert!(resolved > 1, "{before} and {after}");
        }
    }
}

#[test]
fn changing_back_and_forth_parses_nothing_the_second_time() {
    let (repo, cache) = shop();
    let (path, text) = SHOP[1];
    let changed = "def alone():\n    return 2\ndef more():\n    return alone()\n";
    repo.write(path, changed);
    assert_eq!(repo.check(&cache).parsed, 1);
    for text in [text, changed, text] {
        repo.write(path, text);
        assert_eq!(repo.check(&cache), work(0, 2));
    }
}

#[test]
fn a_new_time_of_change_alone_changes_nothing() {
    let (repo, cache) = shop();
    for (path, _) in SHOP {
        let file = fs::File::options();
        let file = file.clone().append(true).open(repo.root().join(path));
        let file = file.expect("the file is there");
        file.set_modified(SystemTime::UNIX_EPOCH)
            .expect("an own file's time can be set");
    }
    assert_eq!(repo.check(&cache), NOTHING);
}

#[test]
fn a_change_that_keeps_time_and_size_is_seen() {
    let (repo, cache) = shop();
    let path = repo.root().join("lonely.py");
    let time = fs::metadata(&path).and_then(|m| m.modified());
    let time = time.expect("the file is there");
    fs::write(&path, "def alona():\n    return 1\n").expect("the file is there");
    let file = fs::File::options().append(true).open(&path);
    let file = file.expect("the file is there");
    file.set_modified(time)
        .expect("an own file's time can be set");
    assert_eq!(repo.check(&cache), work(1, 2));
}

#[test]
fn new_and_removed_and_renamed_files_are_seen() {
    let (repo, cache) = shop();
    repo.write(
        "pkg/extra.py",
        "from .base import Base\nMORE = Base().area()\n",
    );
    assert_eq!(repo.check(&cache).parsed, 1);
    repo.rename("pkg/extra.py", "pkg/a_first.py");
    assert_eq!(repo.check(&cache).parsed, 0);
    repo.remove("pkg/base.py");
    assert_eq!(repo.check(&cache).parsed, 0);
    repo.rename("pkg/a_first.py", "pkg/base.py");
    assert_eq!(repo.check(&cache).parsed, 0);
    // One comes and one goes: as many as before, and other numbers.
    repo.remove("app.py");
    repo.write("zoo.py", SHOP[0].1);
    assert_eq!(repo.check(&cache).parsed, 0);
    assert_eq!(repo.check(&cache), NOTHING);
}

#[test]
fn a_file_that_was_missed_is_found_when_it_comes() {
    let files = [
        (
            "app.py",
            "from tools import helper\nimport late\ndef f():\n    return helper() + late.x\n",
        ),
        ("tools/__init__.py", ""),
    ];
    let repo = Repo::new(&files);
    let cache = repo.cache();
    repo.check(&cache);
    repo.write("late.py", "x = 1\n");
    repo.check(&cache);
    repo.write("tools/helper.py", "def helper():\n    return 1\n");
    repo.check(&cache);
    // It now hides a module of the same name.
    repo.write("late/__init__.py", "x = 2\n");
    repo.check(&cache);
    repo.remove("late/__init__.py");
    repo.check(&cache);
}

#[test]
fn new_package_roots_are_seen() {
    let files = [
        ("a/lib.py", "def helper():\n    return 1\n"),
        (
            "b/use.py",
            "import lib\nfrom a import lib as l\ndef f():\n    return lib.helper() + l.helper()\n",
        ),
        (
            "a/deep/x.py",
            "from lib import helper\ndef g():\n    return helper()\n",
        ),
    ];
    let repo = Repo::new(&files);
    let cache = repo.cache();
    repo.check(&cache);
    // `a` is no folder of scripts any more.
    repo.write("a/__init__.py", "");
    repo.check(&cache);
    repo.write("a/deep/__init__.py", "");
    repo.check(&cache);
    // It is a project of its own: no Python file says so.
    repo.write("b/pyproject.toml", "");
    repo.check(&cache);
    repo.remove("a/__init__.py");
    repo.check(&cache);
    assert_eq!(repo.check(&cache), NOTHING);
}

#[test]
fn evidence_for_a_root_comes_and_goes() {
    let files = [
        ("vendor/space/deep/tool.py", "def tool():\n    return 1\n"),
        ("vendor/space/deep/more.py", "def more():\n    return 1\n"),
        (
            "app/main.py",
            "from space.deep import tool\nimport space\ndef f():\n    return tool.tool()\n",
        ),
    ];
    let repo = Repo::new(&files);
    let cache = repo.cache();
    repo.check(&cache);
    repo.write("other.py", "import space.deep.more\n");
    repo.check(&cache);
    repo.write("other.py", "");
    repo.check(&cache);
}

#[test]
fn a_file_breaks_and_is_whole_again() {
    let (repo, cache) = shop();
    let (path, text) = SHOP[4];
    for broken in [
        &b"\0"[..],
        b"x = '\xff'\n",
        b"# coding: klingon\n",
        b"class Base(:\n",
    ] {
        repo.write(path, broken);
        repo.check(&cache);
        assert_eq!(repo.check(&cache), NOTHING);
        repo.write(path, text);
        assert_eq!(repo.check(&cache).parsed, 0);
    }
    // A folder with the name of a file.
    repo.remove(path);
    fs::create_dir(repo.root().join(path)).expect("a new folder");
    repo.check(&cache);
    fs::remove_dir(repo.root().join(path)).expect("an empty folder");
    repo.write(path, text);
    assert_eq!(repo.check(&cache).parsed, 0);
}

#[test]
fn a_repository_without_files_is_an_error_as_without_a_store_and_comes_back() {
    let repo = Repo::new(&[("one.py", "x = 1\n")]);
    let cache = repo.cache();
    repo.check(&cache);
    repo.remove("one.py");
    let empty = RepoIndex::build_with(&repo.root(), &options(), Some(&cache), &Silent);
    assert!(empty.is_err());
    repo.write("one.py", "x = 1\n");
    repo.check(&cache);
}

#[test]
fn a_copy_elsewhere_is_resolved_and_not_parsed() {
    let (repo, cache) = shop();
    let copy = Repo::new(&SHOP);
    assert_eq!(right(&copy.root(), &cache), work(0, SHOP.len()));
    assert_eq!(right(&copy.root(), &cache), NOTHING);
    assert_eq!(repo.check(&cache), NOTHING);
}

#[test]
fn repositories_share_the_outlines_of_equal_files() {
    let (_one, cache) = shop();
    let two = Repo::new(&SHOP[1..3]);
    two.write("new.py", "import lonely\nx = lonely.alone()\n");
    // A repository in another: a place of its own in the store.
    assert_eq!(right(&two.root(), &cache), work(1, 3));
}

#[test]
fn equal_files_in_one_repository_are_right_each_in_its_place() {
    let text = "from .low import f\ndef g():\n    return f()\n";
    let files = [
        ("a/__init__.py", text),
        ("a/low.py", "def f():\n    return 1\n"),
        ("b/__init__.py", text),
        ("b/low.py", "f = 1\n"),
    ];
    let repo = Repo::new(&files);
    let cache = repo.cache();
    repo.check(&cache);
    assert_eq!(repo.check(&cache), NOTHING);
}

#[test]
fn a_link_to_the_repository_is_the_same_repository() {
    let (repo, cache) = shop();
    let link = repo.root().with_file_name("link");
    std::os::unix::fs::symlink(repo.root(), &link).expect("a new link");
    assert_eq!(right(&link, &cache), NOTHING);
}

#[test]
fn what_the_parsers_gave_does_not_mix() {
    let repo = Repo::new(&SHOP);
    // Only ruff's parser reads on behind the error.
    repo.write("half.py", "def fine():\n    return 1\ndef broken(:\n");
    let cache = repo.cache();
    let build = |parser| {
        let options = with_parser(parser);
        let with_store = RepoIndex::build_with(&repo.root(), &options, Some(&cache), &Silent);
        let with_store = with_store.expect("an index");
        let fresh = RepoIndex::build_with(&repo.root(), &options, None, &Silent);
        assert_eq!(said(&with_store), said(&fresh.expect("an index")));
        with_store.work()
    };
    assert_eq!(build(Parser::Ruff).parsed, SHOP.len() + 1);
    assert_eq!(build(Parser::Rustpython).parsed, SHOP.len() + 1);
    assert_eq!(build(Parser::Ruff), NOTHING);
    assert_eq!(build(Parser::Rustpython), NOTHING);
}

#[test]
fn a_smaller_limit_leaves_a_known_file_out() {
    let (repo, cache) = shop();
    let build = |max_bytes| {
        let options = hydra_pyindex::Options {
            max_bytes,
            ..options()
        };
        let with_store = RepoIndex::build_with(&repo.root(), &options, Some(&cache), &Silent);
        let with_store = with_store.expect("an index");
        let fresh = RepoIndex::build_with(&repo.root(), &options, None, &Silent);
        let fresh = fresh.expect("an index");
        assert_eq!(said(&with_store), said(&fresh));
        fresh.skipped().len()
    };
    assert_eq!(build(60), 3);
    assert_eq!(build(10_000), 0);
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let repo = Repo::new(&SHOP);
    let cache = repo.cache();
    for (round, jobs) in [1, 4, 0, 3].into_iter().enumerate() {
        repo.write("lonely.py", format!("def alone():\n    return {round}\n"));
        let options = hydra_pyindex::Options { jobs, ..options() };
        let index = RepoIndex::build_with(&repo.root(), &options, Some(&cache), &Silent);
        repo::same(&repo.root(), &index.expect("an index"));
    }
}

#[test]
fn nothing_is_written_into_the_repository() {
    let (repo, cache) = shop();
    let before = listing(&repo.root());
    repo.write("lonely.py", SHOP[1].1);
    repo.check(&cache);
    assert_eq!(cache.path(), repo.store());
    assert!(repo.store().is_file());
    assert_eq!(listing(&repo.root()), before);
    assert_eq!(before.len(), SHOP.len());
}

#[test]
fn an_index_without_a_store_leaves_nothing_anywhere() {
    let repo = Repo::new(&SHOP);
    let heard = Recorder::default();
    RepoIndex::build_with(&repo.root(), &options(), None, &heard).expect("an index");
    let around = fs::read_dir(repo.root().parent().expect("it lies in a folder"));
    assert_eq!(around.expect("a folder").count(), 1);
    assert_eq!(heard.warnings(), Vec::<String>::new());
}

/// The files below a folder, with what is in them.
fn listing(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(here).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).expect("a file");
                files.insert(path.display().to_string(), bytes);
            }
        }
    }
    files
}
