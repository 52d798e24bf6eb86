//! What is measured: one row an operation, under the names of `benches/peers/torch_throughput.py`.

use super::check::{self, Check, picks};
use super::data::Matrix;
use reference::{Array, BinaryOp, Outcome, ReduceOp, UnaryOp};
use tensor_core::{DType, Device, Result, Tensor};

/// Side of the matrices whose sum costs the launch alone.
pub const SMALL: usize = 16;

/// What an operation does at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Bytes: each input read once, each output written once.
    Bytes(usize),
    /// Multiplications and additions.
    Operations(f64),
    /// Too little to count.
    Nothing,
}

impl Work {
    /// GB/s or, for operations, GFLOP/s.
    pub fn rate(self, seconds: f64) -> Option<f64> {
        match self {
            Work::Bytes(bytes) => Some(bytes as f64 / seconds / 1e9),
            Work::Operations(count) => Some(count / seconds / 1e9),
            Work::Nothing => None,
        }
    }
}

/// One operation on inputs that lie on the device.
pub struct Row<'a> {
    /// Its name.
    pub name: String,
    /// What a rate is computed from.
    pub work: Work,
    /// Submits the operation and gives its result.
    pub run: Box<dyn Fn() -> Result<Tensor> + 'a>,
    /// Says whether a result is right.
    pub check: Box<dyn Fn(&Tensor) -> Check + 'a>,
}

/// The inputs of the rows of a dtype.
pub struct Inputs {
    a: Matrix,
    b: Matrix,
    row: Matrix,
    square: Matrix,
    small: Matrix,
}

/// The sizes of the inputs.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Rows of the large matrices.
    pub rows: usize,
    /// Columns of the large matrices.
    pub columns: usize,
    /// Rows and columns of the matrix that is multiplied.
    pub matmul: usize,
}

impl Inputs {
    /// Random inputs.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(dtype: DType, sizes: Sizes, device: &Device) -> Result<Inputs> {
        let Sizes { rows, columns, matmul } = sizes;
        let random = |rows, columns, seed| Matrix::random(dtype, rows, columns, seed, device);
        let (a, b, row) = (random(rows, columns, 1)?, random(rows, columns, 2)?, random(1, columns, 3)?);
        Ok(Inputs { a, b, row, square: random(matmul, matmul, 4)?, small: random(SMALL, SMALL, 5)? })
    }

    /// All rows, or those whose name contains `filter`.
    pub fn rows(&self, filter: &str) -> Vec<Row<'_>> {
        let groups = [self.elementwise(), self.reductions(), self.norms(), self.copies(), self.others()];
        groups.into_iter().flatten().filter(|row| row.name.contains(filter)).collect()
    }

    /// Bytes of one large matrix.
    fn matrix_bytes(&self) -> usize {
        self.a.bytes().len()
    }

    fn elementwise(&self) -> Vec<Row<'_>> {
        let (a, b, row, n) = (&self.a, &self.b, &self.row, self.matrix_bytes());
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
                "mul_scalar(affine)",
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
            by_rows("neg", 2 * n, || a.tensor.neg(), [a], |[a]| reference::unary(UnaryOp::Neg, a)),
            by_rows("sqr", 2 * n, || a.tensor.sqr(), [a], |[a]| reference::unary(UnaryOp::Sqr, a)),
        ]
    }

    fn reductions(&self) -> Vec<Row<'_>> {
        let (a, n) = (&self.a, self.matrix_bytes());
        vec![
            by_rows(
                "sum_last",
                n,
                || a.tensor.sum(1),
                [a],
                |[a]| reference::reduce(ReduceOp::Sum, a, &[1], false),
            ),
            by_columns(
                "sum_first",
                n,
                || a.tensor.sum(0),
                a,
                |a| reference::reduce(ReduceOp::Sum, a, &[1], false),
            ),
            by_rows(
                "max_last",
                n,
                || a.tensor.max(1),
                [a],
                |[a]| reference::reduce(ReduceOp::Max, a, &[1], false),
            ),
            by_rows(
                "argmax_last",
                n,
                || a.tensor.argmax(1),
                [a],
                |[a]| reference::reduce(ReduceOp::ArgMax, a, &[1], false),
            ),
            Row {
                name: "sum_all".into(),
                work: Work::Bytes(n),
                run: Box::new(|| a.tensor.sum_all()),
                check: Box::new(|result| {
                    check::judge(
                        result,
                        &[],
                        reference::reduce(ReduceOp::Sum, &check::all_of(a), &[0, 1], false),
                    )
                }),
            },
        ]
    }

    fn norms(&self) -> Vec<Row<'_>> {
        let (a, n) = (&self.a, self.matrix_bytes());
        let eps = 1e-5;
        vec![
            by_rows(
                "softmax_last",
                2 * n,
                || a.tensor.softmax(1),
                [a],
                |[a]| reference::softmax(a, 1, false),
            ),
            by_rows(
                "layer_norm",
                2 * n,
                move || a.tensor.layer_norm(None, None, eps),
                [a],
                move |[a]| reference::layer_norm(a, None, None, eps),
            ),
            by_rows(
                "rms_norm",
                2 * n,
                move || a.tensor.rms_norm(None, eps),
                [a],
                move |[a]| reference::rms_norm(a, None, eps),
            ),
        ]
    }

    fn copies(&self) -> Vec<Row<'_>> {
        let (a, n) = (&self.a, self.matrix_bytes());
        let to = if a.tensor.dtype() == DType::F32 { DType::F16 } else { DType::F32 };
        let cast = n + n / a.element_bytes() * to.size_in_bytes();
        let transposed = || a.tensor.t()?.contiguous();
        vec![
            by_columns("transpose_contig", 2 * n, transposed, a, |a| Ok(reference::copy(a))),
            by_rows(
                "cast",
                cast,
                move || a.tensor.to_dtype(to),
                [a],
                move |[a]| {
                    let to =
                        reference::DType::from_name(to.name()).expect("both crates name the same dtypes");
                    Ok(reference::cast(a, to))
                },
            ),
            by_rows("clone_copy", 2 * n, || a.tensor.copy(), [a], |[a]| Ok(reference::copy(a))),
        ]
    }

    fn others(&self) -> Vec<Row<'_>> {
        let (square, small) = (&self.square, &self.small);
        let side = square.rows();
        let product = Row {
            name: format!("matmul{side}"),
            work: Work::Operations(2.0 * (side as f64).powi(3)),
            run: Box::new(|| square.tensor.matmul(&square.tensor)),
            check: Box::new(move |result| {
                let picks = picks(side);
                let a = check::rows_of(square, &picks);
                let columns = check::columns_of(square, &picks);
                let b = columns.strided(0, &[side, picks.len()], &[1, side as isize]);
                let b = b.map_err(|error| error.to_string())?;
                check::judge_crossings(result, &picks, &picks, reference::matmul(&a, &b))
            }),
        };
        let mut sum = by_rows(
            "launch_small_add",
            0,
            || small.tensor.add(&small.tensor),
            [small],
            |[small]| reference::binary(BinaryOp::Add, small, small),
        );
        sum.work = Work::Nothing;
        vec![product, sum]
    }
}

/// A row whose result has a row, or an element, for each row of its inputs.
fn by_rows<'a, const N: usize>(
    name: &str,
    bytes: usize,
    run: impl Fn() -> Result<Tensor> + 'a,
    inputs: [&'a Matrix; N],
    expected: impl for<'b> Fn([&'b Array; N]) -> Result<Outcome<'b>, reference::Error> + 'a,
) -> Row<'a> {
    let check = move |result: &Tensor| {
        let picks = picks(inputs[0].rows());
        let arrays = inputs.map(|input| check::rows_of(input, &picks));
        check::judge(result, &picks, expected(arrays.each_ref()))
    };
    Row { name: name.into(), work: Work::Bytes(bytes), run: Box::new(run), check: Box::new(check) }
}

/// A row whose result has a row, or an element, for each column of its input. `expected` gets columns as rows.
fn by_columns<'a>(
    name: &str,
    bytes: usize,
    run: impl Fn() -> Result<Tensor> + 'a,
    input: &'a Matrix,
    expected: impl for<'b> Fn(&'b Array) -> Result<Outcome<'b>, reference::Error> + 'a,
) -> Row<'a> {
    let check = move |result: &Tensor| {
        let picks = picks(input.columns());
        check::judge(result, &picks, expected(&check::columns_of(input, &picks)))
    };
    Row { name: name.into(), work: Work::Bytes(bytes), run: Box::new(run), check: Box::new(check) }
}
