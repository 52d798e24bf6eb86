//! Rotary position embeddings.

use super::{from_f32, from_f64};
use crate::array::Data;
use crate::shape::count;
use crate::{Array, DType, Error, Judge, Outcome};

/// How numbers are paired, and the order of the axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RopeKind {
    /// One number of the first half of the last axis with one of the second; axes [b, h, t, d].
    Halves,
    /// Neighbours along the last axis; axes [b, h, t, d].
    Neighbours,
    /// As `Halves`; axes [b, t, h, d].
    TimeFirst,
}

impl RopeKind {
    /// All of them.
    pub const ALL: [RopeKind; 3] = [RopeKind::Halves, RopeKind::Neighbours, RopeKind::TimeFirst];

    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            RopeKind::Halves => "rope",
            RopeKind::Neighbours => "rope_i",
            RopeKind::TimeFirst => "rope_thd",
        }
    }
}

/// Each pair (x, y) of `a` becomes (x·cos − y·sin, x·sin + y·cos): two products and their sum, each rounded to the
/// compute type, and then rounded once to the dtype. `cos` and `sin` are [t, d / 2] or [b, t, d / 2]. Of longer tables
/// the first rows are used.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::DTypes`], and [`Error::Broadcast`] for shapes that do not match.
pub fn rope<'a>(kind: RopeKind, a: &'a Array, cos: &'a Array, sin: &'a Array) -> Result<Outcome<'a>, Error> {
    let (op, dtype) = (kind.name(), a.dtype());
    for table in [cos, sin] {
        if table.dtype() != dtype {
            return Err(Error::DTypes { op, left: dtype, right: table.dtype() });
        }
    }
    let (Data::Float(x), Data::Float(cosines), Data::Float(sines)) = (&a.data, &cos.data, &sin.data) else {
        return Err(Error::Unsupported { op, dtype });
    };
    let misfit =
        |table: &Array| Error::Broadcast { op, left: a.shape().to_vec(), right: table.shape().to_vec() };
    let &[batch, second, third, d] = a.shape() else { return Err(misfit(cos)) };
    let times = if kind == RopeKind::TimeFirst { second } else { third };
    if d % 2 != 0 {
        return Err(misfit(cos));
    }
    let half = d / 2;
    // Distance between the angles of two batch entries; 0 if they share a table.
    let strides = |table: &Array| match *table.shape() {
        [rows, pairs] if rows >= times && pairs == half => Ok(0),
        [batches, rows, pairs] if batches == batch && rows >= times && pairs == half => Ok(rows * pairs),
        _ => Err(misfit(table)),
    };
    let (cos_batch, sin_batch) = (strides(cos)?, strides(sin)?);
    count(a.shape())?;
    Ok(Outcome::new(dtype, a.shape().to_vec(), Judge::Exact, move |i| {
        let (column, row) = (i % d, i / d);
        let batch = row / (second * third);
        let time = if kind == RopeKind::TimeFirst { row / third % second } else { row % third };
        let (pair, is_second, distance) = match kind {
            RopeKind::Neighbours => (column / 2, column % 2 == 1, 1),
            _ => (column % half, column >= half, half),
        };
        let (first, other) = if is_second { (x[i - distance], x[i]) } else { (x[i], x[i + distance]) };
        let cos = cosines[batch * cos_batch + time * half + pair];
        let sin = sines[batch * sin_batch + time * half + pair];
        let (left, right) = if is_second { (sin, cos) } else { (cos, -sin) };
        if dtype == DType::F64 {
            from_f64(first * left + other * right)
        } else {
            from_f32(dtype, first as f32 * left as f32 + other as f32 * right as f32)
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(outcome: &Outcome<'_>) -> Vec<f64> {
        outcome.iter().map(|expected| expected.value.hi).collect()
    }

    #[test]
    fn pairs_by_hand() {
        // One batch entry, one head, two times, d = 4. The angles are 90° and 0° at time 0, 180° and 90° at time 1.
        let array = |shape: &[usize], x: &[f64]| Array::from_f64(DType::F32, shape, x).unwrap();
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let cos = array(&[2, 2], &[0.0, 1.0, -1.0, 0.0]);
        let sin = array(&[2, 2], &[1.0, 0.0, 0.0, 1.0]);
        let a = array(&[1, 1, 2, 4], &x);
        let halves = rope(RopeKind::Halves, &a, &cos, &sin).unwrap();
        assert_eq!(values(&halves), [-3.0, 2.0, 1.0, 4.0, -5.0, -8.0, -7.0, 6.0]);
        let neighbours = rope(RopeKind::Neighbours, &a, &cos, &sin).unwrap();
        assert_eq!(values(&neighbours), [-2.0, 1.0, 3.0, 4.0, -5.0, -6.0, -8.0, 7.0]);
        // With time and heads exchanged these are two heads at time 0. Tables may be longer.
        let a = array(&[1, 1, 2, 4], &x);
        let heads = rope(RopeKind::TimeFirst, &a, &cos, &sin).unwrap();
        assert_eq!(values(&heads), [-3.0, 2.0, 1.0, 4.0, -7.0, 6.0, 5.0, 8.0]);
    }

    #[test]
    fn each_step_rounds() {
        // (1 + 2^-12)² = 1 + 2^-11 + 2^-24 rounds to 1 + 2^-11 before anything is added.
        let x = 1.0 + f64::exp2(-12.0);
        let a = Array::from_f64(DType::F32, &[1, 1, 1, 2], &[x, 1.0]).unwrap();
        let cos = Array::from_f64(DType::F32, &[1, 1], &[x]).unwrap();
        let sin = Array::from_f64(DType::F32, &[1, 1], &[1.0]).unwrap();
        let out = rope(RopeKind::Halves, &a, &cos, &sin).unwrap();
        assert_eq!(out.at(0).value.hi, f64::exp2(-11.0));
    }

    #[test]
    fn shapes_must_fit() {
        let zeros =
            |shape: &[usize]| Array::from_f64(DType::F32, shape, &vec![0.0; shape.iter().product()]).unwrap();
        let a = zeros(&[2, 1, 3, 4]);
        for wrong in [&[2, 2][..], &[3, 4], &[1, 3, 2], &[6]] {
            let table = zeros(wrong);
            assert!(
                matches!(rope(RopeKind::Halves, &a, &table, &table), Err(Error::Broadcast { .. })),
                "{wrong:?}"
            );
        }
        let table = zeros(&[2, 5, 2]);
        assert!(rope(RopeKind::Halves, &a, &table, &table).is_ok());
    }
}
