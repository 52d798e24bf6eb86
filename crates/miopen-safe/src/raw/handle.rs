//! The handle.

use super::{Failure, calls};
use hip_sys::Miopen;
use hip_sys::miopen::{miopenAcceleratorQueue_t, miopenHandle_t};

calls! {
    create_with_stream = miopenCreateWithStream(
        handle: *mut miopenHandle_t, stream: miopenAcceleratorQueue_t,
    );
    destroy = miopenDestroy(handle: miopenHandle_t);
    set_stream = miopenSetStream(handle: miopenHandle_t, stream_id: miopenAcceleratorQueue_t);
    enable_profiling = miopenEnableProfiling(handle: miopenHandle_t, enable: bool);
    get_kernel_time = miopenGetKernelTime(handle: miopenHandle_t, time: *mut f32);
}
