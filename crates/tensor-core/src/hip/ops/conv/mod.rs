//! Convolutions: by the platform's libraries or by our kernels, whichever was quicker when a problem was met first.

mod library;
mod own;
mod pointwise;

use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::choice::Attempt;
use crate::hip::ops::binary::binary_assign;
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
}

/// How one may be computed.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The library's solution of that number.
    Library(usize),
    /// A matrix product for each image, where the filter has one tap.
    Pointwise,
    /// Our kernels.
    Own,
}

/// The convolution of `x` `[batch, channels, h, w]` with filters and, where there is one, a bias.
pub(crate) fn conv(
    (x, x_layout): (&HipStorage, &Layout),
    (filter, filter_layout): (&HipStorage, &Layout),
    bias: Option<(&HipStorage, &Layout)>,
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
    let problem = Problem { dtype, shape: *shape, transforms: libraries.allow_transforms() };
    // A library takes tensors as they lie if they lie tight, and rounds before a bias is added.
    let exact = bias.is_none() || matches!(dtype, DType::F32 | DType::F64);
    let fits = exact && x_layout.is_contiguous() && filter_layout.is_contiguous();
    let known = matches!(dtype, DType::F32 | DType::F16 | DType::BF16);
    let prepared = if fits && known { libraries.convolution(device.stream(), &problem) } else { None };
    let by_library = (0..prepared.as_ref().map_or(0, |prepared| prepared.solutions())).map(Way::Library);
    let pointwise = (fits && pointwise::is_there(x, shape)).then_some(Way::Pointwise);
    let ways: Vec<Way> = by_library.chain(pointwise).chain([Way::Own]).collect();
    let starts = [x_layout.offset(), filter_layout.offset()];
    libraries.choices().run(device.stream(), &problem, ways.len(), |way| -> Result<Attempt<()>> {
        let done = match (ways[way], &prepared) {
            (Way::Library(solution), Some(prepared)) => {
                library::conv(&mut out, (x, filter), starts, prepared, solution)?
            }
            (Way::Pointwise, _) if pointwise::conv(&mut out, (x, filter), starts, shape)? => {
                Attempt::Done(())
            }
            (Way::Pointwise, _) => Attempt::NotNow,
            _ => {
                own::conv(&mut out, (x, x_layout), (filter, filter_layout), bias, shape)?;
                return Ok(Attempt::Done(()));
            }
        };
        if let (Attempt::Done(()), Some(bias)) = (&done, bias) {
            add_bias(&mut out, bias, shape)?;
        }
        Ok(done)
    })?;
    Ok(out)
}

fn add_bias(out: &mut HipStorage, (bias, layout): (&HipStorage, &Layout), shape: &Convolution) -> Result<()> {
    let places = [shape.batch, shape.groups * shape.out_channels, shape.h.out, shape.w.out];
    let places = Layout::contiguous(places, shape.operation)?;
    let layout = layout.unsqueeze(1).unsqueeze(2).expand(places.shape(), shape.operation)?;
    binary_assign(out, &places, bias, &layout, BinaryOp::Add)
}
