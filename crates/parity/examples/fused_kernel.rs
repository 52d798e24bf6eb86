//! A fused kernel of a user, held against an exact reference: y = residual + gelu(x + bias).
//!
//! ```sh
//! cargo run --release -p hipstack-parity --example fused_kernel
//! cargo run --release -p hipstack-parity --example fused_kernel -- --sabotage
//! cargo run --release -p hipstack-parity --example fused_kernel -- record --device host:1 --out fused.tsv
//! ```
//!
//! It runs on every device of the machine: the CPU by a function of tensors, both wave sizes of the host platform,
//! NVIDIA's GPUs and AMD's by the kernel.

use std::process::ExitCode;

use parity::Case;
use parity::case::{Op, Operand};
use parity::custom::{Answer, CustomOperation, Kernel, LaunchConfig, layouts};
use parity::inputs::Contents;
use parity::record::Form;
use reference::{DType, Judge};
use tensor_core::Tensor;

/// The kernel: a thread for each element, in as many rounds as it takes.
pub(crate) const SOURCE: &str = r#"
extern "C" __global__ void bias_gelu_residual(
    const float* x, const float* bias, const float* residual, float* y, unsigned columns, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float s = x[i] + bias[i % columns];
        const float v = -1.5957691216f * (s + 0.044715f * s * s * s); // -2 * sqrt(2/pi) * ...
        y[i] = residual[i] + s / (1.0f + expf(v));
    }
}
"#;

/// u of f32: half an ulp of 1. A rounding changes a number by at most this fraction.
const U: f64 = f32::EPSILON as f64 / 2.0;

/// Exactly residual + gelu(x + bias), and how much of it is rounded.
///
/// With s = x + bias, v = −2·√(2/π)·(s + 0.044715·s³), E = e^v and g = s/(1 + E), the kernel rounds
/// - s, which changes g by at most max|gelu'| = 1.13 times as much: 1.13·|s| u;
/// - v 7 times, so that E is off by 7·|v| u, and by 5 u of expf (2.5 ulp); E/(1 + E) of that reaches g;
/// - the sum and the quotient: 2 u of g;
/// - the last sum: half an ulp of the result, which the bound has besides.
///
/// tensor-core's gelu, which the CPU runs, may be off by 16 u of g: see `reference::BOUNDS`.
fn exact(operands: &[f64]) -> Answer {
    let [x, bias, residual] = operands else { unreachable!("the operation has three operands") };
    let s = x + bias;
    let v = -2.0 * (2.0 / std::f64::consts::PI).sqrt() * (s + 0.044715 * s * s * s);
    let g = s / (1.0 + v.exp());
    let reached = 1.0 / (1.0 + (-v).exp());
    let steps = (reached * (7.0 * v.abs() + 5.0) + 2.0).max(16.0);
    Answer::from(residual + g)
        .scale(1.13 * s.abs() + g.abs() * steps)
        // x + bias may be infinite in f32.
        .overflow(s.abs() > f64::from(f32::MAX))
}

/// One ulp instead of half of one, because the result may round to the other side of a power of two.
fn bound(_: DType) -> Judge {
    Judge::Within { ulps: 1.0, t: U }
}

/// The operation.
pub(crate) fn operation() -> CustomOperation {
    // SAFETY: S9: it is the kernel that the function describes.
    unsafe { operation_of(SOURCE) }
}

/// The operation with another text of the kernel.
///
/// # Safety
/// The kernel takes the same arguments, reads the elements i of x and residual and writes that of y only for i below
/// `count`, each in one thread, and reads the bias only below `columns`.
pub(crate) unsafe fn operation_of(source: &'static str) -> CustomOperation {
    let fits = |operands: &[Form], y: &Form| match operands {
        [x, bias, residual] => {
            let columns = y.shape.last().map(std::slice::from_ref);
            x == y
                && residual == y
                && bias.dtype == y.dtype
                && Some(&*bias.shape) == columns
                && y.dtype == DType::F32
        }
        _ => false,
    };
    let count = |_: &[Form], y: &Form| y.shape.iter().product::<usize>() as u32;
    let columns = |operands: &[Form], _: &Form| operands[1].shape[0] as u32;
    let geometry = |y: &Form| LaunchConfig::linear(y.shape.iter().product::<usize>() as u64, 256);
    let kernel = Kernel::new(source, "bias_gelu_residual", geometry);
    let kernel =
        kernel.requires("x and residual of the result's form, and a bias for each column, in f32", fits);
    let kernel = kernel.input(0).input(1).input(2).output().computed(columns).computed(count);
    let on_cpu = |operands: &[Tensor]| &operands[2] + (&operands[0] + &operands[1])?.gelu()?;
    let operation = CustomOperation::elementwise("bias_gelu_residual", bound, exact).run_on("cpu", on_cpu);
    // SAFETY: S9: `count` is the length of x, residual and y, and `columns` that of the bias, as `fits` checks. All are f32, as
    // the kernel declares, and the rest is the caller's promise.
    unsafe { operation.kernel(kernel) }
}

/// Every layout of x that has columns, with ordinary and special numbers, and a bias for each column.
pub(crate) fn cases(operation: CustomOperation) -> Vec<Case> {
    let op = Op::named(operation);
    let of = |shape: &[usize]| Operand::dense(DType::F32, shape, Contents::Mixed);
    let views = layouts(DType::F32, Contents::Mixed).into_iter();
    let case = |(layout, shape, x): (_, _, Operand)| {
        let dims = x.view().dims;
        let bias = of(&dims[dims.len().checked_sub(1)?..]);
        Some(Case::new(op.clone(), vec![x, bias, of(&dims)], layout, shape))
    };
    views.filter_map(case).collect()
}

fn main() -> ExitCode {
    let program = "cargo run --release -p hipstack-parity --example fused_kernel --";
    parity::custom::main(program, cases(operation()))
}
