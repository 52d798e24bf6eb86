//! Descriptors of reductions.

use crate::convert::out;
use crate::owner::{Owner, ReduceObject};
use crate::raw::reduce as raw;
use crate::{DataType, Error, Handle, Result, TensorDesc};
use hip_sys::miopen::{
    miopenIndicesType_t, miopenNanPropagation_t, miopenReduceTensorDescriptor_t, miopenReduceTensorIndices_t,
    miopenReduceTensorOp_t,
};
use std::sync::Arc;

crate::convert::c_enum! {
    /// The operation of a reduction.
    ReduceOp = miopenReduceTensorOp_t {
        /// Their sum.
        Add = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_ADD,
        /// Their product.
        Mul = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MUL,
        /// The minimum.
        Min = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MIN,
        /// The maximum.
        Max = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MAX,
        /// The maximum of the absolute values.
        AMax = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_AMAX,
        /// Their mean.
        Average = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_AVG,
        /// The sum of their absolute values.
        Norm1 = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_NORM1,
        /// The root of the sum of their squares.
        Norm2 = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_NORM2,
    }
}

impl ReduceOp {
    /// Whether it selects one element, which has an index.
    pub fn chooses(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::AMax)
    }
}

/// The settings of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The operation.
    pub op: ReduceOp,
    /// The type that it computes in.
    pub compute: DataType,
    /// Whether a NaN among the elements makes the result NaN.
    pub propagate_nan: bool,
    /// Whether it also returns the index of the selected element among the reduced ones.
    pub indices: bool,
}

impl Reduction {
    /// Computed in `f32`, without propagation of NaN, without indices.
    pub fn new(op: ReduceOp) -> Self {
        Self { op, compute: DataType::F32, propagate_nan: false, indices: false }
    }
}

/// A reduction's descriptor. Cloning it copies a reference.
#[derive(Debug, Clone)]
#[doc(alias = "miopenReduceTensorDescriptor_t")]
pub struct ReductionDesc {
    object: Arc<Owner<ReduceObject>>,
    reduction: Reduction,
}

impl ReductionDesc {
    /// Creates the descriptor.
    ///
    /// # Errors
    /// [`Error::Invalid`] for indices of an operation that selects no element; the library's error.
    #[doc(alias = "miopenCreateReduceTensorDescriptor")]
    #[doc(alias = "miopenSetReduceTensorDescriptor")]
    pub fn new(handle: &Handle, reduction: Reduction) -> Result<Self> {
        if reduction.indices && !reduction.op.chooses() {
            return Err(Error::invalid(
                "an operation with indices",
                reduction.op,
                "only Min, Max and AMax have them",
            ));
        }
        let nan = if reduction.propagate_nan {
            miopenNanPropagation_t::MIOPEN_PROPAGATE_NAN
        } else {
            miopenNanPropagation_t::MIOPEN_NOT_PROPAGATE_NAN
        };
        let indices = if reduction.indices {
            miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES
        } else {
            miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_NO_INDICES
        };
        let (op, compute, index) =
            (reduction.op.raw(), reduction.compute.raw(), miopenIndicesType_t::MIOPEN_32BIT_INDICES);
        let object = Owner::new(handle.platform(), |m, desc| {
            // SAFETY: S1: the descriptor is live.
            unsafe { raw::set_reduce_tensor_descriptor(m, desc, op, compute, nan, indices, index) }
        })?;
        Ok(Self { object: Arc::new(object), reduction })
    }

    /// Its settings.
    pub fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// The bytes of workspace and of indices for a reduction from `a` to `c`.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenGetReductionWorkspaceSize")]
    #[doc(alias = "miopenGetReductionIndicesSize")]
    pub fn bytes(&self, a: &TensorDesc, c: &TensorDesc, handle: &Handle) -> Result<(usize, usize)> {
        let (desc, a, c) = (self.on(handle)?, a.on(handle)?, c.on(handle)?);
        handle.call("the workspace of a reduction", |m, h| {
            // SAFETY: S1: handle and descriptors are live, and the out-pointer too.
            let workspace =
                out(|bytes| unsafe { raw::get_reduction_workspace_size(m, h, desc, a, c, bytes) })?;
            // SAFETY: S1: as above.
            let indices = out(|bytes| unsafe { raw::get_reduction_indices_size(m, h, desc, a, c, bytes) })?;
            Ok((workspace, indices))
        })
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyReduceTensorDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenReduceTensorDescriptor_t> {
        self.object.on(handle)
    }
}
