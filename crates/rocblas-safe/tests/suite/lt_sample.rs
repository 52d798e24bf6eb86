//! Matrices for the tests of `lt`: numbers of its types as `f64`, in any layout, with what lies between and around them.

use crate::grid::Lay;
use crate::sample::Numbers;
use half::{bf16, f16};
use hip_safe::{DeviceBuffer, Stream};
use rocblas_safe::lt::{F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, LtElement};
use rocblas_safe::{Layout, MatrixBatch, MatrixBatchMut};
use std::sync::LazyLock;

/// A type of `lt`.
pub(crate) trait Number: LtElement + std::fmt::Debug {
    /// Half the distance between neighbours, relative to the larger one, and half the smallest number.
    const ROUNDING: (f64, f64);

    /// The nearest one.
    fn of(value: f64) -> Self;
    fn value(self) -> f64;
    /// What must not be read: a NaN where the type has one.
    fn poison() -> Self;
    fn bits(self) -> u32;
}

macro_rules! numbers {
    ($($T:ty: $rounding:expr, $of:expr, $value:expr, $poison:expr, $bits:expr;)*) => {$(
        impl Number for $T {
            const ROUNDING: (f64, f64) = $rounding;

            fn of(value: f64) -> Self {
                let of: fn(f64) -> Self = $of;
                of(value)
            }

            fn value(self) -> f64 {
                let value: fn(Self) -> f64 = $value;
                value(self)
            }

            fn poison() -> Self {
                $poison
            }

            fn bits(self) -> u32 {
                let bits: fn(Self) -> u32 = $bits;
                bits(self)
            }
        }
    )*};
}

const fn two_to(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

numbers! {
    f32: (two_to(-24), two_to(-150)), |x| x as f32, f64::from, f32::NAN, f32::to_bits;
    f16: (two_to(-11), two_to(-25)), f16::from_f64, f16::to_f64, f16::NAN, |x| x.to_bits().into();
    bf16: (two_to(-8), two_to(-134)), bf16::from_f64, bf16::to_f64, bf16::NAN, |x| x.to_bits().into();
    i8: (0.0, 0.0), |x| x as i8, f64::from, 101, |x| x as u8 as u32;
    i32: (0.0, 0.0), |x| x as i32, f64::from, 1_000_001, i32::cast_unsigned;
    F8E4M3: (two_to(-4), two_to(-10)), |x| Self(nearest(x, 0)), |x| values(0)[usize::from(x.0)], Self(0x7f), |x| x.0.into();
    F8E5M2: (two_to(-3), two_to(-17)), |x| Self(nearest(x, 1)), |x| values(1)[usize::from(x.0)], Self(0x7f), |x| x.0.into();
    F8E4M3Fnuz: (two_to(-4), two_to(-11)), |x| Self(nearest(x, 2)), |x| values(2)[usize::from(x.0)], Self(0x80), |x| x.0.into();
    F8E5M2Fnuz: (two_to(-3), two_to(-18)), |x| Self(nearest(x, 3)), |x| values(3)[usize::from(x.0)], Self(0x80), |x| x.0.into();
}

/// A float of 8 bits: sign, exponent with this bias, and a fraction of so many bits.
fn finite(bits: u8, fraction_bits: u32, bias: i32) -> f64 {
    let scale = 2.0_f64.powi(fraction_bits as i32);
    let (exponent, fraction) =
        (i32::from((bits & 0x7f) >> fraction_bits), f64::from(bits & ((1 << fraction_bits) - 1)));
    let size = match exponent {
        0 => fraction / scale * 2.0_f64.powi(1 - bias),
        _ => (1.0 + fraction / scale) * 2.0_f64.powi(exponent - bias),
    };
    if bits < 0x80 { size } else { -size }
}

fn e4m3(bits: u8) -> f64 {
    if bits & 0x7f == 0x7f { f64::NAN } else { finite(bits, 3, 7) }
}

fn e5m2(bits: u8) -> f64 {
    match bits & 0x7f {
        0x7c => f64::INFINITY.copysign(finite(bits, 2, 15)),
        0x7d.. => f64::NAN,
        _ => finite(bits, 2, 15),
    }
}

fn e4m3fnuz(bits: u8) -> f64 {
    if bits == 0x80 { f64::NAN } else { finite(bits, 3, 8) }
}

fn e5m2fnuz(bits: u8) -> f64 {
    if bits == 0x80 { f64::NAN } else { finite(bits, 2, 16) }
}

/// The values of all patterns: computed once, because every number is looked for among them.
fn values(format: usize) -> &'static [f64; 256] {
    static ALL: LazyLock<[[f64; 256]; 4]> = LazyLock::new(|| {
        [e4m3, e5m2, e4m3fnuz, e5m2fnuz].map(|value| std::array::from_fn(|bits| value(bits as u8)))
    });
    &ALL[format]
}

/// The pattern of the nearest finite number, by trying all of them.
fn nearest(x: f64, format: usize) -> u8 {
    let value = |bits: u8| values(format)[usize::from(bits)];
    let distance =
        |bits: &u8| if value(*bits).is_finite() { (value(*bits) - x).abs() } else { f64::INFINITY };
    (0..=255).min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("there are patterns")
}

/// One matrix or several of one layout. Everything around their elements is poisoned.
pub(crate) struct Sheet<T> {
    rows: usize,
    cols: usize,
    lay: Lay,
    count: usize,
    pub(crate) data: Vec<T>,
}

impl<T: Number> Sheet<T> {
    /// Values up to `size` in absolute value.
    pub(crate) fn new(
        numbers: &mut Numbers,
        size: f64,
        (rows, cols): (usize, usize),
        lay: Lay,
        count: usize,
    ) -> Self {
        let mut sheet = Self { rows, cols, lay, count, data: Vec::new() };
        sheet.data = vec![T::poison(); lay.offset + sheet.pitch() * count];
        for member in 0..count {
            for (i, j) in sheet.positions() {
                let index = sheet.index(member, i, j);
                sheet.data[index] = T::of(size * numbers.unit());
            }
        }
        sheet
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = (usize, usize)> + use<T> {
        let (rows, cols) = (self.rows, self.cols);
        (0..rows).flat_map(move |i| (0..cols).map(move |j| (i, j)))
    }

    fn ld(&self) -> usize {
        (if self.lay.by_rows { self.cols } else { self.rows }) + self.lay.gap
    }

    fn pitch(&self) -> usize {
        self.ld() * (if self.lay.by_rows { self.rows } else { self.cols }) + 1
    }

    pub(crate) fn index(&self, member: usize, i: usize, j: usize) -> usize {
        let (row, col) = if self.lay.by_rows { (self.ld(), 1) } else { (1, self.ld()) };
        self.lay.offset + member * self.pitch() + i * row + j * col
    }

    /// An element; of a single matrix the same for all members.
    pub(crate) fn at(&self, member: usize, i: usize, j: usize) -> f64 {
        self.data[self.index(if self.count == 1 { 0 } else { member }, i, j)].value()
    }

    pub(crate) fn upload(&self, stream: &Stream) -> DeviceBuffer<T> {
        stream.upload(&self.data).expect("there is memory")
    }

    fn layout(&self) -> Layout {
        if self.lay.by_rows { Layout::RowMajor } else { Layout::ColMajor }
    }

    pub(crate) fn operand<'a>(&self, buffer: &'a DeviceBuffer<T>) -> MatrixBatch<'a, T> {
        let view = buffer.slice(self.lay.offset..).expect("the offset lies inside");
        let size = (self.rows, self.cols);
        let ld = Some(self.ld());
        if self.count == 1 {
            let one = rocblas_safe::Matrix::with_ld(view, self.rows, self.cols, self.layout(), self.ld());
            return one.expect("it fits").into();
        }
        MatrixBatch::strided(view, size, self.layout(), ld, (self.count, self.pitch())).expect("it fits")
    }

    pub(crate) fn result<'a>(&self, buffer: &'a mut DeviceBuffer<T>) -> MatrixBatchMut<'a, T> {
        let view = buffer.slice_mut(self.lay.offset..).expect("the offset lies inside");
        let many = (self.count, self.pitch());
        MatrixBatchMut::strided(view, (self.rows, self.cols), self.layout(), Some(self.ld()), many)
            .expect("it fits")
    }

    /// Checks all elements by their expected value and its bound, and that everything else is as it was. `known` says how much further off an
    /// element may be by a known difference. Answers how many are.
    #[track_caller]
    pub(crate) fn check(
        &self,
        got: &[T],
        wanted: impl Fn(usize, usize, usize) -> (f64, f64),
        known: impl Fn(usize, usize, usize) -> f64,
        context: &dyn Fn() -> String,
    ) -> usize {
        let mut differing = 0;
        let mut used = vec![false; got.len()];
        let members =
            (0..self.count).flat_map(|member| self.positions().map(move |position| (member, position)));
        for (member, (i, j)) in members {
            let index = self.index(member, i, j);
            used[index] = true;
            let ((value, bound), found) = (wanted(member, i, j), got[index].value());
            let off = (found - value).abs();
            if off > bound && off <= bound + known(member, i, j) {
                differing += 1;
                continue;
            }
            assert!(
                off <= bound,
                "{}: member {member}, ({i}, {j}): {found} where {value} within {bound:e} is right",
                context()
            );
        }
        for (index, used) in used.into_iter().enumerate() {
            let same = got[index].bits() == self.data[index].bits();
            assert!(used || same, "{}: element {index}, which is nobody's, was written", context());
        }
        differing
    }
}
