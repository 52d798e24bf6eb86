//! Compares some elements of a result with the reference, before its operation is timed.

use super::data::Matrix;
use reference::{Array, DType, Outcome};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use tensor_core::Tensor;

/// What is wrong with a result, if anything.
pub type Check = Result<(), String>;

/// Positions along an axis: the first, the last, and two in between.
pub fn picks(length: usize) -> Vec<usize> {
    let mut picks = vec![0, length / 3, length / 2 + 1, length.saturating_sub(1)];
    picks.retain(|pick| *pick < length);
    picks.sort_unstable();
    picks.dedup();
    picks
}

/// Rows of an input as a reference array; if the matrix has only one row, that row.
pub fn rows_of(matrix: &Matrix, picks: &[usize]) -> Array {
    let picks = if matrix.rows() == 1 { &[0] } else { picks };
    array(matrix, &[picks.len(), matrix.columns()], &matrix.bytes_of_rows(picks))
}

/// Columns of an input, each as a row.
pub fn columns_of(matrix: &Matrix, picks: &[usize]) -> Array {
    array(matrix, &[picks.len(), matrix.rows()], &matrix.bytes_of_columns(picks))
}

/// The whole input.
pub fn all_of(matrix: &Matrix) -> Array {
    array(matrix, &[matrix.rows(), matrix.columns()], matrix.bytes())
}

fn array(matrix: &Matrix, shape: &[usize], bytes: &[u8]) -> Array {
    let dtype = DType::from_name(matrix.tensor.dtype().name()).expect("both crates name the same dtypes");
    Array::from_bytes(dtype, shape, bytes).expect("the bytes are those of the shape")
}

/// Compares the `picks` along the first axis of `result` with `expected`; a result without axes is compared
/// as a whole.
pub fn judge(result: &Tensor, picks: &[usize], expected: Result<Outcome<'_>, reference::Error>) -> Check {
    judge_bytes(result, &picked(result, picks)?, expected)
}

/// Compares the elements at `rows` × `columns` of a matrix with `expected`.
pub fn judge_crossings(
    result: &Tensor,
    rows: &[usize],
    columns: &[usize],
    expected: Result<Outcome<'_>, reference::Error>,
) -> Check {
    let (bytes, size, width) = (picked(result, rows)?, result.dtype().size_in_bytes(), result.dims()[1]);
    let mut crossings = Vec::new();
    for row in bytes.chunks_exact(width * size) {
        for column in columns {
            crossings.extend_from_slice(&row[column * size..(column + 1) * size]);
        }
    }
    judge_bytes(result, &crossings, expected)
}

/// Compares elements of a matrix, given by row and column, with elements of `expected`, given by index.
pub fn judge_elements(
    result: &Tensor,
    elements: &[([usize; 2], usize)],
    expected: Result<Outcome<'_>, reference::Error>,
) -> Check {
    let expected = expected.map_err(|error| error.to_string())?;
    same_dtype(result, &expected)?;
    let size = result.dtype().size_in_bytes();
    let mut rows: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for &([row, column], index) in elements {
        let bytes = match rows.entry(row) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(free) => free.insert(picked(result, &[row])?),
        };
        let bytes = bytes.get(column * size..(column + 1) * size);
        let bytes = bytes.ok_or_else(|| format!("the result has no column {column}"))?;
        judge_element(&expected, index, bytes, 0)
            .map_err(|(got, wanted)| format!("row {row}, column {column} is {got}, expected was {wanted}"))?;
    }
    Ok(())
}

fn picked(result: &Tensor, picks: &[usize]) -> Result<Vec<u8>, String> {
    let part = |pick: &usize| result.narrow(0, *pick, 1).and_then(|part| part.to_bytes());
    let parts = match result.rank() {
        0 => result.to_bytes(),
        _ => picks.iter().map(part).collect::<Result<Vec<_>, _>>().map(|parts| parts.concat()),
    };
    parts.map_err(|error| error.to_string())
}

fn judge_bytes(result: &Tensor, bytes: &[u8], expected: Result<Outcome<'_>, reference::Error>) -> Check {
    let expected = expected.map_err(|error| error.to_string())?;
    let dtype = expected.dtype();
    same_dtype(result, &expected)?;
    if bytes.len() != expected.len() * dtype.size() {
        let (got, wanted) = (bytes.len() / dtype.size(), expected.len());
        return Err(format!("{got} elements were read, expected were {wanted}"));
    }
    for index in 0..expected.len() {
        judge_element(&expected, index, bytes, index).map_err(|(got, wanted)| {
            format!("element {index} of those checked is {got}, expected was {wanted}")
        })?;
    }
    Ok(())
}

fn same_dtype(result: &Tensor, expected: &Outcome<'_>) -> Check {
    let (got, wanted) = (result.dtype().name(), expected.dtype().name());
    if got == wanted { Ok(()) } else { Err(format!("the result is of {got}, expected was {wanted}")) }
}

/// Compares element `result_index` of `bytes` with element `index` of `expected`; an error has both values.
fn judge_element(
    expected: &Outcome<'_>,
    index: usize,
    bytes: &[u8],
    result_index: usize,
) -> Result<(), (String, String)> {
    let dtype = expected.dtype();
    let (wanted, got) = (expected.at(index), dtype.read(bytes, result_index).unwrap_or_default());
    if expected.judge().accepts(dtype, &wanted, got) {
        return Ok(());
    }
    Err((format!("{:?}", dtype.decode(got)), format!("{:?}", dtype.decode(wanted.bits))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reference::UnaryOp;
    use tensor_core::Device;

    #[test]
    fn picks_are_inside_and_distinct() {
        assert_eq!(picks(1), [0]);
        assert_eq!(picks(2), [0, 1]);
        assert_eq!(picks(16384), [0, 5461, 8193, 16383]);
    }

    #[test]
    fn one_wrong_element_is_detected() {
        let matrix = Matrix::random(tensor_core::DType::F32, 9, 5, 1, &Device::Cpu).unwrap();
        let (picks, good) = (picks(9), matrix.tensor.neg().unwrap());
        let rows = rows_of(&matrix, &picks);
        assert_eq!(judge(&good, &picks, reference::unary(UnaryOp::Neg, &rows)), Ok(()));
        let mut bytes = good.to_bytes().unwrap();
        *bytes.last_mut().unwrap() ^= 0x80;
        let bad = Tensor::from_bytes(&bytes, good.dtype(), [9, 5], &Device::Cpu).unwrap();
        let error = judge(&bad, &picks, reference::unary(UnaryOp::Neg, &rows)).unwrap_err();
        assert!(error.starts_with("element 19 of those checked is"), "{error}");
        let error = judge(&bad, &picks[1..], reference::unary(UnaryOp::Neg, &rows)).unwrap_err();
        assert_eq!(error, "15 elements were read, expected were 20");
        let half = good.to_dtype(tensor_core::DType::F16).unwrap();
        let error = judge(&half, &picks, reference::unary(UnaryOp::Neg, &rows)).unwrap_err();
        assert_eq!(error, "the result is of f16, expected was f32");
    }

    #[test]
    fn crossings_are_rows_by_columns() {
        let matrix = Matrix::random(tensor_core::DType::F32, 7, 7, 1, &Device::Cpu).unwrap();
        let product = matrix.tensor.matmul(&matrix.tensor).unwrap();
        let (rows, columns) = (vec![0, 3], vec![1, 2, 6]);
        let a = rows_of(&matrix, &rows);
        let b = columns_of(&matrix, &columns).strided(0, &[7, 3], &[1, 7]).unwrap();
        assert_eq!(judge_crossings(&product, &rows, &columns, reference::matmul(&a, &b)), Ok(()));
        assert!(judge_crossings(&product, &rows, &[1, 2, 5], reference::matmul(&a, &b)).is_err());
    }
}
