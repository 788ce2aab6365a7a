//! From a folder on disk to outlines: walking, decoding, parsing.

use std::path::Path;

use hydra_core::RepoPath;
use rustpython_parser::Parse;
use rustpython_parser::ast::Suite;

use crate::lower::lower;
use crate::outline::Outline;
use crate::{IndexError, Skipped};

/// Larger files are data, not code.
const MAX_BYTES: u64 = 2 << 20;
/// CPython refuses more than 200 nested parentheses (`MAXSTACK` of its parser is of that order).
const MAX_NESTING: usize = 200;
/// Trees are walked and dropped recursively; a long chain of operators is a deep tree.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` where recursion over a syntax tree has room.
pub(crate) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, IndexError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK_BYTES)
        .build()
        .map_err(|e| IndexError::Threads(e.to_string()))?;
    Ok(pool.install(work))
}

/// All Python files below `root`, in path order. Links are never followed.
pub(crate) fn walk(
    root: &Path,
    found: &mut Vec<RepoPath>,
    skipped: &mut Vec<Skipped>,
) -> Result<(), IndexError> {
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let here = root.join(&folder);
        let entries = std::fs::read_dir(&here).map_err(hydra_core::CoreError::io(&here))?;
        for entry in entries {
            let entry = entry.map_err(hydra_core::CoreError::io(&here))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                continue;
            };
            let path = if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            };
            let kind = entry
                .file_type()
                .map_err(hydra_core::CoreError::io(&here))?;
            let python = name.ends_with(".py");
            let reason = if kind.is_dir() {
                if !matches!(
                    name,
                    ".git" | "__pycache__" | ".hg" | ".tox" | "node_modules"
                ) {
                    folders.push(path);
                }
                continue;
            } else if !python {
                continue;
            } else if kind.is_symlink() {
                "a link"
            } else if !kind.is_file() {
                "not a regular file"
            } else {
                match RepoPath::new(path.clone()) {
                    Ok(path) => {
                        found.push(path);
                        continue;
                    }
                    Err(_) => "its name has a backslash or a NUL byte",
                }
            };
            skipped.push(Skipped {
                path,
                reason: reason.to_owned(),
            });
        }
    }
    found.sort();
    Ok(())
}

/// Reads and decodes a file; the error is the reason to skip it.
pub(crate) fn read(root: &Path, path: &RepoPath) -> Result<String, String> {
    let full = path.under(root);
    let size = std::fs::metadata(&full).map_err(|e| e.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("{size} bytes, more than {MAX_BYTES}"));
    }
    decode(&std::fs::read(&full).map_err(|e| e.to_string())?)
}

/// UTF-8 with or without a mark, or Latin-1 where the file says so (PEP 263).
fn decode(bytes: &[u8]) -> Result<String, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => {
            let head: Vec<u8> = bytes
                .split(|&b| b == b'\n')
                .take(2)
                .flatten()
                .map(u8::to_ascii_lowercase)
                .collect();
            let head = String::from_utf8_lossy(&head).into_owned();
            if head.contains("coding") && (head.contains("latin-1") || head.contains("8859-1")) {
                Ok(bytes.iter().map(|&b| char::from(b)).collect())
            } else {
                Err("not UTF-8, and no encoding that can be read is declared".to_owned())
            }
        }
    }
}

/// Parses a file; the error is the reason to skip it.
pub(crate) fn parse(path: &RepoPath, text: &str) -> Result<Outline, String> {
    let mut depth = 0usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(format!("brackets nested deeper than {MAX_NESTING}"));
        }
    }
    if text.contains('\0') {
        return Err("holds a NUL byte".to_owned());
    }
    let body = Suite::parse(text, path.as_str()).map_err(|e| format!("syntax error: {e}"))?;
    Ok(lower(path, text, &body))
}
