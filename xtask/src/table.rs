//! A table of text with aligned columns.

use std::fmt;

/// Rows of cells; the first row is the heading.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|h| h.to_string()).collect()] }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row<S: ToString>(&mut self, cells: &[S]) {
        self.rows.push(cells.iter().map(S::to_string).collect());
    }

    /// Whether there is no row below the headings.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line += &format!("{cell:<width$}  ");
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["a", "b"]);
        assert!(table.is_empty());
        table.row(&["long", "x"]);
        assert_eq!(table.to_string(), "a     b\nlong  x\n");
    }
}
