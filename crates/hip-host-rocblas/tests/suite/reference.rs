//! Products of matrices by plain loops, which take most of these tests' time.

use crate::harness::{Z, op_at, put_matrix};
use hip_sys::rocblas::rocblas_operation;
use std::collections::HashMap;
use std::ops::{AddAssign, Mul};
use std::sync::{LazyLock, Mutex, PoisonError};
use xxhash_rust::xxh3::Xxh3;

/// op(a), a matrix without gaps of so many rows and columns.
pub(crate) fn after(
    op: rocblas_operation,
    a: &[Z],
    leading: usize,
    (rows, columns): (usize, usize),
) -> Vec<Z> {
    let element = |row, column| Some(op_at(op, a, leading, row, column));
    put_matrix(&vec![Z::from(0.0); rows * columns], rows, (rows, columns), element)
}

/// a b, of rows × k and k × columns matrices without gaps, whose numbers are finite. Types and functions are tested with the same
/// numbers again and again, so a product that was computed before is looked up.
pub(crate) fn times(a: &[Z], b: &[Z], size: (usize, usize, usize)) -> Vec<Z> {
    static KNOWN: LazyLock<Mutex<HashMap<u128, Vec<Z>>>> = LazyLock::new(Mutex::default);
    let mut hash = Xxh3::new();
    for number in [size.0, size.1, size.2] {
        hash.update(&number.to_le_bytes());
    }
    for z in a.iter().chain(b) {
        hash.update(&z.re.to_le_bytes());
        hash.update(&z.im.to_le_bytes());
    }
    let key = hash.digest128();
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(product) = known().get(&key) {
        return product.clone();
    }
    // A real product takes a quarter of the steps.
    let product = if a.iter().chain(b).any(|z| z.im != 0.0) {
        product(a, b, size)
    } else {
        let real = |values: &[Z]| values.iter().map(|z| z.re).collect::<Vec<f64>>();
        product(&real(a), &real(b), size).into_iter().map(Z::from).collect()
    };
    known().insert(key, product.clone());
    product
}

/// Column by column, so that memory is read in order. Zeros, which triangles have many of, are skipped.
fn product<N>(a: &[N], b: &[N], (rows, columns, k): (usize, usize, usize)) -> Vec<N>
where
    N: Copy + Default + PartialEq + Mul<Output = N> + AddAssign,
{
    let zero = N::default();
    let mut product = vec![zero; rows * columns];
    // Of each column of a, where it is not zero.
    let written: Vec<(usize, &[N])> = a
        .chunks(rows)
        .map(|column| {
            let first = column.iter().position(|value| *value != zero).unwrap_or(rows);
            let end = column.iter().rposition(|value| *value != zero).map_or(first, |last| last + 1);
            (first, &column[first..end])
        })
        .collect();
    for (sums, factors) in product.chunks_mut(rows).zip(b.chunks(k.max(1))) {
        for ((first, column), factor) in written.iter().zip(factors).filter(|(_, factor)| **factor != zero) {
            for (sum, value) in sums[*first..].iter_mut().zip(*column) {
                *sum += *value * *factor;
            }
        }
    }
    product
}
