//! Pairs on their way to disk: Parquet and JSON lines side by side.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use hydra_core::{AtomicFile, CoreError, python_json};
use hydra_pyindex::text;
use polars::io::parquet::write::BatchedWriter;
use polars::prelude::{
    Column, DataFrame, DataType, ParquetCompression, ParquetWriter, PlSmallStr, PolarsResult,
    Schema,
};
use serde::Serialize;

use crate::{DatasetError, PairRecord};

/// Pairs to a row group: some tens of megabytes of text before compression.
const ROW_GROUP: usize = 8192;

/// A column's name and where its text comes from.
type TextColumn = (&'static str, fn(&PairRecord) -> &str);

/// The columns of a [`PairRecord`], in the order of the file; the label follows.
const TEXT_COLUMNS: [TextColumn; 6] = [
    ("repo", |p| &p.repo),
    ("query_unit", |p| p.query_unit.as_str()),
    ("candidate_unit", |p| p.candidate_unit.as_str()),
    ("kind", |p| p.kind.name()),
    ("query", |p| &p.query),
    ("candidate", |p| &p.candidate),
];

/// A row of the published dataset.
#[derive(Serialize)]
struct Published<'a> {
    text: &'a str,
    label: u8,
}

/// One split under construction; nothing is visible before
/// [`PairFiles::commit`].
pub(crate) struct PairFiles {
    lines: Option<AtomicFile>,
    lines_path: PathBuf,
    table: AtomicFile,
    table_path: PathBuf,
    writer: BatchedWriter<File>,
    waiting: Vec<PairRecord>,
}

impl PairFiles {
    /// Starts `<folder>/<name>.parquet` and, if `lines` is set, `<folder>/<name>.jsonl`.
    pub fn create(folder: &Path, name: &str, lines: bool) -> Result<Self, DatasetError> {
        let lines_path = folder.join(format!("{name}.jsonl"));
        let table_path = folder.join(format!("{name}.parquet"));
        let table = AtomicFile::create(&table_path)?;
        let file = File::options()
            .write(true)
            .open(table.temporary_path())
            .map_err(CoreError::io(&table_path))?;
        let writer = ParquetWriter::new(file)
            .with_compression(ParquetCompression::Zstd(None))
            .batched(&schema())
            .map_err(|e| parquet_error(&table_path, &e))?;
        Ok(Self {
            lines: lines.then(|| AtomicFile::create(&lines_path)).transpose()?,
            lines_path,
            table,
            table_path,
            writer,
            waiting: Vec::new(),
        })
    }

    /// Adds a pair.
    pub fn push(&mut self, pair: PairRecord) -> Result<(), DatasetError> {
        if let Some(lines) = &mut self.lines {
            let text = text::pair_text(&pair.query, &pair.candidate);
            let row = Published {
                text: &text,
                label: pair.label,
            };
            let line = python_json::dumps(&row).map_err(|e| CoreError::Document {
                path: self.lines_path.clone(),
                message: e.to_string(),
            })?;
            writeln!(lines, "{line}").map_err(CoreError::io(&self.lines_path))?;
        }
        self.waiting.push(pair);
        if self.waiting.len() >= ROW_GROUP {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DatasetError> {
        if !self.waiting.is_empty() {
            table(&self.waiting)
                .and_then(|frame| self.writer.write_batch(&frame))
                .map_err(|e| parquet_error(&self.table_path, &e))?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Ends both files and puts them in place.
    pub fn commit(mut self) -> Result<(), DatasetError> {
        self.flush()?;
        self.writer
            .finish()
            .map_err(|e| parquet_error(&self.table_path, &e))?;
        self.table.commit()?;
        if let Some(lines) = self.lines {
            lines.commit()?;
        }
        Ok(())
    }
}

fn schema() -> Schema {
    let columns = TEXT_COLUMNS
        .iter()
        .map(|&(name, _)| (PlSmallStr::from_static(name), DataType::String));
    let label = (PlSmallStr::from_static("label"), DataType::Int64);
    columns.chain([label]).collect()
}

fn table(pairs: &[PairRecord]) -> PolarsResult<DataFrame> {
    let mut columns: Vec<Column> = TEXT_COLUMNS
        .iter()
        .map(|&(name, of)| {
            let texts: Vec<&str> = pairs.iter().map(of).collect();
            Column::new(PlSmallStr::from_static(name), texts)
        })
        .collect();
    let labels: Vec<i64> = pairs.iter().map(|p| i64::from(p.label)).collect();
    columns.push(Column::new(PlSmallStr::from_static("label"), labels));
    DataFrame::new(pairs.len(), columns)
}

pub(crate) fn parquet_error(path: &Path, error: &polars::error::PolarsError) -> DatasetError {
    DatasetError::Parquet {
        path: path.to_path_buf(),
        message: error.to_string(),
    }
}
