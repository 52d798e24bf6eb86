//! The differences of two tensors of one form.

use reference::DType;
use serde::Serialize;

use super::bound::{Bound, number, steps};
use super::files::{ElementType, Stored};
use crate::judge::{read, text};
use crate::report::finite;
use crate::worst::coordinates;

/// Equal chunks of this many elements are passed over.
const CHUNK: usize = 4096;

/// How the elements of two tensors differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Differences {
    /// Number of elements.
    pub elements: usize,
    /// Number of elements with other bits that are not NaN in both.
    pub different: usize,
    /// Number of elements outside of the bound.
    pub outside: usize,
    /// The greatest distance in [`steps`], where neither is NaN.
    pub max_ulp: u64,
    /// The greatest difference of finite numbers.
    #[serde(serialize_with = "finite")]
    pub max_absolute: f64,
    /// The greatest difference of finite numbers, as a fraction of the second tensor's, where that is not zero.
    #[serde(serialize_with = "finite")]
    pub max_relative: f64,
    /// Number of elements that are NaN in one of them.
    pub nan_mismatches: usize,
    /// Number of elements that are infinite in one of them, or in both with other signs. NaN is counted above.
    pub infinity_mismatches: usize,
    /// The first element that differs.
    pub first_different: Option<ElementPair>,
    /// The first element outside of the bound.
    pub first_outside: Option<ElementPair>,
}

/// An element of both tensors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ElementPair {
    /// Its index along each axis.
    pub index: Vec<usize>,
    /// Its row-major index.
    pub flat: usize,
    /// The first tensor's number, with its bits.
    pub left: String,
    /// The second one's.
    pub right: String,
}

impl Differences {
    /// Compares two tensors of equal dtype and shape. Elements of a dtype that tensors do not have differ if their bytes
    /// do, and are then outside of any bound.
    pub(super) fn of(left: &Stored, right: &Stored, bound: Bound) -> Differences {
        let elements = left.shape.iter().product::<usize>();
        let mut found = Differences { elements, ..Differences::default() };
        if elements == 0 {
            return found;
        }
        let size = left.bytes.len() / elements;
        let chunks = left.bytes.chunks(CHUNK * size).zip(right.bytes.chunks(CHUNK * size));
        for (chunk, (x, y)) in chunks.enumerate().filter(|(_, (x, y))| x != y) {
            for (at, (x, y)) in x.chunks(size).zip(y.chunks(size)).enumerate().filter(|(_, (x, y))| x != y) {
                let flat = chunk * CHUNK + at;
                match &left.element {
                    ElementType::Known(dtype) => found.add(
                        *dtype,
                        &left.shape,
                        flat,
                        [x, y].map(|bytes| read(bytes, dtype.size())),
                        bound,
                    ),
                    ElementType::Other(_) => {
                        found.different += 1;
                        found.outside += 1;
                        found.keep(true, || {
                            pair(&left.shape, flat, [x, y].map(|bytes| format!("{bytes:02x?}")))
                        });
                    }
                }
            }
        }
        found
    }

    fn add(&mut self, dtype: DType, shape: &[usize], flat: usize, [left, right]: [u64; 2], bound: Bound) {
        let nan = [left, right].map(|bits| dtype.is_nan(bits));
        if nan == [true, true] {
            return;
        }
        self.different += 1;
        let outside = !bound.holds(dtype, left, right);
        self.outside += usize::from(outside);
        self.keep(outside, || pair(shape, flat, [left, right].map(|bits| text(dtype, bits))));
        if nan != [false, false] {
            self.nan_mismatches += 1;
            return;
        }
        self.max_ulp = self.max_ulp.max(steps(dtype, left, right));
        let [x, y] = [left, right].map(|bits| number(dtype.decode(bits)));
        if !(x.is_finite() && y.is_finite()) {
            self.infinity_mismatches += 1;
            return;
        }
        let gap = (x - y).abs();
        self.max_absolute = self.max_absolute.max(gap);
        if y != 0.0 {
            self.max_relative = self.max_relative.max(gap / y.abs());
        }
    }

    /// Keeps the first pair that differs, and the first outside.
    fn keep(&mut self, outside: bool, pair: impl Fn() -> ElementPair) {
        if self.first_different.is_none() {
            self.first_different = Some(pair());
        }
        if outside && self.first_outside.is_none() {
            self.first_outside = Some(pair());
        }
    }
}

fn pair(shape: &[usize], flat: usize, [left, right]: [String; 2]) -> ElementPair {
    ElementPair { index: coordinates(shape, flat), flat, left, right }
}
