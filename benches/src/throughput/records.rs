//! Measured figures as a file of tab-separated values, which `benches/peers/torch_throughput.py` writes too.

use std::fmt::Write as _;

/// The first line that is no note.
pub const HEADER: &str = "name\tdtype\tus\tGB/s\tkernel_us\tkernel_GB/s";

/// One row's figures for one dtype.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The row's name.
    pub name: String,
    /// The dtype's name.
    pub dtype: String,
    /// A call, as a user sees it.
    pub call: Figure,
    /// The kernels of a call alone, if they were measured.
    pub kernel: Option<Figure>,
}

/// A time, and how much was done in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Microseconds.
    pub us: f64,
    /// GB/s; for matrix products GFLOP/s.
    pub rate: Option<f64>,
}

/// What one run measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records {
    /// What it ran on, a line each.
    pub notes: Vec<String>,
    /// The figures, in order.
    pub records: Vec<Record>,
}

impl Records {
    /// The figures of a row and a dtype.
    pub fn find(&self, name: &str, dtype: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.name == name && record.dtype == dtype)
    }

    /// The file's text.
    pub fn to_tsv(&self) -> String {
        let mut text: String = self.notes.iter().map(|note| format!("# {note}\n")).collect();
        text += HEADER;
        text.push('\n');
        for Record { name, dtype, call, kernel } in &self.records {
            let (us, rate) = (cell(Some(call.us), 2), cell(call.rate, 1));
            let kernel_us = cell(kernel.map(|kernel| kernel.us), 2);
            let kernel_rate = cell(kernel.and_then(|kernel| kernel.rate), 1);
            let _ = writeln!(text, "{name}\t{dtype}\t{us}\t{rate}\t{kernel_us}\t{kernel_rate}");
        }
        text
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// The number of the first line that is not as it should be, and why.
    pub fn from_tsv(text: &str) -> Result<Records, String> {
        let (mut records, mut headed) = (Records::default(), false);
        for (index, line) in text.lines().enumerate() {
            let wrong = |why: &str| format!("line {}: {why}", index + 1);
            if let Some(note) = line.strip_prefix('#') {
                records.notes.push(note.trim().to_owned());
            } else if !headed {
                if line != HEADER {
                    return Err(wrong(&format!("expected the header {HEADER:?}, found {line:?}")));
                }
                headed = true;
            } else if !line.is_empty() {
                records.records.push(record(line).map_err(|why| wrong(&why))?);
            }
        }
        if headed { Ok(records) } else { Err(format!("there is no header {HEADER:?}")) }
    }
}

fn record(line: &str) -> Result<Record, String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [name, dtype, us, rate, kernel_us, kernel_rate] = cells[..] else {
        return Err(format!("expected 6 columns, found {}", cells.len()));
    };
    let figure = |us: &str, rate: &str| -> Result<Option<Figure>, String> {
        let rate = number(rate)?;
        Ok(number(us)?.map(|us| Figure { us, rate }))
    };
    let call = figure(us, rate)?.ok_or("a row needs the time of a call")?;
    let kernel = figure(kernel_us, kernel_rate)?;
    Ok(Record { name: name.into(), dtype: dtype.into(), call, kernel })
}

/// A number of a file: `-` is none.
fn number(text: &str) -> Result<Option<f64>, String> {
    match text {
        "-" => Ok(None),
        _ => match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value)),
            _ => Err(format!("{text:?} is no figure")),
        },
    }
}

/// A number with so many decimals, or `-`.
pub(super) fn cell(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a device\nname\tdtype\tus\tGB/s\tkernel_us\tkernel_GB/s\n\
        add\tf32\t371.30\t4337.0\t369.00\t4364.5\nlaunch_small_add\tf16\t7.30\t-\t-\t-\n";

    #[test]
    fn files_are_read_as_they_are_written() {
        let records = Records::from_tsv(TEXT).unwrap();
        assert_eq!(records.notes, ["a device"]);
        let add = records.find("add", "f32").unwrap();
        assert_eq!(add.call, Figure { us: 371.3, rate: Some(4337.0) });
        assert_eq!(add.kernel, Some(Figure { us: 369.0, rate: Some(4364.5) }));
        assert_eq!(records.find("launch_small_add", "f16").unwrap().kernel, None);
        assert_eq!(records.find("add", "f16"), None);
        assert_eq!(records.to_tsv(), TEXT);
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let error = |text: &str| Records::from_tsv(text).unwrap_err();
        assert_eq!(error(&TEXT.replace("371.30", "fast")), "line 3: \"fast\" is no figure");
        assert_eq!(error(&TEXT.replace("371.30", "-")), "line 3: a row needs the time of a call");
        assert_eq!(error(&TEXT.replace("\t369.00", "")), "line 3: expected 6 columns, found 5");
        assert_eq!(error(&TEXT.replace("7.30", "inf")), "line 4: \"inf\" is no figure");
        assert!(error(&TEXT.replace("kernel_us", "us")).starts_with("line 2: expected the header"));
        assert!(error("# a note\n").starts_with("there is no header"));
    }
}
