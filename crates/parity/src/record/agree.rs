//! Whether two entries of one case can both be right. The rules are in [`super`].

use reference::{DType, Dd, Expected, Value};

use super::{Entry, Form, Found, Probe};
use crate::judge;

/// How two entries of one case compare.
#[derive(Debug, Clone, PartialEq)]
pub enum Agreement {
    /// The digests are equal, or the bits of all sampled elements.
    Equal,
    /// Sampled elements are apart, no further than both may be; the greatest distance as a part of that.
    Within(f64),
    /// They cannot both be right.
    Differs(Difference),
    /// One has a digest and the other samples, or neither has a result: nothing can be said.
    Incomparable(&'static str),
}

/// What two entries do not agree in.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where: "element 17", "digest", …
    pub place: String,
    /// What the first has there.
    pub left: String,
    /// What the second has there.
    pub right: String,
    /// Their distance as a multiple of what is allowed; infinite where nothing is.
    pub units: f64,
    /// How many sampled elements are too far apart; 0 where none was looked at.
    pub wrong: usize,
}

impl Difference {
    fn of(place: &str, left: String, right: String) -> Agreement {
        let place = place.to_string();
        Agreement::Differs(Difference { place, left, right, units: f64::INFINITY, wrong: 0 })
    }

    /// The difference in words, with the names of both sides.
    pub fn describe(&self, left: &str, right: &str) -> String {
        let Difference { place, left: a, right: b, units, wrong } = self;
        let mut text = format!("{place}: {left} has {a}, {right} has {b}");
        if units.is_finite() {
            text += &format!(", {units:.2} times what is allowed apart");
        }
        if *wrong > 1 {
            text += &format!("; {wrong} of the elements looked at differ");
        }
        text
    }
}

/// Holds two entries of one case against each other. Their hashes are not looked at.
pub fn compare(left: &Entry, right: &Entry) -> Agreement {
    let error = |error: &String| format!("the error {error:?}");
    let form = |found: &Found| match found {
        Found::Exact { form, .. } | Found::Sampled { form, .. } => form.to_string(),
        Found::Error(text) => error(text),
    };
    match (&left.found, &right.found) {
        (Found::Error(_), Found::Error(_)) => Agreement::Incomparable("neither has a result"),
        (Found::Error(_), other) => Difference::of("result", form(&left.found), form(other)),
        (other, Found::Error(_)) => Difference::of("result", form(other), form(&right.found)),
        (Found::Exact { form: a, .. }, Found::Exact { form: b, .. })
        | (Found::Sampled { form: a, .. }, Found::Sampled { form: b, .. })
            if a != b =>
        {
            Difference::of("form", a.to_string(), b.to_string())
        }
        (Found::Exact { digest: a, .. }, Found::Exact { digest: b, .. }) => match a == b {
            true => Agreement::Equal,
            false => Difference::of("digest", format!("{a:032x}"), format!("{b:032x}")),
        },
        (Found::Sampled { form, probes: a }, Found::Sampled { probes: b, .. }) => samples(form, a, b),
        _ => Agreement::Incomparable("one has a digest, the other samples"),
    }
}

fn samples(form: &Form, left: &[Probe], right: &[Probe]) -> Agreement {
    let dtype = form.dtype;
    if !left.iter().map(|probe| probe.index).eq(right.iter().map(|probe| probe.index)) {
        return Agreement::Incomparable("other elements were sampled");
    }
    let (mut equal, mut worst, mut wrong) = (true, None::<(f64, &Probe, &Probe)>, 0);
    for (a, b) in left.iter().zip(right) {
        equal &= a.bits == b.bits;
        let (off, units) = apart(dtype, a, b);
        wrong += usize::from(off);
        // Of equally bad elements the first stays.
        if worst.is_none_or(|(most, ..)| units > most) {
            worst = Some((units, a, b));
        }
    }
    match worst {
        Some((units, a, b)) if wrong > 0 => Agreement::Differs(Difference {
            place: format!("element {}", a.index),
            left: judge::text(dtype, a.bits),
            right: judge::text(dtype, b.bits),
            units,
            wrong,
        }),
        Some((units, ..)) if !equal => Agreement::Within(units),
        _ => Agreement::Equal,
    }
}

/// Whether two elements cannot both be right, and their distance as a part of what is allowed; infinite where nothing is.
fn apart(dtype: DType, left: &Probe, right: &Probe) -> (bool, f64) {
    if left.bits == right.bits || dtype.is_nan(left.bits) && dtype.is_nan(right.bits) {
        return (false, 0.0);
    }
    let special = |probe: &Probe| matches!(dtype.decode(probe.bits), Value::Float(x) if !x.is_finite());
    let overflow = left.allowed.overflow || right.allowed.overflow;
    if overflow && (special(left) || special(right)) {
        return (false, 0.0);
    }
    // The distance counts an infinity as a number only on the side that it calls `got`.
    let (got, value) = if special(left) { (left, right) } else { (right, left) };
    let number = match dtype.decode(value.bits) {
        Value::Float(x) => Dd::from(x),
        Value::Int(i) => Dd::from_int(i),
    };
    let expected = Expected { value: number, bits: value.bits, scale: 0.0, overflow: false };
    let gap = reference::difference(dtype, &expected, got.bits);
    let allowed = left.allowed.tolerance + right.allowed.tolerance;
    // A NaN is at no distance from a number: this is wrong, too.
    let wrong = !(gap <= allowed);
    let units = match () {
        () if gap.is_finite() && allowed > 0.0 => gap / allowed,
        () if wrong => f64::INFINITY,
        () => 0.0,
    };
    (wrong, units)
}
