//! Convolutions by MIOpen, or the platform's equivalent.

use half::{bf16, f16};
use miopen_safe::{
    Algorithm, Convolution as Walk, ConvolutionDesc, ConvolutionOptions, DataType, Direction, Element,
    Error as DnnError, Handle, Solution, TensorDesc,
};

use super::Problem;
use super::fused::Fused;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::hip::choice::Attempt;
use crate::hip::device::wrap;

/// Algorithms that sum products. Winograd and Fourier transforms round differently, so that integers that `f32`
/// represents would not stay exact. They are used only if the user allows it.
pub(super) const SUMS: [Algorithm; 3] = [Algorithm::GEMM, Algorithm::DIRECT, Algorithm::IMPLICIT_GEMM];
/// How many of the library's solutions are tried, in its order of preference.
const TRIED: usize = 4;
/// The largest workspace of a solution.
const MOST_WORKSPACE: usize = 1 << 30;

/// A problem in the library's terms, with its solutions.
pub(in crate::hip) struct Prepared {
    convolution: ConvolutionDesc,
    /// Input, filter and output of the forward convolution.
    descriptors: [TensorDesc; 3],
    transposed: bool,
    solutions: Vec<Solution>,
    fused: Option<Fused>,
}

impl Prepared {
    /// Asks the library for solutions; `None` if it has none that may be used.
    ///
    /// # Errors
    /// Errors unrelated to the problem, such as a lack of memory.
    pub(in crate::hip) fn new(
        dnn: &Handle,
        problem: &Problem,
    ) -> std::result::Result<Option<Self>, DnnError> {
        let Problem { dtype, shape, .. } = problem;
        let data_type = match dtype {
            DType::F32 => DataType::F32,
            DType::F16 => DataType::F16,
            DType::BF16 => DataType::BF16,
            _ => return Ok(None),
        };
        let axes = [shape.h.parameters(shape.transposed), shape.w.parameters(shape.transposed)];
        let walk = Walk {
            padding: axes.map(|[padding, ..]| padding).to_vec(),
            stride: axes.map(|[_, stride, _]| stride).to_vec(),
            dilation: axes.map(|[.., dilation]| dilation).to_vec(),
            groups: shape.groups,
            deterministic: true,
            ..Walk::new(2)
        };
        let x = [shape.batch, shape.groups * shape.in_channels, shape.h.input, shape.w.input];
        let y = [shape.batch, shape.groups * shape.out_channels, shape.h.out, shape.w.out];
        // A transposed convolution is the gradient of a forward one with respect to its input.
        let dims = if shape.transposed { [y, shape.filter_dims(), x] } else { [x, shape.filter_dims(), y] };
        let prepare = || -> Result<Self, DnnError> {
            let convolution = ConvolutionDesc::new(dnn, walk)?;
            let [x, w, y] = dims.map(|dims| TensorDesc::packed_of(dnn, data_type, &dims));
            let descriptors = [x?, w?, y?];
            let direction = if shape.transposed { Direction::BackwardData } else { Direction::Forward };
            let [x, w, y] = &descriptors;
            let mut solutions = dnn.convolution_solutions(direction, &convolution, x, w, y)?;
            solutions.retain(|solution| {
                let sums = SUMS.contains(&solution.algorithm());
                (sums || problem.transforms) && solution.workspace_bytes() <= MOST_WORKSPACE
            });
            solutions.truncate(TRIED);
            let fused = Fused::new(dnn, data_type, &convolution, &descriptors, problem)?;
            Ok(Self { convolution, descriptors, transposed: shape.transposed, solutions, fused })
        };
        match prepare() {
            Ok(prepared) => {
                let some = |prepared: &Self| !prepared.solutions.is_empty() || prepared.fused.is_some();
                Ok(Some(prepared).filter(some))
            }
            Err(error) if error.is_passing() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The fused plan, if there is one.
    pub(super) fn fused(&self) -> Option<&Fused> {
        self.fused.as_ref()
    }

    /// The number of solutions.
    pub(super) fn solutions(&self) -> usize {
        self.solutions.len()
    }
}

/// Writes the convolution to `out` with one of the solutions, if the library supports it.
pub(super) fn conv(
    out: &mut HipStorage,
    operands: (&HipStorage, &HipStorage),
    starts: [usize; 2],
    prepared: &Prepared,
    solution: usize,
) -> Result<Attempt<()>> {
    match out.dtype() {
        DType::F32 => run::<f32>(out, operands, starts, prepared, solution),
        DType::F16 => run::<f16>(out, operands, starts, prepared, solution),
        DType::BF16 => run::<bf16>(out, operands, starts, prepared, solution),
        _ => Ok(Attempt::Impossible),
    }
}

fn run<T: Element>(
    out: &mut HipStorage,
    (x, filter): (&HipStorage, &HipStorage),
    [x_start, filter_start]: [usize; 2],
    prepared: &Prepared,
    solution: usize,
) -> Result<Attempt<()>> {
    let device = x.device().clone();
    let Some(dnn) = device.libraries().dnn(device.stream()) else { return Ok(Attempt::NotNow) };
    let options = ConvolutionOptions {
        solution: prepared.solutions.get(solution).cloned(),
        ..ConvolutionOptions::default()
    };
    let Prepared { convolution, descriptors: [input, weights, output], .. } = prepared;
    let made = (|| {
        let (x, filter) = (x.tail_of::<T>(x_start)?, filter.tail_of::<T>(filter_start)?);
        let mut target = out.tail_mut_of::<T>(0)?;
        let w = weights.view(&filter)?;
        if prepared.transposed {
            let (dy, mut dx) = (output.view(&x)?, input.view_mut(&mut target)?);
            dnn.convolution_backward_data(convolution, &dy, &w, &mut dx, options)
        } else {
            let (x, mut y) = (input.view(&x)?, output.view_mut(&mut target)?);
            dnn.convolution_forward(convolution, &x, &w, &mut y, options)
        }
    })();
    answered(made)
}

/// Converts the result of a library call to the outcome of a way.
pub(super) fn answered(made: Result<(), DnnError>) -> Result<Attempt<()>> {
    match made {
        Ok(()) => Ok(Attempt::Done(())),
        Err(DnnError::Unsupported { .. }) => Ok(Attempt::Impossible),
        Err(DnnError::Hip(hip_safe::Error::OutOfMemory { .. })) => Ok(Attempt::NotNow),
        Err(DnnError::Hip(error)) => Err(wrap("conv")(error)),
        Err(error) if error.is_passing() => Ok(Attempt::NotNow),
        Err(error) => Err(Error::new("conv", ErrorKind::Dnn(error))),
    }
}
