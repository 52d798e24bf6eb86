//! A case for each kernel: one operation of tensor-core on ordinary numbers, large enough that the work outweighs the launch.

use kernels_hip::Unit;
use parity::Case;
use parity::case::{Layout, Op, Operand};
use parity::inputs::Contents;
use parity::view::Step;
use reference::{BinaryOp, CmpOp, DType, ReduceOp, ScalarOp, UnaryOp, Value};

/// Elements of elementwise operands: a thread for each 16 bytes, so this many blocks of 256 are full.
const ELEMENTS: usize = 1 << 18;
/// Rows that are reduced, and their length.
const ROWS: [usize; 2] = [64, 4096];
/// Columns that are reduced: short ones, which every device reduces by the kernels for columns.
const COLUMNS: [usize; 2] = [32, 8192];
/// Edge of the square matrices that are multiplied.
const EDGE: usize = 256;

/// What is measured of one kernel.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// The kernel's name.
    pub(super) kernel: String,
    /// The operation that launches it.
    pub(super) case: Case,
    /// What the instructions are divided by: elements of the operation's first input; for `matmul` multiply-adds.
    pub(super) elements: u64,
}

impl Measured {
    fn new(kernel: String, op: Op, operands: Vec<Operand>) -> Measured {
        let layout = if operands[0].steps.is_empty() { Layout::Contiguous } else { Layout::Transposed };
        let elements = match op {
            Op::Matmul => EDGE.pow(3) as u64,
            _ => operands[0].stored.iter().product::<usize>() as u64,
        };
        Measured { kernel, case: Case::new(op, operands, layout, "bench"), elements }
    }

    /// The operands' bytes: ordinary numbers between -4 and 4, in steps that the narrowest type holds; positive ones where the operation
    /// has no number for others.
    pub(super) fn inputs(&self) -> Vec<Vec<u8>> {
        let positive = matches!(self.case.op.name(), "sqrt" | "rsqrt" | "log" | "pow" | "powf");
        let fill = |operand: &Operand| {
            let (dtype, count) = (operand.dtype, operand.stored.iter().product());
            let mut bytes = Vec::with_capacity(count * dtype.size());
            for index in 0..count {
                // 33 and 32 values in turn: two operands never meet in one pair alone.
                let step = (index * 7 % 33) as f64 / 8.0;
                let sign = if !positive && dtype.is_float() && index % 2 == 1 { -1.0 } else { 1.0 };
                let value = if dtype.is_float() { sign * (step + 0.125) } else { (step * 8.0) + 1.0 };
                dtype.write(dtype.encode(Value::Float(value)), &mut bytes);
            }
            bytes
        };
        self.case.operands.iter().map(fill).collect()
    }
}

/// Every kernel that an operation launches, family by family and in the order of dtypes. What `kernels.toml` has beyond these is said by
/// [`uncovered`].
pub(super) fn all() -> Vec<Measured> {
    DType::ALL
        .into_iter()
        .flat_map(|dtype| elementwise(dtype).chain(reductions(dtype)).chain(matmul(dtype)))
        .collect()
}

/// The measured kernels of a unit.
pub(super) fn of_unit(unit: &Unit) -> Vec<Measured> {
    let names = unit.kernels();
    all().into_iter().filter(|measured| names.contains(&measured.kernel)).collect()
}

/// Kernels of a unit that no case launches.
pub(super) fn uncovered(unit: &Unit) -> Vec<String> {
    let measured: Vec<String> = of_unit(unit).into_iter().map(|measured| measured.kernel).collect();
    unit.kernels().into_iter().filter(|kernel| !measured.contains(kernel)).collect()
}

fn elementwise(dtype: DType) -> impl Iterator<Item = Measured> {
    let name = dtype.name();
    let dense = move || Operand::dense(dtype, &[ELEMENTS], Contents::Given);
    let kernel = move |op: &str| format!("elementwise_{op}_{name}");
    let one = move |op: &str, what: Op| Measured::new(kernel(op), what, vec![dense()]);
    let two = move |op: &str, what: Op| Measured::new(kernel(op), what, vec![dense(), dense()]);
    let number =
        move |float: f64, int: i128| if dtype.is_float() { Value::Float(float) } else { Value::Int(int) };

    let unary = UnaryOp::ALL.into_iter().filter(move |op| op.supports(dtype));
    let unary = unary.map(move |op| one(op.name(), Op::Unary(op)));
    let scalar = ScalarOp::ALL.into_iter().filter(move |op| op.supports(dtype));
    let scalar = scalar.map(move |op| one(op.name(), Op::Scalar(op, 0.75)));
    let binary = BinaryOp::ALL.into_iter().filter(move |op| op.supports(dtype));
    let binary = binary.map(move |op| two(op.name(), Op::Binary(op)));
    let compare = CmpOp::ALL.into_iter().map(move |op| two(op.name(), Op::Compare(op)));
    let casts = DType::ALL.into_iter().filter(move |to| *to != dtype);
    let casts = casts.map(move |to| one(&format!("cast_{name}"), Op::Cast(to)).to(to));
    let affine = Op::Affine { mul: number(1.5, 3), add: number(-0.25, 5) };
    let clamp = Op::Clamp { low: number(-0.75, 2), high: number(3.25, 20) };
    // Rows in another order: turned matrices go by kernels of their own.
    let reordered =
        Operand::dense(dtype, &[ELEMENTS >> 12, 8, 1 << 9], Contents::Given).then(Step::Transpose(0, 1));
    let others = vec![
        one("affine", affine),
        one("clamp", clamp),
        one("fill", Op::Fill(number(1.5, 3))),
        one("const_set", Op::ConstSet(number(1.5, 3))),
        Measured::new(kernel("copy"), Op::Copy, vec![reordered]),
    ];
    unary.chain(scalar).chain(binary).chain(compare).chain(others).chain(casts)
}

impl Measured {
    /// As a conversion to this dtype: the kernel's name has both.
    fn to(mut self, to: DType) -> Measured {
        let from = self.case.operands[0].dtype.name();
        self.kernel = format!("elementwise_cast_{from}_{}", to.name());
        self
    }
}

fn reductions(dtype: DType) -> impl Iterator<Item = Measured> {
    let ops = ReduceOp::ALL.into_iter().filter(move |op| *op != ReduceOp::Mean && op.supports(dtype));
    ops.flat_map(move |op| {
        [("reduce", ROWS, 1), ("reduce_cols", COLUMNS, 0)].map(|(family, shape, axis)| {
            let operand = Operand::dense(dtype, &shape, Contents::Given);
            let reduce = Op::Reduce { op, axes: vec![axis], keep: false };
            Measured::new(format!("{family}_{}_{}", op.name(), dtype.name()), reduce, vec![operand])
        })
    })
}

fn matmul(dtype: DType) -> impl Iterator<Item = Measured> {
    let square = move || Operand::dense(dtype, &[EDGE, EDGE], Contents::Given);
    let product =
        move || Measured::new(format!("matmul_{}", dtype.name()), Op::Matmul, vec![square(), square()]);
    dtype.is_float().then(product).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kernel_of_the_measured_families_has_a_case_but_conversions_to_the_same_dtype() {
        let all: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
        let cases: Vec<String> = super::all().into_iter().map(|measured| measured.kernel).collect();
        assert!(cases.iter().all(|kernel| all.contains(kernel)), "a case for a kernel that does not ship");
        assert_eq!(cases.iter().collect::<BTreeSet<_>>().len(), cases.len(), "a kernel has two cases");
        let measured = |unit: &Unit| ["elementwise", "reduce", "matmul"].contains(&unit.family.name);
        let missing = kernels_hip::units().filter(measured).flat_map(|unit| uncovered(&unit));
        // What joins the parts of few results runs behind another kernel.
        let missing: Vec<String> = missing.filter(|kernel| !kernel.starts_with("reduce_join_")).collect();
        let same: Vec<String> =
            DType::ALL.iter().map(|dtype| format!("elementwise_cast_{dtype}_{dtype}")).collect();
        assert_eq!(missing.iter().collect::<BTreeSet<_>>(), same.iter().collect());
    }

    #[test]
    fn inputs_are_ordinary_numbers_of_the_right_length() {
        for measured in super::all() {
            for (operand, bytes) in measured.case.operands.iter().zip(measured.inputs()) {
                let (dtype, count) = (operand.dtype, operand.stored.iter().product::<usize>());
                assert_eq!(bytes.len(), count * dtype.size(), "{}", measured.kernel);
                let first = dtype.read(&bytes, 1).expect("there are two");
                let Value::Float(x) = dtype.decode(first) else { continue };
                assert!(x.abs() > 0.0 && x.abs() < 4.5, "{}: {x}", measured.kernel);
            }
        }
    }
}
