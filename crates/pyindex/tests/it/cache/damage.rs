//! Stores that are damaged, or can't be used: the index is made and right, the user is told, and
//! nothing panics.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use hydra_core::Silent;
use hydra_pyindex::{Cache, IndexError, RepoIndex};
use rusqlite::Connection;

use super::NOTHING;
use super::repo::{Recorder, Repo, SHOP, options, right, same};

/// [`SHOP`] with a store that holds all of it and is closed.
fn filled() -> Repo {
    let repo = Repo::new(&SHOP);
    repo.check(&repo.cache());
    repo
}

/// Changes stored bytes behind the store's back.
fn tamper(repo: &Repo, statement: &str) -> usize {
    let store = Connection::open(repo.store()).expect("the store");
    store.execute(statement, []).expect("the store's tables")
}

/// Makes an index with whatever the store is, and gives what the user was told.
fn told(repo: &Repo) -> Vec<String> {
    let heard = Recorder::default();
    match Cache::open(repo.store()) {
        Ok(cache) => {
            let index = RepoIndex::build_with(&repo.root(), &options(), Some(&cache), &heard);
            same(&repo.root(), &index.expect("an index"));
            heard.warnings()
        }
        Err(e) => vec![e.to_string()],
    }
}

#[test]
fn rows_with_a_flipped_byte_count_as_absent() {
    for (table, parsed) in [("outlines", 0), ("repositories", 0)] {
        let repo = filled();
        let rows = tamper(
            &repo,
            &format!(
                "UPDATE {table} SET body = CAST(substr(body, 1, length(body) / 2) || x'00' || \
                 substr(body, length(body) / 2 + 2) AS BLOB)"
            ),
        );
        assert!(rows > 0);
        assert_eq!(right(&repo.root(), &repo.cache()).parsed, parsed, "{table}");
        // What is needed of the damaged outlines is made again from the texts.
        repo.write(
            "pkg/base.py",
            "class Base:\n    def area(self):\n        return 2\n",
        );
        assert_eq!(right(&repo.root(), &repo.cache()).parsed, 1, "{table}");
        assert_eq!(right(&repo.root(), &repo.cache()), NOTHING);
    }
}

#[test]
fn every_flipped_bit_of_a_row_is_noticed() {
    let repo = filled();
    let whole: Vec<u8> = Connection::open(repo.store())
        .expect("the store")
        .query_row("SELECT body FROM repositories", [], |row| row.get(0))
        .expect("one repository");
    for at in (0..whole.len()).step_by(whole.len() / 24) {
        let mut body = whole.clone();
        body[at] ^= 1 << (at % 8);
        let store = Connection::open(repo.store()).expect("the store");
        store
            .execute("UPDATE repositories SET body = ?1", [body])
            .expect("the store's tables");
        drop(store);
        assert_eq!(right(&repo.root(), &repo.cache()).resolved, SHOP.len());
    }
}

#[test]
fn rows_that_are_cut_short_or_empty_or_text_count_as_absent() {
    for body in [
        "x''",
        "x'00'",
        "substr(body, 1, length(body) - 1)",
        "zeroblob(16)",
    ] {
        let repo = filled();
        tamper(&repo, &format!("UPDATE outlines SET body = {body}"));
        tamper(&repo, &format!("UPDATE repositories SET body = {body}"));
        let all = SHOP.len();
        assert_eq!(right(&repo.root(), &repo.cache()), super::work(all, all));
        assert_eq!(right(&repo.root(), &repo.cache()), NOTHING);
    }
}

#[test]
fn a_row_of_another_type_is_told() {
    let repo = filled();
    tamper(&repo, "UPDATE repositories SET body = 7");
    assert_eq!(told(&repo).len(), 1);
}

#[test]
fn an_outline_under_another_files_hash_does_not_pass_for_that_files() {
    let repo = filled();
    // All rows hold the first file's outline, whole and with its own sum.
    tamper(
        &repo,
        "UPDATE outlines SET body = (SELECT body FROM outlines LIMIT 1)",
    );
    tamper(&repo, "DELETE FROM repositories");
    let all = SHOP.len();
    assert_eq!(
        right(&repo.root(), &repo.cache()),
        super::work(all - 1, all)
    );
}

#[test]
fn an_index_under_another_repositorys_name_does_not_pass_for_that_ones() {
    let repo = filled();
    let copy = Repo::new(&SHOP[..3]);
    right(&copy.root(), &repo.cache());
    let from = repo.root().canonicalize().expect("a folder");
    tamper(
        &repo,
        &format!(
            "UPDATE repositories SET body = (SELECT body FROM repositories WHERE root = '{}')",
            from.display()
        ),
    );
    assert_eq!(right(&copy.root(), &repo.cache()), super::work(0, 3));
}

#[test]
fn a_damaged_database_never_makes_an_index_wrong() {
    let repo = filled();
    let whole = fs::read(repo.store()).expect("the store");
    let damaged = |bytes: &[u8], what: &str| {
        fs::write(repo.store(), bytes).expect("the store");
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{side}", repo.store().display()));
        }
        let warnings = told(&repo);
        assert!(
            warnings.len() < 2,
            "{what}: told more than once: {warnings:?}"
        );
        for warning in &warnings {
            assert!(warning.contains("index.sqlite"), "{what}: {warning}");
            let advised = warning.contains("deleting it");
            let strange = ["something else", "newer Hydra"];
            let strange = strange.iter().any(|words| warning.contains(words));
            assert!(advised || strange, "{what}: {warning}");
        }
        warnings.len()
    };
    // An empty file is a new store; other lengths are no database, or one with holes.
    assert_eq!(damaged(&[], "empty"), 0);
    for length in [
        1,
        50,
        100,
        1000,
        4096,
        5000,
        8192,
        whole.len() / 2,
        whole.len() - 1,
    ] {
        damaged(&whole[..length], &format!("{length} bytes of it"));
    }
    for at in (0..whole.len()).step_by(whole.len() / 50) {
        let mut bytes = whole.clone();
        let end = (at + 64).min(bytes.len());
        bytes[at..end].iter_mut().for_each(|b| *b = !*b);
        damaged(&bytes, &format!("other bytes at {at}"));
    }
    assert_eq!(damaged(b"This is no database, and never was.\n", "text"), 1);
    assert_eq!(damaged(&vec![0; 8192], "zeros"), 1);
    assert_eq!(damaged(&whole, "whole again"), 0);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let repo = Repo::new(&SHOP);
    let path = repo.root().with_file_name("notes.txt");
    let notes = "Dear diary,\n".repeat(500);
    fs::write(&path, &notes).expect("a file");
    let refused = Cache::open(&path).expect_err("it is no database");
    assert!(matches!(refused, IndexError::Cache { .. }), "{refused}");
    assert!(refused.to_string().contains("notes.txt"), "{refused}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), notes);
}

#[test]
fn a_place_that_cannot_hold_a_store_is_refused_with_its_path() {
    let repo = Repo::new(&SHOP);
    for path in [repo.root(), repo.root().join("app.py/index.sqlite")] {
        let refused = Cache::open(&path).expect_err("no store can be there");
        let shown = path.display().to_string();
        assert!(refused.to_string().contains(&shown), "{refused}");
    }
}

#[test]
fn a_store_of_an_earlier_format_is_made_anew() {
    for format in [0, 1, 4] {
        let repo = filled();
        tamper(&repo, &format!("PRAGMA user_version = {format}"));
        let all = SHOP.len();
        assert_eq!(right(&repo.root(), &repo.cache()), super::work(all, all));
        assert_eq!(right(&repo.root(), &repo.cache()), NOTHING);
    }
}

#[test]
fn a_store_that_loses_its_tables_while_it_is_open_is_told() {
    let repo = filled();
    let cache = repo.cache();
    tamper(&repo, "DROP TABLE outlines");
    repo.write("new.py", "x = 1\n");
    let heard = Recorder::default();
    let index = RepoIndex::build_with(&repo.root(), &options(), Some(&cache), &heard);
    same(&repo.root(), &index.expect("an index"));
    let warnings = heard.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("could not be kept"), "{warnings:?}");
}

/// The folder and the kind of trouble of a process started by these tests.
const CHILD: &str = "HYDRA_TEST_STORE_IN_TROUBLE";

/// This test program again, to run one test.
fn again(test: &str) -> std::io::Result<[std::ffi::OsString; 4]> {
    let program = std::env::current_exe()?.into_os_string();
    Ok([program, test.into(), "--exact".into(), "--nocapture".into()])
}

#[test]
fn a_full_disk_is_told_and_costs_only_the_store() {
    let repo = Repo::new(&SHOP);
    // One file's outline is more than the limit below.
    let long: String = (0..2000)
        .map(|n| format!("def f{n}():\n    return f{n}\n"))
        .collect();
    repo.write("long.py", long);
    let test = "cache::damage::in_a_child_process_the_store_is_in_trouble";
    let words = again(test).expect("this program");
    // A write past the limit fails, as on a full disk, where the signal is ignored.
    let status = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\""])
        .args(words)
        .env(CHILD, repo.root().with_file_name("store"))
        .status()
        .expect("a shell");
    assert!(status.success());
    assert!(repo.store().is_file());
    // The store is whole, and empty.
    let all = SHOP.len() + 1;
    assert_eq!(right(&repo.root(), &repo.cache()), super::work(all, all));
    assert_eq!(right(&repo.root(), &repo.cache()), NOTHING);
}

#[test]
fn a_store_that_cannot_be_written_is_told_and_still_read_or_refused() {
    let repo = filled();
    repo.write("new.py", "x = 1\n");
    let store = repo.store();
    let folder = store.parent().expect("it lies in a folder");
    let mode = |path: &Path, bits| {
        fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("an own file");
    };
    let around = folder.parent().expect("it lies in a folder");
    mode(around, 0o755);
    mode(&store, 0o444);
    mode(folder, 0o555);
    let [program, words @ ..] =
        again("cache::damage::in_a_child_process_the_store_is_in_trouble").expect("this program");
    let mut command = Command::new(program);
    command.args(words).env(CHILD, folder);
    // Permissions don't hold root back: another user tries.
    if fs::write(folder.join("probe"), "").is_ok() {
        command.uid(65_534).gid(65_534);
    }
    match command.status() {
        Ok(status) => assert!(status.success()),
        Err(e) => {
            let mut out = std::io::stderr().lock();
            let _ = std::io::Write::write_fmt(
                &mut out,
                format_args!("left out: another user can't run this program: {e}\n"),
            );
        }
    }
    mode(folder, 0o755);
    mode(&store, 0o644);
    right(&repo.root(), &repo.cache());
}

/// Not a test of its own: the tests above run it in another process.
#[test]
fn in_a_child_process_the_store_is_in_trouble() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let folder = Path::new(&folder);
    let root = folder.with_file_name("repo");
    let heard = Recorder::default();
    let warnings = match Cache::open(folder.join("index.sqlite")) {
        Ok(cache) => {
            let index = RepoIndex::build_with(&root, &options(), Some(&cache), &heard);
            same(&root, &index.expect("an index"));
            heard.warnings()
        }
        Err(e) => vec![e.to_string()],
    };
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("index.sqlite"), "{warnings:?}");
}

#[test]
fn files_that_cannot_be_read_are_skipped_with_a_store_as_without() {
    let repo = filled();
    let path = repo.root().join("lonely.py");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).expect("an own file");
    repo.check(&repo.cache());
    let index = RepoIndex::build_with(&repo.root(), &options(), None, &Silent).expect("an index");
    let readable = fs::read(&path).is_ok();
    assert_eq!(index.skipped().is_empty(), readable);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("an own file");
    assert_eq!(repo.check(&repo.cache()).parsed, 0);
}

/// The database must be refused for `reason`, and keep every byte.
fn is_left_alone(repo: &Repo, reason: &str) {
    let before = fs::read(repo.store()).expect("the database");
    let said = told(repo);
    assert!(said.len() == 1 && said[0].contains(reason), "{said:?}");
    assert!(before == fs::read(repo.store()).expect("the database"));
}

#[test]
fn a_database_of_something_else_is_left_as_it_is() {
    for statements in [
        "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')",
        "CREATE TABLE outlines (a); PRAGMA user_version = 3",
        "CREATE TABLE outlines (parser, hash, body); CREATE TABLE repositories (a)",
        "CREATE TABLE outlines (parser, hash, body);
         CREATE TABLE repositories (root, parser, body); CREATE VIEW mine AS SELECT 1",
    ] {
        let repo = Repo::new(&SHOP);
        fs::create_dir_all(repo.store().parent().expect("a folder")).expect("a folder");
        let other = Connection::open(repo.store()).expect("a database");
        other.execute_batch(statements).expect("its tables");
        drop(other);
        is_left_alone(&repo, "something else");
    }
}

#[test]
fn the_store_of_a_newer_version_is_left_as_it_is() {
    let repo = filled();
    tamper(&repo, "PRAGMA user_version = 4000000");
    is_left_alone(&repo, "newer Hydra");
}
