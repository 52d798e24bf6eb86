//! Figures of two runs beside each other, as text and as a Markdown table.

use super::records::{Figure, Record, Records, cell};

/// A table of text. The first two columns are names, the others numbers.
pub struct Table {
    head: Vec<&'static str>,
    lines: Vec<Vec<String>>,
    notes: Vec<String>,
}

const NAMES: usize = 2;
const OURS: [&str; 6] = ["operation", "dtype", "us", "GB/s", "kernel us", "kernel GB/s"];
const THEIRS: [&str; 5] =
    ["torch us", "torch kernel us", "torch kernel GB/s", "torch/ours", "torch/ours, kernels"];

/// Our figures, beside those of the peer if there are any. A ratio above 1 says that ours is the quicker one.
pub fn table(ours: &Records, peer: Option<&Records>) -> Table {
    let mut head = OURS.to_vec();
    let mut notes: Vec<String> = ours.notes.clone();
    if let Some(peer) = peer {
        head.extend(THEIRS);
        notes.extend(peer.notes.iter().cloned());
    }
    let line = |record: &Record| {
        let mut line = vec![record.name.clone(), record.dtype.clone()];
        line.extend(cells(Some(record.call)));
        line.extend(cells(record.kernel));
        if let Some(peer) = peer {
            let other = peer.find(&record.name, &record.dtype);
            let [kernel_us, kernel_rate] = cells(other.and_then(|other| other.kernel));
            line.push(cell(other.map(|other| other.call.us), 1));
            line.extend([kernel_us, kernel_rate]);
            let calls = other.and_then(|other| ratio(Some(other.call), Some(record.call)));
            let kernels = other.and_then(|other| ratio(other.kernel, record.kernel));
            line.extend([cell(calls, 2), cell(kernels, 2)]);
        }
        line
    };
    Table { head, lines: ours.records.iter().map(line).collect(), notes }
}

fn cells(figure: Option<Figure>) -> [String; 2] {
    [cell(figure.map(|figure| figure.us), 1), cell(figure.and_then(|figure| figure.rate), 0)]
}

/// The peer's time by ours.
fn ratio(peer: Option<Figure>, ours: Option<Figure>) -> Option<f64> {
    let (peer, ours) = (peer?.us, ours?.us);
    (ours > 0.0).then(|| peer / ours)
}

impl Table {
    /// Columns of equal width, the notes on top.
    pub fn text(&self) -> String {
        let mut text: String = self.notes.iter().map(|note| format!("{note}\n")).collect();
        let width = |column: usize| {
            let longest = self.lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            longest.max(self.head[column].len())
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let head: Vec<String> = self.head.iter().map(|name| (*name).to_owned()).collect();
        for line in std::iter::once(&head).chain(&self.lines) {
            let columns = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column < NAMES { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            text += columns.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        text
    }

    /// A Markdown table, the notes as a paragraph on top.
    pub fn markdown(&self) -> String {
        let mut text = self.notes.join("; ");
        if !text.is_empty() {
            text += ".\n\n";
        }
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        text += &line(&self.head.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let rule = |column: usize| if column < NAMES { "---".to_owned() } else { "--:".to_owned() };
        text += &line(&(0..self.head.len()).map(rule).collect::<Vec<_>>());
        self.lines.iter().for_each(|cells| text += &line(cells));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, dtype: &str, us: f64, kernel_us: Option<f64>) -> Record {
        let figure = |us: f64| Figure { us, rate: Some(1000.0 / us) };
        Record { name: name.into(), dtype: dtype.into(), call: figure(us), kernel: kernel_us.map(figure) }
    }

    fn both() -> (Records, Records) {
        let ours = Records {
            notes: vec!["our device".into()],
            records: vec![
                record("add", "f32", 4.0, Some(2.0)),
                record("add", "f16", 4.0, None),
                record("neg", "f32", 8.0, Some(2.5)),
            ],
        };
        let peer = Records {
            notes: vec!["their device".into()],
            records: vec![
                record("add", "f16", 5.0, Some(1.0)),
                record("add", "f32", 2.0, Some(5.0)),
                record("other", "f32", 1.0, None),
            ],
        };
        (ours, peer)
    }

    #[test]
    fn rows_are_joined_by_name_and_dtype() {
        let (ours, peer) = both();
        let table = table(&ours, Some(&peer));
        let rows: Vec<Vec<&str>> =
            table.lines.iter().map(|line| line.iter().map(String::as_str).collect()).collect();
        assert_eq!(
            rows,
            [
                ["add", "f32", "4.0", "250", "2.0", "500", "2.0", "5.0", "200", "0.50", "2.50"],
                ["add", "f16", "4.0", "250", "-", "-", "5.0", "1.0", "1000", "1.25", "-"],
                ["neg", "f32", "8.0", "125", "2.5", "400", "-", "-", "-", "-", "-"],
            ]
        );
    }

    #[test]
    fn both_forms_hold_every_cell() {
        let (ours, peer) = both();
        let markdown = table(&ours, Some(&peer)).markdown();
        let lines: Vec<&str> = markdown.lines().collect();
        assert_eq!(lines[0], "our device; their device.");
        assert_eq!(lines[4], "| add | f32 | 4.0 | 250 | 2.0 | 500 | 2.0 | 5.0 | 200 | 0.50 | 2.50 |");
        assert!(lines[2..].iter().all(|line| line.matches('|').count() == 12), "{markdown}");
        let text = table(&ours, None).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "our device");
        assert_eq!(lines[1], "operation  dtype   us  GB/s  kernel us  kernel GB/s");
        assert_eq!(lines[2], "add        f32    4.0   250        2.0          500");
        assert_eq!(lines.len(), 5);
    }
}
