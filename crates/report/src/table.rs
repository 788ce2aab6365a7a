//! Rows and columns of text.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A table as it is printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it: units, modes, sources.
    pub note: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The cells, as many a row as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A heading, the table, and the note below it.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("### {}\n\n", self.title);
        line(&mut text, &self.header);
        let rule: Vec<String> = self.header.iter().map(|_| "---".to_owned()).collect();
        line(&mut text, &rule);
        for row in &self.rows {
            line(&mut text, row);
        }
        if !self.note.is_empty() {
            // Writing to a string can't fail.
            let _ = write!(text, "\n{}\n", self.note);
        }
        text
    }
}

fn line(text: &mut String, cells: &[String]) {
    for cell in cells {
        // A bar or a line break in a cell would end it.
        let cell = cell.replace('|', "\\|").replace('\n', " ");
        let _ = write!(text, "| {cell} ");
    }
    text.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_cell_stays_in_it() {
        let table = Table {
            title: "T".into(),
            note: String::new(),
            header: vec!["a".into()],
            rows: vec![vec!["x|y".into()]],
        };
        assert_eq!(table.to_markdown(), "### T\n\n| a |\n| --- |\n| x\\|y |\n");
    }
}
