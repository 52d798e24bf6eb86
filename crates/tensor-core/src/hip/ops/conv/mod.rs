//! Convolutions: by the platform's libraries or by our kernels, whichever was quicker when a problem was met first.

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

/// A convolution of tight tensors, by what the choice of a way depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::hip) struct Problem {
    dtype: DType,
    shape: Convolution,
    /// Whether Winograd's and Fourier's transforms may be used.
    transforms: bool,
    /// What comes behind it, as far as a library may have that in one call with it.
    epilogue: Option<Epilogue>,
    /// All operands begin at multiples of [`ALIGNED`] bytes: libraries refuse some of what they do then for others.
    aligned: bool,
}

/// Bytes of the widest access.
const ALIGNED: usize = 16;

/// What comes behind a convolution in one call of a library: a bias, an activation, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Epilogue {
    bias: bool,
    activation: Option<Fusable>,
}

/// Activations that libraries compute as exactly as our kernels do. The others are a pass over the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fusable {
    Relu,
    /// By the bits of the slope.
    LeakyRelu(u64),
}

/// How one may be computed.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The library's plan of convolution, bias and activation.
    Fused,
    /// The library's solution of that number.
    Library(usize),
    /// A matrix product for each image, where the filter has one tap.
    Pointwise,
    /// Our kernels.
    Own,
}

/// A bias of rank 1 and an activation, where there are any.
type Ending<'a> = (Option<(&'a HipStorage, &'a Layout)>, Option<Activation>);

/// The convolution of `x` `[batch, channels, h, w]` with filters and, where there are any, a bias and an activation.
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
    // A library takes tensors as they lie if they lie tight, and, if it has no bias in one with it, rounds before a bias is added.
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
        // What the way leaves to be done.
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
    /// What a library may do in one call with the convolution, if that spares anything.
    fn of(dtype: DType, (bias, activation): Ending<'_>, shape: &Convolution) -> Option<Self> {
        // Without an activation the sum with its bias is rounded once, which a library does not promise.
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

/// Adds the bias to what a convolution wrote, and applies the activation.
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
    let places = [shape.batch, shape.groups * shape.out_channels, shape.h.out, shape.w.out];
    let places = Layout::contiguous(places, shape.operation)?;
    let layout = layout.unsqueeze(1).unsqueeze(2).expand(places.shape(), shape.operation)?;
    binary_assign(out, &places, bias, &layout, BinaryOp::Add)
}
