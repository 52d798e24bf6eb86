//! Options of a search. A search runs nothing, so its memory, order and tuning options have no effect.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, answer, check};
use crate::registry::Registry;
use hip_sys::miopen::{
    miopenFindOptions_t, miopenFindResultsOrder_t, miopenStatus_t, miopenTensorArgumentId_t,
};
use std::ffi::{c_int, c_void};

/// The options that exist.
pub(super) static OPTIONS: Registry<()> = Registry::new(0x80);

fn known(options: miopenFindOptions_t) -> miopenStatus_t {
    answer(|| OPTIONS.get(options))
}

pub(crate) unsafe extern "C" fn miopenCreateFindOptions(out: *mut miopenFindOptions_t) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { OPTIONS.create(out, ()) })
}

pub(crate) unsafe extern "C" fn miopenDestroyFindOptions(options: miopenFindOptions_t) -> miopenStatus_t {
    answer(|| OPTIONS.destroy(options))
}

pub(crate) unsafe extern "C" fn miopenSetFindOptionTuning(
    options: miopenFindOptions_t,
    _: c_int,
) -> miopenStatus_t {
    known(options)
}

pub(crate) unsafe extern "C" fn miopenSetFindOptionResultsOrder(
    options: miopenFindOptions_t,
    order: miopenFindResultsOrder_t,
) -> miopenStatus_t {
    answer(|| {
        OPTIONS.get(options)?;
        check(order.0 <= miopenFindResultsOrder_t::miopenFindResultsOrderByWorkspaceSize.0, BAD)
    })
}

/// No solution here needs a workspace.
pub(crate) unsafe extern "C" fn miopenSetFindOptionWorkspaceLimit(
    options: miopenFindOptions_t,
    _: usize,
) -> miopenStatus_t {
    known(options)
}

pub(crate) unsafe extern "C" fn miopenSetFindOptionPreallocatedWorkspace(
    options: miopenFindOptions_t,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    known(options)
}

pub(crate) unsafe extern "C" fn miopenSetFindOptionPreallocatedTensor(
    options: miopenFindOptions_t,
    _: miopenTensorArgumentId_t,
    _: *mut c_void,
) -> miopenStatus_t {
    known(options)
}
