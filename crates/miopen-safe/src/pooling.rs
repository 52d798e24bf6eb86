//! Descriptors of poolings.

use crate::convert::{self, MOST, out};
use crate::owner::{Owner, PoolingObject};
use crate::raw::pooling as raw;
use crate::{Error, Handle, Result, TensorDesc};
use hip_sys::miopen::{
    miopenIndexType_t, miopenPoolingDescriptor_t, miopenPoolingMode_t, miopenPoolingWorkspaceIndexMode_t,
};
use std::sync::Arc;

crate::convert::c_enum! {
    /// The operation on a window.
    PoolingMode = miopenPoolingMode_t {
        /// The largest element.
        Max = miopenPoolingMode_t::miopenPoolingMax,
        /// The mean of the elements inside the input.
        Average = miopenPoolingMode_t::miopenPoolingAverage,
        /// The mean, with the padding's zeros included.
        AverageInclusive = miopenPoolingMode_t::miopenPoolingAverageInclusive,
    }
}

crate::convert::c_enum! {
    /// The type of the workspace's indices.
    IndexType = miopenIndexType_t {
        /// 8 bits, for up to 255 positions.
        U8 = miopenIndexType_t::miopenIndexUint8,
        /// 16 bits.
        U16 = miopenIndexType_t::miopenIndexUint16,
        /// 32 bits.
        U32 = miopenIndexType_t::miopenIndexUint32,
        /// 64 bits.
        U64 = miopenIndexType_t::miopenIndexUint64,
    }
}

crate::convert::c_enum! {
    /// What the workspace's indices refer to.
    IndexMode = miopenPoolingWorkspaceIndexMode_t {
        /// Positions in the window.
        Mask = miopenPoolingWorkspaceIndexMode_t::miopenPoolingWorkspaceIndexMask,
        /// Positions in the input's plane.
        Image = miopenPoolingWorkspaceIndexMode_t::miopenPoolingWorkspaceIndexImage,
    }
}

/// Pooling over two or three spatial dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pooling {
    /// The operation on a window.
    pub mode: PoolingMode,
    /// Lengths of a window.
    pub window: Vec<usize>,
    /// Padding on either side, smaller than the window.
    pub padding: Vec<usize>,
    /// The stride: positions from one window to the next.
    pub stride: Vec<usize>,
    /// The type of the indices.
    pub index_type: IndexType,
    /// What the indices refer to.
    pub index_mode: IndexMode,
}

impl Pooling {
    /// Adjacent windows without padding. Indices have 32 bits and refer to the input.
    pub fn new(mode: PoolingMode, window: &[usize]) -> Self {
        Self {
            mode,
            window: window.to_vec(),
            padding: vec![0; window.len()],
            stride: window.to_vec(),
            index_type: IndexType::U32,
            index_mode: IndexMode::Image,
        }
    }

    /// The shape of the output for an input `[n, c, …]`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a window is larger than the padded input; the errors of [`PoolingDesc::new`].
    pub fn output_dims(&self, input: &[usize]) -> Result<Vec<usize>> {
        self.check()?;
        let rank = self.window.len() + 2;
        if input.len() != rank {
            return Err(Error::mismatch("the dimensions of a pooling's input", rank, input.len()));
        }
        let mut dims = input[..2].to_vec();
        for axis in 0..self.window.len() {
            let (length, window) = (input[axis + 2], self.window[axis]);
            let padded = self.padding[axis].checked_mul(2).and_then(|padding| length.checked_add(padding));
            let count = padded.and_then(|padded| Some(padded.checked_sub(window)? / self.stride[axis] + 1));
            dims.push(count.filter(|count| *count <= MOST).ok_or_else(|| {
                Error::mismatch("a dimension of space", "windows that fit the padded input", (length, window))
            })?);
        }
        Ok(dims)
    }

    fn check(&self) -> Result<()> {
        let dimensions = self.window.len();
        if !(2..=3).contains(&dimensions) {
            return Err(Error::invalid("a pooling's dimensions of space", dimensions, "it has to be 2 or 3"));
        }
        for list in [&self.padding, &self.stride] {
            if list.len() != dimensions {
                let what = "the lists of a pooling, one value for each dimension of space";
                return Err(Error::mismatch(what, dimensions, list.len()));
            }
        }
        if self.window.contains(&0) || self.stride.contains(&0) {
            let found = (&self.window, &self.stride);
            return Err(Error::invalid(
                "a pooling's windows and strides",
                found,
                "each has to be at least 1",
            ));
        }
        if self.padding.iter().zip(&self.window).any(|(padding, window)| padding >= window) {
            let wanted = "it has to be less than the window, or windows would have nothing in them";
            return Err(Error::invalid("a pooling's padding", &self.padding, wanted));
        }
        Ok(())
    }

    /// The number of positions that an index must distinguish, for this input.
    fn positions(&self, input: &[usize]) -> Result<usize> {
        match self.index_mode {
            IndexMode::Mask => convert::product("the positions of a window", &self.window),
            IndexMode::Image => {
                convert::product("the positions of a plane", input.get(2..).unwrap_or_default())
            }
        }
    }

    /// Refuses inputs with more positions than the index type can count.
    pub(crate) fn check_indices(&self, input: &TensorDesc) -> Result<()> {
        let positions = self.positions(input.dims())?;
        let limit = match self.index_type {
            IndexType::U8 => u8::MAX.into(),
            IndexType::U16 => u16::MAX.into(),
            IndexType::U32 | IndexType::U64 => MOST,
        };
        if self.mode == PoolingMode::Max && positions >= limit {
            let wanted = "take a wider type for the pooling's indices";
            return Err(Error::invalid(
                "the number of positions that a pooling's index can hold",
                positions,
                wanted,
            ));
        }
        Ok(())
    }
}

/// A pooling's descriptor. Cloning it copies a reference.
#[derive(Debug, Clone)]
#[doc(alias = "miopenPoolingDescriptor_t")]
pub struct PoolingDesc {
    object: Arc<Owner<PoolingObject>>,
    pooling: Arc<Pooling>,
}

impl PoolingDesc {
    /// Creates the descriptor.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Mismatch`] for lists of different lengths, [`Error::TooLarge`].
    #[doc(alias = "miopenCreatePoolingDescriptor")]
    #[doc(alias = "miopenSetNdPoolingDescriptor")]
    #[doc(alias = "miopenSetPoolingIndexType")]
    #[doc(alias = "miopenSetPoolingWorkSpaceIndexMode")]
    pub fn new(handle: &Handle, pooling: Pooling) -> Result<Self> {
        pooling.check()?;
        let rank = convert::int("the dimensions of space", pooling.window.len())?;
        let window = convert::ints("a window", &pooling.window)?;
        let padding = convert::ints("a padding", &pooling.padding)?;
        let stride = convert::ints("a stride", &pooling.stride)?;
        let object = Owner::new(handle.platform(), |m, desc| {
            // SAFETY: S1: each array has a value for each dimension of space.
            unsafe {
                raw::set_nd_pooling_descriptor(
                    m,
                    desc,
                    pooling.mode.raw(),
                    rank,
                    window.as_ptr(),
                    padding.as_ptr(),
                    stride.as_ptr(),
                )?;
                raw::set_pooling_index_type(m, desc, pooling.index_type.raw())?;
                raw::set_pooling_workspace_index_mode(m, desc, pooling.index_mode.raw())
            }
        })?;
        Ok(Self { object: Arc::new(object), pooling: Arc::new(pooling) })
    }

    /// Its settings.
    pub fn pooling(&self) -> &Pooling {
        &self.pooling
    }

    /// The shape of the output, as [`Pooling::output_dims`] and the library give it.
    ///
    /// # Errors
    /// As [`Pooling::output_dims`]; [`Error::Mismatch`] too if the library says otherwise.
    #[doc(alias = "miopenGetPoolingNdForwardOutputDim")]
    pub fn output_dims(&self, input: &TensorDesc, handle: &Handle) -> Result<Vec<usize>> {
        let dims = self.pooling.output_dims(input.dims())?;
        let (x, rank) = (input.on(handle)?, convert::int("the number of dimensions", dims.len())?);
        let mut found = vec![0; dims.len()];
        let desc = self.on(handle)?;
        handle.call("the shape of a pooling's output", |m, _| {
            // SAFETY: S1: the array has room for as many values as the input has dimensions.
            unsafe { raw::get_pooling_nd_forward_output_dim(m, desc, x, rank, found.as_mut_ptr()) }
        })?;
        let same = found.iter().zip(&dims).all(|(found, dim)| usize::try_from(*found) == Ok(*dim));
        if same { Ok(dims) } else { Err(Error::mismatch("the library's output shape", dims, found)) }
    }

    /// The bytes of the workspace that a training step of this output keeps from [forward](Handle::pooling_forward_training) to
    /// [backward](Handle::pooling_backward).
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenPoolingGetWorkSpaceSizeV2")]
    pub fn workspace_bytes(&self, output: &TensorDesc, handle: &Handle) -> Result<usize> {
        let (desc, y) = (self.on(handle)?, output.on(handle)?);
        handle.call("the workspace of a pooling", |m, _| {
            // SAFETY: S1: the descriptors are live, and the out-pointer too.
            out(|bytes| unsafe { raw::pooling_get_workspace_size_v2(m, desc, y, bytes) })
        })
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyPoolingDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenPoolingDescriptor_t> {
        self.object.on(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_limits() {
        let mut pooling = Pooling::new(PoolingMode::Max, &[3, 2]);
        assert_eq!(pooling.output_dims(&[2, 3, 7, 5]).unwrap(), [2, 3, 2, 2]);
        pooling.stride = vec![2, 1];
        pooling.padding = vec![1, 1];
        assert_eq!(pooling.output_dims(&[2, 3, 7, 5]).unwrap(), [2, 3, 4, 6]);
        assert!(pooling.output_dims(&[2, 3, 7]).is_err());
        assert!(pooling.output_dims(&[2, 3, 0, 5]).is_err());
        assert!(pooling.check().is_ok());
        pooling.padding = vec![3, 0];
        assert!(pooling.check().is_err());
        assert!(Pooling::new(PoolingMode::Average, &[2]).check().is_err());
        assert!(Pooling::new(PoolingMode::Average, &[2, 0]).check().is_err());
    }
}
