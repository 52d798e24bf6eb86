//! The page of compared records.

use std::borrow::Cow;

use super::Page;
use super::data::{Column, Found, Shown, Source};
use super::run::result;
use crate::comparison::{Comparison, Finding, Known, Pair};
use crate::record::{Difference, Entry, Found as Recorded, NamedRecord, farthest};
use crate::report::{CaseReport, rerun};
use crate::witness::Judged;

impl<'a> Page<'a> {
    /// The page of one or more comparisons, with a column for each. `judged` are results whose elements were all
    /// judged, for comparisons with the reference. `known` is the list that the comparisons were made with.
    pub fn of_comparisons(
        comparisons: &'a [Comparison<'a>],
        judged: &[&'a Judged],
        known: &[Known],
    ) -> Page<'a> {
        let facts =
            vec![("Compared", crate::record::now()), ("Version", env!("CARGO_PKG_VERSION").to_string())];
        let mut page = Page::new("comparison", facts, comparisons.iter().map(column).collect());
        for (number, comparison) in comparisons.iter().enumerate() {
            let counts = comparison.counts();
            page.notes.push(format!(
                "{} and {}: {} equal, {} within bounds, {} differ, {} known to differ, {} not compared.",
                comparison.left.name,
                comparison.right.name,
                counts.equal,
                counts.within,
                counts.differ,
                counts.known,
                counts.only_left + counts.only_right + counts.other_inputs + counts.incomparable
            ));
            page.notes.extend(comparison.known.iter().map(|(known, needed)| match needed {
                0 => {
                    format!("STALE {}: listed as a difference, and no case differs: take it out", known.case)
                }
                _ => format!("KNOWN {}: {needed} cases: {}", known.case, known.reason),
            }));
            let with = judged.iter().find(|judged| {
                std::ptr::eq(&judged.record, comparison.left) && comparison.right.record.entries().is_empty()
            });
            for (index, pair) in comparison.pairs.iter().enumerate() {
                let entry = pair.entry;
                let hash = format!("{:032x}", entry.hash);
                let shown = page.case(&entry.id, hash, [entry.operation(), entry.dtype(), &entry.rule]);
                shown.elements = elements(entry);
                let found = match with {
                    Some(judged) => against_reference(&pair.finding, &judged.report.cases[index], known),
                    None => against_record(pair, comparison, known),
                };
                shown.results[number] = found;
            }
        }
        page
    }
}

fn column(comparison: &Comparison<'_>) -> Column {
    let sides = [comparison.left, comparison.right];
    // The reference and other programs are no devices that a command could name.
    let is_device = |named: &&NamedRecord| {
        let device = &named.record.header().device;
        device == "cpu" || device.contains(':')
    };
    let command = |named: &NamedRecord| {
        let header = named.record.header();
        rerun(&header.device, "{case}", header.seed, " --full").replace("'{case}'", "{case}")
    };
    let source = |named: &NamedRecord| {
        let header = named.record.header();
        let mut facts = header.facts.clone();
        facts.insert("date".into(), header.date.clone());
        facts.insert("seed".into(), header.seed.to_string());
        facts.insert("version".into(), header.version.clone());
        Source { name: named.name.clone(), description: header.description.clone(), facts }
    };
    Column {
        name: format!("{} / {}", comparison.left.name, comparison.right.name),
        sides: sides.map(|named| named.name.clone()),
        devices: sides.map(source).to_vec(),
        commands: sides.into_iter().filter(is_device).map(command).collect(),
    }
}

fn elements(entry: &Entry) -> usize {
    match &entry.found {
        Recorded::Exact { form, .. } | Recorded::Sampled { form, .. } => form.elements().unwrap_or(0),
        Recorded::Error(_) => 0,
    }
}

/// A judged result, with what the reference says of its elements.
fn against_reference<'a>(finding: &Finding, report: &'a CaseReport, known: &[Known]) -> Shown<'a> {
    match (result(&report.results[0]), finding) {
        (Shown::Result(found), Finding::Known(_, number)) => {
            let why = found.why.as_deref().map(|why| with_reason(why, known, *number));
            Shown::Result(Box::new(Found { status: "known", why, ..*found }))
        }
        (shown, _) => shown,
    }
}

/// A difference in words, with the reason of the entry that explains it.
fn with_reason(why: &str, known: &[Known], number: usize) -> String {
    format!("{why}. Known: {}", known.get(number).map_or("", |known| known.reason.as_str()))
}

fn against_record<'a>(pair: &Pair<'a>, comparison: &Comparison<'a>, known: &[Known]) -> Shown<'a> {
    let (left, right) = (comparison.left, comparison.right);
    let absent =
        |why: String| Shown::Result(Box::new(Found { status: "absent", why: Some(why), ..Found::default() }));
    let differs = |status, difference: &Difference| Found {
        status,
        worst: difference.units,
        wrong: difference.wrong,
        why: Some(difference.describe(&left.name, &right.name)),
        ..Found::default()
    };
    let found = match &pair.finding {
        Finding::Equal => return Shown::Equal,
        Finding::OnlyLeft => return absent(format!("only in {}", left.name)),
        Finding::OnlyRight => return absent(format!("only in {}", right.name)),
        Finding::OtherInputs => return absent("with other inputs".into()),
        Finding::Incomparable(why) => return absent((*why).into()),
        Finding::Within(units) => Found { status: "pass", worst: *units, ..Found::default() },
        Finding::Differs(difference) => differs("mismatch", difference),
        Finding::Known(difference, number) => {
            let found = differs("known", difference);
            let why = found.why.as_deref().map(|why| with_reason(why, known, *number));
            Found { why, ..found }
        }
    };
    let other = right.record.get(pair.entry.hash, &pair.entry.id);
    let Some((sample, histogram)) = other.and_then(|other| farthest(pair.entry, other)) else {
        return Shown::Result(Box::new(found));
    };
    Shown::Result(Box::new(Found {
        ulps: sample.ulps,
        sample: Some(Cow::Owned(sample)),
        histogram: histogram.counts().to_vec(),
        ..found
    }))
}
