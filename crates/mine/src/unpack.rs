//! Wheels are zip archives made by strangers.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hydra_core::{CoreError, RepoPath};
use zip::ZipArchive;

use crate::MineConfig;
use crate::error::ItemError;
use crate::licence::is_licence_file;
use crate::records::Refusal;
use crate::taken::Taken;

/// The file-type bits of a Unix mode, and the two types that an entry may have (stat(2)).
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// Below this size a high ratio means nothing: an empty `__init__.py` full of blank lines.
const RATIO_FROM: u64 = 64 << 10;

/// Unpacks the Python sources, the metadata and the licence files of a wheel into `target`.
///
/// The whole wheel is refused when any entry, wanted or not, is absolute, climbs with `..`, holds
/// a backslash, or is a link or a device; and when a wanted one is encrypted or larger than the
/// limits, by what it declares or by what it turns out to be.
pub(crate) fn unpack(wheel: &Path, target: &Path, config: &MineConfig) -> Result<Taken, ItemError> {
    let file = File::open(wheel).map_err(CoreError::io(wheel))?;
    let mut archive =
        ZipArchive::new(file).map_err(|e| refused(format!("not a zip archive: {e}")))?;
    let mut taken = Taken::default();
    for number in 0..archive.len() {
        let entry = archive
            .by_index_raw(number)
            .map_err(|e| refused(format!("entry {number}: {e}")))?;
        let Some(path) = check(&entry)? else {
            continue;
        };
        drop(entry);
        if !is_wanted(&path) {
            continue;
        }
        let entry = archive
            .by_index(number)
            .map_err(|e| refused(format!("{path}: {e}")))?;
        let bytes = read(entry, &path, config)?;
        taken.write(target, &path, &bytes, config)?;
    }
    Ok(taken)
}

fn refused(reason: String) -> ItemError {
    ItemError::refused(Refusal::Unsafe, format!("unsafe archive: {reason}"))
}

/// The entry's path if it is a regular file, nothing if it is a folder.
fn check<R: Read>(entry: &zip::read::ZipFile<'_, R>) -> Result<Option<RepoPath>, ItemError> {
    let raw = entry.name_raw();
    let name = std::str::from_utf8(raw)
        .map_err(|_| refused(format!("{:?}: not UTF-8", String::from_utf8_lossy(raw))))?;
    let is_folder = name.ends_with('/');
    let path = RepoPath::new(name.strip_suffix('/').unwrap_or(name))
        .map_err(|e| refused(format!("{:?}: {}", e.path, e.reason)))?;
    // Archives made on other systems carry no type; links exist only where it is set.
    let kind = entry.unix_mode().map_or(0, |m| m & TYPE);
    let allowed = if is_folder { FOLDER } else { REGULAR };
    if entry.is_symlink() || (kind != 0 && kind != allowed) {
        return Err(refused(format!("{name:?}: a link or special file")));
    }
    Ok((!is_folder).then_some(path))
}

fn read<R: Read>(
    entry: zip::read::ZipFile<'_, R>,
    path: &RepoPath,
    config: &MineConfig,
) -> Result<Vec<u8>, ItemError> {
    if entry.encrypted() {
        return Err(refused(format!("{path}: encrypted")));
    }
    let packed = entry.compressed_size().max(1);
    let declared = entry.size();
    let mut bytes = Vec::new();
    // What is declared may be a lie: the reader stops by itself one byte past the limit.
    entry
        .take(config.max_file_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| refused(format!("{path}: {e}")))?;
    let size = declared.max(bytes.len() as u64);
    if size > config.max_file_bytes {
        return Err(refused(format!(
            "{path}: larger than {} bytes",
            config.max_file_bytes
        )));
    }
    if size > RATIO_FROM && size / packed > config.max_ratio {
        return Err(refused(format!(
            "{path}: packed more than {} times",
            config.max_ratio
        )));
    }
    Ok(bytes)
}

fn is_wanted(path: &RepoPath) -> bool {
    let name = path.file_name();
    let in_metadata = path.parent().is_some_and(|p| {
        p.as_str()
            .split('/')
            .next()
            .is_some_and(|top| top.ends_with(".dist-info"))
    });
    name.ends_with(".py") || (in_metadata && name == "METADATA") || is_licence_file(name)
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
