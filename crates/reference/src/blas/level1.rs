//! Level 1: vectors.

use super::{Number, Sum};
use crate::Dd;

/// `alpha x + y`.
pub fn axpy(alpha: Number, x: &[Number], y: &[Number]) -> Vec<Sum> {
    x.iter().zip(y).map(|(&x, &y)| Sum::default().plus(&[alpha, x]).plus(&[y])).collect()
}

/// `alpha x`.
pub fn scal(alpha: Number, x: &[Number]) -> Vec<Sum> {
    x.iter().map(|&x| Sum::default().plus(&[alpha, x])).collect()
}

/// Σ x y, without conjugation.
pub fn dot(x: &[Number], y: &[Number]) -> Sum {
    x.iter().zip(y).fold(Sum::default(), |sum, (&x, &y)| sum.plus(&[x, y]))
}

/// Σ conj(x) y.
pub fn dotc(x: &[Number], y: &[Number]) -> Sum {
    x.iter().zip(y).fold(Sum::default(), |sum, (&x, &y)| sum.plus(&[x.conj(), y]))
}

/// The Euclidean norm. Its error is relative to itself.
pub fn nrm2(x: &[Number]) -> Sum {
    let root = x.iter().fold(Dd::ZERO, |sum, x| sum + x.square()).sqrt();
    Sum { value: Number { re: root, im: Dd::ZERO }, scale: root.hi, terms: x.len() }
}

/// Σ |real part| + |imaginary part|.
pub fn asum(x: &[Number]) -> Sum {
    x.iter().fold(Sum::default(), |sum, x| {
        let size = x.re.abs() + x.im.abs();
        sum.plus(&[Number { re: size, im: Dd::ZERO }])
    })
}

/// The index, from 0, of the first element of the largest [`Number::size`].
pub fn first_largest(x: &[Number]) -> Option<usize> {
    let largest = x.iter().map(|x| x.size()).reduce(f64::max)?;
    x.iter().position(|x| x.size() == largest)
}

/// The index, from 0, of the first element of the smallest [`Number::size`].
pub fn first_smallest(x: &[Number]) -> Option<usize> {
    let smallest = x.iter().map(|x| x.size()).reduce(f64::min)?;
    x.iter().position(|x| x.size() == smallest)
}

/// `c x + s y` and `c y - conj(s) x`, for each pair.
pub fn rot(x: &[Number], y: &[Number], c: Number, s: Number) -> (Vec<Sum>, Vec<Sum>) {
    let pairs = x.iter().zip(y);
    let turned = pairs.map(|(&x, &y)| {
        (Sum::default().plus(&[c, x]).plus(&[s, y]), Sum::default().plus(&[c, y]).plus(&[-s.conj(), x]))
    });
    turned.unzip()
}

/// A Givens rotation that maps (a, b) to (r, 0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation {
    /// The new a.
    pub r: Number,
    /// The cosine, which is real.
    pub c: Dd,
    /// The sine.
    pub s: Number,
}

/// The rotation that maps (a, b) to (r, 0). For real numbers r has the sign of the larger one, or of a if their
/// magnitudes are equal. For complex numbers r has the direction of a. If both are 0 and real, the rotation is the
/// identity. If a is 0 and complex, the two are exchanged, as in BLAS.
pub fn rotg(a: Number, b: Number, complex: bool) -> Rotation {
    if complex && a.square() == Dd::ZERO {
        return Rotation { r: b, c: Dd::ZERO, s: Number::ONE };
    }
    let norm = (a.square() + b.square()).sqrt();
    if norm == Dd::ZERO {
        return Rotation { r: Number::ZERO, c: Dd::ONE, s: Number::ZERO };
    }
    if complex {
        let direction = a.times(a.abs().recip());
        let s = (direction * b.conj()).times(norm.recip());
        return Rotation { r: direction.times(norm), c: a.abs() * norm.recip(), s };
    }
    let larger = if a.re.abs().hi > b.re.abs().hi { a } else { b };
    let r = if larger.re.hi < 0.0 { -norm } else { norm };
    let part = |number: Number| number.re / r;
    Rotation { r: Number { re: r, im: Dd::ZERO }, c: part(a), s: Number { re: part(b), im: Dd::ZERO } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(values: &[f64]) -> Vec<Number> {
        values.iter().map(|&x| Number::from(x)).collect()
    }

    fn values(sums: &[Sum]) -> Vec<f64> {
        sums.iter().map(|sum| sum.value.re.hi).collect()
    }

    #[test]
    fn sums_of_vectors() {
        let (x, y) = (real(&[1.0, -2.0, 3.0]), real(&[10.0, 20.0, 30.0]));
        assert_eq!(values(&axpy(2.0.into(), &x, &y)), [12.0, 16.0, 36.0]);
        assert_eq!(values(&scal(3.0.into(), &x)), [3.0, -6.0, 9.0]);
        let sum = dot(&x, &y);
        assert_eq!((sum.value, sum.scale, sum.terms), (60.0.into(), 140.0, 3));
        assert_eq!(nrm2(&real(&[3.0, 4.0])).value, 5.0.into());
        assert_eq!(asum(&x).value, 6.0.into());
        assert_eq!(asum(&[Number::new(-1.0, 2.0)]).value, 3.0.into());
        let (i, one) = (Number::new(0.0, 1.0), Number::ONE);
        assert_eq!((dot(&[i], &[i]).value, dotc(&[i], &[i]).value), (-one, one));
    }

    #[test]
    fn extremes() {
        let x = [Number::new(1.0, -2.0), Number::new(-3.0, 0.0), Number::new(0.0, 1.0), Number::ONE];
        assert_eq!((first_largest(&x), first_smallest(&x)), (Some(0), Some(2)));
        assert_eq!((first_largest(&[]), first_smallest(&[])), (None, None));
    }

    #[test]
    fn rotations() {
        let (x, y) = rot(&real(&[1.0]), &real(&[2.0]), 3.0.into(), 4.0.into());
        assert_eq!((values(&x), values(&y)), (vec![11.0], vec![2.0]));
        let turned = rotg(3.0.into(), (-4.0).into(), false);
        assert_eq!((turned.r.re.hi, turned.c.hi, turned.s.re.hi), (-5.0, -0.6, 0.8));
        let turned = rotg(Number::ZERO, 2.0.into(), false);
        assert_eq!((turned.r.re.hi, turned.c.hi, turned.s.re.hi), (2.0, 0.0, 1.0));
        // 3i and 4: the direction is i; s = i · 4 / 5.
        let turned = rotg(Number::new(0.0, 3.0), 4.0.into(), true);
        assert_eq!((turned.r, turned.c.hi), (Number::new(0.0, 5.0), 0.6));
        assert_eq!((turned.s.re.hi, turned.s.im.hi), (0.0, 0.8));
    }
}
