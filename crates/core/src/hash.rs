//! SHA-256, as lower-case hexadecimal.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::CoreError;

/// The hash of some bytes.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// The hash of several parts, each preceded by its length, so that no two lists collide.
pub fn sha256_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// The hash of a file's content, read in pieces.
pub fn sha256_file(path: impl AsRef<Path>) -> Result<String, CoreError> {
    let path = path.as_ref();
    let mut file = std::fs::File::open(path).map_err(CoreError::io(path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(CoreError::io(path))? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// The hash of a folder: relative paths and contents of all regular files, in path order.
/// Links are not followed and not hashed.
pub fn sha256_folder(folder: impl AsRef<Path>) -> Result<String, CoreError> {
    let folder = folder.as_ref();
    let mut lines = Vec::new();
    collect(folder, folder, &mut lines)?;
    lines.sort();
    Ok(sha256_parts(lines.iter().map(String::as_bytes)))
}

fn collect(root: &Path, folder: &Path, lines: &mut Vec<String>) -> Result<(), CoreError> {
    for entry in std::fs::read_dir(folder).map_err(CoreError::io(folder))? {
        let entry = entry.map_err(CoreError::io(folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(CoreError::io(&path))?;
        if kind.is_dir() {
            collect(root, &path, lines)?;
        } else if kind.is_file() {
            let name = path.strip_prefix(root).unwrap_or(&path);
            lines.push(format!("{} {}", name.display(), sha256_file(&path)?));
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_string_has_the_published_hash() {
        assert_eq!(
            sha256(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn parts_are_told_apart_by_their_borders() {
        let one = sha256_parts([b"ab".as_slice(), b"c"]);
        let other = sha256_parts([b"a".as_slice(), b"bc"]);
        assert_ne!(one, other);
    }
}
