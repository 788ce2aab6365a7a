//! Files that are either whole or not there.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;

use crate::CoreError;

pub(crate) const TEMPORARY_PREFIX: &str = ".hydra-";
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// A file under construction: written beside its destination, renamed onto it by
/// [`AtomicFile::commit`], removed if dropped before.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: BufWriter<NamedTempFile>,
    destination: PathBuf,
}

impl AtomicFile {
    /// Starts a file that will become `destination`; missing parent folders are made.
    pub fn create(destination: impl AsRef<Path>) -> Result<Self, CoreError> {
        let destination = destination.as_ref().to_path_buf();
        // A rename would put a file in the place of a device, a pipe or a link.
        if let Ok(there) = std::fs::symlink_metadata(&destination)
            && !there.is_file()
        {
            let error = std::io::Error::other("it is no regular file and is not replaced");
            return Err(CoreError::io(&destination)(error));
        }
        let folder = match destination.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder).map_err(CoreError::io(folder))?;
        let temporary = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .suffix(TEMPORARY_SUFFIX)
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(folder)
            .map_err(CoreError::io(folder))?;
        Ok(Self {
            temporary: BufWriter::new(temporary),
            destination,
        })
    }

    /// Where the bytes are before [`AtomicFile::commit`], for writers that need a path.
    pub fn temporary_path(&self) -> &Path {
        self.temporary.get_ref().path()
    }

    /// Flushes, syncs and renames: from here on the destination holds the new content.
    pub fn commit(self) -> Result<(), CoreError> {
        let Self {
            temporary,
            destination,
        } = self;
        let temporary = temporary
            .into_inner()
            .map_err(|e| CoreError::io(&destination)(e.into_error()))?;
        temporary
            .as_file()
            .sync_all()
            .map_err(CoreError::io(&destination))?;
        temporary
            .persist(&destination)
            .map_err(|e| CoreError::io(&destination)(e.error))?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.temporary.flush()
    }
}

/// Replaces `destination` by `bytes`, all at once.
pub fn write_atomic(destination: impl AsRef<Path>, bytes: &[u8]) -> Result<(), CoreError> {
    let destination = destination.as_ref();
    let mut file = AtomicFile::create(destination)?;
    file.write_all(bytes).map_err(CoreError::io(destination))?;
    file.commit()
}

/// Writes `value` as indented JSON with a final newline, all at once.
pub fn write_json(destination: impl AsRef<Path>, value: &impl Serialize) -> Result<(), CoreError> {
    let destination = destination.as_ref();
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| CoreError::Document {
        path: destination.to_path_buf(),
        message: e.to_string(),
    })?;
    text.push(b'\n');
    write_atomic(destination, &text)
}

/// Reads a JSON document.
pub fn read_json<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<T, CoreError> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(CoreError::io(path))?;
    serde_json::from_slice(&bytes).map_err(|e| CoreError::Document {
        path: path.to_path_buf(),
        message: e.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_not_replaced() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link)?;
        let error = write_atomic(&link, b"x").expect_err("a link");
        assert!(error.to_string().contains("no regular file"), "{error}");
        Ok(())
    }

    #[test]
    fn dropping_before_commit_keeps_the_old_content() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.txt");
        write_atomic(&path, b"old")?;
        let mut file = AtomicFile::create(&path)?;
        file.write_all(b"half of the ne")?;
        drop(file);
        assert_eq!(std::fs::read(&path)?, b"old");
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }
}
