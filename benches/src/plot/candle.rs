//! candle's CUDA backend, measured together with PyTorch in another run: a file of tab-separated values.

use crate::throughput::results::Figures;
use std::fmt::Write;

/// The first line of the file.
const HEADING: &str = "op\tdtype\tshape\tcandle_us\ttorch_us";
/// The columns of the table.
const DTYPES: [&str; 3] = ["f32", "f16", "bf16"];

/// candle's time for a row, divided by PyTorch's in the same run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peer {
    op: String,
    dtype: String,
    shape: String,
    by_torch: f64,
}

/// Parses the file.
pub(super) fn parse(text: &str) -> Result<Vec<Peer>, String> {
    let time = |text: &str| text.parse().ok().filter(|&time: &f64| time > 0.0 && time.is_finite());
    let peer = |line: &str| {
        let wrong =
            || format!("candle.tsv: the line {line:?} has no operation, known dtype, shape and two times");
        let [op, dtype, shape, candle, torch] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(wrong());
        };
        let (candle, torch) = (time(candle).ok_or_else(wrong)?, time(torch).ok_or_else(wrong)?);
        if !DTYPES.contains(&dtype) {
            return Err(wrong());
        }
        let [op, dtype, shape] = [op, dtype, shape].map(str::to_owned);
        Ok(Peer { op, dtype, shape, by_torch: candle / torch })
    };
    super::rows_below("candle.tsv", HEADING, text)?.map(peer).collect()
}

/// A table of candle's time divided by ours. Each is first divided by PyTorch's time of its own run. Empty if
/// there is nothing to compare.
pub(super) fn table(peers: &[Peer], rows: &[&Figures]) -> String {
    let times = |peer: &Peer| {
        let same =
            |row: &&&Figures| (&row.op, &row.dtype, &row.shape) == (&peer.op, &peer.dtype, &peer.shape);
        Some(peer.by_torch * rows.iter().find(same)?.ratio?)
    };
    let mut names: Vec<(&str, &str)> = Vec::new();
    for peer in peers.iter().filter(|peer| times(peer).is_some()) {
        if !names.contains(&(&peer.op, &peer.shape)) {
            names.push((&peer.op, &peer.shape));
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let mut text = "\n## candle's CUDA backend\n\n\
        candle's time divided by ours: candle's divided by PyTorch's in the run that candle.tsv names, times PyTorch's divided by ours\n\
        in this run. Above 1, ours is faster. candle was built with its feature `cuda` alone: its convolution is its own, not cuDNN's.\n\n\
        | operation | shape | f32 | f16 | bf16 |\n|---|---|--:|--:|--:|\n"
        .to_owned();
    for (op, shape) in names {
        let cells = DTYPES.map(|dtype| {
            let peer = peers
                .iter()
                .find(|p| (p.op.as_str(), p.dtype.as_str(), p.shape.as_str()) == (op, dtype, shape));
            peer.and_then(times).map_or("-".to_owned(), |times| format!("{times:.2}"))
        });
        let _ = writeln!(text, "| {op} | {shape} | {} |", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_meet_at_the_peer_of_both() {
        let text = "# a run\nop\tdtype\tshape\tcandle_us\ttorch_us\n\
                    add\tf16\t8x8\t30\t20\nadd\tf32\t8x8\t20\t20\nexp\tf32\t8x8\t9\t9\n";
        let peers = parse(text).expect("it is right");
        let row = |op, dtype, ratio| Figures { ratio, ..Figures::new(op, dtype, "8x8", 1.0) };
        let (half, one) = (row("add", "f16", Some(1.2)), row("add", "f32", Some(0.9)));
        let alone = row("exp", "f32", None);
        let table_of = |rows: &[&Figures]| table(&peers, rows);
        let text = table_of(&[&half, &one, &alone]);
        assert!(text.contains("\n| add | 8x8 | 0.90 | 1.80 | - |\n"), "{text}");
        assert!(!text.contains("exp"), "{text}");
        assert_eq!(table_of(&[&alone]), "");
    }

    #[test]
    fn damage_is_named() {
        assert!(parse("add\tf16\t8x8\t1\t2\n").is_err_and(|error| error.contains("begin with")));
        for line in
            ["add\tf16\t8x8\t1", "add\tf16\t8x8\t1\t0", "add\tf16\t8x8\tinf\t2", "add\tf15\t8x8\t1\t2"]
        {
            assert!(
                parse(&format!("{HEADING}\n{line}\n")).is_err_and(|error| error.contains("two times")),
                "{line}"
            );
        }
    }
}
