//! `parity compare`: compares two files of results, or another program's results with the reference.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{check_writable, folder, progress, say};
use crate::Error;
use crate::comparison::{self, Comparison, Known};
use crate::html::{self, Page};
use crate::record::NamedRecord;
use crate::witness::{Judged, Results};

const EXAMPLES: &str = r#"Examples:
  cargo xtask parity compare crates/parity/records/cuda-h200.tsv target/parity/amd-0.tsv
  cargo xtask parity compare a.tsv b.tsv --differences known.toml     with known differences
  cargo xtask parity compare target/cases/results.safetensors         another program's results with the reference
  cargo xtask parity compare cuda-h200.tsv results.safetensors        and with a record too
  cargo xtask parity compare a.tsv b.tsv --html a-and-b.html          the page elsewhere than in cargo's target folder

Every element of a results.safetensors is judged against the reference, as a device's are; see benches/witness/README.md.

A list of known differences is a file of entries such as
  [[difference]]
  case = "matmul/f16/*"
  reason = "the library sums in 16 bits"
An entry that no case needs is an error. A missing or failed result, or one of another form, is never excused. `case` may be a list of patterns. An entry may also have
  on = "cuda"        only if one of the sides ran on this platform
  arch = "gfx9*"     only if that side's device is of this architecture
  only = "zeros"     only if every wrong element is a zero of the wrong sign; "nan": only one of the values is NaN;
                     "vanished": is zero and should not be; "infinite": is infinite and should not be; "other": is another
                     number; or a list of these. Two records are compared in the sampled elements only, and entries with
                     digests do not match
  left_out = true    for `parity --differences`: do not run the cases on such a device, because they would make it unusable

Exit code: 0 if all differences are listed, 1 if others exist or an entry is not needed, 2 if a file cannot be used or no case
can be compared."#;

/// Options of `cargo xtask parity compare`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// The cases of a program of its own, in place of the registry's
    #[arg(skip)]
    pub own: Option<Vec<crate::Case>>,
    /// A record, as `cargo xtask parity record` writes it, or the .safetensors file of a program that computed exported
    /// cases
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// Another one; may be left out if A is a .safetensors file
    #[arg(value_name = "B")]
    pub right: Option<PathBuf>,
    /// Known differences: a TOML file with `[[difference]]` entries of `case` (an id with * and ?) and `reason`
    #[arg(long, value_name = "FILE")]
    pub differences: Option<PathBuf>,
    /// Where to write the page of the comparison  [default: parity/compare.html in cargo's target folder]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// One of the files.
enum Side {
    Record(Box<NamedRecord>),
    /// Judged results, and their platform.
    Results(Box<Judged>, String),
}

impl Side {
    fn read(path: &Path, own: Option<&[crate::Case]>) -> Result<Side, Error> {
        if !Results::named(path) {
            return NamedRecord::read(path).map(|record| Side::Record(Box::new(record)));
        }
        let results = Results::open(path)?;
        let cases = own.map_or_else(|| results.cases(), |own| results.cases_among(own.to_vec()))?;
        let bar = progress(cases.len());
        let judged = results.judge(&cases, &mut || bar.inc(1))?;
        bar.finish_and_clear();
        Ok(Side::Results(Box::new(judged), results.platform().to_string()))
    }

    fn record(&self) -> &NamedRecord {
        match self {
            Side::Record(record) => record,
            Side::Results(judged, _) => &judged.record,
        }
    }

    fn judged(&self) -> Option<&Judged> {
        match self {
            Side::Record(_) => None,
            Side::Results(judged, _) => Some(judged),
        }
    }

    /// The platform and architecture.
    fn platform_and_arch(&self) -> (&str, &str) {
        match self {
            Side::Record(named) => {
                let header = named.record.header();
                let platform = header.device.split(':').next().unwrap_or_default();
                (platform, header.facts.get("arch").map_or("", String::as_str))
            }
            Side::Results(_, platform) => (platform, ""),
        }
    }
}

/// Returns whether all differences are known.
pub(super) fn run(args: &CompareArgs) -> Result<bool, Error> {
    let page = args.html.clone().unwrap_or_else(|| folder::of_reports().join("compare.html"));
    check_writable(&page)?;
    let sides: Vec<Side> = [Some(&args.left), args.right.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| Side::read(path, args.own.as_deref()))
        .collect::<Result<_, _>>()?;
    let mut known = args.differences.as_deref().map_or(Ok(Vec::new()), Known::read)?;
    let targets: Vec<(&str, &str)> = sides.iter().map(Side::platform_and_arch).collect();
    known.retain(|known| known.is_on(&targets) && !known.left_out);

    let judged: Vec<&Judged> = sides.iter().filter_map(Side::judged).collect();
    let references: Vec<NamedRecord> = judged.iter().map(|judged| judged.reference()).collect();
    let mut comparisons = Vec::new();
    for (judged, reference) in judged.iter().zip(&references) {
        comparisons.push(Comparison::with_reference(judged, reference, &known)?);
    }
    match &sides[..] {
        [left, right] => {
            comparisons.push(Comparison::with_judged(left.record(), right.record(), &judged, &known)?)
        }
        _ if comparisons.is_empty() => return Err(Error::Alone { path: args.left.clone() }),
        _ => {}
    }
    share_known(&mut comparisons);
    for comparison in &comparisons {
        say(&(comparison::render(comparison) + "\n"));
    }
    judged.iter().for_each(|judged| say(&left_out(judged)));
    html::write(&Page::of_comparisons(&comparisons, &judged, &known), &page)
        .map_err(|source| Error::Write { path: page.clone(), source })?;
    say(&format!("Report: {}\n", page.display()));
    Ok(comparisons.iter().all(Comparison::is_good))
}

/// Shares the counts: an entry needed by one comparison is not stale in another, which may have compared fewer
/// elements.
fn share_known(comparisons: &mut [Comparison<'_>]) {
    let needed: Vec<bool> = match comparisons.first() {
        Some(first) => (0..first.known.len())
            .map(|number| comparisons.iter().any(|comparison| comparison.known[number].1 > 0))
            .collect(),
        None => return,
    };
    for comparison in comparisons {
        let mut number = 0;
        comparison.known.retain(|(_, here)| {
            number += 1;
            *here > 0 || !needed[number - 1]
        });
    }
}

/// Describes cases that a program did not compute, and results that belong to no case.
fn left_out(judged: &Judged) -> String {
    let mut text = String::new();
    let name = &judged.record.name;
    for (reason, ids) in &judged.not_computed {
        let _ = writeln!(text, "{} cases not computed by {name}: {reason}; first {}", ids.len(), ids[0]);
    }
    if !judged.stale.is_empty() {
        let _ = writeln!(text, "{} results of {name} belong to no case: they are stale.", judged.stale.len());
    }
    text
}
