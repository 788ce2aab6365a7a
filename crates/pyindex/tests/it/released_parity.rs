//! The `as-released` mode on whole repositories: the original's own output, and texts of any kind.

use std::collections::BTreeMap;
use std::path::Path;

use hydra_core::{RepoPath, Silent};
use hydra_pyindex::released::ReleasedIndex;
use proptest::prelude::*;
use serde_json::Value;

fn index(files: &[(&str, &str)]) -> ReleasedIndex {
    let sources = files.iter().map(|(path, text)| {
        let path = RepoPath::new(*path).expect("a path");
        (path, (*text).to_owned())
    });
    ReleasedIndex::from_sources("/repo", sources).expect("threads")
}

/// Lists in the fixture are sorted: the original follows the order of sets.
fn sorted(mut value: Value) -> Value {
    if let Value::Array(items) = &mut value {
        items.sort_by_key(ToString::to_string);
    }
    value
}

type Entries = BTreeMap<String, BTreeMap<String, Value>>;

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

fn entries(value: &Value) -> Entries {
    serde_json::from_value(value.clone()).expect("records")
}

#[test]
fn the_written_files_are_the_originals() -> Result<(), Box<dyn std::error::Error>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/released");
    let repository = fixtures.join("shop");
    let index = ReleasedIndex::build(&repository, &Silent)?;
    let folder = tempfile::tempdir()?;
    index.write(folder.path())?;

    let expected = read(&fixtures.join("expected.json"));
    let graph = read(&folder.path().join("dependency_graph.json"));
    let mut ours = entries(&graph);
    for record in ours.values_mut() {
        let path = record.remove("file_path").expect("a path");
        let relative = record["relative_path"].as_str().expect("text");
        assert_eq!(path, repository.join(relative).to_string_lossy().as_ref());
        for field in ["outgoing_calls", "noise"] {
            let calls = record.get_mut(field).and_then(Value::as_object_mut);
            for ids in calls.expect("lists").values_mut() {
                *ids = sorted(ids.take());
            }
        }
    }
    let theirs = entries(&expected["dependency_graph"]);
    assert_eq!(theirs.len(), 93);
    for (id, record) in &theirs {
        assert_eq!(ours.get(id), Some(record), "{id}");
    }
    assert_eq!(ours.len(), theirs.len());

    let external = read(&folder.path().join("external_knowledge.json"));
    let mut ours = entries(&external);
    for entry in ours.values_mut() {
        let entities = entry.get_mut("external_entity").expect("entities");
        *entities = sorted(entities.take());
    }
    assert_eq!(ours, entries(&expected["external_knowledge"]));
    Ok(())
}

#[test]
fn a_folder_without_python_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("bad.py"), "def")?;
    let error = ReleasedIndex::build(folder.path(), &Silent).expect_err("nothing");
    assert!(error.to_string().contains("1 skipped"), "{error}");
    Ok(())
}

#[test]
fn the_root_is_made_absolute_without_reading_links() {
    let source = (RepoPath::new("m.py").expect("a path"), "x = 1".to_owned());
    let index = ReleasedIndex::from_sources("/a/b/../c/.", [source]).expect("threads");
    assert_eq!(index.root, Path::new("/a/c"));
}

#[test]
fn deep_trees_are_indexed_or_skipped() {
    let chain = format!("def f(): return {}f\n", "f.x + ".repeat(20_000));
    let minus = format!("def g(): return {}g\n", "-".repeat(100_000));
    let tower: String = (0..120)
        .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
        .chain([format!("{}pass\n", " ".repeat(120))])
        .collect();
    let index = index(&[
        ("chain.py", &chain),
        ("minus.py", &minus),
        ("tower.py", &tower),
    ]);
    for id in ["f@chain.py", "g@minus.py"] {
        assert_eq!(index.components[id].outgoing_calls.function[0].as_str(), id);
    }
    assert_eq!(index.skipped.len(), 1);
}

proptest! {
    /// Whatever the text, every id is there once, and dependencies and noise are components apart.
    #[test]
    fn dependencies_and_noise_are_components_and_have_nothing_in_common(
        pieces in proptest::collection::vec(0..12usize, 0..12),
    ) {
        const PIECES: [&str; 12] = [
            "def f(): return g(x)\n", "class C:\n    def f(self): return C.f(x)\n",
            "x = 1\n", "from other import *\n", "from other import f as g, C\n", "import other\n",
            "if x:\n    def g(): return f\n", "class f(C): x = f\n", "import other as x\n",
            "@g\ndef g(x, *f): f = x\n", "def f():\n    def g(): return C\n", "g = C()\n",
        ];
        let text: String = pieces.iter().map(|&at| PIECES[at]).collect();
        let index = index(&[("m.py", &text), ("other.py", &text)]);
        for component in index.components.values() {
            let noise = index.noise(component);
            prop_assert!(noise.variable.is_empty());
            for id in component.outgoing_calls.iter().chain(noise.iter()) {
                prop_assert!(index.components.contains_key(id.as_str()));
            }
            for id in noise.iter() {
                prop_assert!(component.outgoing_calls.iter().all(|other| other != id));
            }
        }
    }
}
