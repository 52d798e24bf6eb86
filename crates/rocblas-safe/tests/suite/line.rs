//! Vectors on the host with any increment, and their way to the device and back.

use crate::grid::{Fill, Form};
use crate::judge;
use crate::sample::{Numbers, Sample};
use hip_safe::{DeviceBuffer, Stream};
use reference::blas::{Number, Sum};
use rocblas_safe::{Vector, VectorBatch, VectorBatchMut, VectorMut};

pub(crate) const INCS: [isize; 4] = [1, 3, -1, -2];

/// One vector or several, with their memory.
#[derive(Debug, Clone)]
pub(crate) struct Line<T> {
    pub(crate) len: usize,
    pub(crate) inc: isize,
    pub(crate) count: usize,
    pub(crate) data: Vec<T>,
}

const OFFSET: usize = 2;

impl<T: Sample> Line<T> {
    /// Vectors of numbers; NaNs lie between and around them.
    pub(crate) fn new(numbers: &mut Numbers, fill: Fill, len: usize, inc: isize, count: usize) -> Self {
        let mut line = Self { len, inc, count, data: Vec::new() };
        line.data = vec![T::of(f64::NAN, f64::NAN); OFFSET + line.pitch() * count];
        for member in 0..count {
            for i in 0..len {
                let index = line.index(member, i);
                line.data[index] = match fill {
                    Fill::Values => numbers.value(),
                    Fill::Whole => numbers.whole(),
                };
            }
        }
        line
    }

    fn pitch(&self) -> usize {
        self.len * self.inc.unsigned_abs() + 1
    }

    pub(crate) fn index(&self, member: usize, i: usize) -> usize {
        let i = if self.inc < 0 { self.len - 1 - i } else { i };
        OFFSET + member * self.pitch() + i * self.inc.unsigned_abs()
    }

    /// A member, for the judge.
    pub(crate) fn judged(&self, member: usize) -> Vec<Number> {
        (0..self.len).map(|i| self.data[self.index(member, i)].number()).collect()
    }

    pub(crate) fn upload(&self, stream: &Stream) -> DeviceBuffer<T> {
        stream.upload(&self.data).expect("there is memory")
    }

    /// The operand of a call.
    pub(crate) fn operand<'a>(&self, buffer: &'a DeviceBuffer<T>, form: Form) -> VectorBatch<'a, T> {
        let view = buffer.slice(OFFSET..).expect("the offset lies inside");
        match form {
            Form::Single => Vector::with_inc(view, self.len, self.inc).expect("it fits").into(),
            Form::Strided => {
                VectorBatch::strided(view, self.len, self.inc, (self.count, self.pitch())).expect("it fits")
            }
            Form::Pointers => {
                let member = |member: usize| {
                    let view = view.slice(member * self.pitch()..).expect("it lies inside");
                    Vector::with_inc(view, self.len, self.inc).expect("it fits")
                };
                VectorBatch::from_vectors((0..self.count).map(member)).expect("they are alike")
            }
        }
    }

    /// The result of a call.
    pub(crate) fn result<'a>(&self, buffer: &'a mut DeviceBuffer<T>, form: Form) -> VectorBatchMut<'a, T> {
        let mut view = buffer.slice_mut(OFFSET..).expect("the offset lies inside");
        match form {
            Form::Single => VectorMut::with_inc(view, self.len, self.inc).expect("it fits").into(),
            Form::Strided => VectorBatchMut::strided(view, self.len, self.inc, (self.count, self.pitch()))
                .expect("it fits"),
            Form::Pointers => {
                let mut members = Vec::new();
                for _ in 0..self.count {
                    let (member, rest) = view.into_split_at(self.pitch()).expect("it lies inside");
                    members.push(VectorMut::with_inc(member, self.len, self.inc).expect("it fits"));
                    view = rest;
                }
                VectorBatchMut::from_vectors(members).expect("they are alike")
            }
        }
    }

    /// Checks what a call wrote, and that everything else is as it was.
    #[track_caller]
    pub(crate) fn check(
        &self,
        stream: &Stream,
        buffer: &DeviceBuffer<T>,
        exact: bool,
        sums: impl Fn(usize) -> Vec<Sum>,
        context: impl Fn() -> String,
    ) {
        let got = stream.download(buffer).unwrap_or_else(|error| panic!("{}: {error}", context()));
        let mut used = vec![false; got.len()];
        for member in 0..self.count {
            for (i, sum) in sums(member).iter().enumerate() {
                let index = self.index(member, i);
                used[index] = true;
                let context = || format!("{}, member {member}, element {i}", context());
                judge::assert_right(got[index], sum, exact, context);
            }
        }
        judge::assert_untouched(&got, &self.data, &used, context);
    }
}
