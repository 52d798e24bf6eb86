//! Running a case on a device, through tensor-core's public interface.

use reference::{DType, Value};
use tensor_core::{Device, Scalar, Tensor};

use crate::case::{Case, Op, Operand};
use crate::view::Step;

/// A device's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its elements, dense and little-endian.
    pub bytes: Vec<u8>,
}

/// Runs a case on a device, given the bytes of its stored arrays.
///
/// # Errors
/// The device's error, or its panic, as text.
pub fn run(case: &Case, inputs: &[Vec<u8>], device: &Device) -> Result<Output, String> {
    guarded(|| {
        let upload = |(operand, bytes): (&Operand, &Vec<u8>)| stored(operand, bytes, device);
        let arrays = case.operands.iter().zip(inputs).map(upload).collect::<Result<Vec<_>, _>>()?;
        output(&on_arrays(case, arrays)?)
    })
}

/// Runs a case whose stored arrays are on the device already.
///
/// # Errors
/// The device's error, or its panic, as text.
pub fn run_stored(case: &Case, arrays: Vec<Tensor>) -> Result<Output, String> {
    guarded(|| output(&on_arrays(case, arrays)?))
}

/// Submits a case whose stored arrays are on the device already. Nothing is read back.
///
/// # Errors
/// The device's error, or its panic, as text.
pub fn submit(case: &Case, arrays: Vec<Tensor>) -> Result<Tensor, String> {
    guarded(|| on_arrays(case, arrays))
}

/// Reads back the result of [`submit`], which waits for it.
///
/// # Errors
/// The device's error, or its panic, as text.
pub fn read_back(result: &Tensor) -> Result<Output, String> {
    guarded(|| output(result))
}

/// Turns a panic into an error, so that the other cases still run.
fn guarded<T>(work: impl FnOnce() -> tensor_core::Result<T>) -> Result<T, String> {
    hip_sys::catch_panic(work).map_err(|said| format!("panicked: {said}"))?.map_err(|error| error.to_string())
}

/// Uploads an operand's stored array.
///
/// # Errors
/// The device's.
pub fn stored(operand: &Operand, bytes: &[u8], device: &Device) -> tensor_core::Result<Tensor> {
    Tensor::from_bytes(bytes, dtype(operand.dtype), operand.stored.as_slice(), device)
}

fn on_arrays(case: &Case, arrays: Vec<Tensor>) -> tensor_core::Result<Tensor> {
    let viewed = |(operand, array): (&Operand, Tensor)| view(array, &operand.steps);
    let operands = case.operands.iter().zip(arrays).map(viewed).collect::<Result<Vec<_>, _>>()?;
    if let Op::Named(operation) = &case.op {
        return operation.run(&operands);
    }
    let mut operands = operands.into_iter();
    let first = operands.next().expect("every case has an operand");
    let second = operands.next();
    let second = || second.as_ref().expect("this operation has two operands");
    match &case.op {
        Op::Unary(op) => first.unary(named(&tensor_core::UnaryOp::ALL, op.name())),
        Op::Scalar(op, scalar) => first.unary_scalar(named(&tensor_core::ScalarOp::ALL, op.name()), *scalar),
        Op::Affine { mul, add } => first.affine(number(*mul), number(*add)),
        Op::Clamp { low, high } => first.clamp(number(*low), number(*high)),
        Op::Binary(op) => first.binary(second(), named(&tensor_core::BinaryOp::ALL, op.name())),
        Op::Compare(op) => first.compare(second(), named(&tensor_core::CmpOp::ALL, op.name())),
        Op::Cast(to) => first.to_dtype(dtype(*to)),
        Op::Copy => first.copy(),
        Op::Fill(value) => Tensor::full(number(*value), first.dims(), first.dtype(), &first.device()),
        Op::ConstSet(value) => {
            let mut target = first;
            target.fill_(number(*value)).map(|()| target)
        }
        Op::CopyInto => {
            let mut target = first;
            target.copy_from_(second()).map(|()| target)
        }
        Op::Reduce { op: reference::ReduceOp::Mean, axes, keep: true } => first.mean_keepdim(axes),
        Op::Reduce { op: reference::ReduceOp::Mean, axes, keep: false } => first.mean(axes),
        Op::Reduce { op, axes, keep } => {
            first.reduce(named(&tensor_core::ReduceOp::ALL, op.name()), axes, *keep)
        }
        Op::Matmul => first.matmul(second()),
        Op::Named(_) => unreachable!("done above"),
    }
}

fn output(result: &Tensor) -> tensor_core::Result<Output> {
    Ok(Output { dtype: known(result.dtype()), shape: result.dims().to_vec(), bytes: result.to_bytes()? })
}

fn view(array: Tensor, steps: &[Step]) -> tensor_core::Result<Tensor> {
    steps.iter().try_fold(array, |tensor, step| match step {
        Step::Transpose(a, b) => tensor.transpose(*a, *b),
        Step::Permute(axes) => tensor.permute(axes),
        Step::Narrow { axis, start, len } => tensor.narrow(*axis, *start, *len),
        Step::Broadcast(shape) => tensor.broadcast_as(shape.as_slice()),
    })
}

/// The reference's dtype with the same name.
pub(crate) fn known(dtype: tensor_core::DType) -> DType {
    DType::from_name(dtype.name()).expect("both crates name the same dtypes")
}

/// tensor-core's dtype with the same name.
pub(crate) fn dtype(dtype: DType) -> tensor_core::DType {
    named(&tensor_core::DType::ALL, dtype.name())
}

/// tensor-core's scalar with the same value.
pub(crate) fn number(value: Value) -> Scalar {
    match value {
        Value::Float(x) => Scalar::Float(x),
        Value::Int(i) => Scalar::Int(i64::try_from(i).expect("scalars of cases fit in i64")),
    }
}

/// Something with the same name in both crates.
trait Named: Copy {
    fn its_name(self) -> &'static str;
}

macro_rules! named {
    ($($type:ident)+) => {
        $(impl Named for tensor_core::$type {
            fn its_name(self) -> &'static str {
                self.name()
            }
        })+
    };
}

named!(DType UnaryOp ScalarOp BinaryOp CmpOp ReduceOp);

fn named<T: Named>(all: &[T], name: &str) -> T {
    *all.iter().find(|one| one.its_name() == name).expect("tensor-core has every name of the reference")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases come from the reference's operations. These are tensor-core's.
    #[test]
    fn both_crates_have_the_same_operations_of_the_same_dtypes() {
        macro_rules! same {
            ($($op:ident)+) => {
                $(
                    let theirs = reference::$op::ALL.map(|op| (op.name(), DType::ALL.map(|of| op.supports(of))));
                    let of_dtypes = |op: tensor_core::$op| DType::ALL.map(|of| op.supports(dtype(of)));
                    let ours = tensor_core::$op::ALL.map(|op| (op.name(), of_dtypes(op)));
                    // In tensor-core the mean is a separate method.
                    let theirs: Vec<_> = theirs.into_iter().filter(|(name, _)| *name != "mean").collect();
                    assert_eq!(ours.to_vec(), theirs);
                )+
            };
        }
        same!(UnaryOp ScalarOp BinaryOp CmpOp ReduceOp);
        assert_eq!(tensor_core::DType::ALL.map(|one| one.name()), DType::ALL.map(|one| one.name()));
    }
}
