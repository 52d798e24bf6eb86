//! Matrices on the host in any layout, with what lies between and around their elements, and their way to the device and back.

use crate::judge;
use crate::sample::{Numbers, Sample};
use hip_safe::{DeviceBuffer, Stream};
use reference::blas::{Matrix as Judged, Sums};
use rocblas_safe::{Matrix, MatrixBatch, MatrixBatchMut, MatrixMut};

/// How a matrix lies in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lay {
    pub(crate) by_rows: bool,
    /// Elements between rows or columns.
    pub(crate) gap: usize,
    /// Elements before the first.
    pub(crate) offset: usize,
}

pub(crate) const LAYS: [Lay; 4] = [
    Lay { by_rows: true, gap: 0, offset: 0 },
    Lay { by_rows: false, gap: 0, offset: 0 },
    Lay { by_rows: true, gap: 3, offset: 2 },
    Lay { by_rows: false, gap: 2, offset: 1 },
];

/// How a call gets its operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    Single,
    Strided,
    Pointers,
}

pub(crate) const FORMS: [Form; 3] = [Form::Single, Form::Strided, Form::Pointers];

impl Form {
    /// The members of a batch in this form.
    pub(crate) fn count(self) -> usize {
        if self == Form::Single { 1 } else { 3 }
    }
}

/// What is done to a matrix before it is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    N,
    T,
    H,
}

/// What a matrix is filled with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fill {
    Values,
    Whole,
}

/// One matrix or several, with their memory.
#[derive(Debug, Clone)]
pub(crate) struct Grid<T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) lay: Lay,
    pub(crate) count: usize,
    pub(crate) data: Vec<T>,
}

impl<T: Sample> Grid<T> {
    /// Matrices of numbers; NaNs lie between and around them.
    pub(crate) fn new(
        numbers: &mut Numbers,
        fill: Fill,
        (rows, cols): (usize, usize),
        lay: Lay,
        count: usize,
    ) -> Self {
        let mut grid = Self { rows, cols, lay, count, data: Vec::new() };
        grid.data = vec![T::of(f64::NAN, f64::NAN); lay.offset + grid.pitch() * count];
        for member in 0..count {
            for i in 0..rows {
                for j in 0..cols {
                    let index = grid.index(member, i, j);
                    grid.data[index] = match fill {
                        Fill::Values => numbers.value(),
                        Fill::Whole => numbers.whole(),
                    };
                }
            }
        }
        grid
    }

    /// Puts NaNs where nobody is to read.
    pub(crate) fn poison(&mut self, unread: impl Fn(usize, usize) -> bool) {
        for member in 0..self.count {
            for (i, j) in (0..self.rows).flat_map(|i| (0..self.cols).map(move |j| (i, j))) {
                if unread(i, j) {
                    let index = self.index(member, i, j);
                    self.data[index] = T::of(f64::NAN, f64::NAN);
                }
            }
        }
    }

    /// Elements from one matrix to the next.
    pub(crate) fn pitch(&self) -> usize {
        self.ld() * (if self.lay.by_rows { self.rows } else { self.cols }) + 1
    }

    pub(crate) fn ld(&self) -> usize {
        (if self.lay.by_rows { self.cols } else { self.rows }) + self.lay.gap
    }

    /// Elements from row to row, and from column to column.
    pub(crate) fn strides(&self) -> (usize, usize) {
        if self.lay.by_rows { (self.ld(), 1) } else { (1, self.ld()) }
    }

    pub(crate) fn index(&self, member: usize, i: usize, j: usize) -> usize {
        let (row, col) = self.strides();
        self.lay.offset + member * self.pitch() + i * row + j * col
    }

    /// A member, for the judge.
    pub(crate) fn judged(&self, member: usize, op: Op) -> Judged {
        let matrix =
            Judged::from_fn(self.rows, self.cols, |i, j| self.data[self.index(member, i, j)].number());
        match op {
            Op::N => matrix,
            Op::T => matrix.t(),
            Op::H => matrix.t().conj(),
        }
    }

    pub(crate) fn upload(&self, stream: &Stream) -> DeviceBuffer<T> {
        stream.upload(&self.data).expect("there is memory")
    }

    /// The operand of a call.
    pub(crate) fn operand<'a>(&self, buffer: &'a DeviceBuffer<T>, form: Form, op: Op) -> MatrixBatch<'a, T> {
        let ((rows, cols), (rs, cs)) = ((self.rows, self.cols), self.strides());
        let view = buffer.slice(self.lay.offset..).expect("the offset lies inside");
        let batch: MatrixBatch<'a, T> = match form {
            Form::Single => Matrix::from_strides(view, rows, cols, rs, cs).expect("it fits").into(),
            Form::Strided => {
                let many = (self.count, self.pitch());
                MatrixBatch::from_strides(view, (rows, cols), (rs, cs), many).expect("it fits")
            }
            Form::Pointers => {
                let member = |member: usize| {
                    let view = view.slice(member * self.pitch()..).expect("it lies inside");
                    Matrix::from_strides(view, rows, cols, rs, cs).expect("it fits")
                };
                MatrixBatch::from_matrices((0..self.count).map(member)).expect("they are alike")
            }
        };
        match op {
            Op::N => batch,
            Op::T => batch.t(),
            Op::H => batch.h(),
        }
    }

    /// The result of a call.
    pub(crate) fn result<'a>(&self, buffer: &'a mut DeviceBuffer<T>, form: Form) -> MatrixBatchMut<'a, T> {
        let ((rows, cols), (rs, cs)) = ((self.rows, self.cols), self.strides());
        let mut view = buffer.slice_mut(self.lay.offset..).expect("the offset lies inside");
        match form {
            Form::Single => MatrixMut::from_strides(view, rows, cols, rs, cs).expect("it fits").into(),
            Form::Strided => {
                let many = (self.count, self.pitch());
                MatrixBatchMut::from_strides(view, (rows, cols), (rs, cs), many).expect("it fits")
            }
            Form::Pointers => {
                let mut members = Vec::new();
                for _ in 0..self.count {
                    let (member, rest) = view.into_split_at(self.pitch()).expect("it lies inside");
                    members.push(MatrixMut::from_strides(member, rows, cols, rs, cs).expect("it fits"));
                    view = rest;
                }
                MatrixBatchMut::from_matrices(members).expect("they are alike")
            }
        }
    }

    /// Checks what a call wrote where `written` says so, and that everything else is as it was.
    #[track_caller]
    pub(crate) fn check(
        &self,
        stream: &Stream,
        buffer: &DeviceBuffer<T>,
        exact: bool,
        written: impl Fn(usize, usize) -> bool,
        sums: impl Fn(usize) -> Sums,
        context: impl Fn() -> String,
    ) {
        let got = stream.download(buffer).unwrap_or_else(|error| panic!("{}: {error}", context()));
        let mut used = vec![false; got.len()];
        for member in 0..self.count {
            let sums = sums(member);
            for i in 0..self.rows {
                for j in 0..self.cols {
                    if written(i, j) {
                        let index = self.index(member, i, j);
                        used[index] = true;
                        let context = || format!("{}, member {member}, ({i}, {j})", context());
                        judge::assert_right(got[index], &sums[(i, j)], exact, context);
                    }
                }
            }
        }
        judge::assert_untouched(&got, &self.data, &used, context);
    }
}

/// Every element.
pub(crate) fn all(_: usize, _: usize) -> bool {
    true
}
