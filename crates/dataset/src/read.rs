//! Pairs from disk: ours and the published ones.

use std::fs::File;
use std::path::Path;

use hydra_core::{CoreError, jsonl};
use polars::prelude::{DataFrame, DataType, ParquetReader, PolarsResult, SerReader};
use serde::Deserialize;

use crate::DatasetError;
use crate::write::parquet_error;

/// What stands between query and candidate in a published text (released package: the
/// encoder's separator token).
const SEPARATOR: &str = "</s>";

/// A query, a candidate, and whether the query's function uses the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Line")]
pub struct TextPair {
    /// The function that is about to be written, as text.
    pub query: String,
    /// The unit that may help, as text.
    pub candidate: String,
    /// 1 if it is a dependency, 0 if not.
    pub label: u8,
}

/// A JSON line, in either form.
#[derive(Deserialize)]
struct Line {
    text: Option<String>,
    query: Option<String>,
    candidate: Option<String>,
    label: Option<i64>,
}

impl TryFrom<Line> for TextPair {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        let label = line.label.ok_or("no label")?;
        match (line.query, line.candidate, line.text) {
            (Some(query), Some(candidate), _) => pair(query, candidate, label),
            (_, _, Some(text)) => published(&text, label),
            _ => Err("no text, and no query and candidate".to_owned()),
        }
    }
}

fn pair(query: String, candidate: String, label: i64) -> Result<TextPair, String> {
    let label = match label {
        0 => 0,
        1 => 1,
        other => return Err(format!("label {other} is neither 0 nor 1")),
    };
    Ok(TextPair {
        query,
        candidate,
        label,
    })
}

fn published(text: &str, label: i64) -> Result<TextPair, String> {
    let (query, candidate) = text
        .split_once(SEPARATOR)
        .ok_or_else(|| format!("text without {SEPARATOR}"))?;
    pair(query.to_owned(), candidate.to_owned(), label)
}

/// Reads pairs from a `.parquet` file or, under any other name, from JSON lines. Columns are
/// `query`, `candidate`, `label` (ours) or `text`, `label` (published), where the text is cut at
/// the first `</s>`.
///
/// Errors name the file, and the line or row (from 1) that is no pair.
pub fn read_pairs(path: &Path) -> Result<Vec<TextPair>, DatasetError> {
    if path.extension().is_some_and(|e| e == "parquet") {
        read_parquet(path)
    } else {
        Ok(jsonl::read(path)?)
    }
}

fn read_parquet(path: &Path) -> Result<Vec<TextPair>, DatasetError> {
    let file = File::open(path).map_err(CoreError::io(path))?;
    let frame = ParquetReader::new(file)
        .finish()
        .map_err(|e| parquet_error(path, &e))?;
    let is_ours = frame.column("query").is_ok();
    let needed: &[&'static str] = if is_ours {
        &["query", "candidate", "label"]
    } else {
        &["text", "label"]
    };
    if let Some(column) = needed.iter().find(|c| frame.column(c).is_err()) {
        return Err(DatasetError::Column {
            path: path.to_path_buf(),
            column,
        });
    }
    rows(&frame, is_ours)
        .map_err(|e| parquet_error(path, &e))?
        .into_iter()
        .enumerate()
        .map(|(row, pair)| {
            pair.map_err(|message| DatasetError::Row {
                path: path.to_path_buf(),
                row: row + 1,
                message,
            })
        })
        .collect()
}

fn rows(frame: &DataFrame, is_ours: bool) -> PolarsResult<Vec<Result<TextPair, String>>> {
    let labels = frame.column("label")?.cast(&DataType::Int64)?;
    let labels = labels.i64()?.iter();
    let label = |found: Option<i64>| found.ok_or_else(|| "no label".to_owned());
    if is_ours {
        let queries = frame.column("query")?.str()?.iter();
        let candidates = frame.column("candidate")?.str()?.iter();
        let all = queries.zip(candidates).zip(labels);
        Ok(all
            .map(|((query, candidate), found)| {
                let query = query.ok_or("no query")?;
                let candidate = candidate.ok_or("no candidate")?;
                pair(query.to_owned(), candidate.to_owned(), label(found)?)
            })
            .collect())
    } else {
        let texts = frame.column("text")?.str()?.iter();
        Ok(texts
            .zip(labels)
            .map(|(text, found)| published(text.ok_or("no text")?, label(found)?))
            .collect())
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
