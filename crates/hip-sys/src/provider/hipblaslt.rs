//! hipBLASLt's descriptors, for crates that implement it: layouts, products and preferences as values, and the C functions that create, change,
//! read and destroy them.

use super::Handles;
use crate::HipblasltTable;
use crate::hipblaslt::{
    hipDataType, hipblasComputeType_t, hipblasLtEpilogue_t, hipblasLtMatmulDesc_t,
    hipblasLtMatmulDescAttributes_t as product_attribute, hipblasLtMatmulDescOpaque_t,
    hipblasLtMatmulPreference_t, hipblasLtMatmulPreferenceAttributes_t as preference_attribute,
    hipblasLtMatmulPreferenceOpaque_t, hipblasLtMatrixLayout_t,
    hipblasLtMatrixLayoutAttribute_t as layout_attribute, hipblasLtMatrixLayoutOpaque_t, hipblasOperation_t,
    hipblasStatus_t,
};
use std::ffi::c_void;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// How a matrix, or each of a batch, lies in memory. Fields have the numbers that a program set, unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// A `hipDataType`.
    pub data_type: u32,
    /// A `hipblasLtOrder_t`: 0 for column-major.
    pub order: u32,
    /// The rows.
    pub rows: u64,
    /// The columns.
    pub cols: u64,
    /// The leading dimension, an `i64`.
    pub ld: u64,
    /// The members of the batch, an `i32`.
    pub batch: u32,
    /// Elements from one member to the next, an `i64`.
    pub stride: u64,
}

/// What is multiplied, and what is done to the result. Addresses are 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Product {
    /// A `hipblasComputeType_t`.
    pub compute: u32,
    /// The type of alpha and beta, a `hipDataType`.
    pub scale_type: u32,
    /// What is done to a and to b, a `hipblasOperation_t` each.
    pub operations: [u32; 2],
    /// A `hipblasLtEpilogue_t`.
    pub epilogue: u32,
    /// Where the bias is.
    pub bias: u64,
    /// Its type; [`Product::UNSET`] stands for the result's.
    pub bias_type: u32,
    /// Where the factors of a, b, c, d and of the auxiliary output are.
    pub scales: [u64; 5],
    /// Where the auxiliary output goes.
    pub aux: u64,
    /// Its leading dimension, an `i64`.
    pub aux_ld: u64,
    /// Elements from one member to the next, an `i64`.
    pub aux_stride: u64,
    /// Its type; [`Product::UNSET`] stands for the result's.
    pub aux_type: u32,
    /// A `hipblasLtPointerMode_t`: 0 for alpha and beta on the host.
    pub pointer_mode: u32,
    /// Where the largest absolute value of the result goes.
    pub amax: u64,
    /// How the factors of a and b are meant, a `hipblasLtMatmulMatrixScale_t` each: 0 for one number.
    pub scale_modes: [u32; 2],
}

/// What an algorithm may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preference {
    /// How algorithms are searched for.
    pub search: u32,
    /// The most bytes of work memory.
    pub work_bytes: u64,
}

impl Product {
    /// `HIPBLASLT_DATATYPE_INVALID`: no type was set.
    pub const UNSET: u32 = 255;

    /// A product of matrices that are not transposed, with nothing added: as a new descriptor has it.
    pub fn new(compute: hipblasComputeType_t, scale_type: hipDataType) -> Self {
        Self {
            compute: compute.0,
            scale_type: scale_type.0,
            operations: [hipblasOperation_t::HIPBLAS_OP_N.0; 2],
            epilogue: hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_DEFAULT.0,
            bias: 0,
            bias_type: Self::UNSET,
            scales: [0; 5],
            aux: 0,
            aux_ld: 0,
            aux_stride: 0,
            aux_type: Self::UNSET,
            pointer_mode: 0,
            amax: 0,
            scale_modes: [0; 2],
        }
    }
}

/// The layout of a live descriptor.
pub fn layout(descriptor: hipblasLtMatrixLayout_t) -> Option<Layout> {
    value(descriptor as usize)
}

/// The product of a live descriptor.
pub fn product(descriptor: hipblasLtMatmulDesc_t) -> Option<Product> {
    value(descriptor as usize)
}

/// The preference of a live descriptor.
pub fn preference(descriptor: hipblasLtMatmulPreference_t) -> Option<Preference> {
    value(descriptor as usize)
}

/// Puts the functions of descriptors into a table.
pub fn fill(table: &mut HipblasltTable) {
    table.hipblasLtMatrixLayoutCreate = layout_create;
    table.hipblasLtMatrixLayoutDestroy = destroy::<Layout, hipblasLtMatrixLayoutOpaque_t>;
    table.hipblasLtMatrixLayoutSetAttribute = layout_set;
    table.hipblasLtMatrixLayoutGetAttribute = layout_get;
    table.hipblasLtMatmulDescCreate = product_create;
    table.hipblasLtMatmulDescDestroy = destroy::<Product, hipblasLtMatmulDescOpaque_t>;
    table.hipblasLtMatmulDescSetAttribute = product_set;
    table.hipblasLtMatmulDescGetAttribute = product_get;
    table.hipblasLtMatmulPreferenceCreate = preference_create;
    table.hipblasLtMatmulPreferenceDestroy = destroy::<Preference, hipblasLtMatmulPreferenceOpaque_t>;
    table.hipblasLtMatmulPreferenceSetAttribute = preference_set;
    table.hipblasLtMatmulPreferenceGetAttribute = preference_get;
}

type Status = hipblasStatus_t;

const SUCCESS: Status = Status::HIPBLAS_STATUS_SUCCESS;
const VALUE: Status = Status::HIPBLAS_STATUS_INVALID_VALUE;

/// A field of a descriptor: attributes have 4 or 8 bytes.
enum Field<'a> {
    Word(&'a mut u32),
    Long(&'a mut u64),
}

/// A kind of descriptor, whose handles are numbers.
trait Descriptor: Copy + Send + 'static {
    fn live() -> &'static Handles<Mutex<Self>>;
    fn field(&mut self, attribute: u32) -> Option<Field<'_>>;
}

impl Descriptor for Layout {
    fn live() -> &'static Handles<Mutex<Self>> {
        static LIVE: LazyLock<Handles<Mutex<Layout>>> = LazyLock::new(|| Handles::new(0x90));
        &LIVE
    }

    fn field(&mut self, attribute: u32) -> Option<Field<'_>> {
        use Field::{Long, Word};
        Some(match layout_attribute(attribute) {
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT => Word(&mut self.batch),
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET => Long(&mut self.stride),
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_TYPE => Word(&mut self.data_type),
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_ORDER => Word(&mut self.order),
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_ROWS => Long(&mut self.rows),
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_COLS => Long(&mut self.cols),
            layout_attribute::HIPBLASLT_MATRIX_LAYOUT_LD => Long(&mut self.ld),
            _ => return None,
        })
    }
}

impl Descriptor for Product {
    fn live() -> &'static Handles<Mutex<Self>> {
        static LIVE: LazyLock<Handles<Mutex<Product>>> = LazyLock::new(|| Handles::new(0x91));
        &LIVE
    }

    fn field(&mut self, attribute: u32) -> Option<Field<'_>> {
        use Field::{Long, Word};
        let [a, b, c, d, aux] = &mut self.scales;
        let ([a_operation, b_operation], [a_mode, b_mode]) = (&mut self.operations, &mut self.scale_modes);
        Some(match product_attribute(attribute) {
            product_attribute::HIPBLASLT_MATMUL_DESC_TRANSA => Word(a_operation),
            product_attribute::HIPBLASLT_MATMUL_DESC_TRANSB => Word(b_operation),
            product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE => Word(&mut self.epilogue),
            product_attribute::HIPBLASLT_MATMUL_DESC_BIAS_POINTER => Long(&mut self.bias),
            product_attribute::HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE => Word(&mut self.bias_type),
            product_attribute::HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER => Long(a),
            product_attribute::HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER => Long(b),
            product_attribute::HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER => Long(c),
            product_attribute::HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER => Long(d),
            product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER => Long(aux),
            product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER => Long(&mut self.aux),
            product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD => Long(&mut self.aux_ld),
            product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE => Long(&mut self.aux_stride),
            product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE => Word(&mut self.aux_type),
            product_attribute::HIPBLASLT_MATMUL_DESC_POINTER_MODE => Word(&mut self.pointer_mode),
            product_attribute::HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER => Long(&mut self.amax),
            product_attribute::HIPBLASLT_MATMUL_DESC_A_SCALE_MODE => Word(a_mode),
            product_attribute::HIPBLASLT_MATMUL_DESC_B_SCALE_MODE => Word(b_mode),
            _ => return None,
        })
    }
}

impl Descriptor for Preference {
    fn live() -> &'static Handles<Mutex<Self>> {
        static LIVE: LazyLock<Handles<Mutex<Preference>>> = LazyLock::new(|| Handles::new(0x92));
        &LIVE
    }

    fn field(&mut self, attribute: u32) -> Option<Field<'_>> {
        Some(match preference_attribute(attribute) {
            preference_attribute::HIPBLASLT_MATMUL_PREF_SEARCH_MODE => Field::Word(&mut self.search),
            preference_attribute::HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES => {
                Field::Long(&mut self.work_bytes)
            }
            _ => return None,
        })
    }
}

fn value<D: Descriptor>(handle: usize) -> Option<D> {
    D::live().get(handle).ok().map(|found| *found.lock().unwrap_or_else(PoisonError::into_inner))
}

/// # Safety
/// The pointer is null or writable.
unsafe fn create<D: Descriptor, O>(out: *mut *mut O, new: D) -> Status {
    if out.is_null() {
        return VALUE;
    }
    let handle = D::live().insert(Arc::new(Mutex::new(new)));
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { out.write(handle as *mut O) };
    SUCCESS
}

unsafe extern "C" fn destroy<D: Descriptor, O>(descriptor: *mut O) -> Status {
    D::live().remove(descriptor as usize).map_or(VALUE, |_| SUCCESS)
}

/// # Safety
/// The buffer is null or has so many bytes.
unsafe fn set<D: Descriptor>(handle: usize, attribute: u32, from: *const c_void, bytes: usize) -> Status {
    let Ok(found) = D::live().get(handle) else { return VALUE };
    let mut descriptor = found.lock().unwrap_or_else(PoisonError::into_inner);
    let field = descriptor.field(attribute).filter(|_| !from.is_null());
    // SAFETY: S11: the caller's value of so many bytes, wherever it lies.
    unsafe {
        match field {
            Some(Field::Word(word)) if bytes == 4 => *word = from.cast::<u32>().read_unaligned(),
            Some(Field::Long(long)) if bytes == 8 => *long = from.cast::<u64>().read_unaligned(),
            _ => return VALUE,
        }
    }
    SUCCESS
}

/// # Safety
/// The buffer is null or has so many bytes; the pointer to the size is null or writable.
unsafe fn get<D: Descriptor>(
    handle: usize,
    attribute: u32,
    to: *mut c_void,
    bytes: usize,
    written: *mut usize,
) -> Status {
    let Some(mut descriptor) = value::<D>(handle) else { return VALUE };
    let Some(field) = descriptor.field(attribute) else { return VALUE };
    let size = if matches!(field, Field::Word(_)) { 4 } else { 8 };
    if bytes == 0 && written.is_null() || bytes != 0 && (to.is_null() || bytes != size) {
        return VALUE;
    }
    // SAFETY: S11: the caller's buffer of so many bytes, wherever it lies, and its out-pointer for the size.
    unsafe {
        match field {
            _ if bytes == 0 => {}
            Field::Word(word) => to.cast::<u32>().write_unaligned(*word),
            Field::Long(long) => to.cast::<u64>().write_unaligned(*long),
        }
        if !written.is_null() {
            written.write(size);
        }
    }
    SUCCESS
}

unsafe extern "C" fn layout_create(
    out: *mut hipblasLtMatrixLayout_t,
    data_type: hipDataType,
    rows: u64,
    cols: u64,
    ld: i64,
) -> Status {
    let ld = ld.cast_unsigned();
    let new = Layout { data_type: data_type.0, order: 0, rows, cols, ld, batch: 1, stride: 0 };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { create(out, new) }
}

unsafe extern "C" fn product_create(
    out: *mut hipblasLtMatmulDesc_t,
    compute: hipblasComputeType_t,
    scale_type: hipDataType,
) -> Status {
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { create(out, Product::new(compute, scale_type)) }
}

unsafe extern "C" fn preference_create(out: *mut hipblasLtMatmulPreference_t) -> Status {
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { create(out, Preference { search: 0, work_bytes: 0 }) }
}

macro_rules! attributes {
    ($($set:ident $get:ident: $D:ty, $handle:ty, $attribute:ty;)*) => {$(
        unsafe extern "C" fn $set(handle: $handle, attribute: $attribute, from: *const c_void, bytes: usize) -> Status {
            // SAFETY: S11: the caller's buffer.
            unsafe { set::<$D>(handle as usize, attribute.0, from, bytes) }
        }

        unsafe extern "C" fn $get(
            handle: $handle,
            attribute: $attribute,
            to: *mut c_void,
            bytes: usize,
            written: *mut usize,
        ) -> Status {
            // SAFETY: S11: the caller's buffers.
            unsafe { get::<$D>(handle as usize, attribute.0, to, bytes, written) }
        }
    )*};
}

attributes! {
    layout_set layout_get: Layout, hipblasLtMatrixLayout_t, layout_attribute;
    product_set product_get: Product, hipblasLtMatmulDesc_t, product_attribute;
    preference_set preference_get: Preference, hipblasLtMatmulPreference_t, preference_attribute;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{from_mut, from_ref, null_mut};

    #[test]
    fn attributes_are_kept_and_have_their_sizes() {
        let mut table = HipblasltTable::not_implemented();
        fill(&mut table);
        let mut made = null_mut();
        let (batch, mut read, mut size) = (7_i32, 0_i64, 0);
        // SAFETY: S1, S11: live out-pointers, and a descriptor that is destroyed once.
        unsafe {
            assert_eq!(
                (table.hipblasLtMatrixLayoutCreate)(&mut made, hipDataType::HIP_R_16F, 3, 4, 5),
                SUCCESS
            );
            let count = layout_attribute::HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
            let set = table.hipblasLtMatrixLayoutSetAttribute;
            assert_eq!(set(made, count, from_ref(&batch).cast(), 4), SUCCESS);
            assert_eq!(set(made, count, from_ref(&batch).cast(), 8), VALUE);
            assert_eq!(set(made, layout_attribute(99), from_ref(&batch).cast(), 4), VALUE);
            let (get, ld) =
                (table.hipblasLtMatrixLayoutGetAttribute, layout_attribute::HIPBLASLT_MATRIX_LAYOUT_LD);
            assert_eq!(get(made, ld, null_mut(), 0, &mut size), SUCCESS);
            assert_eq!(size, 8);
            assert_eq!(get(made, ld, from_mut(&mut read).cast(), 8, null_mut()), SUCCESS);
            assert_eq!(read, 5);
            assert_eq!(get(made, ld, from_mut(&mut read).cast(), 4, null_mut()), VALUE);
            let kept = layout(made).expect("it is live");
            assert_eq!((kept.rows, kept.cols, kept.batch, kept.data_type), (3, 4, 7, 2));
            assert_eq!((table.hipblasLtMatrixLayoutDestroy)(made), SUCCESS);
            assert_eq!((table.hipblasLtMatrixLayoutDestroy)(made), VALUE);
        }
        assert_eq!(layout(made), None);
    }
}
