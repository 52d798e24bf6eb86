//! What was measured, to read and for programs.

use std::fmt::Write;

/// A call and what was measured of it.
pub struct Row {
    /// Its name, which its peers have too.
    pub name: &'static str,
    /// Its sizes.
    pub sizes: String,
    /// Seconds, and a rate with its unit; or why there are none.
    pub outcome: Result<(f64, f64, &'static str), String>,
}

/// A table to read.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<14} {:>34} {:>12} {:>10}\n", "call", "sizes", "us", "rate");
    for Row { name, sizes, outcome } in rows {
        let _ = match outcome {
            Ok((seconds, rate, unit)) => {
                writeln!(text, "{name:<14} {sizes:>34} {:>12.2} {:>10.1} {unit}", seconds * 1e6, rate / 1e9)
            }
            Err(error) => writeln!(text, "{name:<14} {sizes:>34} {error}"),
        };
    }
    text
}

/// A line for each call: name, sizes, seconds or nothing, and the error.
pub fn to_tsv(rows: &[Row]) -> String {
    let mut text = String::from("name\tsizes\tseconds\terror\n");
    for Row { name, sizes, outcome } in rows {
        let _ = match outcome {
            Ok((seconds, ..)) => writeln!(text, "{name}\t{sizes}\t{seconds:e}\t"),
            Err(error) => writeln!(text, "{name}\t{sizes}\t\t{}", error.replace(['\t', '\n'], " ")),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_has_its_error_in_place_of_a_time() {
        let rows = [
            Row { name: "potrf", sizes: "4096".into(), outcome: Ok((0.002, 3e12, "GFLOP/s")) },
            Row { name: "spgemm", sizes: String::new(), outcome: Err("not\timplemented".into()) },
        ];
        let wanted = "name\tsizes\tseconds\terror\npotrf\t4096\t2e-3\t\nspgemm\t\t\tnot implemented\n";
        assert_eq!(to_tsv(&rows), wanted);
        let lines: Vec<Vec<String>> =
            table(&rows).lines().map(|line| line.split_whitespace().map(Into::into).collect()).collect();
        assert_eq!(lines[1], ["potrf", "4096", "2000.00", "3000.0", "GFLOP/s"]);
        assert_eq!(lines[2], ["spgemm", "not", "implemented"]);
    }
}
