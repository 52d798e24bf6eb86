//! Dense matrices of complex `f64`, computed with by the definitions, and the bounds of what a library may differ by.

use crate::numbers::{C, Number};
use rocsparse_safe::Op;

/// A dense matrix: its rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense(pub(crate) Vec<Vec<C>>);

impl Dense {
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self(vec![vec![C::default(); cols]; rows])
    }

    /// Of entries, where those of one position are added up.
    pub(crate) fn of<T: Number>(rows: usize, cols: usize, entries: &[(usize, usize, T)]) -> Self {
        let mut dense = Self::zeros(rows, cols);
        entries.iter().for_each(|&(row, col, value)| dense.0[row][col] += value.to());
        dense
    }

    /// Of elements row by row.
    pub(crate) fn by_rows<T: Number>(cols: usize, elements: &[T]) -> Self {
        Self(elements.chunks(cols.max(1)).map(|row| row.iter().map(|x| x.to()).collect()).collect())
    }

    /// With an operation; of how many columns there are without any row.
    pub(crate) fn op(&self, op: Op, cols: usize) -> Self {
        if op == Op::None {
            return self.clone();
        }
        let conjugate = |x: C| if op == Op::Adjoint { x.conj() } else { x };
        Self((0..cols).map(|col| self.0.iter().map(|row| conjugate(row[col])).collect()).collect())
    }

    pub(crate) fn column(elements: &[impl Number]) -> Self {
        Self(elements.iter().map(|x| vec![x.to()]).collect())
    }
}

/// A sum of products, the sum of their magnitudes, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) value: C,
    pub(crate) magnitude: f64,
    pub(crate) terms: usize,
}

impl Sum {
    pub(crate) fn add(&mut self, factors: &[C]) {
        let product: C = factors.iter().product();
        if product != C::default() {
            self.value += product;
            self.magnitude += factors.iter().map(|x| x.norm()).product::<f64>();
            self.terms += 1;
        }
    }

    /// How far a library's result may be from the value.
    ///
    /// A term is a product of three factors, with two roundings of a relative error of at most √5 u for complex numbers (Brent, Percival and
    /// Zimmermann), and goes through as many additions as there are terms at most, in whichever order, and the one of β, of u each: together
    /// (terms + 2 √5 + 1) u, and 8 is more than 2 √5 + 1. The same holds for the judge with its u. The factor 1.01 covers products of errors.
    fn bound<T: Number>(&self) -> f64 {
        1.01 * (self.terms + 8) as f64 * (T::UNIT + f64::EPSILON / 2.0) * self.magnitude
    }

    #[track_caller]
    pub(crate) fn check<T: Number>(&self, what: &str, found: T) {
        let (error, bound) = ((found.to() - self.value).norm(), self.bound::<T>());
        assert!(
            error <= bound,
            "{what}: {found:?} differs from {} by {error:e}, and may by {bound:e}",
            self.value
        );
    }

    /// As [`Sum::check`] of zero, for what a solved system leaves: a division has a relative error of at most 5 √2 u beside.
    #[track_caller]
    pub(crate) fn check_rest<T: Number>(&self, what: &str) {
        let rest = Self { terms: self.terms + 8, ..*self };
        let (error, bound) = (self.value.norm(), rest.bound::<T>());
        assert!(error <= bound, "{what}: the rest is {error:e}, and may be {bound:e}");
    }
}

/// α·a·b + β·c, element by element.
pub(crate) fn product(alpha: C, a: &Dense, b: &Dense, beta: C, c: &Dense) -> Vec<Vec<Sum>> {
    let mut sums: Vec<Vec<Sum>> = c.0.iter().map(|row| vec![Sum::default(); row.len()]).collect();
    for (row, sums) in sums.iter_mut().enumerate() {
        for (col, sum) in sums.iter_mut().enumerate() {
            a.0[row].iter().zip(&b.0).for_each(|(&left, right)| sum.add(&[alpha, left, right[col]]));
            sum.add(&[beta, c.0[row][col]]);
        }
    }
    sums
}

/// A bound fails for a result that is wrong by more, and holds for one that is rounded.
#[test]
fn bounds_are_narrow() {
    let (a, b) = (Dense::by_rows(3, &[0.1_f32, 0.2, 0.3]), Dense::column(&[1.5_f32, 2.5, 3.5]));
    let none = Dense::zeros(1, 1);
    let sum = product(C::new(1.0, 0.0), &a, &b, C::default(), &none)[0][0];
    let right = 0.1_f32 * 1.5 + 0.2 * 2.5 + 0.3 * 3.5;
    sum.check("rounded", right);
    assert!(std::panic::catch_unwind(|| sum.check("wrong", right * 1.000_01)).is_err());
    assert_eq!(sum.terms, 3);
}
