//! What this platform does not do yet: graphs and memory shared between processes. Questions about captures are
//! answered, as there are none.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::streams::stream_of;
use crate::context::status;
use hip_sys::hip::*;
use std::cell::Cell;
use std::ffi::{c_uint, c_ulonglong, c_void};

fn unsupported() -> hipError_t {
    status(Err(hipError_t::hipErrorNotSupported))
}

macro_rules! unsupported {
    ($($name:ident($($argument:ty),*);)*) => {
        $(pub(super) unsafe extern "C" fn $name($(_: $argument),*) -> hipError_t {
            unsupported()
        })*
    };
}

unsupported! {
    hipIpcGetMemHandle(*mut hipIpcMemHandle_t, *mut c_void);
    hipIpcOpenMemHandle(*mut *mut c_void, hipIpcMemHandle_t, c_uint);
    hipIpcCloseMemHandle(*mut c_void);
    hipStreamEndCapture(hipStream_t, *mut hipGraph_t);
    hipGraphCreate(*mut hipGraph_t, c_uint);
    hipGraphDestroy(hipGraph_t);
    hipGraphInstantiateWithFlags(*mut hipGraphExec_t, hipGraph_t, c_ulonglong);
    hipGraphLaunch(hipGraphExec_t, hipStream_t);
    hipGraphExecDestroy(hipGraphExec_t);
    hipGraphExecUpdate(hipGraphExec_t, hipGraph_t, *mut hipGraphNode_t, *mut hipGraphExecUpdateResult);
    hipGraphGetNodes(hipGraph_t, *mut hipGraphNode_t, *mut usize);
    hipGraphNodeGetType(hipGraphNode_t, *mut hipGraphNodeType);
    hipUserObjectCreate(*mut hipUserObject_t, *mut c_void, hipHostFn_t, c_uint, c_uint);
    hipGraphRetainUserObject(hipGraph_t, hipUserObject_t, c_uint, c_uint);
    hipGraphUpload(hipGraphExec_t, hipStream_t);
}

/// The null stream can never be captured, which is not a matter of support.
pub(super) unsafe extern "C" fn hipStreamBeginCapture(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    status(stream_of(stream).and_then(|_| {
        if mode.0 > hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0 {
            return Err(hipError_t::hipErrorInvalidValue);
        }
        if stream.is_null() {
            return Err(hipError_t::hipErrorStreamCaptureUnsupported);
        }
        Err(hipError_t::hipErrorNotSupported)
    }))
}

pub(super) unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    place: *mut hipStreamCaptureStatus,
) -> hipError_t {
    let none = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
    // SAFETY: S11: the caller's place for the result.
    status(stream_of(stream).and_then(|_| unsafe { give(place, none) }))
}

pub(super) unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    place: *mut hipStreamCaptureStatus,
    _id: *mut c_ulonglong,
    _graph: *mut hipGraph_t,
    _dependencies: *mut *const hipGraphNode_t,
    _count: *mut usize,
) -> hipError_t {
    let none = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
    // SAFETY: S11: the caller's place for the result.
    status(stream_of(stream).and_then(|_| unsafe { give(place, none) }))
}

thread_local! {
    static MODE: Cell<hipStreamCaptureMode> = const { Cell::new(hipStreamCaptureMode::hipStreamCaptureModeGlobal) };
}

pub(super) unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    let error = hipError_t::hipErrorInvalidValue;
    if mode.is_null() {
        return status(Err(error));
    }
    // SAFETY: S11: the caller's mode, which is read and written.
    status(unsafe {
        if (*mode).0 > hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0 {
            Err(error)
        } else {
            *mode = MODE.replace(*mode);
            Ok(())
        }
    })
}
