//! From a folder on disk to texts: walking, reading, decoding.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use encoding_rs::Encoding;
use hydra_core::RepoPath;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{IndexError, Skipped};

/// Larger files are data, not code.
pub(crate) const MAX_BYTES: u64 = 2 << 20;
/// Trees are walked and dropped recursively; a long chain of operators is a deep tree.
const STACK_BYTES: usize = 256 << 20;
/// Folders that hold no source of the repository.
const PASSED_OVER: [&str; 5] = [".git", "__pycache__", ".hg", ".tox", "node_modules"];

/// Runs `work` where recursion over a syntax tree has room, on `jobs` threads (0: one a core). The
/// threads stay for the next time.
pub(crate) fn with_room<T: Send>(
    jobs: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, IndexError> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    // Nothing is done under the lock that could leave the map half changed.
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = match pools.get(&jobs) {
        Some(pool) => pool.clone(),
        None => {
            let pool = ThreadPoolBuilder::new()
                .num_threads(jobs)
                .stack_size(STACK_BYTES)
                .thread_name(|number| format!("index-{number}"))
                .build()
                .map_err(|e| IndexError::Threads(e.to_string()))?;
            let pool = Arc::new(pool);
            pools.insert(jobs, pool.clone());
            pool
        }
    };
    drop(pools);
    Ok(pool.install(work))
}

/// What a folder holds.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The Python files, in path order.
    pub files: Vec<RepoPath>,
    /// The folders with packaging metadata.
    pub metadata: BTreeSet<String>,
    pub skipped: Vec<Skipped>,
}

/// Everything below `root`. Links are never followed. A folder that can't be read is skipped.
pub(crate) fn walk(root: &Path) -> Result<Tree, IndexError> {
    let parts = Mutex::new(Vec::new());
    rayon::scope(|scope| descend(scope, root, String::new(), &parts));
    let mut tree = Tree::default();
    for part in parts.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let part: Tree = part?;
        tree.files.extend(part.files);
        tree.metadata.extend(part.metadata);
        tree.skipped.extend(part.skipped);
    }
    tree.files.par_sort_unstable();
    Ok(tree)
}

/// Walks through a folder and, as work of its own, each one in it.
fn descend<'s>(
    scope: &rayon::Scope<'s>,
    root: &'s Path,
    folder: String,
    parts: &'s Mutex<Vec<Result<Tree, IndexError>>>,
) {
    let part = list(root, &folder).map(|(tree, below)| {
        for folder in below {
            scope.spawn(move |scope| descend(scope, root, folder, parts));
        }
        tree
    });
    let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
    parts.push(part);
}

/// What lies in a folder, and the folders in it.
fn list(root: &Path, folder: &str) -> Result<(Tree, Vec<String>), IndexError> {
    let mut tree = Tree::default();
    let mut below = Vec::new();
    let here = match folder {
        "" => root.to_path_buf(),
        _ => root.join(folder),
    };
    let entries = match std::fs::read_dir(&here) {
        Ok(entries) => entries,
        Err(e) if folder.is_empty() => return Err(hydra_core::CoreError::io(&here)(e).into()),
        Err(e) => {
            tree.skip(folder.to_owned(), format!("the folder can't be read: {e}"));
            return Ok((tree, below));
        }
    };
    for entry in entries {
        match entry {
            Ok(entry) => visit(&entry, folder, &mut tree, &mut below),
            Err(e) => tree.skip(folder.to_owned(), format!("the folder can't be read: {e}")),
        }
    }
    Ok((tree, below))
}

/// Opens a folder to [`read`] from.
pub(crate) fn open(root: &Path) -> Result<File, IndexError> {
    File::open(root).map_err(|e| hydra_core::CoreError::io(root)(e).into())
}

impl Tree {
    fn skip(&mut self, path: String, reason: impl Into<String>) {
        self.skipped.push(Skipped {
            path,
            reason: reason.into(),
        });
    }
}

fn visit(entry: &std::fs::DirEntry, folder: &str, tree: &mut Tree, folders: &mut Vec<String>) {
    let name = entry.file_name();
    let below = |name: &str| match folder {
        "" => name.to_owned(),
        _ => format!("{folder}/{name}"),
    };
    let Some(name) = name.to_str() else {
        let shown = name.to_string_lossy();
        if shown.ends_with(".py") {
            tree.skip(below(&shown), "its name is not UTF-8");
        }
        return;
    };
    let path = below(name);
    let kind = match entry.file_type() {
        Ok(kind) => kind,
        Err(e) => return tree.skip(path, e.to_string()),
    };
    if kind.is_dir() {
        if !PASSED_OVER.contains(&name) {
            folders.push(path);
        }
        return;
    }
    if matches!(name, "setup.py" | "setup.cfg" | "pyproject.toml") && kind.is_file() {
        tree.metadata.insert(folder.to_owned());
    }
    let python = name.ends_with(".py");
    if kind.is_symlink() {
        // A loop of links has no metadata.
        let hides_files = std::fs::metadata(entry.path()).map_or(true, |m| m.is_dir());
        if python || hides_files {
            tree.skip(path, "a link");
        }
    } else if !python {
    } else if !kind.is_file() {
        tree.skip(path, "not a regular file");
    } else {
        match RepoPath::new(path.clone()) {
            Ok(path) => tree.files.push(path),
            Err(_) => tree.skip(path, "its name has a backslash or a NUL byte"),
        }
    }
}

/// Reads a file below a folder; the error is the reason to skip it.
pub(crate) fn read(root: &File, path: &RepoPath, max_bytes: u64) -> Result<Vec<u8>, String> {
    // What was a file a moment ago may be a link or a FIFO now.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = openat(root, path.as_str(), flags, Mode::empty())
        .map_err(|e| std::io::Error::from(e).to_string())?;
    let file = File::from(file);
    let meta = file.metadata().map_err(|e| e.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    if meta.len() > max_bytes {
        return Err(format!("{} bytes, more than {max_bytes}", meta.len()));
    }
    // One byte more than there should be tells, in the same call, that this is all.
    let mut bytes = vec![0; meta.len() as usize + 1];
    let read = (&file).read(&mut bytes).map_err(|e| e.to_string())?;
    bytes.truncate(read);
    if read as u64 != meta.len() {
        // The file grew, or the file system gives less than it was asked for.
        file.take(max_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| e.to_string())?;
    }
    if bytes.len() as u64 > max_bytes {
        return Err(format!("more than {max_bytes} bytes"));
    }
    Ok(bytes)
}

/// A file's text: UTF-8 with or without a mark, or what its first two lines declare (PEP 263).
/// The error is the reason to skip it.
pub(crate) fn decode(mut bytes: Vec<u8>) -> Result<String, String> {
    if memchr::memchr(0, &bytes).is_some() {
        return Err("binary: holds a NUL byte".to_owned());
    }
    let marked = bytes.starts_with(b"\xef\xbb\xbf");
    if marked {
        bytes.drain(..3);
    }
    let declared = declared_encoding(&bytes);
    let unicode = matches!(declared.as_deref(), None | Some("utf-8" | "utf8"));
    if marked || unicode {
        return String::from_utf8(bytes).map_err(|e| {
            let line = memchr::memchr_iter(b'\n', &e.as_bytes()[..e.utf8_error().valid_up_to()]);
            format!(
                "not UTF-8 (line {}), and no other encoding is declared",
                line.count() + 1
            )
        });
    }
    let name = declared.unwrap_or_default();
    match name.as_str() {
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" => {
            Ok(bytes.iter().map(|&b| char::from(b)).collect())
        }
        "ascii" | "us-ascii" => String::from_utf8(bytes)
            .map_err(|_| "declared as ASCII, and holds other bytes".to_owned()),
        _ => {
            let encoding = Encoding::for_label(name.as_bytes())
                .ok_or_else(|| format!("declares the encoding {name}, which is not known"))?;
            let (text, malformed) = encoding.decode_without_bom_handling(&bytes);
            if malformed {
                return Err(format!("not {name}, which it declares"));
            }
            Ok(text.into_owned())
        }
    }
}

/// `# -*- coding: name -*-` in one of the first two lines, in lower case, with Python's
/// underscores and short names made into labels of the Encoding Standard.
fn declared_encoding(bytes: &[u8]) -> Option<String> {
    for line in bytes.split(|b| *b == b'\n').take(2) {
        let line = line.trim_ascii();
        if !line.starts_with(b"#") {
            if line.is_empty() {
                continue;
            }
            return None;
        }
        let Some(at) = memchr::memmem::find(line, b"coding") else {
            continue;
        };
        let rest = &line[at + 6..];
        if !matches!(rest.first(), Some(b':' | b'=')) {
            continue;
        }
        let name: String = rest[1..]
            .trim_ascii_start()
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            .map(|b| char::from(b.to_ascii_lowercase()))
            .collect();
        let name = name.replace('_', "-");
        return Some(match name.strip_prefix("cp125") {
            Some(page) => format!("windows-125{page}"),
            None if name.starts_with("utf-8") => "utf-8".to_owned(),
            None => name,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_as_pep_263_says() {
        let text = |bytes: &[u8]| decode(bytes.to_vec());
        assert_eq!(text(b"\xef\xbb\xbfx = 1\n").as_deref(), Ok("x = 1\n"));
        assert_eq!(
            text(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n").as_deref(),
            Ok("# -*- coding: latin-1 -*-\nx = '\u{e9}'\n")
        );
        assert_eq!(
            text(b"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\nx = '\xe9'\n").as_deref(),
            Ok("#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\nx = '\u{439}'\n")
        );
        assert_eq!(
            text(b"# coding: euc_jp\nx = '\xb4\xc1'\n").as_deref(),
            Ok("# coding: euc_jp\nx = '\u{6f22}'\n")
        );
        // Only the first two lines count, and only comments.
        assert!(text(b"x = 1\n# coding: latin-1\ny = '\xe9'\n").is_err());
        assert!(text(b"# coding: klingon\n").is_err_and(|e| e.contains("klingon")));
        assert!(text(b"\n\nx = '\xff'\n").is_err_and(|e| e.contains("line 3")));
        assert!(text(b"x = '\0'\n").is_err_and(|e| e.contains("binary")));
    }
}
