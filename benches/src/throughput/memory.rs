//! Memory-bound rows: elementwise operations, copies, reductions and norms.

use super::check::{self, Check, picks};
use super::data::{self, Matrix};
use super::rows::{Row, Work, by_columns, by_rows};
use reference::{Array, BinaryOp, ReduceOp, UnaryOp};
use std::cell::OnceCell;
use tensor_core::{DType, Device, Result, Tensor};

/// The sizes for all operations; the first has targets.
pub const SHAPES: [[usize; 2]; 2] = [[16384, 8192], [4096, 4096]];
/// Many short rows.
pub const SHORT: [usize; 2] = [65536, 512];
/// The operations measured with short rows.
pub const SHORT_OPS: [&str; 3] = ["softmax_last", "layer_norm", "rms_norm"];
/// All operations.
pub const OPS: [&str; 23] = [
    "add",
    "mul_scalar",
    "exp",
    "gelu_erf",
    "silu",
    "where",
    "cast",
    "clone_copy",
    "cat0",
    "index_select_rows",
    "add_broadcast_row",
    "add_broadcast_column",
    "rms_norm",
    "layer_norm",
    "softmax_last",
    "sum_last",
    "sum_first",
    "max_last",
    "max_first",
    "argmax_last",
    "argmax_first",
    "sum_all",
    "transpose_contig",
];

const EPS: f64 = 1e-5;

/// The inputs of the rows of a dtype and a shape.
pub struct Inputs {
    a: Matrix,
    b: Matrix,
    row: Matrix,
    column: Matrix,
    weight: Tensor,
    mask: Tensor,
    mask_bytes: Vec<u8>,
    ids: Tensor,
    total: OnceCell<Array>,
}

impl Inputs {
    /// Random inputs.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(dtype: DType, [rows, columns]: [usize; 2], device: &Device) -> Result<Inputs> {
        let random = |rows, columns, seed| Matrix::random(dtype, rows, columns, seed, device);
        let row = random(1, columns, 3)?;
        let mask_bytes = data::mask(rows * columns, 6);
        let ids = (0..rows).map(|to| read_from(to, rows) as i64).collect();
        Ok(Inputs {
            a: random(rows, columns, 1)?,
            b: random(rows, columns, 2)?,
            column: random(rows, 1, 4)?,
            weight: row.tensor.reshape([columns])?,
            row,
            mask: Tensor::from_bytes(&mask_bytes, DType::U8, [rows, columns], device)?,
            mask_bytes,
            ids: Tensor::from_vec::<i64>(ids, rows, device)?,
            total: OnceCell::new(),
        })
    }

    /// The row of an operation.
    pub fn row(&self, op: &str) -> Option<Row<'_>> {
        let groups = [Self::elementwise, Self::copies, Self::norms, Self::reductions];
        groups.into_iter().flat_map(|group| group(self)).find(|row| row.op == op)
    }

    /// Size of one large matrix in bytes.
    fn bytes(&self) -> usize {
        self.a.bytes().len()
    }

    fn elementwise(&self) -> Vec<Row<'_>> {
        let (a, b, row, column, n) = (&self.a, &self.b, &self.row, &self.column, self.bytes());
        vec![
            by_rows(
                "add",
                3 * n,
                || a.tensor.add(&b.tensor),
                [a, b],
                |[a, b]| reference::binary(BinaryOp::Add, a, b),
            ),
            by_rows(
                "add_broadcast_row",
                2 * n,
                || a.tensor.add(&row.tensor),
                [a, row],
                |[a, row]| reference::binary(BinaryOp::Add, a, row),
            ),
            by_rows(
                "add_broadcast_column",
                2 * n,
                || a.tensor.add(&column.tensor),
                [a, column],
                |[a, column]| reference::binary(BinaryOp::Add, a, column),
            ),
            by_rows(
                "mul_scalar",
                2 * n,
                || a.tensor.affine(1.5, 0.0),
                [a],
                |[a]| Ok(reference::affine(a, 1.5, 0.0)),
            ),
            by_rows("exp", 2 * n, || a.tensor.exp(), [a], |[a]| reference::unary(UnaryOp::Exp, a)),
            by_rows(
                "gelu_erf",
                2 * n,
                || a.tensor.gelu_erf(),
                [a],
                |[a]| reference::unary(UnaryOp::GeluErf, a),
            ),
            by_rows("silu", 2 * n, || a.tensor.silu(), [a], |[a]| reference::unary(UnaryOp::Silu, a)),
        ]
    }

    fn copies(&self) -> Vec<Row<'_>> {
        let (a, b, n) = (&self.a, &self.b, self.bytes());
        let to = if a.tensor.dtype() == DType::F32 { DType::F16 } else { DType::F32 };
        let elements = n / a.element_bytes();
        let wanted = reference::DType::from_name(to.name()).expect("both crates name the same dtypes");
        vec![
            Row {
                op: "where",
                work: Work::Bytes(3 * n + elements),
                run: Box::new(|| self.mask.where_cond(&a.tensor, &b.tensor)),
                check: Box::new(|result| self.check_where(result)),
            },
            by_rows(
                "cast",
                n + elements * to.size_in_bytes(),
                move || a.tensor.to_dtype(to),
                [a],
                move |[a]| Ok(reference::cast(a, wanted)),
            ),
            by_rows("clone_copy", 2 * n, || a.tensor.copy(), [a], |[a]| Ok(reference::copy(a))),
            Row {
                op: "cat0",
                work: Work::Bytes(4 * n),
                run: Box::new(|| Tensor::cat(&[&a.tensor, &b.tensor], 0)),
                check: Box::new(|result| {
                    let picks = picks(a.rows());
                    let (upper, lower) = (check::rows_of(a, &picks), check::rows_of(b, &picks));
                    let rows: Vec<usize> =
                        picks.iter().copied().chain(picks.iter().map(|pick| a.rows() + pick)).collect();
                    check::judge(result, &rows, reference::cat(&[&upper, &lower], 0))
                }),
            },
            Row {
                op: "index_select_rows",
                work: Work::Bytes(2 * n + a.rows() * size_of::<i64>()),
                run: Box::new(|| a.tensor.index_select(&self.ids, 0)),
                check: Box::new(|result| {
                    let picks = picks(a.rows());
                    let sources: Vec<usize> = picks.iter().map(|pick| read_from(*pick, a.rows())).collect();
                    check::judge(result, &picks, Ok(reference::copy(&check::rows_of(a, &sources))))
                }),
            },
            by_columns(
                "transpose_contig",
                2 * n,
                || a.tensor.t()?.contiguous(),
                a,
                |a| Ok(reference::copy(a)),
            ),
        ]
    }

    fn check_where(&self, result: &Tensor) -> Check {
        let (picks, columns) = (picks(self.a.rows()), self.a.columns());
        let bytes: Vec<u8> =
            picks.iter().flat_map(|row| &self.mask_bytes[row * columns..][..columns]).copied().collect();
        let mask = Array::from_bytes(reference::DType::U8, &[picks.len(), columns], &bytes);
        let mask = mask.map_err(|error| error.to_string())?;
        let (a, b) = (check::rows_of(&self.a, &picks), check::rows_of(&self.b, &picks));
        check::judge(result, &picks, reference::where_cond(&mask, &a, &b))
    }

    fn norms(&self) -> Vec<Row<'_>> {
        let (a, row, n) = (&self.a, &self.row, self.bytes());
        let weight = &self.weight;
        // The same numbers are used as weight and bias.
        let list = move || check::all_of(row).reshape(&[row.columns()]);
        let judged = move |result: &Tensor, layer: bool| {
            let picks = picks(a.rows());
            let rows = check::rows_of(a, &picks);
            let list = list().map_err(|error| error.to_string())?;
            let expected = if layer {
                reference::layer_norm(&rows, Some(&list), Some(&list), EPS)
            } else {
                reference::rms_norm(&rows, Some(&list), EPS)
            };
            check::judge(result, &picks, expected)
        };
        vec![
            by_rows(
                "softmax_last",
                2 * n,
                || a.tensor.softmax(1),
                [a],
                |[a]| reference::softmax(a, 1, false),
            ),
            Row {
                op: "layer_norm",
                work: Work::Bytes(2 * n),
                run: Box::new(move || a.tensor.layer_norm(Some(weight), Some(weight), EPS)),
                check: Box::new(move |result| judged(result, true)),
            },
            Row {
                op: "rms_norm",
                work: Work::Bytes(2 * n),
                run: Box::new(move || a.tensor.rms_norm(Some(weight), EPS)),
                check: Box::new(move |result| judged(result, false)),
            },
        ]
    }

    fn reductions(&self) -> Vec<Row<'_>> {
        let (a, n) = (&self.a, self.bytes());
        let last = |op, of: ReduceOp, run: fn(&Tensor) -> Result<Tensor>| {
            by_rows(op, n, move || run(&a.tensor), [a], move |[a]| reference::reduce(of, a, &[1], false))
        };
        let first = |op, of: ReduceOp, run: fn(&Tensor) -> Result<Tensor>| {
            by_columns(op, n, move || run(&a.tensor), a, move |a| reference::reduce(of, a, &[1], false))
        };
        vec![
            last("sum_last", ReduceOp::Sum, |a| a.sum(1)),
            first("sum_first", ReduceOp::Sum, |a| a.sum(0)),
            last("max_last", ReduceOp::Max, |a| a.max(1)),
            first("max_first", ReduceOp::Max, |a| a.max(0)),
            last("argmax_last", ReduceOp::ArgMax, |a| a.argmax(1)),
            first("argmax_first", ReduceOp::ArgMax, |a| a.argmax(0)),
            Row {
                op: "sum_all",
                work: Work::Bytes(n),
                run: Box::new(|| a.tensor.sum_all()),
                check: Box::new(|result| {
                    let all = self.total.get_or_init(|| check::all_of(a));
                    check::judge(result, &[], reference::reduce(ReduceOp::Sum, all, &[0, 1], false))
                }),
            },
        ]
    }
}

/// The row that `index_select_rows` reads for an output row, as in the peer: neighbours are not adjacent.
fn read_from(index: usize, rows: usize) -> usize {
    index * 7919 % rows
}
