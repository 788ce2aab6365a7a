#![allow(clippy::unwrap_used)]
use polars::prelude::{Column, ParquetWriter};

use super::*;

fn lines(text: &str) -> Result<Vec<TextPair>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pairs.jsonl");
    std::fs::write(&path, text).unwrap();
    read_pairs(&path).map_err(|e| e.to_string())
}

fn parquet(columns: Vec<Column>) -> Result<Vec<TextPair>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pairs.parquet");
    let mut frame = DataFrame::new_infer_height(columns).unwrap();
    let file = File::create(&path).unwrap();
    ParquetWriter::new(file).finish(&mut frame).unwrap();
    read_pairs(&path).map_err(|e| e.to_string())
}

fn column<T, P: AsRef<[T]>>(name: &str, values: P) -> Column
where
    polars::prelude::Series: polars::prelude::NamedFrom<P, [T]>,
{
    use polars::prelude::NamedFrom;
    polars::prelude::Series::new(name.into(), values).into()
}

#[test]
fn a_published_line_is_cut_at_the_first_separator() {
    let pairs = lines("{\"text\": \"q</s>c</s>d\", \"label\": 1}\n\n").unwrap();
    assert_eq!(pairs.len(), 1);
    let pair = &pairs[0];
    assert_eq!(
        (&*pair.query, &*pair.candidate, pair.label),
        ("q", "c</s>d", 1)
    );
}

#[test]
fn a_broken_line_is_named_by_number() {
    let good = "{\"text\": \"q</s>c\", \"label\": 0}";
    for (bad, what) in [
        (
            "{\"text\": \"q</s>c\", \"label\": 2}",
            "label 2 is neither 0 nor 1",
        ),
        ("{\"text\": \"q</s>c\", \"label\": \"1\"}", "invalid type"),
        ("{\"text\": \"qc\", \"label\": 1}", "text without </s>"),
        ("{\"text\": \"q</s>c\"}", "no label"),
        ("{\"label\": 1}", "no text"),
        ("{\"text\": \"q</s", "control character"),
    ] {
        let error = lines(&format!("{good}\n\n{bad}\n{good}\n")).unwrap_err();
        assert!(error.contains("line 3") && error.contains(what), "{error}");
    }
}

#[test]
fn a_published_table_is_read_whatever_its_integers() {
    let texts = ["a</s>b", "c</s>d"];
    for labels in [column("label", [1i64, 0]), column("label", [1i32, 0])] {
        let pairs = parquet(vec![column("text", texts), labels]).unwrap();
        assert_eq!(pairs[1].candidate, "d");
        assert_eq!(pairs.iter().map(|p| p.label).collect::<Vec<_>>(), [1, 0]);
    }
}

#[test]
fn a_bad_row_is_named_by_number() {
    let texts = column("text", ["a</s>b", "c</s>d"]);
    let error = parquet(vec![texts, column("label", [1i64, 7])]).unwrap_err();
    assert!(
        error.contains("row 2") && error.contains("label 7"),
        "{error}"
    );
    let texts = column("text", ["a</s>b", "cd"]);
    let error = parquet(vec![texts, column("label", [1i64, 0])]).unwrap_err();
    assert!(error.contains("row 2") && error.contains("</s>"), "{error}");
}

#[test]
fn a_missing_column_is_named() {
    let error = parquet(vec![column("text", ["a</s>b"])]).unwrap_err();
    assert!(error.contains("no column \"label\""), "{error}");
    let error = parquet(vec![column("query", ["a"]), column("label", [1i64])]).unwrap_err();
    assert!(error.contains("no column \"candidate\""), "{error}");
    let error = parquet(vec![column("label", [1i64])]).unwrap_err();
    assert!(error.contains("no column \"text\""), "{error}");
}

#[test]
fn a_broken_table_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.parquet");
    std::fs::write(&path, b"PAR1 and then nothing of use PAR1").unwrap();
    let error = read_pairs(&path).unwrap_err().to_string();
    assert!(error.contains("broken.parquet"), "{error}");
    let error = read_pairs(&folder.path().join("absent.parquet")).unwrap_err();
    assert!(error.to_string().contains("absent.parquet"));
}
