//! The figures as a table, as a file, and beside an earlier file.

use super::child::Count;
use crate::table::Table;
use std::fmt::Write;
use std::path::Path;

/// Growth that is reported as such: counts are exact, but a compiler's next version moves all of them a little.
const GROWTH: f64 = 1.05;
const HEADING: &str =
    "kernel\telements\tbytes\twave instructions\tlane instructions\tlane instructions per element\tper byte";

/// The file of an architecture in a folder of figures.
pub(super) fn file_name(arch: &str) -> String {
    format!("{arch}.tsv")
}

/// The figures as text for a file.
pub(super) fn to_tsv(arch: &str, compiler: &str, counts: &[Count]) -> String {
    let mut text = format!(
        "# Instructions that the kernels execute on {arch}, counted by `cargo xtask bench --instructions`; compiler: {compiler}.\n{HEADING}\n"
    );
    for count in counts {
        let Count { kernel, elements, bytes, wave, lane } = count;
        let (element, byte) = (count.per_element(), count.per_byte());
        let _ = writeln!(text, "{kernel}\t{elements}\t{bytes}\t{wave}\t{lane}\t{element:.3}\t{byte:.3}");
    }
    text
}

/// Reads what [`to_tsv`] wrote.
pub(super) fn from_tsv(path: &Path) -> Result<Vec<Count>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string());
    text.and_then(|text| parse(&text)).map_err(|what| format!("bench: {}: {what}", path.display()))
}

/// Reads the text of such a file.
pub(super) fn parse(text: &str) -> Result<Vec<Count>, String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    if lines.next() != Some(HEADING) {
        return Err("not a file that `cargo xtask bench --instructions --out` wrote".into());
    }
    let count = |line: &str| {
        let mut cells = line.split('\t');
        let kernel = cells.next()?.to_string();
        let mut number = || cells.next()?.parse().ok();
        Some(Count { kernel, elements: number()?, bytes: number()?, wave: number()?, lane: number()? })
    };
    lines.map(|line| count(line).ok_or_else(|| format!("no figures in the line {line:?}"))).collect()
}

/// Lane instructions per element: a line for each operation, a column for each dtype, a table for each family.
pub(super) fn table(counts: &[Count]) -> String {
    let mut text = String::new();
    for family in kernels_hip::families() {
        let mut headings = vec![family.name];
        headings.extend(family.dtypes);
        let mut table = Table::new(&headings);
        let mut seen: Vec<String> = Vec::new();
        let named: Vec<(String, &str, &Count)> =
            counts.iter().filter_map(|count| named(family, count)).collect();
        for (op, ..) in &named {
            if seen.contains(op) {
                continue;
            }
            seen.push(op.clone());
            let cell = |dtype: &&str| {
                let found = named.iter().find(|(its, of, _)| its == op && of == dtype);
                found.map_or(String::new(), |(_, _, count)| format!("{:.2}", count.per_element()))
            };
            let cells: Vec<String> =
                std::iter::once(op.clone()).chain(family.dtypes.iter().map(cell)).collect();
            table.row(&cells);
        }
        if !table.is_empty() {
            let _ = writeln!(text, "{table}");
        }
    }
    text
}

/// The operation and dtype of a family's kernel: `elementwise_cast_f16_f32` is "cast to f32" of f16.
fn named<'a>(family: &kernels_hip::Family, count: &'a Count) -> Option<(String, &'static str, &'a Count)> {
    let rest = count.kernel.strip_prefix(family.name)?.strip_prefix('_')?;
    let dtype = |name: &str| family.dtypes.iter().find(|dtype| **dtype == name).copied();
    if let Some((from, to)) = rest.strip_prefix("cast_").and_then(|rest| rest.split_once('_')) {
        return Some((format!("cast to {to}"), dtype(from)?, count));
    }
    let only = if family.name == "matmul" { "multiply-add" } else { family.name };
    let (op, last) = rest.rsplit_once('_').unwrap_or((only, rest));
    Some((op.to_string(), dtype(last)?, count))
}

/// How the figures compare with earlier ones, and whether some have grown by more than a twentieth.
pub(super) fn compare(counts: &[Count], earlier: &[Count]) -> (String, bool) {
    let mut table = Table::new(&["kernel", "before", "now", "change"]);
    let (mut same, mut grown, mut alone) = (0, 0, 0);
    for count in counts {
        let Some(before) = earlier.iter().find(|before| before.kernel == count.kernel) else {
            alone += 1;
            continue;
        };
        let (was, is) = (before.per_element(), count.per_element());
        if was == is {
            same += 1;
            continue;
        }
        grown += usize::from(is > was * GROWTH);
        let change = format!("{:+.1} %", (is / was - 1.0) * 100.0);
        table.row(&[count.kernel.clone(), format!("{was:.2}"), format!("{is:.2}"), change]);
    }
    let mut text = if table.is_empty() { String::new() } else { table.to_string() };
    let changed = counts.len() - same - alone;
    let _ = writeln!(
        text,
        "{same} kernels as before, {changed} changed, {grown} of them by more than a twentieth upwards; {alone} are not in the earlier file"
    );
    (text, grown > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(kernel: &str, lane: u64) -> Count {
        Count { kernel: kernel.into(), elements: 100, bytes: 800, wave: lane / 32, lane }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let counts = vec![count("elementwise_add_f32", 1234), count("matmul_f64", 320)];
        let path = std::env::temp_dir().join(format!("xtask-bench-{}.tsv", std::process::id()));
        std::fs::write(&path, to_tsv("gfx1100", "clang 19", &counts))
            .expect("temporary files can be written");
        assert_eq!(from_tsv(&path), Ok(counts));
        std::fs::write(&path, format!("{HEADING}\nmatmul_f64\tmany\n")).expect("as above");
        assert!(from_tsv(&path).expect_err("damaged").contains("matmul_f64"));
        std::fs::write(&path, "something else\n").expect("as above");
        assert!(from_tsv(&path).expect_err("not ours").contains("bench --instructions"));
        std::fs::remove_file(&path).expect("ours");
    }

    #[test]
    fn operations_are_lines_and_dtypes_columns() {
        let counts = [
            count("elementwise_leaky_relu_f16", 250),
            count("elementwise_cast_f16_f32", 150),
            count("reduce_cols_sum_i64", 700),
            count("matmul_f32", 125),
            count("scan_sum_f32", 800),
            count("transpose_i16", 900),
        ];
        let text = table(&counts);
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).map(str::to_string);
        assert!(line("leaky_relu").is_some_and(|line| line.ends_with("2.50")), "{text}");
        assert!(line("cast to f32").is_some_and(|line| line.ends_with("1.50")), "{text}");
        assert!(line("cols_sum").is_some_and(|line| line.ends_with("7.00")), "{text}");
        assert!(line("multiply-add").is_some_and(|line| line.ends_with("1.25")), "{text}");
        assert!(line("sum ").is_some_and(|line| line.ends_with("8.00")), "{text}");
        // The only operation has the family's name, as the heading has.
        assert!(text.lines().any(|line| line.starts_with("transpose ") && line.ends_with("9.00")), "{text}");
    }

    #[test]
    fn growth_is_told_from_change() {
        let earlier = [count("a", 100), count("b", 100), count("c", 100), count("gone", 100)];
        let now = [count("a", 100), count("b", 104), count("c", 90), count("new", 100)];
        let (text, grown) = compare(&now, &earlier);
        assert!(!grown && text.contains("1 kernels as before, 2 changed, 0 of them"), "{text}");
        assert!(text.contains("+4.0 %") && text.contains("-10.0 %"), "{text}");
        assert!(compare(&[count("a", 106)], &earlier).1);
    }
}
