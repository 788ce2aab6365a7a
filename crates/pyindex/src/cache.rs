//! The store of what was indexed before.
//!
//! One SQLite database outside the repositories. `outlines` holds what a file's text was lowered
//! into, by parser and content hash; `repositories` holds, by folder and parser, the last index of
//! a repository: each file's units and edges, and which other files the edges rest on. Both carry
//! a checksum of what they hold and of what it is filed under; a row that doesn't match is as good
//! as absent. SQLite's write-ahead log makes it safe to use from many processes, and to kill any
//! of them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::IndexError;
use crate::outline::{Facts, Outline};
use crate::parse::Parser;
use crate::resolve::FoundEdge;

/// The hash of a file's bytes.
pub(crate) type ContentHash = [u8; 32];
/// A checksum: it tells damage and change, not malice.
pub(crate) type Sum = [u8; 16];

/// What a file's bytes are known again by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Says whether the same file of the same repository has changed.
    pub sum: Sum,
    /// Finds equal files of any repository: one that is made to collide must find nothing.
    pub hash: ContentHash,
}

/// Changes whenever what is stored, or what is computed from a file, changes its meaning.
const FORMAT: u32 = 5;
/// The tables and their columns, by name: those of every format so far.
const TABLES: [(&str, &str); 2] = [
    ("outlines", "parser hash body"),
    ("repositories", "root parser body"),
];
/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(5);
const PAGE_BYTES: u32 = 32 << 10;

/// A store of outlines and of whole indexes, in a file of its own.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// The last index of a repository.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Snapshot<'a> {
    #[serde(borrow)]
    pub files: Vec<SnapshotFile<'a>>,
    /// Files that were read but can't be indexed.
    pub refused: Cow<'a, [SnapshotSkip]>,
    /// The package roots, by their numbers in the tree of modules.
    pub roots: Vec<(u32, bool)>,
}

/// A file of it; what is long stays packed until it is needed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SnapshotFile<'a> {
    pub path: &'a str,
    pub identity: Identity,
    /// What other files' answers rest on: [`Outline::interface`].
    pub interface: u64,
    #[serde(borrow, with = "serde_bytes")]
    body: Cow<'a, [u8]>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SnapshotSkip {
    pub path: String,
    pub sum: Sum,
    pub reason: String,
}

impl<'a> SnapshotFile<'a> {
    pub fn new(
        path: &'a str,
        identity: Identity,
        interface: u64,
        facts: &Facts,
        resolved: &Resolved,
    ) -> Self {
        // Serialising plain data into memory can't fail; no bytes count as absent.
        let body = postcard::to_allocvec(&(facts, resolved)).unwrap_or_default();
        Self {
            path,
            identity,
            interface,
            body: body.into(),
        }
    }

    pub fn body(&self) -> Option<(Facts, Resolved)> {
        postcard::from_bytes(&self.body).ok()
    }
}

impl Identity {
    /// Of a file that had another before.
    pub fn of(bytes: &[u8], before: Option<Self>) -> Self {
        let sum = xxh3_128(bytes).to_le_bytes();
        match before {
            Some(before) if before.sum == sum => before,
            _ => Self {
                sum,
                hash: blake3::hash(bytes).into(),
            },
        }
    }
}

/// What resolution gives for a file. Other files are meant by their number in path order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resolved {
    pub edges: Vec<FoundEdge>,
    /// The files that its module-level imports mean.
    pub imported: Vec<u32>,
    /// The files that the answers rest on.
    pub consulted: Vec<u32>,
}

impl Cache {
    /// Opens a store, or makes one. A database of something else is left as it is.
    ///
    /// # Errors
    /// [`IndexError::Cache`] if the file can't be made, or is no store.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, IndexError> {
        let path = path.into();
        let refused = |reason: String| IndexError::Cache {
            path: path.clone(),
            reason,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| refused(e.to_string()))?;
        }
        if std::fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            return Err(refused("not a regular file".to_owned()));
        }
        let connection = Connection::open(&path).map_err(|e| refused(reason(&e)))?;
        if let Some(owner) = foreign(&connection).map_err(|e| refused(reason(&e)))? {
            return Err(refused(owner));
        }
        prepare(&connection).map_err(|e| refused(reason(&e)))?;
        Ok(Self {
            path,
            connection: Mutex::new(connection),
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked has left no half-done transaction: it was rolled back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn refused(&self, e: rusqlite::Error) -> IndexError {
        IndexError::Cache {
            path: self.path.clone(),
            reason: reason(&e),
        }
    }

    /// A stored outline. A store that fails has none: it is reported where its last index is read
    /// or something is written to it.
    pub(crate) fn outline(&self, parser: Parser, hash: &ContentHash) -> Option<Outline> {
        let read = || -> rusqlite::Result<Vec<u8>> {
            self.connection()
                .prepare_cached("SELECT body FROM outlines WHERE parser = ?1 AND hash = ?2")?
                .query_row(params![parser.name(), hash], |row| row.get(0))
        };
        unpack(&[parser.name().as_bytes(), hash], &read().ok()?)
    }

    /// The last index of a repository, as [`unpack_snapshot`] reads it.
    pub(crate) fn snapshot(
        &self,
        parser: Parser,
        root: &str,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        self.connection()
            .query_row(
                "SELECT body FROM repositories WHERE parser = ?1 AND root = ?2",
                params![parser.name(), root],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| self.refused(e))
    }

    /// Stores outlines, all or none of them.
    pub(crate) fn store_outlines(
        &self,
        parser: Parser,
        outlines: &[(ContentHash, Vec<u8>)],
    ) -> Result<(), IndexError> {
        if outlines.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO outlines (parser, hash, body) VALUES (?1, ?2, ?3)",
            )?;
            for (hash, body) in outlines {
                insert.execute(params![parser.name(), hash, body])?;
            }
            Ok(())
        })
    }

    /// Stores the index of a repository in place of the last one.
    pub(crate) fn store_snapshot(
        &self,
        parser: Parser,
        root: &str,
        snapshot: &Snapshot<'_>,
    ) -> Result<(), IndexError> {
        let body = pack(&[parser.name().as_bytes(), root.as_bytes()], snapshot);
        self.write(|transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO repositories (parser, root, body) VALUES (?1, ?2, ?3)",
            )?;
            insert.execute(params![parser.name(), root, body])?;
            Ok(())
        })
    }

    fn write(
        &self,
        statements: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), IndexError> {
        let mut connection = self.connection();
        let write = || -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            statements(&transaction)?;
            transaction.commit()
        };
        write().map_err(|e| self.refused(e))
    }
}

fn reason(e: &rusqlite::Error) -> String {
    match e.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            format!("{e}; if it is Hydra's own, deleting it loses nothing but time")
        }
        _ => e.to_string(),
    }
}

/// Why the database is not one that this Hydra may write to, if so. It is only read.
fn foreign(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.busy_timeout(PATIENCE)?;
    let tables = patiently(|| {
        let mut tables = connection.prepare(
            "SELECT name, (SELECT group_concat(name, ' ') FROM pragma_table_info(m.name))
             FROM sqlite_master m WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
        )?;
        let columns = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let tables: rusqlite::Result<Vec<(String, Option<String>)>> =
            tables.query_map([], columns)?.collect();
        tables
    })?;
    let tables: Vec<_> = tables
        .iter()
        .map(|(table, columns)| (table.as_str(), columns.as_deref().unwrap_or_default()))
        .collect();
    let own = tables.is_empty() || tables == TABLES;
    let format: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(if !own {
        Some("it is a database of something else".to_owned())
    } else if format > FORMAT {
        Some("a newer Hydra made it".to_owned())
    } else {
        None
    })
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    // Rows are long; with small pages most of them would be chains of pages. A store that has its
    // size already keeps it.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    patiently(|| connection.pragma_update(None, "journal_mode", "wal"))?;
    // A crash of the machine may lose the last rows, which are computed again; it breaks nothing.
    connection.pragma_update(None, "synchronous", "normal")?;
    let format: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if format == FORMAT {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have been first.
    let format: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if format == FORMAT {
        return connection.execute_batch("COMMIT");
    }
    connection.execute_batch(&format!(
        "DROP TABLE IF EXISTS outlines;
         DROP TABLE IF EXISTS repositories;
         CREATE TABLE outlines (
             parser TEXT NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL,
             PRIMARY KEY (hash, parser)
         );
         CREATE TABLE repositories (
             root TEXT NOT NULL, parser TEXT NOT NULL, body BLOB NOT NULL,
             PRIMARY KEY (root, parser)
         );
         PRAGMA user_version = {FORMAT};
         COMMIT;"
    ))
}

/// Tries again while another process is at work.
///
/// For what SQLite's own time-out leaves out: it gives up at once where it holds a lock already
/// and needs a greater one, as it does when two processes make the same new store.
fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(e)
                if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < PATIENCE =>
            {
                std::thread::sleep(RETRY);
            }
            outcome => return outcome,
        }
    }
}

/// An outline as it is stored.
pub(crate) fn pack_outline(parser: Parser, hash: &ContentHash, outline: &Outline) -> Vec<u8> {
    pack(&[parser.name().as_bytes(), hash], outline)
}

/// The last index of the repository at `root`, unless it is damaged.
pub(crate) fn unpack_snapshot<'a>(
    parser: Parser,
    root: &str,
    bytes: &'a [u8],
) -> Option<Snapshot<'a>> {
    unpack(&[parser.name().as_bytes(), root.as_bytes()], bytes)
}

/// A value's bytes behind their checksum.
fn pack(key: &[&[u8]; 2], value: &impl Serialize) -> Vec<u8> {
    // Serialising plain data into memory can't fail; an empty row counts as absent.
    let mut bytes = postcard::to_extend(value, Sum::default().to_vec()).unwrap_or_default();
    if let Some((sum, body)) = bytes.split_first_chunk_mut() {
        *sum = checksum(key, body);
    }
    bytes
}

fn unpack<'a, T: Deserialize<'a>>(key: &[&[u8]; 2], bytes: &'a [u8]) -> Option<T> {
    let (sum, body) = bytes.split_first_chunk()?;
    if checksum(key, body) != *sum {
        return None;
    }
    postcard::from_bytes(body).ok()
}

/// Tells a damaged row. It covers the row's key: in a damaged database a whole row can turn up
/// under another one's.
fn checksum(key: &[&[u8]; 2], body: &[u8]) -> Sum {
    let mut sum = Xxh3::new();
    for part in key {
        sum.update(part);
        sum.update(&[0]);
    }
    sum.update(body);
    sum.digest128().to_le_bytes()
}
