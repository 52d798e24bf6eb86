//! Products, for each format, operation, and type of indices and numbers.

use crate::judge::{Dense, product};
use crate::matrices::{BLOCKS, BLOCKS_BY_COLUMN, ELL, Matrix};
use crate::numbers::{Number, Random, for_all_types};
use crate::under_test::{self, offered};
use rocsparse_safe::{
    DenseMatrix, DenseShape, Error, Format, Handle, Index, Layout, Op, Parts, Sddmm, Spgemm, Spmm, Spmv,
};

pub(crate) const OPS: [Op; 3] = [Op::None, Op::Transpose, Op::Adjoint];
const LAYOUTS: [Layout; 2] = [Layout::RowMajor, Layout::ColumnMajor];

fn turned(op: Op, [rows, cols]: [usize; 2]) -> [usize; 2] {
    if op == Op::None { [rows, cols] } else { [cols, rows] }
}

/// The memory of a dense matrix with gaps, given its elements row by row.
pub(crate) fn lay<T: Number>(shape: DenseShape, by_rows: &[T], gap: T) -> Vec<T> {
    let mut memory = vec![gap; shape.extent().unwrap()];
    for row in 0..shape.rows {
        for col in 0..shape.cols {
            memory[offset_of(shape, row, col)] = by_rows[row * shape.cols + col];
        }
    }
    memory
}

/// Where an element of a dense matrix lies.
pub(crate) fn offset_of(shape: DenseShape, row: usize, col: usize) -> usize {
    match shape.layout {
        Layout::RowMajor => row * shape.leading + col,
        Layout::ColumnMajor => col * shape.leading + row,
    }
}

fn vectors<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for matrix in Matrix::<T>::some() {
            for format in [Format::Csr, Format::Csc, Format::Coo, BLOCKS, BLOCKS_BY_COLUMN, ELL] {
                let uploaded = matrix.parts::<I>(format).as_slices().upload(&stream).unwrap();
                let ops = if matches!(format, Format::Bsr { .. }) { &OPS[..1] } else { &OPS };
                for &op in ops {
                    let what = format!("{uploaded:?} {op:?}");
                    let [rows, cols] = turned(op, [matrix.rows, matrix.cols]);
                    let mut random = Random(7);
                    let (x, given) = (random.numbers::<T>(cols), random.numbers::<T>(rows));
                    let Some(prepared) = offered(Spmv::prepare(&handle, op, uploaded.view())) else {
                        continue;
                    };
                    // Twice, the second time on top of the first one's result, and once over what is not a number.
                    let on_device = stream.upload(&x).unwrap();
                    let mut y = stream.upload(&given).unwrap();
                    let (alpha, beta) = (T::of(random.number()), T::of(random.number()));
                    let mut before = given;
                    for beta in [beta, T::of(1.0.into()), T::ZERO] {
                        if beta == T::ZERO {
                            y = stream.upload(&vec![T::of(f64::NAN.into()); rows]).unwrap();
                            before = vec![T::ZERO; rows];
                        }
                        prepared.compute(alpha, &on_device, beta, &mut y).unwrap();
                        let found = stream.download(&y).unwrap();
                        let dense = matrix.dense().op(op, matrix.cols);
                        let (x, c) = (Dense::column(&x), Dense::column(&before));
                        let expected = product(alpha.to(), &dense, &x, beta.to(), &c);
                        expected.iter().zip(&found).for_each(|(sum, &found)| sum[0].check(&what, found));
                        before = found;
                    }
                }
            }
        }
    }
}

#[test]
fn with_vectors() {
    for_all_types!(vectors);
}

/// Entries of one position count as their sum, in rows in any order.
#[test]
fn with_vectors_of_repeated_and_unsorted_entries() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        let entries = [(0, 3, 1.0), (0, 1, 2.0), (0, 3, 0.5), (2, 2, 4.0), (2, 0, -1.0)];
        let (rows, cols, values) =
            (&[0, 0, 0, 2, 2][..], &[3, 1, 3, 2, 0][..], &[1.0, 2.0, 0.5, 4.0, -1.0][..]);
        let x = [1.0_f64, 10.0, 100.0, 1000.0];
        let expected = Dense::of(3, 4, &entries);
        let expected: Vec<f64> =
            (0..3).map(|row| (0..4).map(|col| expected.0[row][col].re * x[col]).sum()).collect();
        for parts in [Parts::coo(3, 4, rows, cols, values), Parts::csr(3, 4, &[0, 3, 3, 5][..], cols, values)]
        {
            let matrix = parts.upload(&stream).unwrap();
            let prepared = Spmv::prepare(&handle, Op::None, matrix).unwrap();
            let mut y = stream.alloc_zeros::<f64>(3).unwrap();
            prepared.compute(1.0, &stream.upload(&x).unwrap(), 0.0, &mut y).unwrap();
            assert_eq!(stream.download(&y).unwrap(), expected);
        }
    }
}

fn matrices<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for matrix in Matrix::<T>::some() {
            for format in [Format::Csr, Format::Csc, Format::Coo, BLOCKS] {
                let uploaded = matrix.parts::<I>(format).as_slices().upload(&stream).unwrap();
                let blocks = matches!(format, Format::Bsr { .. });
                let (ops, turn) = if blocks { (&OPS[..1], Op::Transpose) } else { (&OPS[..], Op::Adjoint) };
                for (&op, op_b, layouts) in ops.iter().flat_map(|op| {
                    [(op, Op::None, [LAYOUTS[0], LAYOUTS[1]]), (op, turn, [LAYOUTS[1], LAYOUTS[1]])]
                }) {
                    let what = format!("{uploaded:?} {op:?} {op_b:?} {layouts:?}");
                    let ([rows, inner], cols) = (turned(op, [matrix.rows, matrix.cols]), 5);
                    let [b_rows, b_cols] = turned(op_b, [inner, cols]);
                    let mut b = DenseShape::new(b_rows, b_cols, layouts[0]);
                    let mut c = DenseShape::new(rows, cols, layouts[1]);
                    b.leading += 3;
                    c.leading += 2;
                    let mut random = Random(11);
                    let (b_numbers, c_numbers) =
                        (random.numbers::<T>(b_rows * b_cols), random.numbers::<T>(rows * cols));
                    let (alpha, beta) = (T::of(random.number()), T::of(random.number()));
                    let prepared = Spmm::prepare(&handle, [op, op_b], uploaded.view(), b, c);
                    let Some(prepared) = offered(prepared) else { continue };
                    let gap = T::of(1234.0.into());
                    let right = stream.upload(&lay(b, &b_numbers, gap)).unwrap();
                    let right = DenseMatrix::new(right, b).unwrap();
                    let result = stream.upload(&lay(c, &c_numbers, gap)).unwrap();
                    let mut result = DenseMatrix::new(result, c).unwrap();
                    prepared.compute(alpha, &right, beta, &mut result).unwrap();
                    let found = stream.download(result.memory()).unwrap();
                    let a = matrix.dense().op(op, matrix.cols);
                    let dense_b = Dense::by_rows(b_cols, &b_numbers).op(op_b, b_cols);
                    let before = Dense::by_rows(cols, &c_numbers);
                    let expected = product(alpha.to(), &a, &dense_b, beta.to(), &before);
                    let mut seen = vec![gap; found.len()];
                    for (row, sums) in expected.iter().enumerate() {
                        for (col, sum) in sums.iter().enumerate() {
                            let at = offset_of(c, row, col);
                            sum.check(&what, found[at]);
                            seen[at] = found[at];
                        }
                    }
                    assert_eq!(found, seen, "{what}: gaps stay");
                }
            }
        }
    }
}

#[test]
fn with_dense_matrices() {
    for_all_types!(matrices);
}

fn sparse<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for (seed, [rows, inner, cols], percent) in [
            (1, [20, 30, 25], 15),
            (2, [9, 5, 40], 60),
            (3, [12, 12, 12], 0),
            (4, [0, 4, 3], 50),
            (5, [4, 0, 3], 50),
        ] {
            let (a, b) = (
                Matrix::<T>::random(seed, rows, inner, percent),
                Matrix::<T>::random(seed + 10, inner, cols, percent),
            );
            let left = a.parts::<I>(Format::Csr).as_slices().upload(&stream).unwrap();
            let right = b.parts::<I>(Format::Csr).as_slices().upload(&stream).unwrap();
            let Some(prepared) = offered(Spgemm::prepare(&handle, left.view(), right.view())) else { return };
            for alpha in [T::of(1.0.into()), T::of(Random(seed).number())] {
                let result = prepared.compute(alpha).unwrap();
                // A look at what the library says of its result.
                let parts = result.into_parts();
                assert_eq!(parts.check(&stream).unwrap(), rocsparse_safe::Order::Unique);
                let result = rocsparse_safe::SparseMatrix::new(parts, &stream).unwrap();
                let found = result.download(&stream).unwrap();
                let offsets = found.outer.unwrap();
                let none = Dense::zeros(rows, cols);
                let mut expected = product(alpha.to(), &a.dense(), &b.dense(), C_ZERO, &none);
                let mut count = 0;
                for (row, pair) in offsets.windows(2).enumerate() {
                    for at in pair[0].to_size().unwrap()..pair[1].to_size().unwrap() {
                        let col = found.inner[at].to_size().unwrap();
                        let sum = std::mem::take(&mut expected[row][col]);
                        assert!(sum.terms > 0, "an entry that is no sum: {row} {col}");
                        sum.check("a product of sparse matrices", found.values[at]);
                        count += 1;
                    }
                }
                assert_eq!(count, prepared.stored());
                assert!(expected.iter().flatten().all(|sum| sum.terms == 0), "an entry is missing");
            }
        }
    }
}

const C_ZERO: crate::numbers::C = crate::numbers::C::new(0.0, 0.0);

#[test]
fn with_sparse_matrices() {
    for_all_types!(sparse);
}

fn sampled<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for matrix in Matrix::<T>::some() {
            for format in [Format::Csr, Format::Csc, Format::Coo] {
                for ops in [
                    [Op::None, Op::None],
                    [Op::Transpose, Op::None],
                    [Op::None, Op::Transpose],
                    [Op::Adjoint, Op::None],
                    [Op::None, Op::Adjoint],
                ] {
                    let what = format!("{format:?} {ops:?}");
                    let parts = matrix.parts::<I>(format);
                    let pattern = parts.as_slices().upload(&stream).unwrap();
                    let [a_rows, a_cols] = turned(ops[0], [matrix.rows, 9]);
                    let [b_rows, b_cols] = turned(ops[1], [9, matrix.cols]);
                    let mut a = DenseShape::new(a_rows, a_cols, Layout::RowMajor);
                    a.leading += 1;
                    let b = DenseShape::new(b_rows, b_cols, Layout::RowMajor);
                    let mut random = Random(5);
                    let (left, right) =
                        (random.numbers::<T>(a_rows * a_cols), random.numbers::<T>(b_rows * b_cols));
                    let (alpha, beta) = (T::of(random.number()), T::of(random.number()));
                    let prepared = Sddmm::prepare(&handle, ops, a, b, pattern.view());
                    if ops.contains(&Op::Adjoint) && T::is_complex() {
                        assert!(matches!(prepared.map(drop), Err(Error::Adjoint { .. })));
                        continue;
                    }
                    let Some(prepared) = offered(prepared) else { continue };
                    let on_device = |shape, numbers: &[T]| {
                        DenseMatrix::new(stream.upload(&lay(shape, numbers, T::ZERO)).unwrap(), shape)
                            .unwrap()
                    };
                    let mut values = stream.upload(&parts.values).unwrap();
                    prepared
                        .compute(alpha, &on_device(a, &left), &on_device(b, &right), beta, &mut values)
                        .unwrap();
                    drop(prepared);
                    let computed = pattern.with_values(values).unwrap().download(&stream).unwrap();
                    assert_eq!((&computed.outer, &computed.inner), (&parts.outer, &parts.inner));
                    let (dense_a, dense_b) = (
                        Dense::by_rows(a_cols, &left).op(ops[0], a_cols),
                        Dense::by_rows(b_cols, &right).op(ops[1], b_cols),
                    );
                    if parts.values.is_empty() {
                        continue;
                    }
                    let expected = product(alpha.to(), &dense_a, &dense_b, beta.to(), &matrix.dense());
                    // In CSC the entries are in another order than the matrix has them.
                    let mut entries = matrix.entries.clone();
                    if format == Format::Csc {
                        entries.sort_by_key(|entry| (entry.1, entry.0));
                    }
                    for (entry, &found) in entries.iter().zip(&computed.values) {
                        expected[entry.0][entry.1].check(&what, found);
                    }
                }
            }
        }
    }
}

#[test]
fn sampled_products() {
    for_all_types!(sampled);
}
