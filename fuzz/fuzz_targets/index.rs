//! No text brings the index down, and what it says of a text holds.

#![no_main]

use hydra_fuzz::{check, files, index};
use hydra_pyindex::Parser;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let files = files(data);
    for parser in [Parser::Ruff, Parser::Rustpython] {
        check(&index(&files, parser));
    }
});
