//! The reasons why rows miss their target: a file of tab-separated values.

use crate::throughput::results::Figures;

/// The first line of the file.
const HEADING: &str = "op\tdtype\tshape\treason";
/// Matches every name in a column.
const ANY: &str = "*";

/// The reason why the rows of an operation, a dtype and a shape miss their target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    row: [String; 3],
    text: String,
}

/// Parses the file.
pub(super) fn parse(text: &str) -> Result<Vec<Reason>, String> {
    let reason = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [op, dtype, shape, text] if !text.trim().is_empty() => {
            Ok(Reason { row: [op, dtype, shape].map(str::to_owned), text: text.trim().to_owned() })
        }
        _ => Err(format!("reasons.tsv: the line {line:?} has no operation, dtype, shape and reason")),
    };
    super::rows_below("reasons.tsv", HEADING, text)?.map(reason).collect()
}

/// The first reason that matches a row.
pub(super) fn find<'a>(reasons: &'a [Reason], row: &Figures) -> Option<&'a str> {
    let names = [&row.op, &row.dtype, &row.shape];
    let fits =
        |reason: &&Reason| reason.row.iter().zip(names).all(|(wanted, name)| wanted == ANY || wanted == name);
    reasons.iter().find(fits).map(|reason| reason.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_that_fits_is_found() {
        let text = "# why\nop\tdtype\tshape\treason\nadd\tf16\t*\thalf\nadd\t*\t8x8\tsmall\n";
        let reasons = parse(text).expect("it is right");
        let row = |dtype, shape| Figures::new("add", dtype, shape, 1.0);
        assert_eq!(find(&reasons, &row("f16", "8x8")), Some("half"));
        assert_eq!(find(&reasons, &row("f32", "8x8")), Some("small"));
        assert_eq!(find(&reasons, &row("f32", "9x9")), None);
    }

    #[test]
    fn damage_is_named() {
        assert!(parse("add\tf16\t*\thalf\n").is_err_and(|error| error.contains("begin with")));
        assert!(parse("op\tdtype\tshape\treason\nadd\tf16\t*\n").is_err_and(|error| error.contains("add")));
    }
}
