//! Whether two entries of a case can both be right. [`super`] has the rules.

use std::collections::BTreeSet;

use reference::{DType, Dd, Expected, Value};

use super::{Allowed, Entry, Form, Found, Probe};
use crate::comparison::Manner;
use crate::histogram::Histogram;
use crate::judge::{self, Sample};

/// Maximum ratio of two tolerances of the same element, due to rounding to four digits.
const ROUNDING: f64 = 1.002;

/// The result of comparing two entries of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Agreement {
    /// Equal digests, or equal bits in all sampled elements.
    Equal,
    /// Different, but within what is allowed. The maximum distance as a fraction of that.
    Within(f64),
    /// They cannot both be right.
    Differs(Difference),
    /// Judged by different rules, or both without a result: not comparable.
    Incomparable(&'static str),
}

/// The difference between two entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// What differs: "element 17", "digest", …
    pub part: String,
    /// The first entry's value there.
    pub left: String,
    /// The second entry's value there.
    pub right: String,
    /// Their distance as a multiple of what is allowed; infinite if nothing is.
    pub units: f64,
    /// Number of sampled elements that differ too much; 0 if no elements were compared.
    pub wrong: usize,
    /// The kind of difference.
    pub kind: Kind,
}

/// The kind of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The compared elements differ in these ways.
    Elements(BTreeSet<Manner>),
    /// Some bits differ. Digests do not tell which.
    Bits,
    /// A side has no result, a result of another form, or another tolerance for an element. Known differences never
    /// excuse this.
    Fault,
}

impl Difference {
    fn of(kind: Kind, part: impl Into<String>, left: String, right: String) -> Agreement {
        let part = part.into();
        Agreement::Differs(Difference { part, left, right, units: f64::INFINITY, wrong: 0, kind })
    }

    /// The difference in words, with the names of both sides.
    pub fn describe(&self, left: &str, right: &str) -> String {
        let Difference { part, left: a, right: b, units, wrong, kind: _ } = self;
        let mut text = format!("{part}: {left} has {a}, {right} has {b}");
        if units.is_finite() {
            text += &format!(", {units:.2} times what is allowed apart");
        }
        if *wrong > 1 {
            text += &format!("; {wrong} of the elements looked at differ");
        }
        text
    }
}

/// Compares two entries of a case. Their hashes are ignored.
///
/// Both have the tolerance of each sampled element. The tolerances must be equal, because the case and its rule are.
pub fn compare(left: &Entry, right: &Entry) -> Agreement {
    entries(left, right, |left, right| {
        let (less, more) = (left.tolerance.min(right.tolerance), left.tolerance.max(right.tolerance));
        let same = left.overflow == right.overflow && more <= less * ROUNDING;
        same.then_some(Allowed { tolerance: left.tolerance + right.tolerance, overflow: left.overflow })
    })
}

/// As [`compare`], for an entry `own` computed here: its tolerances apply to both, and those of the recorded entry are
/// ignored.
pub fn hold(own: &Entry, recorded: &Entry) -> Agreement {
    entries(own, recorded, |own, _| Some(Allowed { tolerance: 2.0 * own.tolerance, ..own }))
}

/// Compares two entries. `both` combines the sides' tolerances of an element, if they are compatible.
fn entries(left: &Entry, right: &Entry, both: impl Fn(Allowed, Allowed) -> Option<Allowed>) -> Agreement {
    let error = |error: &String| format!("the error {error:?}");
    let form = |found: &Found| match found {
        Found::Exact { form, .. } | Found::Sampled { form, .. } => form.to_string(),
        Found::Error(text) => error(text),
    };
    match (&left.found, &right.found) {
        (Found::Error(_), Found::Error(_)) => Agreement::Incomparable("neither has a result"),
        (Found::Error(_), other) => Difference::of(Kind::Fault, "result", form(&left.found), form(other)),
        (other, Found::Error(_)) => Difference::of(Kind::Fault, "result", form(other), form(&right.found)),
        (Found::Exact { form: a, .. }, Found::Exact { form: b, .. })
        | (Found::Sampled { form: a, .. }, Found::Sampled { form: b, .. })
            if a != b =>
        {
            Difference::of(Kind::Fault, "form", a.to_string(), b.to_string())
        }
        _ if left.rule != right.rule => Agreement::Incomparable("they were judged by different rules"),
        (Found::Exact { digest: a, .. }, Found::Exact { digest: b, .. }) => match a == b {
            true => Agreement::Equal,
            false => Difference::of(Kind::Bits, "digest", format!("{a:032x}"), format!("{b:032x}")),
        },
        (Found::Sampled { form, probes: a }, Found::Sampled { probes: b, .. }) => samples(form, a, b, both),
        _ => Agreement::Incomparable("one has a digest, the other samples"),
    }
}

fn samples(
    form: &Form,
    left: &[Probe],
    right: &[Probe],
    both: impl Fn(Allowed, Allowed) -> Option<Allowed>,
) -> Agreement {
    let dtype = form.dtype;
    if !left.iter().map(|probe| probe.index).eq(right.iter().map(|probe| probe.index)) {
        return Agreement::Incomparable("other elements were sampled");
    }
    let (mut equal, mut worst, mut wrong) = (true, None::<(f64, &Probe, &Probe)>, 0);
    let mut manners = BTreeSet::new();
    for (a, b) in left.iter().zip(right) {
        let Some(allowed) = both(a.allowed, b.allowed) else {
            let part = format!("what element {} may be off", a.index);
            return Difference::of(Kind::Fault, part, a.allowed.to_string(), b.allowed.to_string());
        };
        equal &= a.bits == b.bits;
        let Apart { off, units, .. } = apart(dtype, a.bits, b.bits, allowed);
        if off {
            wrong += 1;
            manners.insert(Manner::between(dtype, a.bits, b.bits));
        }
        // The first of equally bad elements is kept.
        if worst.is_none_or(|(most, ..)| units > most) {
            worst = Some((units, a, b));
        }
    }
    match worst {
        Some((units, a, b)) if wrong > 0 => Agreement::Differs(Difference {
            part: format!("element {}", a.index),
            left: judge::text(dtype, a.bits),
            right: judge::text(dtype, b.bits),
            units,
            wrong,
            kind: Kind::Elements(manners),
        }),
        Some((units, ..)) if !equal => Agreement::Within(units),
        _ => Agreement::Equal,
    }
}

/// The sampled element of two entries that is farthest apart for what is allowed, and how far all of them are; `None`
/// if their elements cannot be compared. The first entry's value is `got`, the second's `expected`.
pub(crate) fn farthest(left: &Entry, right: &Entry) -> Option<(Sample, Histogram)> {
    let (Found::Sampled { form, probes: a }, Found::Sampled { form: other, probes: b }) =
        (&left.found, &right.found)
    else {
        return None;
    };
    if form != other || !a.iter().map(|probe| probe.index).eq(b.iter().map(|probe| probe.index)) {
        return None;
    }
    let dtype = form.dtype;
    let mut histogram = Histogram::NONE;
    let mut worst: Option<(Apart, f64, &Probe, &Probe)> = None;
    for (a, b) in a.iter().zip(b).filter(|(a, b)| a.bits != b.bits) {
        let tolerance = a.allowed.tolerance + b.allowed.tolerance;
        let apart = apart(dtype, a.bits, b.bits, Allowed { tolerance, overflow: a.allowed.overflow });
        let both_nan = dtype.is_nan(a.bits) && dtype.is_nan(b.bits);
        histogram.add(if both_nan { 0 } else { Histogram::bucket(apart.ulps) });
        if worst.as_ref().is_none_or(|(most, ..)| apart.units > most.units) {
            worst = Some((apart, tolerance, a, b));
        }
    }
    histogram.complete(a.len());
    worst.map(|(apart, allowed, a, b)| {
        let sample = Sample {
            index: a.index,
            got: judge::text(dtype, a.bits),
            expected: judge::text(dtype, b.bits),
            error: apart.gap,
            ulps: apart.ulps,
            allowed,
            inputs: Vec::new(),
        };
        (sample, histogram)
    })
}

/// The distance of two elements.
struct Apart {
    /// Whether they cannot both be right.
    off: bool,
    /// Their distance as a fraction of what is allowed; infinite if they are off and nothing is.
    units: f64,
    /// Their distance; `None` if there is none.
    gap: Option<f64>,
    /// The same in ulp.
    ulps: Option<f64>,
}

fn apart(dtype: DType, left: u64, right: u64, allowed: Allowed) -> Apart {
    if left == right || dtype.is_nan(left) && dtype.is_nan(right) {
        return Apart { off: false, units: 0.0, gap: Some(0.0), ulps: Some(0.0) };
    }
    let special = |bits: u64| matches!(dtype.decode(bits), Value::Float(x) if !x.is_finite());
    if allowed.overflow && (special(left) || special(right)) {
        return Apart { off: false, units: 0.0, gap: None, ulps: None };
    }
    // `difference` counts an infinity as a number only for `got`.
    let (got, value) = if special(left) { (left, right) } else { (right, left) };
    let number = match dtype.decode(value) {
        Value::Float(x) => Dd::from(x),
        Value::Int(i) => Dd::from_int(i),
    };
    let expected = Expected { value: number, bits: value, scale: 0.0, overflow: false };
    let gap = reference::difference(dtype, &expected, got);
    let allowed = allowed.tolerance;
    // The distance of a NaN from a number is NaN.
    let off = gap.is_nan() || gap > allowed;
    let units = match () {
        () if gap.is_finite() && allowed > 0.0 => gap / allowed,
        () if off => f64::INFINITY,
        () => 0.0,
    };
    let gap = gap.is_finite().then_some(gap);
    let ulp = reference::round::ulp(dtype, number.hi);
    Apart { off, units, gap, ulps: gap.filter(|_| ulp > 0.0).map(|gap| gap / ulp) }
}
