//! Sizes that an index of 32 bits cannot count, of matrices that are not there.

use crate::under_test;
use hip_safe::{Device, Platform};
use hip_sys::hip::{hipError_t, hipMemcpyKind};
use hip_sys::rocsparse::{
    rocsparse_const_spmat_descr, rocsparse_datatype, rocsparse_handle, rocsparse_index_base,
    rocsparse_indextype, rocsparse_operation, rocsparse_spgemm_alg, rocsparse_spgemm_stage,
    rocsparse_spmat_descr, rocsparse_status,
};
use hip_sys::{LoadError, Rocsparse, RocsparseTable};
use rocsparse_safe::{
    BlockLayout, DenseShape, DiagonalKind, Error, Handle, Layout, Op, Order, Parts, Sddmm, Spgemm, Spmm,
    Spsm, Triangle,
};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

const BEYOND: usize = 1 << 31;
const ONES: [f32; 4] = [1.0; 4];

/// The text of an error of [`Error::TooLarge`].
#[track_caller]
fn too_large<T>(result: Result<T, Error>) -> String {
    let error = result.map(drop).unwrap_err();
    assert!(matches!(error, Error::TooLarge { index: "i32", .. }), "{error}");
    error.to_string()
}

#[test]
fn elements_of_blocks() {
    let stream = under_test::stream();
    let bsr = |shape, block, offsets: &[i32], cols: &[i32]| {
        let layout = BlockLayout::RowMajor;
        too_large(Parts::bsr(shape, (block, layout), offsets, cols, &ONES[..]).upload(&stream))
    };
    // The first block with more elements than an index can be, and two blocks with half as many.
    let error = bsr([46341; 2], 46341, &[0, 1], &[0]);
    assert!(error.starts_with("the number of elements of a block: 2147488281 is more than"), "{error}");
    let error = bsr([1 << 15, 1 << 16], 1 << 15, &[0, 2], &[0, 1]);
    assert!(error.starts_with("the number of elements of all blocks: 2147483648 is more than"), "{error}");
    // What fits is another error: the memory is too short.
    let blocks = (1 << 15, BlockLayout::RowMajor);
    let fits = Parts::bsr([1 << 15; 2], blocks, &[0, 1][..], &[0][..], &ONES[..]).upload(&stream);
    assert!(matches!(fits, Err(Error::Length { what: "the values", .. })));
}

#[test]
fn sizes_of_dense_matrices() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let parts = Parts::csr(2, 2, &[0, 1, 2][..], &[0, 1][..], &ONES[..2]);
    let matrix = parts.upload(&stream).unwrap();
    let shape = |rows, cols| DenseShape::new(rows, cols, Layout::ColumnMajor);
    let (wide, tall) = (shape(2, BEYOND), shape(BEYOND, 2));
    let gaps = DenseShape { leading: BEYOND, ..shape(2, 3) };
    let none = [Op::None; 2];
    let lower = (Triangle::Lower, DiagonalKind::Stored);
    let columns = "the number of columns of a dense matrix: 2147483648 is more than";
    let error = too_large(Spmm::prepare(&handle, none, matrix.view(), wide, wide));
    assert!(error.starts_with(columns), "{error}");
    let error = too_large(Spmm::prepare(&handle, none, matrix.view(), shape(2, 3), gaps));
    assert!(error.starts_with("the leading dimension of a dense matrix: 2147483648"), "{error}");
    let error = too_large(Spsm::prepare(&handle, lower, none, matrix.view(), wide, wide));
    assert!(error.starts_with(columns), "{error}");
    let error = too_large(Sddmm::prepare(&handle, none, wide, tall, matrix.view()));
    assert!(error.starts_with(columns), "{error}");
    let turned = [Op::None, Op::Transpose];
    let error = too_large(Sddmm::prepare(&handle, turned, wide, wide, matrix.view()));
    assert!(error.starts_with(columns), "{error}");
}

/// Nothing is done for each row.
#[test]
fn rows_without_entries() {
    let stream = under_test::stream();
    let none = Parts::ell(1 << 62, 3, 0, &[0_i64; 0][..], &ONES[..0]).upload(&stream).unwrap();
    assert_eq!((none.order(), none.stored()), (Order::Unique, 0));
}

static REAL: OnceLock<(Arc<Platform>, RocsparseTable)> = OnceLock::new();
/// Where the result of a product of sparse matrices has its offsets.
static OFFSETS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" fn create_csr(
    matrix: *mut rocsparse_spmat_descr,
    rows: i64,
    cols: i64,
    stored: i64,
    offsets: *mut c_void,
    indices: *mut c_void,
    values: *mut c_void,
    offset_type: rocsparse_indextype,
    index_type: rocsparse_indextype,
    base: rocsparse_index_base,
    kind: rocsparse_datatype,
) -> rocsparse_status {
    if stored == 0 && !offsets.is_null() {
        OFFSETS.store(offsets, Ordering::Relaxed);
    }
    let create = REAL.get().expect("it is set").1.rocsparse_create_csr_descr;
    // SAFETY: S1, S11: the caller's arguments.
    unsafe {
        create(matrix, rows, cols, stored, offsets, indices, values, offset_type, index_type, base, kind)
    }
}

/// As the library's, with offsets of so many entries that 32 bits cannot count them.
unsafe extern "C" fn spgemm(
    handle: rocsparse_handle,
    op_a: rocsparse_operation,
    op_b: rocsparse_operation,
    alpha: *const c_void,
    a: rocsparse_const_spmat_descr,
    b: rocsparse_const_spmat_descr,
    beta: *const c_void,
    d: rocsparse_const_spmat_descr,
    c: rocsparse_spmat_descr,
    kind: rocsparse_datatype,
    algorithm: rocsparse_spgemm_alg,
    stage: rocsparse_spgemm_stage,
    bytes: *mut usize,
    work: *mut c_void,
) -> rocsparse_status {
    // With a factor of 0 there is no product to count.
    // SAFETY: S11: the caller's factor.
    if unsafe { alpha.cast::<f32>().read() } != 1.0 {
        return rocsparse_status::rocsparse_status_invalid_value;
    }
    let (platform, table) = REAL.get().expect("it is set");
    let real = table.rocsparse_spgemm;
    // SAFETY: S1, S11: the caller's arguments.
    let status =
        unsafe { real(handle, op_a, op_b, alpha, a, b, beta, d, c, kind, algorithm, stage, bytes, work) };
    if stage == rocsparse_spgemm_stage::rocsparse_spgemm_stage_nnz {
        // Rows of 2^31 - 1, 2^31 - 1 and 8 entries: the last sum is 2^32 + 6, of which 6 are left, as many as were counted.
        let wrapped = [0, u32::MAX / 2, u32::MAX - 1, 6];
        let (to, from) = (OFFSETS.load(Ordering::Relaxed), wrapped.as_ptr().cast());
        let copy = platform.hip().hipMemcpy;
        // SAFETY: S1, S2: the result has three rows, so four offsets of 32 bits.
        let copied = unsafe { copy(to, from, size_of_val(&wrapped), hipMemcpyKind::hipMemcpyHostToDevice) };
        if copied != hipError_t::hipSuccess {
            return rocsparse_status::rocsparse_status_internal_error;
        }
    }
    status
}

/// The platform under test, with these functions.
fn platform() -> Arc<Platform> {
    let real = under_test::platform();
    let library = rocsparse_safe::library(&real).expect("the platform has the library");
    REAL.get_or_init(|| (Arc::clone(&real), library.table().clone()));
    let changed = || {
        let mut table = library.table().clone();
        (table.rocsparse_create_csr_descr, table.rocsparse_spgemm) = (create_csr, spgemm);
        // SAFETY: S1: the functions are the real library's, or call them.
        Ok(unsafe { Rocsparse::from_table(library.version(), "a changed one".into(), table) })
    };
    let rtc = Err(LoadError::NotProvided { library: "a compiler", reason: "none is needed" });
    // SAFETY: S1, S11: the functions are the real platform's, and the library is made of its library's.
    unsafe {
        let platform =
            Platform::from_tables(real.kind, real.raw_version, real.hip().clone(), rtc, *real.ext());
        platform.library(changed).expect("it was made");
        Arc::new(platform)
    }
}

/// 65537 rows of one entry times 65537 columns of one are the smallest such product, too large for a test.
#[test]
fn entries_of_a_product_of_sparse_matrices() {
    let stream = Device::new(&platform(), 0).unwrap().new_stream().unwrap();
    let handle = Handle::new(&stream).unwrap();
    let column = Parts::csr(3, 1, &[0, 1, 2, 3][..], &[0, 0, 0][..], &ONES[..3]).upload(&stream).unwrap();
    let row = Parts::csr(1, 2, &[0, 2][..], &[0, 1][..], &ONES[..2]).upload(&stream).unwrap();
    let prepared = Spgemm::prepare(&handle, column, row).map(drop);
    if matches!(prepared, Err(Error::Status { name: "rocsparse_status_not_implemented", .. })) {
        println!("skipped: the platform has no such product");
        return;
    }
    let error = too_large(prepared);
    assert!(error.starts_with("the number of entries of the product, at least: 2147483648 is"), "{error}");
}
