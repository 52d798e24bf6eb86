//! cuBLASLt's descriptors, made of hipBLASLt's for one call.

use crate::convert::{Outcome, UNSUPPORTED, compute, data_type, done, ensure, epilogue, operation};
use crate::functions::Raw;
use crate::library::cublaslt;
use cudarc::cublaslt::sys::{
    cublasLtMatmulDescAttributes_t as attribute, cublasLtMatrixLayoutAttribute_t as part,
};
use hip_sys::provider::hipblaslt::{Layout, Product};
use std::ptr::{from_ref, null_mut};

/// The descriptors of a product: of itself, and of a, b, c and d. Dropping it destroys them.
pub(super) struct Descriptors {
    pub(super) product: Raw,
    pub(super) layouts: [Raw; 4],
}

impl Descriptors {
    pub(super) fn new(product: &Product, layouts: [&Layout; 4]) -> Outcome<Self> {
        ensure(product.scale_modes == [0; 2], UNSUPPORTED)?;
        let mut made = Self { product: null_mut(), layouts: [null_mut(); 4] };
        let (compute, scale) = (compute(product.compute)?, data_type(product.scale_type)?);
        // SAFETY: S1: a live variable.
        done(unsafe { (cublaslt().cublasLtMatmulDescCreate)(&mut made.product, compute, scale) })?;
        for (raw, layout) in made.layouts.iter_mut().zip(layouts) {
            create_layout(raw, layout)?;
        }
        let [a, b] = product.operations;
        made.set(attribute::CUBLASLT_MATMUL_DESC_TRANSA, &operation(a)?)?;
        made.set(attribute::CUBLASLT_MATMUL_DESC_TRANSB, &operation(b)?)?;
        made.set(attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue(product.epilogue)?)?;
        made.set(attribute::CUBLASLT_MATMUL_DESC_POINTER_MODE, &product.pointer_mode)?;
        if product.bias != 0 {
            made.set(attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, &product.bias)?;
        }
        if product.bias_type != Product::UNSET {
            made.set(attribute::CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &data_type(product.bias_type)?)?;
        }
        if product.aux != 0 {
            made.set(attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &product.aux)?;
            made.set(attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &product.aux_ld)?;
            made.set(attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, &product.aux_stride)?;
        }
        if product.aux_type != Product::UNSET {
            let aux_type = data_type(product.aux_type)?;
            made.set(attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, &aux_type)?;
        }
        let addresses = [
            attribute::CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
            attribute::CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
            attribute::CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
            attribute::CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
            attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
            attribute::CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,
        ];
        for (attribute, address) in addresses.into_iter().zip(product.scales.iter().chain([&product.amax])) {
            if *address != 0 {
                made.set(attribute, address)?;
            }
        }
        Ok(made)
    }

    /// Sets an attribute, whose type has as many bytes as C's.
    fn set<T>(&self, attribute: attribute, value: &T) -> Outcome {
        let (value, bytes) = (from_ref(value).cast(), size_of::<T>());
        // SAFETY: S1: the descriptor is live, and the value has the size given.
        done(unsafe {
            (cublaslt().cublasLtMatmulDescSetAttribute)(self.product, attribute as u32, value, bytes)
        })
    }
}

fn create_layout(raw: &mut Raw, layout: &Layout) -> Outcome {
    // By columns and by rows have the same numbers; AMD's tiles are no layouts of cuBLASLt's.
    let order = layout.order;
    ensure(order <= 1, UNSUPPORTED)?;
    let (functions, ld) = (cublaslt(), layout.ld.cast_signed());
    let data_type = data_type(layout.data_type)?;
    // SAFETY: S1: a live variable.
    done(unsafe { (functions.cublasLtMatrixLayoutCreate)(raw, data_type, layout.rows, layout.cols, ld) })?;
    let set = |part: part, value, bytes| {
        // SAFETY: S1: the descriptor is live, and the value has the size given.
        done(unsafe { (functions.cublasLtMatrixLayoutSetAttribute)(*raw, part as u32, value, bytes) })
    };
    set(part::CUBLASLT_MATRIX_LAYOUT_ORDER, from_ref(&order).cast(), 4)?;
    set(part::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, from_ref(&layout.batch).cast(), 4)?;
    set(part::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, from_ref(&layout.stride).cast(), 8)
}

impl Drop for Descriptors {
    /// What destroying them answers decides nothing.
    fn drop(&mut self) {
        for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
            // SAFETY: S1, S4: nobody else has it.
            unsafe { (cublaslt().cublasLtMatrixLayoutDestroy)(layout) };
        }
        if !self.product.is_null() {
            // SAFETY: S1, S4: as above.
            unsafe { (cublaslt().cublasLtMatmulDescDestroy)(self.product) };
        }
    }
}
