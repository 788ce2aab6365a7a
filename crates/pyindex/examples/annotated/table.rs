//! Plain tables and lists, built as text and printed at once.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};

use crate::Error;

/// Appends a line. Writing to memory can't fail.
macro_rules! line {
    ($out:expr $(, $($text:tt)+)?) => {{
        use std::fmt::Write as _;
        let _ = writeln!($out $(, $($text)+)?);
    }};
}
pub(crate) use line;

/// Prints a text; somebody who stopped reading is no error.
pub(crate) fn show(text: &str) -> Result<(), Error> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Print(error)),
        _ => Ok(()),
    }
}

/// Appends lines of cells, the first one the head; the first column to the left, the others to
/// the right.
pub(crate) fn rows(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            if column == 0 {
                let _ = write!(line, "{cell:<width$}");
            } else {
                let _ = write!(line, "  {cell:>width$}");
            }
        }
        line!(out, "{}", line.trim_end());
    }
    line!(out);
}

/// A share with four digits, `-` of nothing.
pub(crate) fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        "-".to_owned()
    } else {
        format!("{:.4}", part as f64 / whole as f64)
    }
}

/// At most `most` of the items, spread evenly over them.
pub(crate) fn spread<T>(items: &[T], most: usize) -> impl Iterator<Item = &T> {
    let step = items.len().div_ceil(most.max(1)).max(1);
    items.iter().step_by(step).take(most)
}
