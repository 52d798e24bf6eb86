//! A comparison as text: one row per operation, one column per dtype, then the differences.

use std::fmt::Write;

use super::{Comparison, Finding, Pair};
use crate::record::NamedRecord;
use crate::table::{cells, dtypes};

/// Number of ids listed for each reason why cases were not compared.
const LISTED: usize = 5;

/// The table, every difference, and the totals.
pub fn render(comparison: &Comparison<'_>) -> String {
    let mut text = String::new();
    grid(&mut text, comparison);
    let (left, right) = (&comparison.left.name, &comparison.right.name);
    for Pair { entry, finding } in &comparison.pairs {
        if let Finding::Differs(difference) = finding {
            let _ = writeln!(text, "\nDIFFERS {}", entry.id);
            let _ = writeln!(text, "     {}", difference.describe(left, right));
            let _ = writeln!(text, "     judged: {}", entry.rule);
        }
    }
    for (known, needed) in &comparison.known {
        let _ = match needed {
            0 => writeln!(
                text,
                "\nSTALE {}: listed as a difference, and no case differs: take it out",
                known.case
            ),
            _ => writeln!(text, "\nKNOWN {}: {needed} cases: {}", known.case, known.reason),
        };
    }
    text.push('\n');
    uncompared(&mut text, &format!("only in {left}"), comparison, |finding| *finding == Finding::OnlyLeft);
    uncompared(&mut text, &format!("only in {right}"), comparison, |finding| *finding == Finding::OnlyRight);
    uncompared(&mut text, "with other inputs", comparison, |finding| *finding == Finding::OtherInputs);
    let neither = |finding: &Finding| matches!(finding, Finding::Incomparable(_));
    uncompared(&mut text, "not comparable", comparison, neither);
    source(&mut text, comparison.left);
    source(&mut text, comparison.right);
    totals(&mut text, comparison);
    text
}

fn grid(text: &mut String, comparison: &Comparison<'_>) {
    let entries = || comparison.pairs.iter().map(|pair| pair.entry);
    let mut operations: Vec<&str> = Vec::new();
    for entry in entries() {
        if !operations.contains(&entry.operation()) {
            operations.push(entry.operation());
        }
    }
    let columns = dtypes(entries().map(|entry| entry.dtype()));
    let cell = |operation: &str, dtype: &str| {
        let chosen = |pair: &&Pair<'_>| pair.entry.operation() == operation && pair.entry.dtype() == dtype;
        cell(comparison.pairs.iter().filter(chosen).map(|pair| &pair.finding))
    };
    let tail = |operation: &str| {
        let counts = comparison.count(|entry| entry.operation() == operation);
        let mut tail = format!("{:>8}{:>8}{:>8}", counts.equal, counts.within, counts.differ + counts.known);
        if let Some((units, case)) = worst(comparison, operation) {
            let _ = write!(tail, "  {units:.2} {case}");
        }
        tail
    };
    let heading = "   equal  within  differ  farthest apart";
    cells(text, &operations, &columns, heading, cell, tail);
    text.push_str(
        "Cells: the greatest distance as a fraction of both tolerances together; = means equal bits, - means not compared.\n",
    );
}

fn cell<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let (mut any, mut compared, mut known, mut worst) = (false, false, false, 0.0f64);
    for finding in findings {
        any = true;
        match finding {
            Finding::Differs(_) => return "FAIL".into(),
            Finding::Known(..) => known = true,
            Finding::Within(units) => worst = worst.max(*units),
            _ => {}
        }
        compared |= matches!(finding, Finding::Equal | Finding::Within(_));
    }
    match () {
        () if known => "known".into(),
        () if worst > 0.0 => format!("{worst:.2}"),
        () if compared => "=".into(),
        () if any => "-".into(),
        () => String::new(),
    }
}

/// The case of an operation with the largest finite distance between its results, if any.
fn worst<'a>(comparison: &'a Comparison<'_>, operation: &str) -> Option<(f64, &'a str)> {
    let pairs = comparison.pairs.iter().filter(|pair| pair.entry.operation() == operation);
    let apart = pairs.filter_map(|pair| match &pair.finding {
        Finding::Within(units) => Some((*units, pair.entry.id.as_str())),
        Finding::Differs(difference) | Finding::Known(difference, _) => {
            Some((difference.units, pair.entry.id.as_str()))
        }
        _ => None,
    });
    apart.reduce(|worst, other| if other.0 > worst.0 { other } else { worst })
}

fn uncompared(text: &mut String, what: &str, comparison: &Comparison<'_>, chosen: impl Fn(&Finding) -> bool) {
    let ids: Vec<&str> = comparison
        .pairs
        .iter()
        .filter(|pair| chosen(&pair.finding))
        .map(|pair| pair.entry.id.as_str())
        .collect();
    if ids.is_empty() {
        return;
    }
    let _ = writeln!(text, "{} cases {what}:", ids.len());
    for id in ids.iter().take(LISTED) {
        let _ = writeln!(text, "     {id}");
    }
    if ids.len() > LISTED {
        let _ = writeln!(text, "     … and {} more", ids.len() - LISTED);
    }
}

fn source(text: &mut String, named: &NamedRecord) {
    let header = named.record.header();
    let facts: Vec<String> = header.facts.iter().map(|(key, value)| format!("{key} {value}")).collect();
    let _ = writeln!(
        text,
        "{}: {} on {}, seed {}; {}",
        named.name,
        header.description,
        header.date,
        header.seed,
        facts.join(", ")
    );
}

fn totals(text: &mut String, comparison: &Comparison<'_>) {
    let counts = comparison.counts();
    let _ = writeln!(
        text,
        "{} cases compared: {} equal, {} within bounds, {} differ, {} known to differ; {} only in {}, {} only in {}, \
         {} with other inputs, {} not comparable.",
        counts.compared(),
        counts.equal,
        counts.within,
        counts.differ,
        counts.known,
        counts.only_left,
        comparison.left.name,
        counts.only_right,
        comparison.right.name,
        counts.other_inputs,
        counts.incomparable
    );
}
