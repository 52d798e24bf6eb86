//! Descriptors of convolutions.

use crate::convert::{self, MOST};
use crate::owner::{ConvolutionObject, Owner};
use crate::raw;
use crate::{Error, Handle, Result, TensorDesc};
use hip_sys::miopen::{miopenConvolutionAttrib_t, miopenConvolutionDescriptor_t, miopenConvolutionMode_t};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

crate::convert::c_enum! {
    /// The direction of a convolution. Groups are in [`Convolution::groups`].
    ConvolutionMode = miopenConvolutionMode_t {
        /// Each output is a sum over a window of the input: `[n, c, …]` with weights `[k, c / groups, …]`.
        Convolution = miopenConvolutionMode_t::miopenConvolution,
        /// Transposed: each input is added to a window of the output: `[n, c, …]` with weights `[c, k / groups, …]`.
        Transpose = miopenConvolutionMode_t::miopenTranspose,
    }
}

/// The parameters of a convolution, over one, two or three spatial dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// Forward or transposed.
    pub mode: ConvolutionMode,
    /// Zeros that are added on either side, for each dimension.
    pub padding: Vec<usize>,
    /// The stride: positions from one window to the next.
    pub stride: Vec<usize>,
    /// The dilation: positions from one weight to the next.
    pub dilation: Vec<usize>,
    /// Groups of channels; a depthwise convolution has as many as channels.
    pub groups: usize,
    /// Positions that are added at the end of a transposed convolution's output.
    pub output_padding: Vec<usize>,
    /// Whether only deterministic solutions are used.
    pub deterministic: bool,
}

impl Convolution {
    /// Without padding, with strides and dilations of 1 and one group, over so many dimensions.
    pub fn new(dimensions: usize) -> Self {
        Self {
            mode: ConvolutionMode::Convolution,
            padding: vec![0; dimensions],
            stride: vec![1; dimensions],
            dilation: vec![1; dimensions],
            groups: 1,
            output_padding: vec![0; dimensions],
            deterministic: false,
        }
    }

    /// The shape of the output for an input `[n, c, …]` and weights `[k, c / groups, …]`, or `[c, k / groups, …]` if transposed.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the shapes do not match, or a window is larger than the padded input.
    pub fn output_dims(&self, input: &[usize], weights: &[usize]) -> Result<Vec<usize>> {
        self.check()?;
        let rank = self.padding.len() + 2;
        if input.len() != rank || weights.len() != rank {
            let found = (input.len(), weights.len());
            return Err(Error::mismatch("the dimensions of input and weights", (rank, rank), found));
        }
        let groups = self.groups;
        let (channels, outputs) = match self.mode {
            ConvolutionMode::Convolution => (weights[1].saturating_mul(groups), weights[0]),
            ConvolutionMode::Transpose => (weights[0], weights[1].saturating_mul(groups)),
        };
        if input[1] != channels {
            return Err(Error::mismatch("the input's channels", channels, input[1]));
        }
        if !weights[0].is_multiple_of(groups) {
            return Err(Error::mismatch("weights in equal groups", groups, weights[0]));
        }
        let mut dims = vec![input[0], outputs];
        for axis in 0..self.padding.len() {
            let length = self.length(axis, input[axis + 2], weights[axis + 2]);
            dims.push(length.ok_or_else(|| {
                let wanted = "windows that fit the padded input";
                Error::mismatch("a dimension of space", wanted, (input[axis + 2], weights[axis + 2]))
            })?);
        }
        Ok(dims)
    }

    /// The length of an axis of the output.
    fn length(&self, axis: usize, input: usize, taps: usize) -> Option<usize> {
        let (padding, stride) = (self.padding[axis].checked_mul(2)?, self.stride[axis]);
        let reach = self.dilation[axis].checked_mul(taps.checked_sub(1)?)?.checked_add(1)?;
        let length = match self.mode {
            ConvolutionMode::Convolution => input.checked_add(padding)?.checked_sub(reach)? / stride + 1,
            ConvolutionMode::Transpose => {
                let whole = input.checked_sub(1)?.checked_mul(stride)?.checked_add(reach)?;
                whole.checked_add(self.output_padding[axis])?.checked_sub(padding)?
            }
        };
        (1..=MOST).contains(&length).then_some(length)
    }

    fn check(&self) -> Result<()> {
        let dimensions = self.padding.len();
        if !(1..=3).contains(&dimensions) {
            return Err(Error::invalid(
                "a convolution's dimensions of space",
                dimensions,
                "it has to be 1, 2 or 3",
            ));
        }
        for list in [&self.stride, &self.dilation, &self.output_padding] {
            if list.len() != dimensions {
                let what = "the lists of a convolution, one value for each dimension of space";
                return Err(Error::mismatch(what, dimensions, list.len()));
            }
        }
        if self.stride.contains(&0) || self.dilation.contains(&0) || self.groups == 0 {
            let found = (&self.stride, &self.dilation, self.groups);
            return Err(Error::invalid(
                "a convolution's strides, dilations and groups",
                found,
                "each has to be at least 1",
            ));
        }
        let ends = self.output_padding.iter().zip(self.stride.iter().zip(&self.dilation));
        if ends.clone().any(|(added, (stride, dilation))| added >= stride.max(dilation) && *added > 0) {
            let wanted = "it has to be less than the stride or the dilation";
            return Err(Error::invalid("a convolution's output padding", &self.output_padding, wanted));
        }
        if self.mode == ConvolutionMode::Convolution && self.output_padding.iter().any(|added| *added > 0) {
            let wanted = "only a transposed convolution has one";
            return Err(Error::invalid("a convolution's output padding", &self.output_padding, wanted));
        }
        Ok(())
    }
}

/// A convolution's descriptor. Cloning it copies a reference; two are equal if their settings are.
#[derive(Clone)]
#[doc(alias = "miopenConvolutionDescriptor_t")]
pub struct ConvolutionDesc {
    object: Arc<Owner<ConvolutionObject>>,
    convolution: Arc<Convolution>,
}

impl ConvolutionDesc {
    /// Creates the descriptor.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Mismatch`] for lists of different lengths, [`Error::TooLarge`].
    #[doc(alias = "miopenCreateConvolutionDescriptor")]
    #[doc(alias = "miopenInitConvolutionNdDescriptor")]
    #[doc(alias = "miopenSetConvolutionGroupCount")]
    #[doc(alias = "miopenSetTransposeConvNdOutputPadding")]
    #[doc(alias = "miopenSetConvolutionAttribute")]
    pub fn new(handle: &Handle, convolution: Convolution) -> Result<Self> {
        convolution.check()?;
        let rank = convert::int("the dimensions of space", convolution.padding.len())?;
        let padding = convert::ints("a padding", &convolution.padding)?;
        let stride = convert::ints("a stride", &convolution.stride)?;
        let dilation = convert::ints("a dilation", &convolution.dilation)?;
        let added = convert::ints("an output padding", &convolution.output_padding)?;
        let groups = convert::int("the number of groups", convolution.groups)?;
        let mode = convolution.mode.raw();
        let object = Owner::new(handle.platform(), |m, desc| {
            // SAFETY: S1: each array has a value for each dimension of space.
            unsafe {
                raw::convolution::init_convolution_nd_descriptor(
                    m,
                    desc,
                    rank,
                    padding.as_ptr(),
                    stride.as_ptr(),
                    dilation.as_ptr(),
                    mode,
                )?;
                if groups > 1 {
                    raw::convolution::set_convolution_group_count(m, desc, groups)?;
                }
                if added.iter().any(|added| *added > 0) {
                    raw::convolution::set_transpose_conv_nd_output_padding(m, desc, rank, added.as_ptr())?;
                }
                if convolution.deterministic {
                    let attribute = miopenConvolutionAttrib_t::MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC;
                    raw::convolution::set_convolution_attribute(m, desc, attribute, 1)?;
                }
            }
            Ok(())
        })?;
        Ok(Self { object: Arc::new(object), convolution: Arc::new(convolution) })
    }

    /// Its settings.
    pub fn convolution(&self) -> &Convolution {
        &self.convolution
    }

    /// The shape of the output, as [`Convolution::output_dims`] and the library give it.
    ///
    /// # Errors
    /// As [`Convolution::output_dims`]; [`Error::Mismatch`] too if the library computes another shape.
    #[doc(alias = "miopenGetConvolutionNdForwardOutputDim")]
    pub fn output_dims(
        &self,
        input: &TensorDesc,
        weights: &TensorDesc,
        handle: &Handle,
    ) -> Result<Vec<usize>> {
        let dims = self.convolution.output_dims(input.dims(), weights.dims())?;
        let (x, w) = (input.on(handle)?, weights.on(handle)?);
        let (mut rank, mut found) =
            (convert::int("the number of dimensions", dims.len())?, vec![0; dims.len()]);
        let desc = self.on(handle)?;
        handle.call("the shape of a convolution's output", |m, _| {
            let found = found.as_mut_ptr();
            // SAFETY: S1: the array has room for as many values as the input has dimensions.
            unsafe {
                raw::convolution::get_convolution_nd_forward_output_dim(m, desc, x, w, &mut rank, found)
            }
        })?;
        let same = found.iter().zip(&dims).all(|(found, dim)| usize::try_from(*found) == Ok(*dim));
        if same { Ok(dims) } else { Err(Error::mismatch("the library's output shape", dims, found)) }
    }

    /// Whether the library reports that it is deterministic.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenGetConvolutionAttribute")]
    pub fn is_deterministic(&self) -> Result<bool> {
        let attribute = miopenConvolutionAttrib_t::MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC;
        let value = self.object.ask(|m, desc| {
            // SAFETY: S1: the descriptor is live, and the out-pointer too.
            convert::out(|value| unsafe {
                raw::convolution::get_convolution_attribute(m, desc, attribute, value)
            })
        })?;
        Ok(value != 0)
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyConvolutionDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    pub(crate) fn shared(&self) -> &Arc<Convolution> {
        &self.convolution
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenConvolutionDescriptor_t> {
        self.object.on(handle)
    }
}

impl PartialEq for ConvolutionDesc {
    fn eq(&self, other: &Self) -> bool {
        self.convolution == other.convolution
    }
}

impl Eq for ConvolutionDesc {}

impl Hash for ConvolutionDesc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.convolution.hash(state);
    }
}

impl fmt::Debug for ConvolutionDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.convolution.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_outputs() {
        let mut walk = Convolution::new(2);
        walk.padding = vec![1, 0];
        walk.stride = vec![2, 1];
        walk.dilation = vec![1, 2];
        // (5 + 2 − 3) / 2 + 1 and (7 − 5) / 1 + 1.
        assert_eq!(walk.output_dims(&[2, 3, 5, 7], &[4, 3, 3, 3]).unwrap(), [2, 4, 3, 3]);
        walk.groups = 3;
        assert_eq!(walk.output_dims(&[2, 6, 5, 7], &[9, 2, 3, 3]).unwrap(), [2, 9, 3, 3]);
        assert!(walk.output_dims(&[2, 5, 5, 7], &[9, 2, 3, 3]).is_err());
        assert!(walk.output_dims(&[2, 6, 5, 7], &[8, 2, 3, 3]).is_err());
        assert!(
            walk.output_dims(&[2, 6, 5, 4], &[9, 2, 3, 3]).is_err(),
            "the window is longer than the input"
        );
        let mut back = Convolution::new(1);
        back.mode = ConvolutionMode::Transpose;
        back.stride = vec![2];
        back.output_padding = vec![1];
        back.padding = vec![1];
        // (4 − 1) · 2 + 3 + 1 − 2.
        assert_eq!(back.output_dims(&[1, 3, 4], &[3, 5, 3]).unwrap(), [1, 5, 8]);
    }

    #[test]
    fn lists_of_other_lengths_are_refused() {
        assert!(Convolution::new(0).check().is_err());
        assert!(Convolution::new(4).check().is_err());
        let with = |change: fn(&mut Convolution)| {
            let mut walk = Convolution::new(2);
            change(&mut walk);
            walk.check()
        };
        assert!(with(|_| ()).is_ok());
        assert!(with(|walk| walk.stride = vec![1]).is_err());
        assert!(with(|walk| walk.stride[0] = 0).is_err());
        assert!(with(|walk| walk.dilation[1] = 0).is_err());
        assert!(with(|walk| walk.groups = 0).is_err());
        assert!(with(|walk| walk.output_padding[0] = 1).is_err());
    }
}
