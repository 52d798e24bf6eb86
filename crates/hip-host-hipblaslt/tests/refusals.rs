//! What hip-host's hipBLASLt answers to calls that AMD's library refuses, or that it does not have.

use hip_sys::hip::hipMemcpyKind;
use hip_sys::hipblaslt::*;
use hip_sys::{Hipblaslt, HipblasltTable};
use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};

const SUCCESS: hipblasStatus_t = hipblasStatus_t::HIPBLAS_STATUS_SUCCESS;
const VALUE: hipblasStatus_t = hipblasStatus_t::HIPBLAS_STATUS_INVALID_VALUE;
const UNSUPPORTED: hipblasStatus_t = hipblasStatus_t::HIPBLAS_STATUS_NOT_SUPPORTED;

/// A product of 2 x 2 in f32, whose parts a test changes before it calls.
struct Bench {
    library: Hipblaslt,
    handle: hipblasLtHandle_t,
    product: hipblasLtMatmulDesc_t,
    layouts: [hipblasLtMatrixLayout_t; 4],
    /// Sixteen floats, of which each matrix has four.
    memory: *mut c_void,
}

impl Bench {
    fn new() -> Self {
        let (hip, library) = (hip_host::platform(), hip_host_hipblaslt::library());
        let (mut handle, mut product, mut memory) = (null_mut(), null_mut(), null_mut());
        let mut layouts = [null_mut(); 4];
        let (compute, f32) = (hipblasComputeType_t::HIPBLAS_COMPUTE_32F, hipDataType::HIP_R_32F);
        // SAFETY: S1, S11: live variables.
        unsafe {
            let table = library.table();
            assert_eq!((hip.hip().hipMalloc)(&mut memory, 64).0, 0);
            assert_eq!((hip.hip().hipMemset)(memory, 0, 64).0, 0);
            assert_eq!((table.hipblasLtCreate)(&mut handle), SUCCESS);
            assert_eq!((table.hipblasLtMatmulDescCreate)(&mut product, compute, f32), SUCCESS);
            for layout in &mut layouts {
                assert_eq!((table.hipblasLtMatrixLayoutCreate)(layout, f32, 2, 2, 2), SUCCESS);
            }
        }
        Self { library, handle, product, layouts, memory }
    }

    fn table(&self) -> &HipblasltTable {
        self.library.table()
    }

    fn set<T>(&self, attribute: hipblasLtMatmulDescAttributes_t, value: T) {
        let value = from_ref(&value).cast();
        // SAFETY: S1, S11: a live descriptor, and a value of the size given.
        let set = unsafe {
            (self.table().hipblasLtMatmulDescSetAttribute)(self.product, attribute, value, size_of::<T>())
        };
        assert_eq!(set, SUCCESS);
    }

    fn reshape(&self, index: usize, rows: u64, ld: i64) {
        let (of_rows, of_ld) = (
            hipblasLtMatrixLayoutAttribute_t::HIPBLASLT_MATRIX_LAYOUT_ROWS,
            hipblasLtMatrixLayoutAttribute_t::HIPBLASLT_MATRIX_LAYOUT_LD,
        );
        let set = self.table().hipblasLtMatrixLayoutSetAttribute;
        // SAFETY: S1, S11: a live descriptor, and values of the sizes given.
        unsafe {
            assert_eq!(set(self.layouts[index], of_rows, from_ref(&rows).cast(), 8), SUCCESS);
            assert_eq!(set(self.layouts[index], of_ld, from_ref(&ld).cast(), 8), SUCCESS);
        }
    }

    fn multiply(&self) -> hipblasStatus_t {
        self.multiply_at([0, 16, 32, 48].map(|offset| self.memory.wrapping_byte_add(offset)), [1.0, 0.0])
    }

    fn multiply_at(&self, [a, b, c, d]: [*mut c_void; 4], [alpha, beta]: [f32; 2]) -> hipblasStatus_t {
        let ([la, lb, lc, ld], alpha, beta) = (self.layouts, from_ref(&alpha).cast(), from_ref(&beta).cast());
        // SAFETY: S11: what is wrong with these arguments, the function finds.
        unsafe {
            (self.table().hipblasLtMatmul)(
                self.handle,
                self.product,
                alpha,
                a,
                la,
                b,
                lb,
                beta,
                c,
                lc,
                d,
                ld,
                null(),
                null_mut(),
                0,
                null_mut(),
            )
        }
    }
}

#[test]
fn a_product_and_what_is_wrong_with_others() {
    let bench = Bench::new();
    assert_eq!(bench.multiply(), SUCCESS);
    let at = |offset| bench.memory.wrapping_byte_add(offset);
    assert_eq!(bench.multiply_at([null_mut(), at(16), at(32), at(48)], [1.0, 0.0]), VALUE, "no a");
    assert_eq!(
        bench.multiply_at([null_mut(), null_mut(), at(32), at(48)], [0.0, 1.0]),
        SUCCESS,
        "a is not used"
    );
    assert_eq!(bench.multiply_at([at(0), at(16), null_mut(), at(48)], [1.0, 0.0]), SUCCESS, "c is not used");
    assert_eq!(bench.multiply_at([at(0), at(16), null_mut(), at(48)], [1.0, 1.0]), VALUE, "no c");
    assert_eq!(
        bench.multiply_at([at(0), at(16), at(32), at(52)], [1.0, 0.0]),
        VALUE,
        "d goes past its memory"
    );
    assert_eq!(bench.multiply_at([at(2), at(16), at(32), at(48)], [1.0, 0.0]), VALUE, "a is not aligned");
    bench.reshape(0, 2, 1);
    assert_eq!(bench.multiply(), VALUE, "a leading dimension below the rows");
    bench.reshape(0, 3, 3);
    assert_eq!(bench.multiply(), VALUE, "sizes that do not agree");
    bench.reshape(0, 2, i64::MAX);
    assert_eq!(bench.multiply(), VALUE, "beyond an address space");
    bench.reshape(0, 2, 2);
    bench.reshape(3, 2, 3);
    assert_eq!(
        bench.multiply_at([at(0), at(0), at(32), at(32)], [1.0, 1.0]),
        VALUE,
        "in place, laid out otherwise"
    );
}

#[test]
fn what_it_does_not_have() {
    use hipblasLtMatmulDescAttributes_t as attribute;
    let refused = |set: &dyn Fn(&Bench)| {
        let bench = Bench::new();
        set(&bench);
        bench.multiply()
    };
    for epilogue in [
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_DGELU,
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_BGRADA,
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_SWISH_EXT,
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_CLAMP_EXT,
    ] {
        let set = |bench: &Bench| bench.set(attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE, epilogue.0);
        assert_eq!(refused(&set), UNSUPPORTED, "{epilogue:?}");
    }
    let mode = |bench: &Bench| bench.set(attribute::HIPBLASLT_MATMUL_DESC_POINTER_MODE, 1_i32);
    assert_eq!(refused(&mode), UNSUPPORTED);
    let vector = |bench: &Bench| bench.set(attribute::HIPBLASLT_MATMUL_DESC_A_SCALE_MODE, 3_u32);
    assert_eq!(refused(&vector), UNSUPPORTED);
    let bias = hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_BIAS.0;
    let bias = |bench: &Bench| bench.set(attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE, bias);
    assert_eq!(refused(&bias), VALUE, "a bias that is nowhere");
}

#[test]
fn handles_end() {
    let bench = Bench::new();
    let mut version = 0;
    // SAFETY: S1, S11: live out-pointers, and a handle that is destroyed twice, which the function finds.
    unsafe {
        let table = bench.table();
        assert_eq!((table.hipblasLtGetVersion)(bench.handle, &mut version), SUCCESS);
        assert_eq!(version, 100_202);
        assert_eq!((table.hipblasLtDestroy)(bench.handle), SUCCESS);
        let gone = hipblasStatus_t::HIPBLAS_STATUS_NOT_INITIALIZED;
        assert_eq!((table.hipblasLtDestroy)(bench.handle), gone);
        assert_eq!(bench.multiply(), gone);
        assert_eq!((table.hipblasLtMatmulDescDestroy)(bench.product), SUCCESS);
    }
    let bench = Bench::new();
    // SAFETY: S1, S11: a live descriptor, which nothing uses afterwards but a call that is refused.
    unsafe { (bench.table().hipblasLtMatmulDescDestroy)(bench.product) };
    assert_eq!(bench.multiply(), VALUE);
}

/// The auxiliary output and the bias by hand: [1 2] and [3 4] are columns, squared; -8 is added to the first row.
#[test]
fn the_auxiliary_output_is_what_relu_gets() {
    use hipblasLtMatmulDescAttributes_t as attribute;
    let bench = Bench::new();
    let hip = hip_host::platform();
    let numbers = [1.0_f32, 2.0, 3.0, 4.0, -8.0, 0.0];
    let (there, back) = (hipMemcpyKind::hipMemcpyHostToDevice, hipMemcpyKind::hipMemcpyDeviceToHost);
    // SAFETY: S1, S11: as many bytes as both have.
    unsafe { assert_eq!((hip.hip().hipMemcpy)(bench.memory, numbers.as_ptr().cast(), 24, there).0, 0) };
    let epilogue = hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_RELU_AUX_BIAS.0;
    bench.set(attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    bench.set(attribute::HIPBLASLT_MATMUL_DESC_BIAS_POINTER, bench.memory.wrapping_byte_add(16));
    bench.set(attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, bench.memory.wrapping_byte_add(32));
    bench.set(attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 2_i64);
    let addresses = [0, 0, 48, 48].map(|offset| bench.memory.wrapping_byte_add(offset));
    assert_eq!(bench.multiply_at(addresses, [1.0, 0.0]), SUCCESS);
    let mut got = [0.0_f32; 8];
    let from = bench.memory.wrapping_byte_add(32);
    // SAFETY: S1, S11: as many bytes as both have.
    unsafe { assert_eq!((hip.hip().hipMemcpy)(got.as_mut_ptr().cast(), from, 32, back).0, 0) };
    assert_eq!(got, [-1.0, 10.0, 7.0, 22.0, 0.0, 10.0, 7.0, 22.0]);
}
