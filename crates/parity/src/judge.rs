//! Judging results against the reference, element by element.
//!
//! The numbers (ulp bounds, the t of sums) and their reasons are data of the reference crate, see
//! [`reference::BOUNDS`]. This module judges all devices' results in one pass, finds the worst element, and handles
//! cases that require exact bits.

use std::collections::BTreeSet;

use rayon::prelude::*;
use reference::{DType, Expected, Judge, Outcome, Value};
use serde::Serialize;

use crate::comparison::Manner;
use crate::histogram::Histogram;
use crate::worst::Input;

/// Elements per task.
const CHUNK: usize = 4096;

/// One element, actual and expected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// Row-major index in the result.
    pub index: usize,
    /// The device's value.
    pub got: String,
    /// The reference's value, rounded to the dtype.
    pub expected: String,
    /// The distance from the exact value; `None` if there is none, because one of them is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// The same in ulp of the result's dtype.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ulps: Option<f64>,
    /// The distance that is allowed; 0 if the bits have to be equal.
    pub allowed: f64,
    /// The inputs that decide this element, in the order of the operands; empty if they were not looked up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

/// The judgement of one device's result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// Number of elements.
    pub elements: usize,
    /// Number of wrong elements.
    pub wrong: usize,
    /// Maximum error as a fraction of what is allowed. It is at most 1 unless an element is wrong, and infinite if an
    /// element is wrong where nothing is allowed, or only one of the values is NaN.
    pub worst: f64,
    /// Maximum error in ulp, over finite floats that differ from the rounded expectation.
    pub ulps: f64,
    /// The element with the maximum error as a fraction of what is allowed; `None` if there is no error.
    pub sample: Option<Sample>,
    /// The kinds of difference of the wrong elements; empty if none is wrong.
    pub manners: BTreeSet<Manner>,
    /// How many elements are how far off.
    pub histogram: Histogram,
}

/// The error of one element.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Distance {
    /// Whether it is wrong.
    wrong: bool,
    /// As a fraction of what is allowed.
    units: f64,
    /// In ulp; 0 if there is no distance.
    ulps: f64,
    /// Its bucket of the [`Histogram`].
    bucket: usize,
}

/// The rule to judge by: the reference's, or equal bits if `exact`.
pub fn rule(outcome: &Outcome<'_>, exact: bool) -> Judge {
    if exact { Judge::Exact } else { outcome.judge() }
}

/// Describes a rule in words.
pub fn describe(rule: Judge) -> String {
    match rule {
        Judge::Exact => "equal bits".into(),
        Judge::Within { ulps, t: 0.0 } => format!("within {ulps} ulp"),
        Judge::Within { ulps, t } => {
            format!("within {ulps} ulp + {t:.2e} of the sum of the terms' magnitudes")
        }
    }
}

fn distance(judge: Judge, dtype: DType, expected: &Expected, got: u64) -> Distance {
    let wrong = !judge.accepts(dtype, expected, got);
    let infinite = matches!(dtype.decode(got), Value::Float(x) if x.is_infinite());
    if !wrong && infinite {
        // An allowed overflow has no distance.
        return Distance { wrong, units: 0.0, ulps: 0.0, bucket: Histogram::bucket(None) };
    }
    let gap = reference::difference(dtype, expected, got);
    let tolerance = judge.tolerance(dtype, expected);
    let units = match () {
        () if gap.is_finite() && tolerance > 0.0 => gap / tolerance,
        () if wrong => f64::INFINITY,
        // A NaN with another bit pattern.
        () => 0.0,
    };
    let ulps = ulps(dtype, expected, gap);
    let bucket = match dtype.is_nan(got) && dtype.is_nan(expected.bits) {
        true => 0,
        false => Histogram::bucket(ulps),
    };
    Distance { wrong, units, ulps: ulps.unwrap_or(0.0), bucket }
}

fn ulps(dtype: DType, expected: &Expected, gap: f64) -> Option<f64> {
    let ulp = reference::round::ulp(dtype, expected.value.hi);
    (gap.is_finite() && ulp > 0.0).then(|| gap / ulp)
}

/// The results of one chunk for one device.
#[derive(Debug, Clone)]
struct Tally {
    wrong: usize,
    ulps: f64,
    /// The worst element's distance, its index, and its actual and expected bits.
    worst: Option<(f64, usize, u64, u64)>,
    manners: BTreeSet<Manner>,
    /// Bucket 0 is left empty.
    histogram: Histogram,
}

impl Tally {
    const NONE: Tally =
        Tally { wrong: 0, ulps: 0.0, worst: None, manners: BTreeSet::new(), histogram: Histogram::NONE };

    fn add(&mut self, dtype: DType, index: usize, distance: Distance, got: u64, expected: u64) {
        if distance.wrong {
            self.wrong += 1;
            self.manners.insert(Manner::of(dtype, expected, got));
        }
        self.ulps = self.ulps.max(distance.ulps);
        self.histogram.add(distance.bucket);
        // A NaN with other bits than the reference's is not an error.
        if distance.units > 0.0 {
            self.keep((distance.units, index, got, expected));
        }
    }

    /// The first of equally bad elements is kept.
    fn keep(&mut self, other: (f64, usize, u64, u64)) {
        if self.worst.is_none_or(|worst| other.0 > worst.0) {
            self.worst = Some(other);
        }
    }

    fn merge(&mut self, later: Tally) {
        self.wrong += later.wrong;
        self.ulps = self.ulps.max(later.ulps);
        self.manners.extend(later.manners);
        self.histogram.merge(&later.histogram);
        if let Some(worst) = later.worst {
            self.keep(worst);
        }
    }
}

/// Judges the results of several devices in one pass over the reference. Each result has the outcome's length; its
/// bytes are little-endian and dense.
pub fn judge(outcome: &Outcome<'_>, judge: Judge, results: &[&[u8]]) -> Vec<Verdict> {
    let (dtype, len) = (outcome.dtype(), outcome.len());
    let size = dtype.size();
    let task = |chunk: usize| {
        let mut tallies = vec![Tally::NONE; results.len()];
        let start = chunk * CHUNK;
        for index in start..(start + CHUNK).min(len) {
            let expected = outcome.at(index);
            for (tally, result) in tallies.iter_mut().zip(results) {
                let got = read(&result[index * size..], size);
                if got != expected.bits {
                    let distance = distance(judge, dtype, &expected, got);
                    tally.add(dtype, index, distance, got, expected.bits);
                }
            }
        }
        tallies
    };
    let merge = |mut left: Vec<Tally>, right: Vec<Tally>| {
        left.iter_mut().zip(right).for_each(|(left, right)| left.merge(right));
        left
    };
    let chunks = len.div_ceil(CHUNK);
    let tallies = if chunks > 1 {
        // An indexed reduction keeps the order, so that the first of equally bad elements is always reported.
        (0..chunks).into_par_iter().map(task).reduce(|| vec![Tally::NONE; results.len()], merge)
    } else {
        task(0)
    };
    tallies.into_iter().map(|tally| verdict(outcome, judge, tally)).collect()
}

fn verdict(outcome: &Outcome<'_>, judge: Judge, tally: Tally) -> Verdict {
    let (dtype, elements) = (outcome.dtype(), outcome.len());
    let sample = tally.worst.map(|(_, index, got, expected_bits)| {
        let expected = outcome.at(index);
        let gap = reference::difference(dtype, &expected, got);
        Sample {
            index,
            got: text(dtype, got),
            expected: text(dtype, expected_bits),
            error: gap.is_finite().then_some(gap),
            ulps: ulps(dtype, &expected, gap),
            allowed: judge.tolerance(dtype, &expected),
            inputs: Vec::new(),
        }
    });
    let mut histogram = tally.histogram;
    histogram.complete(elements);
    Verdict {
        elements,
        wrong: tally.wrong,
        worst: tally.worst.map_or(0.0, |worst| worst.0),
        ulps: tally.ulps,
        sample,
        manners: tally.manners,
        histogram,
    }
}

/// The little-endian element at the start of `bytes`.
pub(crate) fn read(bytes: &[u8], size: usize) -> u64 {
    match size {
        1 => u64::from(bytes[0]),
        2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        _ => bytes[..size].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
    }
}

/// A readable number with its bits: "0.1 (0x3dcccccd)".
pub fn text(dtype: DType, bits: u64) -> String {
    match dtype.decode(bits) {
        Value::Int(i) => i.to_string(),
        Value::Float(x) => {
            let digits = 2 * dtype.size();
            let shown = if dtype == DType::F32 { format!("{:?}", x as f32) } else { format!("{x:?}") };
            format!("{shown} (0x{bits:0digits$x})")
        }
    }
}
