//! Files that both parsers read have the same units, edges and imports.

#![no_main]

use std::collections::HashSet;

use hydra_fuzz::{files, index};
use hydra_pyindex::Parser;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut files = files(data);
    let ruff = index(&files, Parser::Ruff);
    let other = index(&files, Parser::Rustpython);
    let broken: HashSet<_> = ruff.broken().map(|(path, _)| path.clone()).collect();
    let before = files.len();
    files.retain(|(path, _)| {
        let read = ruff.text(path).is_some() && other.text(path).is_some();
        read && !broken.contains(path)
    });
    let (ruff, other) = match files.len() {
        0 => return,
        now if now == before => (ruff, other),
        _ => (
            index(&files, Parser::Ruff),
            index(&files, Parser::Rustpython),
        ),
    };
    assert!(ruff.units().eq(other.units()), "units differ");
    for unit in ruff.units() {
        assert_eq!(ruff.edges(&unit.id), other.edges(&unit.id), "{}", unit.id);
    }
    for (path, _) in &files {
        assert_eq!(ruff.imports(path), other.imports(path), "{path}");
        assert_eq!(
            ruff.import_statements(path),
            other.import_statements(path),
            "{path}"
        );
    }
});
