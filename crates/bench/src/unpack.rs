//! Archives made by strangers, unpacked as plain files or refused.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use flate2::read::GzDecoder;
use hydra_core::{CoreError, RepoPath};

use crate::BenchError;

/// No file of RepoExec's projects or outputs is larger than 2 MB; the rest is room.
const MAX_FILE: u64 = 64 << 20;
const MAX_TOTAL: u64 = 1 << 30;
/// The file-type bits of a Unix mode, and the two types that an entry may have (stat(2)).
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// Unpacks a wheel, `.zip` or `.tar.gz` into `target`, without the first `strip` parts of each
/// path. Nothing of it runs. The whole archive is refused when an entry is absolute, climbs with
/// `..`, is a link or a device, or is too large.
pub(crate) fn unpack(archive: &Path, strip: usize, target: &Path) -> Result<(), BenchError> {
    let mut place = Place {
        archive,
        strip,
        target,
        left: MAX_TOTAL,
    };
    std::fs::create_dir_all(target).map_err(CoreError::io(target))?;
    let name = archive.to_string_lossy();
    if name.ends_with(".whl") || name.ends_with(".zip") {
        zipped(&mut place)
    } else if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
        tarred(&mut place)
    } else {
        Err(place.refused("neither .whl, .zip nor .tar.gz"))
    }
}

struct Place<'a> {
    archive: &'a Path,
    strip: usize,
    target: &'a Path,
    left: u64,
}

impl Place<'_> {
    fn refused(&self, reason: impl std::fmt::Display) -> BenchError {
        BenchError::Archive {
            path: self.archive.to_path_buf(),
            reason: reason.to_string(),
        }
    }

    /// The checked path without its first parts; nothing where no part is left.
    fn path(&self, raw: &[u8]) -> Result<Option<RepoPath>, BenchError> {
        let name = std::str::from_utf8(raw).map_err(|_| self.refused("a name is not UTF-8"))?;
        let name = name.strip_prefix("./").unwrap_or(name);
        let name = name.strip_suffix('/').unwrap_or(name);
        if name.is_empty() || name == "." {
            return Ok(None);
        }
        let path = RepoPath::new(name).map_err(|e| self.refused(e))?;
        let kept: Vec<&str> = path.as_str().split('/').skip(self.strip).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        RepoPath::new(kept.join("/"))
            .map(Some)
            .map_err(|e| self.refused(e))
    }

    /// What an archive declares may be a lie: the bytes are counted as they come.
    fn write(&mut self, path: &RepoPath, content: impl Read) -> Result<(), BenchError> {
        let place = path.under(self.target);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder).map_err(CoreError::io(folder))?;
        }
        let file = File::create(&place).map_err(CoreError::io(&place))?;
        let mut file = BufWriter::new(file);
        let limit = MAX_FILE.min(self.left);
        let written = std::io::copy(&mut content.take(limit + 1), &mut file)
            .map_err(|e| self.refused(format!("{path}: {e}")))?;
        if written > limit {
            return Err(self.refused(format!("{path}: too large")));
        }
        self.left -= written;
        file.flush().map_err(CoreError::io(&place))?;
        Ok(())
    }
}

fn zipped(place: &mut Place) -> Result<(), BenchError> {
    let file = File::open(place.archive).map_err(CoreError::io(place.archive))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|e| place.refused(e))?;
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|e| place.refused(e))?;
        let folder = entry.name_raw().ends_with(b"/");
        // Archives made on other systems carry no type; links exist only where it is set.
        let kind = entry.unix_mode().map_or(0, |mode| mode & TYPE);
        let allowed = if folder { FOLDER } else { REGULAR };
        if entry.is_symlink() || (kind != 0 && kind != allowed) {
            return Err(place.refused(format!("{:?}: a link or special file", entry.name())));
        }
        if let Some(path) = place.path(entry.name_raw())?
            && !folder
        {
            place.write(&path, entry)?;
        }
    }
    Ok(())
}

fn tarred(place: &mut Place) -> Result<(), BenchError> {
    let file = File::open(place.archive).map_err(CoreError::io(place.archive))?;
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    for entry in archive.entries().map_err(|e| place.refused(e))? {
        let entry = entry.map_err(|e| place.refused(e))?;
        let kind = entry.header().entry_type();
        // Comments on the whole archive, no file.
        if kind.is_pax_global_extensions() {
            continue;
        }
        let name = entry.path_bytes().into_owned();
        if !kind.is_file() && !kind.is_dir() {
            let name = String::from_utf8_lossy(&name);
            return Err(place.refused(format!("{name:?}: a link or special file")));
        }
        if let Some(path) = place.path(&name)?
            && kind.is_file()
        {
            place.write(&path, entry)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A tar.gz whose names are not checked by the writer.
    fn tar_of(folder: &Path, entries: &[(&str, tar::EntryType)]) -> std::path::PathBuf {
        let path = folder.join("a.tar.gz");
        let gz = flate2::write::GzEncoder::new(File::create(&path).unwrap(), Default::default());
        let mut builder = tar::Builder::new(gz);
        for (name, kind) in entries {
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(0o644);
            let content: &[u8] = if kind.is_file() { b"x" } else { b"" };
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap();
        path
    }

    #[test]
    fn the_first_parts_are_dropped() {
        use tar::EntryType::{Directory, Regular};
        let folder = tempfile::tempdir().unwrap();
        let entries = [("./p-1/", Directory), ("./p-1/q/a.py", Regular)];
        let archive = tar_of(folder.path(), &entries);
        let target = folder.path().join("out");
        unpack(&archive, 1, &target).unwrap();
        assert_eq!(std::fs::read(target.join("q/a.py")).unwrap(), b"x");
        assert!(!target.join("p-1").exists());
    }

    #[test]
    fn what_leaves_the_folder_is_refused() {
        use tar::EntryType::{Fifo, Link, Regular, Symlink};
        let bad = [
            ("../a", Regular),
            ("p/../../a", Regular),
            ("/a", Regular),
            ("p/a", Symlink),
            ("p/a", Link),
            ("p/a", Fifo),
        ];
        for entry in bad {
            let folder = tempfile::tempdir().unwrap();
            let archive = tar_of(folder.path(), &[entry]);
            let target = folder.path().join("in/out");
            let done = unpack(&archive, 0, &target);
            assert!(matches!(done, Err(BenchError::Archive { .. })), "{entry:?}");
            assert!(!folder.path().join("in/a").exists());
        }
    }

    #[test]
    fn a_wheel_with_a_climbing_name_is_refused() {
        for (name, good) in [("p/a.py", true), ("../a.py", false)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.whl");
            let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(name, options).unwrap();
            writer.write_all(b"x").unwrap();
            writer.finish().unwrap();
            let done = unpack(&path, 0, &folder.path().join("out"));
            assert_eq!(done.is_ok(), good, "{name}");
        }
    }
}
