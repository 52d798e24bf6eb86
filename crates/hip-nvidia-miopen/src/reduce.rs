//! Reductions along dimensions.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::convert::{compute_type, indices_type, nan_propagation, reduce_indices, reduce_op};
use super::descriptor::Descriptors;
use super::entry::{all_there, entries, give, offer};
use super::factor::Factor;
use super::handle::with;
use super::library::{In, Out, check, cudnn};
use super::raw::{Lazy, RawReduction};
use super::tensor::{Tensor, tensor_of};
use super::{BAD, Outcome};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::sync::{Arc, LazyLock};

struct Reduction {
    op: miopenReduceTensorOp_t,
    compute: miopenDataType_t,
    nan: miopenNanPropagation_t,
    indices: miopenReduceTensorIndices_t,
    index_type: miopenIndicesType_t,
    raw: Lazy<RawReduction>,
}

static REDUCTIONS: LazyLock<Descriptors<Reduction>> = LazyLock::new(|| Descriptors::new(0x56));

impl Default for Reduction {
    fn default() -> Self {
        Self {
            op: miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_ADD,
            compute: miopenDataType_t::miopenFloat,
            nan: miopenNanPropagation_t::MIOPEN_NOT_PROPAGATE_NAN,
            indices: miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_NO_INDICES,
            index_type: miopenIndicesType_t::MIOPEN_32BIT_INDICES,
            raw: Lazy::new(),
        }
    }
}

impl Reduction {
    /// Only a minimum or maximum has an index. For other operations MIOpen accepts a request for indices and returns none.
    fn has_indices(&self) -> bool {
        use miopenReduceTensorOp_t as M;
        let extreme =
            [M::MIOPEN_REDUCE_TENSOR_MIN, M::MIOPEN_REDUCE_TENSOR_MAX, M::MIOPEN_REDUCE_TENSOR_AMAX];
        extreme.contains(&self.op)
            && self.indices == miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES
    }

    fn raw(&self) -> Outcome<sys::cudnnReduceTensorDescriptor_t> {
        let make = || {
            let (op, nan) = (reduce_op(self.op)?, nan_propagation(self.nan)?);
            let compute = compute_type(self.compute)?;
            let (indices, index_type) = if self.has_indices() {
                (reduce_indices(self.indices)?, indices_type(self.index_type)?)
            } else {
                (
                    sys::cudnnReduceTensorIndices_t::CUDNN_REDUCE_TENSOR_NO_INDICES,
                    sys::cudnnIndicesType_t::CUDNN_32BIT_INDICES,
                )
            };
            RawReduction::new(|library, raw| {
                // SAFETY: S1: a new descriptor.
                check(unsafe {
                    (library.cudnnSetReduceTensorDescriptor)(raw, op, compute, nan, indices, index_type)
                })
            })
        };
        self.raw.get(make).map(RawReduction::raw)
    }
}

fn reduction_of(handle: miopenReduceTensorDescriptor_t) -> Outcome<Arc<Reduction>> {
    REDUCTIONS.get(handle)
}

/// Fails unless each dimension of the result has the input's length or length 1.
fn fits(a: &Tensor, c: &Tensor) -> Outcome {
    let fits =
        a.rank() == c.rank() && a.dims.iter().zip(&c.dims).all(|(long, short)| short == long || *short == 1);
    if fits { Ok(()) } else { Err(BAD) }
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type D = miopenReduceTensorDescriptor_t;

entries! {
    fn miopenCreateReduceTensorDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { REDUCTIONS.create(out) }
    }

    fn miopenDestroyReduceTensorDescriptor(handle: D) {
        REDUCTIONS.destroy(handle)
    }

    fn miopenSetReduceTensorDescriptor(
        handle: D, op: miopenReduceTensorOp_t, compute: miopenDataType_t, nan: miopenNanPropagation_t,
        indices: miopenReduceTensorIndices_t, index_type: miopenIndicesType_t,
    ) {
        reduce_op(op)?;
        nan_propagation(nan)?;
        reduce_indices(indices)?;
        if index_type.0 > miopenIndicesType_t::MIOPEN_8BIT_INDICES.0 {
            return Err(BAD);
        }
        REDUCTIONS.set(handle, Reduction { op, compute, nan, indices, index_type, raw: Lazy::new() })
    }

    /// Each pointer may be null.
    fn miopenGetReduceTensorDescriptor(
        handle: D, op: *mut miopenReduceTensorOp_t, compute: *mut miopenDataType_t, nan: *mut miopenNanPropagation_t,
        indices: *mut miopenReduceTensorIndices_t, index_type: *mut miopenIndicesType_t,
    ) {
        let reduction = reduction_of(handle)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(op, reduction.op);
            offer(compute, reduction.compute);
            offer(nan, reduction.nan);
            offer(indices, reduction.indices);
            offer(index_type, reduction.index_type);
        }
        Ok(())
    }

    fn miopenGetReductionIndicesSize(handle: H, reduction: D, ad: T, cd: T, out: *mut usize) {
        let (reduction, ad, cd) = (reduction_of(reduction)?, tensor_of(ad)?, tensor_of(cd)?);
        fits(&ad, &cd)?;
        let mut size = 0;
        if reduction.has_indices() {
            let (raw, a_raw, c_raw) = (reduction.raw()?, ad.raw()?, cd.raw()?);
            with(handle, |session| {
                // SAFETY: S1: live descriptors and a live variable.
                check(unsafe {
                    (cudnn()?.cudnnGetReductionIndicesSize)(session.raw, raw, a_raw, c_raw, &mut size)
                })
            })?;
        }
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    fn miopenGetReductionWorkspaceSize(handle: H, reduction: D, ad: T, cd: T, out: *mut usize) {
        let (reduction, ad, cd) = (reduction_of(reduction)?, tensor_of(ad)?, tensor_of(cd)?);
        fits(&ad, &cd)?;
        let (raw, a_raw, c_raw) = (reduction.raw()?, ad.raw()?, cd.raw()?);
        let mut size = 0;
        with(handle, |session| {
            // SAFETY: S1: live descriptors and a live variable.
            check(unsafe { (cudnn()?.cudnnGetReductionWorkspaceSize)(session.raw, raw, a_raw, c_raw, &mut size) })
        })?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    /// For `f64` the factors are `f64`, too, in both libraries.
    fn miopenReduceTensor(
        handle: H, reduction: D, indices: Out, indices_size: usize, memory: Out, size: usize, alpha: In, ad: T, a: In,
        beta: In, cd: T, c: Out,
    ) {
        let (reduction, ad, cd) = (reduction_of(reduction)?, tensor_of(ad)?, tensor_of(cd)?);
        fits(&ad, &cd)?;
        all_there(&[a, c.cast_const()])?;
        let read = if ad.kind == miopenDataType_t::miopenDouble { Factor::read_as } else { Factor::read };
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (read(alpha, ad.kind)?, read(beta, ad.kind)?) };
        let (raw, a_raw, c_raw) = (reduction.raw()?, ad.raw()?, cd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnReduceTensor)(
                    session.raw, raw, indices, indices_size, memory, size, alpha.get(), a_raw, a, beta.get(), c_raw, c,
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UNSUPPORTED;

    fn reduction(op: u32, indices: u32, index_type: u32) -> Reduction {
        Reduction {
            op: miopenReduceTensorOp_t(op),
            indices: miopenReduceTensorIndices_t(indices),
            index_type: miopenIndicesType_t(index_type),
            ..Reduction::default()
        }
    }

    #[test]
    fn only_extremes_have_indices() {
        let with_indices: Vec<_> = (0..8).filter(|op| reduction(*op, 1, 0).has_indices()).collect();
        assert_eq!(with_indices, [2, 3, 4]);
        assert!(!reduction(3, 0, 0).has_indices());
        assert_eq!(reduction(3, 1, 1).raw(), Err(UNSUPPORTED));
    }

    #[test]
    fn a_dimension_stays_or_becomes_one() {
        let tensor = |dims: &[usize]| Tensor::new(miopenDataType_t::miopenFloat, dims, None).unwrap();
        assert_eq!(fits(&tensor(&[2, 3, 4]), &tensor(&[2, 1, 4])), Ok(()));
        assert_eq!(fits(&tensor(&[2, 3, 4]), &tensor(&[2, 2, 4])), Err(BAD));
        assert_eq!(fits(&tensor(&[2, 3]), &tensor(&[2, 1, 1])), Err(BAD));
    }

    #[test]
    fn settings_read_back() {
        let mut handle = std::ptr::null_mut();
        let (mut op, mut kind, mut nan) =
            (miopenReduceTensorOp_t(9), miopenDataType_t(9), miopenNanPropagation_t(9));
        let (mut indices, mut index_type) = (miopenReduceTensorIndices_t(9), miopenIndicesType_t(9));
        // SAFETY: S11: live variables.
        unsafe {
            let set = miopenSetReduceTensorDescriptor;
            let (one, two) = (miopenReduceTensorIndices_t(1), miopenIndicesType_t(2));
            assert_eq!(miopenCreateReduceTensorDescriptor(&mut handle).0, 0);
            assert_eq!(
                set(
                    handle,
                    miopenReduceTensorOp_t(5),
                    miopenDataType_t(1),
                    miopenNanPropagation_t(1),
                    one,
                    two
                )
                .0,
                0
            );
            assert_eq!(
                set(
                    handle,
                    miopenReduceTensorOp_t(8),
                    miopenDataType_t(1),
                    miopenNanPropagation_t(1),
                    one,
                    two
                ),
                BAD
            );
            assert_eq!(
                miopenGetReduceTensorDescriptor(
                    handle,
                    &mut op,
                    &mut kind,
                    &mut nan,
                    &mut indices,
                    &mut index_type
                )
                .0,
                0
            );
            assert_eq!(miopenDestroyReduceTensorDescriptor(handle).0, 0);
        }
        assert_eq!((op.0, kind.0, nan.0, indices.0, index_type.0), (5, 1, 1, 1, 2));
    }
}
