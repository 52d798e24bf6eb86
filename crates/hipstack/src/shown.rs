//! Sizes, values and tables as people read them.

use weights::gguf::{Array, Value};

/// The characters of a value that a table shows.
const WIDEST: usize = 60;

/// A number of bytes with a unit, in three digits or four: "98.4 MB".
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1000.0;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    // What would be rounded to 1000 has the next unit.
    while size >= 999.95 {
        let Some(next) = units.next() else { break };
        (size, unit) = (size / 1000.0, Some(next));
    }
    format!("{size:.1} {}", unit.unwrap_or(&""))
}

/// The number of bytes in a text such as "800000000", "800MB" or "1.5 GB".
///
/// # Errors
/// What such a text is.
pub(crate) fn parsed_bytes(text: &str) -> Result<u64, String> {
    let end = text.find(|character: char| character.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match text[end..].to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        _ => f64::NAN,
    };
    match text[..end].trim().parse::<f64>() {
        Ok(number) if number * unit >= 0.0 => Ok((number * unit) as u64),
        _ => Err("bytes, such as 800000000, 800MB or 1.5GB".to_owned()),
    }
}

/// A name in a line, without control characters, and of a long one only the beginning: files are not trusted.
pub(crate) fn name(name: &str) -> String {
    const LONGEST: usize = 100;
    let beginning: String = name.chars().take(LONGEST).collect();
    let more = if beginning.len() < name.len() { "…" } else { "" };
    format!("{}{more}", beginning.escape_debug())
}

/// A value in a line: of long texts and arrays only the beginning.
pub(crate) fn value(value: &Value) -> String {
    let text = match value {
        // The beginning of an array alone is made a text: a vocabulary has hundreds of thousands.
        Value::Array(array) => beginning(array),
        Value::String(text) => format!("{:?}", text.chars().take(WIDEST + 1).collect::<String>()),
        other => other.to_string(),
    };
    shortened(&text)
}

fn beginning(array: &Array) -> String {
    let shown: Vec<String> =
        (0..array.len().min(WIDEST)).filter_map(|index| array.get(index)).map(|one| value(&one)).collect();
    format!("[{}{}", shown.join(", "), if shown.len() < array.len() { ", …" } else { "]" })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Lines of columns, each as wide as its widest cell. Columns whose heading begins with a space are aligned to the right.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(headings[column].trim().chars().count())
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for ((cell, heading), width) in cells.zip(headings).zip(&widths) {
            let pad = " ".repeat(width - cell.chars().count());
            let (before, behind) =
                if heading.starts_with(' ') { (pad.as_str(), "") } else { ("", pad.as_str()) };
            line += &format!("  {before}{cell}{behind}");
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line(&mut headings.iter().map(|heading| heading.trim()));
    rows.iter().for_each(|row| text += &line(&mut row.iter().map(String::as_str)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        let sizes = [0, 999, 1000, 98_362_432, 999_949, 999_950, u64::MAX].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "98.4 MB", "999.9 kB", "1.0 MB", "18446.7 PB"]);
    }

    #[test]
    fn sizes_are_read() {
        let found = ["0", "12", "1.5 GB", "800MB", "7kb", "3 B"].map(parsed_bytes);
        assert_eq!(found, [0, 12, 1_500_000_000, 800_000_000, 7000, 3].map(Ok));
        for wrong in ["", "GB", "-1", "1 TiB", "much"] {
            assert_eq!(parsed_bytes(wrong).unwrap_err(), "bytes, such as 800000000, 800MB or 1.5GB");
        }
    }

    #[test]
    fn long_values_are_shortened() {
        let words = Value::from(Array::String((0..1000).map(|number| format!("w{number}")).collect()));
        assert_eq!(
            value(&words),
            "[\"w0\", \"w1\", \"w2\", \"w3\", \"w4\", \"w5\", \"w6\", \"w7\", \"w8\", \"w9\",…"
        );
        assert_eq!(value(&Value::from("ä".repeat(1000).as_str())).chars().count(), WIDEST + 1);
        assert_eq!(value(&Value::from(Array::U8(vec![1, 2]))), "[1, 2]");
        assert_eq!(value(&Value::from("a\nb")), r#""a\nb""#);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "1"], ["long", "1000"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&["name", " size"], &rows), "  name  size\n  a        1\n  long  1000\n");
    }
}
