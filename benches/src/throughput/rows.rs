//! The list of rows, each one operation on one shape for one dtype, in sets; and the inputs that rows share.
//!
//! Operations and shapes have the names of `benches/peers/torch_throughput.py`.

use super::check::{self, Check, picks};
use super::data::Matrix;
use super::products::{PRODUCTS, Product};
use super::{attention, memory, select};
use clap::ValueEnum;
use reference::{Array, BinaryOp, Outcome};
use serde::{Deserialize, Serialize};
use tensor_core::{DType, Device, Result, Tensor};

/// Size of the matrices whose sum costs only the launch.
pub const SMALL: usize = 16;

/// Rows that are measured together and written to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
pub enum Set {
    /// Operations bound by memory: elementwise ones, copies, reductions, norms
    Memory,
    /// Sorting, selecting, scans, reading and adding by ids
    Select,
    /// Attention forward, causal
    Attention,
    /// Matrix products and convolutions at the sizes of networks
    Products,
    /// What a small call costs the host
    Host,
}

impl Set {
    /// All sets, in the order of measurement.
    pub const ALL: [Set; 5] = [Set::Memory, Set::Select, Set::Attention, Set::Products, Set::Host];

    /// The name of its file, without the extension.
    pub fn name(self) -> &'static str {
        match self {
            Set::Memory => "memory",
            Set::Select => "select",
            Set::Attention => "attention",
            Set::Products => "products",
            Set::Host => "host",
        }
    }
}

/// The minimum work of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Bytes: each input read once, each output written once.
    Bytes(usize),
    /// Multiplications and additions.
    Operations(f64),
    /// Negligible.
    Nothing,
}

impl Work {
    /// GB/s, for bytes.
    pub fn gbps(self, seconds: f64) -> Option<f64> {
        match self {
            Work::Bytes(bytes) => Some(bytes as f64 / seconds / 1e9),
            Work::Operations(_) | Work::Nothing => None,
        }
    }

    /// TFLOP/s, for operations.
    pub fn tflops(self, seconds: f64) -> Option<f64> {
        match self {
            Work::Operations(count) => Some(count / seconds / 1e12),
            Work::Bytes(_) | Work::Nothing => None,
        }
    }
}

/// One operation with its inputs on the device.
pub struct Row<'a> {
    /// The operation's name.
    pub op: &'static str,
    /// The work that rates are computed from.
    pub work: Work,
    /// Submits the operation and returns its result.
    pub run: Box<dyn Fn() -> Result<Tensor> + 'a>,
    /// Checks a result.
    pub check: Box<dyn Fn(&Tensor) -> Check + 'a>,
}

/// Rows of one dtype on one shape. Their inputs are created just before they are measured, since those of all
/// rows together are too large.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Their set.
    pub set: Set,
    /// The inputs' dtype.
    pub dtype: DType,
    /// The sizes in the peer's order.
    pub dims: Vec<usize>,
    /// The operations, in order.
    pub ops: Vec<&'static str>,
    product: Option<Product>,
}

/// The groups of these sets and dtypes. Sizes are divided by `shrink`, so that the program can be tried on a
/// small device.
pub fn groups(sets: &[Set], dtypes: &[DType], shrink: usize) -> Vec<Group> {
    let by = shrink.max(1);
    let size = |size: usize| (size / by).max(8.min(size));
    let mut groups = Vec::new();
    for &set in sets {
        for &dtype in dtypes {
            let mut group = |dims: &[usize], ops: &[&'static str]| {
                groups.push(Group { set, dtype, dims: dims.to_vec(), ops: ops.to_vec(), product: None });
            };
            match set {
                Set::Memory => {
                    for [rows, columns] in memory::SHAPES {
                        group(&[size(rows), size(columns)], &memory::OPS);
                    }
                    let [rows, columns] = memory::SHORT;
                    group(&[size(rows), size(columns)], &memory::SHORT_OPS);
                }
                Set::Select => {
                    for ([rows, columns], ops) in select::MATRICES {
                        group(&[size(rows), size(columns)], ops);
                    }
                    group(&[size(select::IDS)], &select::LIST_OPS);
                }
                Set::Attention if dtype == DType::F32 => {}
                Set::Attention => {
                    let [batch, heads, length, width] = attention::DIMS;
                    group(&[batch, heads, size(length), width], &[attention::OP]);
                }
                Set::Products => groups.extend(PRODUCTS.iter().map(|product| {
                    let product = product.shrunk(by);
                    let (dims, ops) = (product.dims(), vec![product.op()]);
                    Group { set, dtype, dims, ops, product: Some(product) }
                })),
                Set::Host => group(&[SMALL, SMALL], &["launch_small_add"]),
            }
        }
    }
    groups
}

impl Group {
    /// The sizes as text.
    pub fn shape(&self) -> String {
        self.product.map_or_else(|| joined(&self.dims), Product::shape)
    }

    /// Whether the device may use Winograd's transform for its rows.
    pub(super) fn takes_transforms(&self) -> bool {
        self.product.is_some_and(Product::takes_transforms)
    }

    /// The name of a row for filters and messages.
    pub fn label(&self, op: &str) -> String {
        format!("{op} {} {}", self.shape(), self.dtype)
    }

    /// Creates the inputs.
    ///
    /// # Errors
    /// An error of the device.
    pub fn inputs(&self, device: &Device) -> Result<Inputs> {
        let (dtype, dims) = (self.dtype, self.dims.as_slice());
        Ok(match (self.set, self.product) {
            (_, Some(product)) => Inputs::Product(product.row(dtype, device)?),
            (Set::Select, _) => Inputs::Select(Box::new(select::Inputs::new(dtype, dims, device)?)),
            (Set::Attention, _) => Inputs::Attention(Box::new(attention::Inputs::new(dtype, dims, device)?)),
            (Set::Host, _) => Inputs::Small(Box::new(Matrix::random(dtype, dims[0], dims[1], 5, device)?)),
            _ => Inputs::Memory(Box::new(memory::Inputs::new(dtype, [dims[0], dims[1]], device)?)),
        })
    }
}

/// Sizes with an x between them.
pub(super) fn joined(dims: &[usize]) -> String {
    dims.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// The inputs of a group.
pub enum Inputs {
    /// Inputs of [`memory`].
    Memory(Box<memory::Inputs>),
    /// Inputs of [`select`].
    Select(Box<select::Inputs>),
    /// Inputs of [`attention`].
    Attention(Box<attention::Inputs>),
    /// A product's row, with its inputs.
    Product(Row<'static>),
    /// A matrix to add to itself.
    Small(Box<Matrix>),
}

impl Inputs {
    /// The row of an operation of the group; `None` for another name.
    pub fn row(&self, op: &str) -> Option<Row<'_>> {
        match self {
            Inputs::Memory(inputs) => inputs.row(op),
            Inputs::Select(inputs) => inputs.row(op),
            Inputs::Attention(inputs) => Some(inputs.row()).filter(|row| row.op == op),
            Inputs::Product(row) => {
                let check = Box::new(|result: &Tensor| (row.check)(result));
                let row = Row { op: row.op, work: row.work, run: Box::new(|| (row.run)()), check };
                Some(row).filter(|row| row.op == op)
            }
            Inputs::Small(small) => Some(small_sum(small)).filter(|row| row.op == op),
        }
    }
}

fn small_sum(small: &Matrix) -> Row<'_> {
    let mut sum = by_rows(
        "launch_small_add",
        0,
        || small.tensor.add(&small.tensor),
        [small],
        |[small]| reference::binary(BinaryOp::Add, small, small),
    );
    sum.work = Work::Nothing;
    sum
}

/// A row whose result has a row or an element for each row of its inputs.
pub(super) fn by_rows<'a, const N: usize>(
    op: &'static str,
    bytes: usize,
    run: impl Fn() -> Result<Tensor> + 'a,
    inputs: [&'a Matrix; N],
    expected: impl for<'b> Fn([&'b Array; N]) -> std::result::Result<Outcome<'b>, reference::Error> + 'a,
) -> Row<'a> {
    let check = move |result: &Tensor| {
        let picks = picks(inputs[0].rows());
        let arrays = inputs.map(|input| check::rows_of(input, &picks));
        check::judge(result, &picks, expected(arrays.each_ref()))
    };
    Row { op, work: Work::Bytes(bytes), run: Box::new(run), check: Box::new(check) }
}

/// A row whose result has a row or an element for each column of its input. `expected` receives columns as
/// rows.
pub(super) fn by_columns<'a>(
    op: &'static str,
    bytes: usize,
    run: impl Fn() -> Result<Tensor> + 'a,
    input: &'a Matrix,
    expected: impl for<'b> Fn(&'b Array) -> std::result::Result<Outcome<'b>, reference::Error> + 'a,
) -> Row<'a> {
    let check = move |result: &Tensor| {
        let picks = picks(input.columns());
        check::judge(result, &picks, expected(&check::columns_of(input, &picks)))
    };
    Row { op, work: Work::Bytes(bytes), run: Box::new(run), check: Box::new(check) }
}
