//! One JSON record a line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{AtomicFile, CoreError};

/// Reads a whole file; blank lines are passed over, a bad line is an error with its number.
pub fn read<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<Vec<T>, CoreError> {
    lines(path)?.collect()
}

/// Reads a file record by record.
pub fn lines<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<Lines<T>, CoreError> {
    let path = path.as_ref().to_path_buf();
    let file = File::open(&path).map_err(CoreError::io(&path))?;
    Ok(Lines {
        reader: BufReader::new(file),
        path,
        line: 0,
        record: std::marker::PhantomData,
    })
}

/// The records of a file, from [`lines`].
#[derive(Debug)]
pub struct Lines<T> {
    reader: BufReader<File>,
    path: PathBuf,
    line: usize,
    record: std::marker::PhantomData<T>,
}

impl<T: DeserializeOwned> Iterator for Lines<T> {
    type Item = Result<T, CoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut bytes = Vec::new();
            self.line += 1;
            match self.reader.read_until(b'\n', &mut bytes) {
                Err(e) => return Some(Err(CoreError::io(&self.path)(e))),
                Ok(0) => return None,
                Ok(_) if bytes.trim_ascii().is_empty() => {}
                Ok(_) => {
                    return Some(serde_json::from_slice(&bytes).map_err(|e| CoreError::Line {
                        path: self.path.clone(),
                        line: self.line,
                        message: e.to_string(),
                    }));
                }
            }
        }
    }
}

/// Writes all records to a temporary file and renames it.
pub fn write<T: Serialize>(
    path: impl AsRef<Path>,
    records: impl IntoIterator<Item = T>,
) -> Result<(), CoreError> {
    let path = path.as_ref();
    let mut file = AtomicFile::create(path)?;
    for record in records {
        file.write_all(&line(path, &record)?)
            .map_err(CoreError::io(path))?;
    }
    file.commit()
}

fn line(path: &Path, record: &impl Serialize) -> Result<Vec<u8>, CoreError> {
    let mut bytes = serde_json::to_vec(record).map_err(|e| CoreError::Document {
        path: path.to_path_buf(),
        message: e.to_string(),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A file that grows by whole lines while a stage runs: the memory of a resumable stage.
///
/// [`Journal::open`] reads what an earlier run left and cuts off a last line that was not
/// finished when that run was killed.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Where the journal of a file lies while the file is not complete: `<out>.partial`.
    pub fn beside(out: &Path) -> PathBuf {
        let mut partial = out.as_os_str().to_owned();
        partial.push(".partial");
        partial.into()
    }

    /// Opens or makes the journal and returns the records it holds already.
    pub fn open<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<(Self, Vec<T>), CoreError> {
        let path = path.as_ref().to_path_buf();
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(CoreError::io(parent))?;
        }
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(CoreError::io(&path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(CoreError::io(&path))?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(CoreError::io(&path))?;
        }
        file.seek(SeekFrom::End(0)).map_err(CoreError::io(&path))?;
        let mut records = Vec::new();
        for (number, text) in bytes[..whole].split(|&b| b == b'\n').enumerate() {
            if text.trim_ascii().is_empty() {
                continue;
            }
            records.push(serde_json::from_slice(text).map_err(|e| CoreError::Line {
                path: path.clone(),
                line: number + 1,
                message: e.to_string(),
            })?);
        }
        Ok((Self { file, path }, records))
    }

    /// Appends one record in a single write.
    pub fn append(&mut self, record: &impl Serialize) -> Result<(), CoreError> {
        let bytes = line(&self.path, record)?;
        self.file
            .write_all(&bytes)
            .map_err(CoreError::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_is_named_by_number() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "1\n\n2\nthree\n")?;
        let error = read::<u32>(&path).expect_err("line 4 is no number");
        assert!(error.to_string().contains("line 4"), "{error}");
        Ok(())
    }

    #[test]
    fn a_journal_drops_the_line_that_a_kill_cut() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("j.jsonl");
        std::fs::write(&path, "1\n2\n3")?;
        let (mut journal, records) = Journal::open::<u32>(&path)?;
        assert_eq!(records, [1, 2]);
        journal.append(&4)?;
        assert_eq!(std::fs::read_to_string(&path)?, "1\n2\n4\n");
        Ok(())
    }
}
