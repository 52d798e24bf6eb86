//! User objects: objects of the program that graphs keep alive.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use crate::context::status;
use crate::graph::{self, user_objects};
use hip_sys::hip::{hipError_t, hipGraph_t, hipHostFn_t, hipUserObject_t};
use std::ffi::{c_uint, c_void};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// hipUserObjectNoDestructorSync: nobody may wait for the destructor. HIP defines no other kind.
const NO_DESTRUCTOR_SYNC: c_uint = 1;
/// hipGraphUserObjectMove: the graph takes over references that the program holds.
const MOVE: c_uint = 1;
/// INT_MAX.
const MOST: c_uint = c_uint::MAX >> 1;

pub(super) unsafe extern "C" fn hipUserObjectCreate(
    out: *mut hipUserObject_t,
    data: *mut c_void,
    destroy: hipHostFn_t,
    references: c_uint,
    flags: c_uint,
) -> hipError_t {
    let bad = out.is_null() || destroy.is_none() || !(1..=MOST).contains(&references);
    if bad || flags != NO_DESTRUCTOR_SYNC {
        return status(Err(VALUE));
    }
    let object = user_objects::create(destroy, data, references);
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(out, object as hipUserObject_t) })
}

pub(super) unsafe extern "C" fn hipGraphRetainUserObject(
    graph: hipGraph_t,
    object: hipUserObject_t,
    count: c_uint,
    flags: c_uint,
) -> hipError_t {
    if !(1..=MOST).contains(&count) || ![0, MOVE].contains(&flags) {
        return status(Err(VALUE));
    }
    let graph = graph::get(graph as usize);
    status(graph.and_then(|graph| user_objects::retain(&graph, object as usize, count, flags == MOVE)))
}
