//! Parity on the tensors of a real checkpoint.
//!
//! Each tensor is read, sent to every device once, and used by a fixed set of operations. Every element of every result
//! is judged against the reference. One tensor is in memory at a time.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use reference::{Array, BinaryOp, CmpOp, DType, ReduceOp, UnaryOp, Value};
use tensor_core::safetensors::File;
use tensor_core::{Device, Tensor};

use crate::Error;
use crate::case::{Case, Layout, Op, Operand};
use crate::devices::NamedDevice;
use crate::execute::{self, Output, known};
use crate::inputs::Contents;
use crate::report::{CaseReport, Report};
use crate::run::case_report;
use crate::view::Step;

/// Rows of each side of a matrix product from a weight, which bounds its cost.
const PRODUCT_ROWS: usize = 48;

/// An open checkpoint.
#[derive(Debug)]
pub struct Weights {
    path: PathBuf,
    file: File,
}

/// The stored array of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    /// The tensor itself.
    Tensor,
    /// The tensor cast to another dtype, to be cast back.
    Cast(DType),
}

impl Weights {
    /// Opens a safetensors file.
    ///
    /// # Errors
    /// [`Error::Weights`] if the file cannot be read or is damaged.
    pub fn open(path: &Path) -> Result<Weights, Error> {
        let file = File::open(path).map_err(wrap(path))?;
        Ok(Weights { path: path.to_path_buf(), file })
    }

    /// The cases of every tensor, except those [left out](Weights::left_out).
    pub fn cases(&self) -> Vec<Case> {
        self.file.names().flat_map(|name| self.plan(name)).flat_map(|(_, cases)| cases).collect()
    }

    /// The names of tensors with an unsupported dtype, such as `BOOL`, by the dtype's name.
    pub fn left_out(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut left_out = BTreeMap::<_, Vec<_>>::new();
        let all = self.file.names().filter_map(|name| Some((name, self.file.info(name)?)));
        for (name, info) in all.filter(|(_, info)| info.dtype.is_none()) {
            left_out.entry(info.dtype_name.as_str()).or_default().push(name);
        }
        left_out
    }

    /// Runs those of the file's cases that are in `cases`. `step` is called after each. `origin` is the options that a
    /// rerun needs besides device, filter and seed.
    ///
    /// # Errors
    /// [`Error::Weights`] if a tensor cannot be read.
    pub fn run(
        &self,
        cases: &[Case],
        devices: &[NamedDevice],
        seed: u64,
        origin: &str,
        step: &mut dyn FnMut(),
    ) -> Result<Report, Error> {
        let start = Instant::now();
        let wanted: HashSet<String> = cases.iter().map(Case::id).collect();
        let mut seconds = vec![0.0; devices.len()];
        let mut reports = Vec::with_capacity(cases.len());
        for name in self.file.names() {
            let mut plan = self.plan(name);
            plan.iter_mut().for_each(|(_, cases)| cases.retain(|case| wanted.contains(&case.id())));
            plan.retain(|(_, cases)| !cases.is_empty());
            if plan.is_empty() {
                continue;
            }
            let tensor = self.file.load(name, &Device::Cpu).map_err(wrap(&self.path))?;
            let bytes = tensor.to_bytes().map_err(wrap(&self.path))?;
            let (dtype, shape) = (known(tensor.dtype()), tensor.dims().to_vec());
            for (source, cases) in plan {
                let stored = Stored::new(source, dtype, &shape, &bytes, devices);
                for case in &cases {
                    reports.push(stored.run(case, devices, &mut seconds));
                    step();
                }
            }
        }
        let devices = devices.iter().zip(seconds).map(|(device, seconds)| device.report(seconds)).collect();
        Ok(Report::new(seed, start.elapsed().as_secs_f64(), devices, reports, origin))
    }

    /// Empty for a tensor that is left out.
    fn plan(&self, name: &str) -> Vec<(Source, Vec<Case>)> {
        let known = self.file.info(name).and_then(|info| Some((known(info.dtype?), info.shape.dims())));
        known.map(|(dtype, shape)| plan(name, dtype, shape)).unwrap_or_default()
    }
}

fn wrap(path: &Path) -> impl Fn(tensor_core::Error) -> Error + use<> {
    let path = path.to_path_buf();
    move |source| Error::Weights { path: path.clone(), source: Box::new(source) }
}

/// A stored array: its bytes, its reference array, and its tensor on every device.
struct Stored {
    bytes: Vec<u8>,
    array: Array,
    tensors: Vec<Result<Tensor, String>>,
}

impl Stored {
    fn new(source: Source, dtype: DType, shape: &[usize], bytes: &[u8], devices: &[NamedDevice]) -> Stored {
        let decode = |dtype, bytes: &[u8]| {
            Array::from_bytes(dtype, shape, bytes).expect("the loader checked the number of bytes")
        };
        let tensor = decode(dtype, bytes);
        let (dtype, bytes, array) = match source {
            Source::Tensor => (dtype, bytes.to_vec(), tensor),
            Source::Cast(to) => {
                let bytes = reference::cast(&tensor, to).to_bytes();
                let array = decode(to, &bytes);
                (to, bytes, array)
            }
        };
        let operand = Operand::dense(dtype, shape, Contents::Given);
        let upload = |device: &NamedDevice| {
            execute::stored(&operand, &bytes, &device.device).map_err(|error| error.to_string())
        };
        let tensors = devices.iter().map(upload).collect();
        Stored { bytes, array, tensors }
    }

    /// Runs one case on all devices in parallel, then judges.
    fn run(&self, case: &Case, devices: &[NamedDevice], seconds: &mut [f64]) -> CaseReport {
        let on_device = |tensor: &Result<Tensor, String>, seconds: &mut f64| {
            let start = Instant::now();
            let output = execute::run_stored(case, vec![tensor.clone()?; case.operands.len()]);
            *seconds += start.elapsed().as_secs_f64();
            output
        };
        let on_device = &on_device;
        let outputs: Vec<Result<Output, String>> = std::thread::scope(|scope| {
            let pairs = self.tensors.iter().zip(seconds);
            let threads: Vec<_> =
                pairs.map(|(tensor, seconds)| scope.spawn(move || on_device(tensor, seconds))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("panics of devices are caught in execute"))
                .collect()
        });
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        let hash = case.hash(&vec![self.bytes.as_slice(); case.operands.len()]);
        let views: Vec<Option<Array>> = case.operands.iter().map(|operand| self.view(operand)).collect();
        let arrays: Vec<&Array> = views.iter().map(|view| view.as_ref().unwrap_or(&self.array)).collect();
        case_report(case, hash, &arrays, outputs, &names, &[])
    }

    /// A view of the array, or `None` for the array itself.
    fn view(&self, operand: &Operand) -> Option<Array> {
        if operand.steps.is_empty() {
            return None;
        }
        let view = operand.view();
        let bytes = view.gather(&self.bytes, operand.dtype.size());
        Some(Array::from_bytes(operand.dtype, &view.dims, &bytes).expect("gathered by this shape"))
    }
}

/// The operations on a checkpoint's tensor, grouped by their stored array.
fn plan(name: &str, dtype: DType, shape: &[usize]) -> Vec<(Source, Vec<Case>)> {
    let case = |op, layout, operands| {
        let mut case = Case::new(op, operands, layout, "weight");
        case.origin = Some(name.to_string());
        case
    };
    let whole = |dtype| Operand::dense(dtype, shape, Contents::Given);
    let one = |op| case(op, Layout::Contiguous, vec![whole(dtype)]);
    let mut cases = vec![one(Op::Copy)];
    if shape.contains(&0) {
        return vec![(Source::Tensor, cases)];
    }

    let unary: &[UnaryOp] = match dtype.is_float() {
        true => &[UnaryOp::Neg, UnaryOp::Sqr, UnaryOp::Exp, UnaryOp::Tanh, UnaryOp::Gelu, UnaryOp::Silu],
        false => &[UnaryOp::Neg, UnaryOp::Sign],
    };
    cases.extend(unary.iter().map(|op| one(Op::Unary(*op))));
    let (mul, add) = match dtype.is_float() {
        true => (Value::Float(1.7), Value::Float(-0.3)),
        false => (Value::Int(3), Value::Int(5)),
    };
    cases.push(one(Op::Affine { mul, add }));
    let narrow: &[DType] = match dtype.is_float() {
        true => &[DType::F16, DType::BF16, DType::F8E4M3],
        false => &[DType::F32, DType::I32, DType::U8],
    };
    let narrow: Vec<DType> = narrow.iter().copied().filter(|to| *to != dtype).collect();
    cases.extend(narrow.iter().map(|to| one(Op::Cast(*to))));

    if let Some(last) = shape.len().checked_sub(1) {
        // The tensor's middle row, broadcast over all rows.
        let row = || whole(dtype).then(Step::Narrow { axis: 0, start: shape[0] / 2, len: 1 });
        let with_row = |op| case(op, Layout::BroadcastRow, vec![whole(dtype), row()]);
        cases.extend([BinaryOp::Add, BinaryOp::Mul].map(|op| with_row(Op::Binary(op))));
        cases.push(with_row(Op::Compare(CmpOp::Lt)));
        let reduce = |op, axis| one(Op::Reduce { op, axes: vec![axis], keep: false });
        for op in [ReduceOp::Sum, ReduceOp::Max, ReduceOp::ArgMax] {
            cases.push(reduce(op, last));
        }
        if last > 0 {
            for op in [ReduceOp::Sum, ReduceOp::Min, ReduceOp::ArgMin] {
                cases.push(reduce(op, 0));
            }
            cases.push(case(Op::Copy, Layout::Transposed, vec![whole(dtype).then(Step::Transpose(0, last))]));
        }
    }
    if let (true, &[rows, _]) = (dtype.is_float() && dtype != DType::F8E4M3, shape) {
        // The first rows times the last rows, transposed: they have the same inner dimension.
        let len = rows.min(PRODUCT_ROWS);
        let first = whole(dtype).then(Step::Narrow { axis: 0, start: 0, len });
        let second =
            whole(dtype).then(Step::Narrow { axis: 0, start: rows - len, len }).then(Step::Transpose(0, 1));
        cases.push(case(Op::Matmul, Layout::NarrowedTransposed, vec![first, second]));
    }

    let back = |from: &DType| {
        let cast = case(Op::Cast(dtype), Layout::Contiguous, vec![whole(*from)]);
        (Source::Cast(*from), vec![cast])
    };
    let backs: Vec<_> = narrow.iter().map(back).collect();
    [vec![(Source::Tensor, cases)], backs].concat()
}
