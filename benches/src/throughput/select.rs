//! Rows that sort, select, scan, and gather and scatter by ids.

use super::check::{self, Check, picks};
use super::data::{self, Matrix};
use super::rows::{Row, Work, by_rows};
use reference::{Array, CumulativeOp, Sorted};
use tensor_core::{DType, Device, Result, Tensor};

const SORTED: [&str; 2] = ["argsort", "topk_50"];
const SCANNED: [&str; 2] = ["cumsum_last", "cumsum_first"];
/// The matrices, and the operations measured on each.
pub const MATRICES: [([usize; 2], &[&str]); 3] =
    [([4096, 1024], &SORTED), ([64, 128_256], &SORTED), ([16384, 8192], &SCANNED)];
/// The number of ids, and of the elements that they select from.
pub const IDS: usize = 1 << 24;
/// The operations measured on a list of that size.
pub const LIST_OPS: [&str; 2] = ["gather", "scatter_add"];

/// The number of elements that `topk_50` keeps, if there are as many.
const KEPT: usize = 50;
/// The number of elements checked along each scanned axis.
const CHECKED: usize = 24;

/// The inputs of the rows of a dtype and a shape.
pub struct Inputs {
    a: Matrix,
    list: Option<List>,
}

/// Lists for gather and scatter.
struct List {
    source: Matrix,
    target: Tensor,
    added: Tensor,
    ids: Tensor,
    numbers: Vec<i64>,
}

impl Inputs {
    /// Random inputs: a matrix for two sizes, lists for one.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(dtype: DType, dims: &[usize], device: &Device) -> Result<Inputs> {
        if let &[rows, columns] = dims {
            return Ok(Inputs { a: Matrix::random(dtype, rows, columns, 1, device)?, list: None });
        }
        let count = dims[0];
        // One column, so that the check treats each element as a row.
        let a = Matrix::random(dtype, count, 1, 1, device)?;
        let source = Matrix::random(dtype, count, 1, 2, device)?;
        let numbers = data::ids(count, count, 7);
        let ids = Tensor::from_vec::<i64>(numbers.clone(), count, device)?;
        let (target, added) = (a.tensor.reshape([count])?, source.tensor.reshape([count])?);
        Ok(Inputs { a, list: Some(List { source, target, added, ids, numbers }) })
    }

    /// The row of an operation.
    pub fn row(&self, op: &str) -> Option<Row<'_>> {
        let rows = match &self.list {
            Some(list) => self.by_ids(list),
            None => self.of_matrix(),
        };
        rows.into_iter().find(|row| row.op == op)
    }

    fn of_matrix(&self) -> Vec<Row<'_>> {
        let (a, n) = (&self.a, self.a.bytes().len());
        let (rows, columns) = (a.rows(), a.columns());
        let (kept, position) = (KEPT.min(columns), size_of::<u32>());
        vec![
            by_rows(
                "argsort",
                n + rows * columns * position,
                || a.tensor.argsort(1, false),
                [a],
                move |[a]| reference::sort(a, 1, false, columns, Sorted::Positions),
            ),
            // Positions identify the elements; of equal elements the first ones are taken.
            by_rows(
                "topk_50",
                n + rows * kept * (a.element_bytes() + position),
                move || Ok(a.tensor.topk(kept, 1, true)?.1),
                [a],
                move |[a]| reference::sort(a, 1, true, kept, Sorted::Positions),
            ),
            Row {
                op: "cumsum_last",
                work: Work::Bytes(2 * n),
                run: Box::new(|| a.tensor.cumsum(1)),
                check: Box::new(move |result| check_scan(result, a, false)),
            },
            Row {
                op: "cumsum_first",
                work: Work::Bytes(2 * n),
                run: Box::new(|| a.tensor.cumsum(0)),
                check: Box::new(move |result| check_scan(result, a, true)),
            },
        ]
    }

    fn by_ids<'a>(&'a self, list: &'a List) -> Vec<Row<'a>> {
        let (n, ids) = (self.a.bytes().len(), list.numbers.len() * size_of::<i64>());
        vec![
            Row {
                op: "gather",
                work: Work::Bytes(2 * n + ids),
                run: Box::new(|| list.target.gather(&list.ids, 0)),
                check: Box::new(|result| {
                    let picks = spread(list.numbers.len());
                    let sources: Vec<usize> = picks.iter().map(|pick| list.numbers[*pick] as usize).collect();
                    let wanted = check::rows_of(&self.a, &sources);
                    check::judge(result, &picks, Ok(reference::copy(&wanted)))
                }),
            },
            // Copies the list, then reads and writes the elements selected by the ids again.
            Row {
                op: "scatter_add",
                work: Work::Bytes(3 * n + ids),
                run: Box::new(|| list.target.scatter_add(&list.ids, &list.added, 0)),
                check: Box::new(|result| self.check_added(list, result)),
            },
        ]
    }

    /// Checks some positions of the list: all values added to them, in the order of the ids.
    fn check_added(&self, list: &List, result: &Tensor) -> Check {
        let text = |error: reference::Error| error.to_string();
        let picks = spread(list.numbers.len());
        let position = |id: &i64| picks.binary_search(&(*id as usize)).ok();
        let (mut sources, mut ids) = (Vec::new(), Vec::new());
        for (source, id) in list.numbers.iter().enumerate() {
            if let Some(position) = position(id) {
                sources.push(source);
                ids.push(position as i64);
            }
        }
        let target = check::rows_of(&self.a, &picks).reshape(&[picks.len()]).map_err(text)?;
        let added = check::rows_of(&list.source, &sources).reshape(&[ids.len()]).map_err(text)?;
        let ids = Array::from_i64(reference::DType::I64, &[ids.len()], &ids).map_err(text)?;
        check::judge(result, &picks, reference::scatter_add(&target, &ids, &added, 0))
    }
}

/// Checks elements along some lines: each is the sum of all elements up to it.
fn check_scan(result: &Tensor, a: &Matrix, first: bool) -> Check {
    let (lines, length) = if first { (a.columns(), a.rows()) } else { (a.rows(), a.columns()) };
    let lines = picks(lines);
    let array = if first { check::columns_of(a, &lines) } else { check::rows_of(a, &lines) };
    let mut elements = Vec::new();
    for (number, &line) in lines.iter().enumerate() {
        for &position in &spread(length) {
            let at = if first { [position, line] } else { [line, position] };
            elements.push((at, number * length + position));
        }
    }
    check::judge_elements(result, &elements, reference::scan(CumulativeOp::Sum, &array, 1))
}

/// Positions along an axis in ascending order, including the first and the last.
fn spread(length: usize) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..CHECKED).map(|step| step * (length - 1) / (CHECKED - 1)).collect();
    positions.dedup();
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_in_order_from_the_first_to_the_last() {
        assert_eq!(spread(1), [0]);
        assert_eq!(spread(3), [0, 1, 2]);
        let positions = spread(IDS);
        assert_eq!((positions.len(), positions[0], positions[CHECKED - 1]), (CHECKED, 0, IDS - 1));
        assert!(positions.is_sorted());
    }
}
