//! Convolutions, by the platform's libraries or our kernels, whichever was measured to be faster.

mod fused;
mod library;
mod own;
mod pointwise;

use crate::activation::Activation;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::choice::Attempt;
use crate::hip::ops::binary::binary_assign;
use crate::hip::ops::unary::activate_assign;
use crate::layout::Layout;
use crate::ops::BinaryOp;
use crate::window::Convolution;

pub(in crate::hip) use library::Prepared;

/// The properties of a convolution of contiguous tensors that determine the fastest way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::hip) struct Problem {
    dtype: DType,
    shape: Convolution,
    /// Whether Winograd and Fourier transforms may be used.
    transforms: bool,
    /// The operations after the convolution that a library may fuse with it.
    epilogue: Option<Epilogue>,
    /// Whether all operands are aligned to [`ALIGNED`] bytes. Libraries refuse some implementations otherwise.
    aligned: bool,
}

/// Bytes of the widest memory access.
const ALIGNED: usize = 16;

/// What a library fuses with a convolution: a bias, an activation, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Epilogue {
    bias: bool,
    activation: Option<Fusable>,
}

/// Activations that libraries compute as exactly as our kernels do. Others run in a separate pass over the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fusable {
    Relu,
    /// With the bits of the slope.
    LeakyRelu(u64),
}

/// A way to compute a convolution.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The library's fused plan of convolution, bias and activation.
    Fused,
    /// The library's solution with that index.
    Library(usize),
    /// One matrix product per image, for filters with a single tap.
    Pointwise,
    /// Our kernels.
    Own,
}

/// An optional bias of rank 1 and an optional activation.
type Ending<'a> = (Option<(&'a HipStorage, &'a Layout)>, Option<Activation>);

/// The convolution of `x` `[batch, channels, h, w]` with filters, an optional bias and an optional activation.
pub(crate) fn conv(
    (x, x_layout): (&HipStorage, &Layout),
    (filter, filter_layout): (&HipStorage, &Layout),
    (bias, activation): Ending<'_>,
    shape: &Convolution,
) -> Result<HipStorage> {
    let (device, dtype, operation) = (x.device(), x.dtype(), shape.operation);
    let outputs = shape.outputs();
    // SAFETY: S15: every way of computing writes every output.
    let mut out = unsafe { HipStorage::uninit(device, dtype, outputs, operation) }?;
    if outputs == 0 {
        return Ok(out);
    }
    let libraries = device.libraries();
    let epilogue = Epilogue::of(dtype, (bias, activation), shape);
    let mut operands = [(x, x_layout), (filter, filter_layout)].into_iter().chain(bias);
    let aligned = operands.all(|(operand, layout)| operand.begins_at(layout.offset(), ALIGNED));
    let transforms = libraries.allow_transforms();
    let problem = Problem { dtype, shape: *shape, transforms, epilogue, aligned };
    // Libraries need contiguous tensors. A library that does not fuse the bias rounds before adding it.
    let exact = bias.is_none() || matches!(dtype, DType::F32 | DType::F64);
    let tight = x_layout.is_contiguous() && filter_layout.is_contiguous();
    let known = matches!(dtype, DType::F32 | DType::F16 | DType::BF16) && (exact || epilogue.is_some());
    let prepared = if tight && known { libraries.convolution(device.stream(), &problem) } else { None };
    let fused = prepared.as_ref().and_then(|prepared| prepared.fused());
    let solutions = prepared.as_ref().filter(|_| exact).map_or(0, |prepared| prepared.solutions());
    let pointwise = (tight && exact && pointwise::is_there(x, shape)).then_some(Way::Pointwise);
    let by_library = fused.map(|_| Way::Fused).into_iter().chain((0..solutions).map(Way::Library));
    let work = own::Work { x: (x, x_layout), filter: (filter, filter_layout), bias, shape };
    let ways: Vec<Way> = by_library.chain(pointwise).chain([Way::Own]).collect();
    let starts = [x_layout.offset(), filter_layout.offset()];
    libraries.choices().run(device.stream(), &problem, ways.len(), |way| -> Result<Attempt<()>> {
        // What remains to be done after the way ran.
        let mut rest = (bias, activation);
        let done = match (ways[way], &prepared, fused) {
            (Way::Fused, _, Some(fused)) => {
                rest = (None, activation.filter(|_| !fused.activates()));
                fused.conv(&mut out, (x, filter), starts, bias)?
            }
            (Way::Library(solution), Some(prepared), _) => {
                library::conv(&mut out, (x, filter), starts, prepared, solution)?
            }
            (Way::Pointwise, ..) if pointwise::conv(&mut out, (x, filter), starts, shape)? => {
                Attempt::Done(())
            }
            (Way::Pointwise, ..) => Attempt::NotNow,
            _ => {
                rest.0 = None;
                own::conv(&mut out, work)?;
                Attempt::Done(())
            }
        };
        if let Attempt::Done(()) = done {
            finish(&mut out, rest, shape)?;
        }
        Ok(done)
    })?;
    Ok(out)
}

impl Epilogue {
    /// What a library may fuse with the convolution, if that saves a pass.
    fn of(dtype: DType, (bias, activation): Ending<'_>, shape: &Convolution) -> Option<Self> {
        // Without an activation the sum with its bias must be rounded once, which libraries do not guarantee.
        let exact = activation.is_some() || dtype == DType::F32;
        let tight = bias.is_none_or(|(_, layout)| layout.is_contiguous());
        let fusable = match activation {
            Some(Activation::Relu) => Some(Fusable::Relu),
            Some(Activation::LeakyRelu(slope)) => Some(Fusable::LeakyRelu(slope.to_bits())),
            _ => None,
        };
        let some = bias.is_some() || fusable.is_some();
        (exact && tight && some && !shape.transposed)
            .then_some(Self { bias: bias.is_some(), activation: fusable })
    }
}

/// Adds the bias to the convolution's result, and applies the activation.
fn finish(out: &mut HipStorage, (bias, activation): Ending<'_>, shape: &Convolution) -> Result<()> {
    if let Some(bias) = bias {
        add_bias(out, bias, shape)?;
    }
    match activation {
        Some(activation) => {
            let layout = Layout::contiguous(shape.outputs(), shape.operation)?;
            activate_assign(out, &layout, activation)
        }
        None => Ok(()),
    }
}

fn add_bias(out: &mut HipStorage, (bias, layout): (&HipStorage, &Layout), shape: &Convolution) -> Result<()> {
    let outputs = [shape.batch, shape.groups * shape.out_channels, shape.h.out, shape.w.out];
    let outputs = Layout::contiguous(outputs, shape.operation)?;
    let layout = layout.unsqueeze(1).unsqueeze(2).expand(outputs.shape(), shape.operation)?;
    binary_assign(out, &outputs, bias, &layout, BinaryOp::Add)
}
