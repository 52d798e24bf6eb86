//! A case for each kernel: one operation of tensor-core on ordinary numbers, large enough that the work outweighs the launch.

mod call;
mod elementwise;
mod index;
mod matmul;
mod norm;
mod pool;
mod reduce;
mod rope;
mod scan;
mod select;
mod softmax;
mod stat;
mod transpose;

use kernels_hip::Unit;
use parity::Case;
use parity::case::{Layout, Op, Operand};
use parity::inputs::Contents;
use reference::{DType, Value};

/// Elements of elementwise operands: a thread for each 16 bytes, so this many blocks of 256 are full.
const ELEMENTS: usize = 1 << 18;
/// Rows that a block works on, and their length.
const ROWS: [usize; 2] = [64, 4096];
/// Rows that a few lanes hold; and matrices.
const SHORT_ROWS: [usize; 2] = [512, 512];
/// Columns: short ones, which every device leaves to the kernels for columns.
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
    /// What the instructions are divided by: elements of the operation's first input, or of its result if it has none; for `matmul`
    /// multiply-adds.
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

    /// Whether the kernel reads its operands: some take only a shape and a dtype of them.
    pub(super) fn reads(&self) -> bool {
        let made = ["elementwise_fill_", "elementwise_const_set_", "select_arange_", "select_linspace_"];
        !made.iter().any(|name| self.kernel.starts_with(name))
    }

    /// The operands' bytes: ordinary numbers between -4 and 4, in steps that the narrowest type holds; positive ones where the operation
    /// has no number for others. Ids and masks are in no order.
    pub(super) fn inputs(&self) -> Vec<Vec<u8>> {
        let positive = matches!(self.case.op.name(), "sqrt" | "rsqrt" | "log" | "pow" | "powf");
        let fill = |operand: &Operand| {
            let (dtype, count) = (operand.dtype, operand.stored.iter().product());
            let mut bytes = Vec::with_capacity(count * dtype.size());
            for index in 0..count {
                // 33 and 32 values in turn: two operands never meet in one pair alone.
                let step = (index * 7 % 33) as f64 / 8.0;
                let sign = if !positive && dtype.is_float() && index % 2 == 1 { -1.0 } else { 1.0 };
                let value = match operand.contents {
                    Contents::Ones => 1.0,
                    Contents::Below(end) => scattered(index, end).into(),
                    _ if dtype.is_float() => sign * (step + 0.125),
                    _ => (step * 8.0) + 1.0,
                };
                dtype.write(dtype.encode(Value::Float(value)), &mut bytes);
            }
            bytes
        };
        self.case.operands.iter().map(fill).collect()
    }
}

/// A number below `end`: neighbours, and the elements of a column, have different ones in no order.
fn scattered(index: usize, end: u32) -> u32 {
    let mixed = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    mixed as u32 % end
}

/// A tight operand.
fn dense(dtype: DType, shape: &[usize]) -> Operand {
    Operand::dense(dtype, shape, Contents::Given)
}

/// The cases of a kernel each, of the families whose kernels wait for memory, and of `matmul`, dtype by dtype. What `kernels.toml` has beyond
/// these is said by [`uncovered`].
pub(super) fn all() -> Vec<Measured> {
    DType::ALL.into_iter().flat_map(of_dtype).collect()
}

fn of_dtype(dtype: DType) -> impl Iterator<Item = Measured> {
    let first = elementwise::cases(dtype).chain(reduce::cases(dtype)).chain(matmul::cases(dtype));
    let rows = softmax::cases(dtype).into_iter().chain(norm::cases(dtype)).chain(stat::cases(dtype));
    let moved = index::cases(dtype).into_iter().chain(select::cases(dtype)).chain(transpose::cases(dtype));
    let others = scan::cases(dtype).into_iter().chain(rope::cases(dtype)).chain(pool::cases(dtype));
    first.chain(rows).chain(moved).chain(others)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const MEASURED: [&str; 12] = [
        "elementwise",
        "reduce",
        "matmul",
        "index",
        "scan",
        "rope",
        "select",
        "stat",
        "pool",
        "softmax",
        "norm",
        "transpose",
    ];

    #[test]
    fn every_kernel_of_the_measured_families_has_a_case_but_conversions_to_the_same_dtype() {
        let all: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
        let cases: Vec<String> = super::all().into_iter().map(|measured| measured.kernel).collect();
        assert!(cases.iter().all(|kernel| all.contains(kernel)), "a case for a kernel that does not ship");
        assert_eq!(cases.iter().collect::<BTreeSet<_>>().len(), cases.len(), "a kernel has two cases");
        let measured = |unit: &Unit| MEASURED.contains(&unit.family.name);
        let missing = kernels_hip::units().filter(measured).flat_map(|unit| uncovered(&unit));
        // What joins the parts of few results runs behind another kernel.
        let missing: Vec<String> = missing.filter(|kernel| !kernel.starts_with("reduce_join_")).collect();
        let same: Vec<String> =
            DType::ALL.iter().map(|dtype| format!("elementwise_cast_{dtype}_{dtype}")).collect();
        assert_eq!(missing.iter().collect::<BTreeSet<_>>(), same.iter().collect());
        let families: BTreeSet<&str> = kernels_hip::units()
            .filter(|unit| !of_unit(unit).is_empty())
            .map(|unit| unit.family.name)
            .collect();
        assert_eq!(families, BTreeSet::from(MEASURED));
    }

    #[test]
    fn a_case_has_about_as_many_elements_as_any_other_unless_its_dtype_has_fewer_numbers() {
        for Measured { kernel, case, .. } in super::all() {
            let elements: usize = case.operands[0].stored.iter().product();
            let few = ["select_arange_u8", "select_arange_i16"].contains(&kernel.as_str());
            assert_eq!((1 << 16..=1 << 18).contains(&elements), !few, "{kernel}: {elements}");
        }
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
