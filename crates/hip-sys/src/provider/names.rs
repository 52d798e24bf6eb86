//! Names and one-line meanings of the error codes.

use crate::hip::hipError_t;
use std::ffi::CStr;

/// Sorted by code.
#[rustfmt::skip]
static NAMES: &[(u32, &CStr, &CStr)] = &[
    (0, c"hipSuccess", c"no error"),
    (1, c"hipErrorInvalidValue", c"an argument is out of its range, null, or unknown to HIP"),
    (2, c"hipErrorOutOfMemory", c"not enough memory"),
    (3, c"hipErrorNotInitialized", c"HIP is not initialised"),
    (4, c"hipErrorDeinitialized", c"HIP is shutting down"),
    (5, c"hipErrorProfilerDisabled", c"the profiler is disabled"),
    (6, c"hipErrorProfilerNotInitialized", c"the profiler is not initialised"),
    (7, c"hipErrorProfilerAlreadyStarted", c"the profiler runs already"),
    (8, c"hipErrorProfilerAlreadyStopped", c"the profiler is stopped already"),
    (9, c"hipErrorInvalidConfiguration", c"the launch configuration is not valid"),
    (12, c"hipErrorInvalidPitchValue", c"a pitch is smaller than the width, or zero"),
    (13, c"hipErrorInvalidSymbol", c"no such symbol"),
    (17, c"hipErrorInvalidDevicePointer", c"not a device pointer"),
    (21, c"hipErrorInvalidMemcpyDirection", c"no such copy direction"),
    (35, c"hipErrorInsufficientDriver", c"the driver is too old"),
    (52, c"hipErrorMissingConfiguration", c"a launch configuration is missing"),
    (53, c"hipErrorPriorLaunchFailure", c"an earlier launch failed"),
    (98, c"hipErrorInvalidDeviceFunction", c"not a device function"),
    (100, c"hipErrorNoDevice", c"there is no device"),
    (101, c"hipErrorInvalidDevice", c"no such device"),
    (200, c"hipErrorInvalidImage", c"the bytes are not a code object"),
    (201, c"hipErrorInvalidContext", c"not a valid context"),
    (202, c"hipErrorContextAlreadyCurrent", c"the context is current already"),
    (205, c"hipErrorMapFailed", c"mapping failed"),
    (206, c"hipErrorUnmapFailed", c"unmapping failed"),
    (207, c"hipErrorArrayIsMapped", c"the array is mapped"),
    (208, c"hipErrorAlreadyMapped", c"mapped already"),
    (209, c"hipErrorNoBinaryForGpu", c"the code object has no code for this device"),
    (210, c"hipErrorAlreadyAcquired", c"acquired already"),
    (211, c"hipErrorNotMapped", c"not mapped"),
    (212, c"hipErrorNotMappedAsArray", c"not mapped as an array"),
    (213, c"hipErrorNotMappedAsPointer", c"not mapped as a pointer"),
    (214, c"hipErrorECCNotCorrectable", c"memory error that could not be corrected"),
    (215, c"hipErrorUnsupportedLimit", c"no such limit"),
    (216, c"hipErrorContextAlreadyInUse", c"the context is in use"),
    (217, c"hipErrorPeerAccessUnsupported", c"the devices cannot access each other"),
    (218, c"hipErrorInvalidKernelFile", c"not a kernel file"),
    (219, c"hipErrorInvalidGraphicsContext", c"not a valid graphics context"),
    (300, c"hipErrorInvalidSource", c"the source is not valid"),
    (301, c"hipErrorFileNotFound", c"no such file"),
    (302, c"hipErrorSharedObjectSymbolNotFound", c"a symbol of a shared object was not found"),
    (303, c"hipErrorSharedObjectInitFailed", c"a shared object failed to initialise"),
    (304, c"hipErrorOperatingSystem", c"an operating system call failed"),
    (400, c"hipErrorInvalidHandle", c"the handle is not valid"),
    (401, c"hipErrorIllegalState", c"the object is in a state that does not allow this"),
    (500, c"hipErrorNotFound", c"no such name"),
    (600, c"hipErrorNotReady", c"not finished yet"),
    (700, c"hipErrorIllegalAddress", c"a kernel used an address that is not its own"),
    (701, c"hipErrorLaunchOutOfResources", c"the launch needs more resources than there are"),
    (702, c"hipErrorLaunchTimeOut", c"the kernel ran too long"),
    (704, c"hipErrorPeerAccessAlreadyEnabled", c"peer access is enabled already"),
    (705, c"hipErrorPeerAccessNotEnabled", c"peer access is not enabled"),
    (708, c"hipErrorSetOnActiveProcess", c"not possible once the process has used HIP"),
    (709, c"hipErrorContextIsDestroyed", c"the object was destroyed"),
    (710, c"hipErrorAssert", c"an assertion in a kernel failed"),
    (712, c"hipErrorHostMemoryAlreadyRegistered", c"the host memory is registered already"),
    (713, c"hipErrorHostMemoryNotRegistered", c"the host memory is not registered"),
    (719, c"hipErrorLaunchFailure", c"a kernel failed"),
    (720, c"hipErrorCooperativeLaunchTooLarge", c"the cooperative launch does not fit on the device"),
    (801, c"hipErrorNotSupported", c"not supported"),
    (900, c"hipErrorStreamCaptureUnsupported", c"not allowed while the stream is capturing"),
    (901, c"hipErrorStreamCaptureInvalidated", c"an earlier error ended the capture"),
    (902, c"hipErrorStreamCaptureMerge", c"two captures cannot be merged"),
    (903, c"hipErrorStreamCaptureUnmatched", c"the capture began on another stream"),
    (904, c"hipErrorStreamCaptureUnjoined", c"a captured fork was not joined"),
    (905, c"hipErrorStreamCaptureIsolation", c"the capture depends on work outside it"),
    (906, c"hipErrorStreamCaptureImplicit", c"the operation would make the null stream part of a capture"),
    (907, c"hipErrorCapturedEvent", c"the event was recorded in a capture"),
    (908, c"hipErrorStreamCaptureWrongThread", c"the capture belongs to another thread"),
    (910, c"hipErrorGraphExecUpdateFailure", c"the graph differs too much from the one that was instantiated"),
    (911, c"hipErrorInvalidChannelDescriptor", c"not a valid channel descriptor"),
    (912, c"hipErrorInvalidTexture", c"not a valid texture"),
    (999, c"hipErrorUnknown", c"unknown error"),
    (1052, c"hipErrorRuntimeMemory", c"the runtime's memory is exhausted"),
    (1053, c"hipErrorRuntimeOther", c"the runtime failed"),
    (1054, c"hipErrorTbd", c"not decided"),
];

/// The C name of a code: "hipErrorUnknown" if HIP has none.
#[doc(alias = "hipGetErrorName")]
pub fn error_name(error: hipError_t) -> &'static CStr {
    of(error).0
}

/// What a code means, in a few words.
#[doc(alias = "hipGetErrorString")]
pub fn error_text(error: hipError_t) -> &'static CStr {
    of(error).1
}

fn of(error: hipError_t) -> (&'static CStr, &'static CStr) {
    match NAMES.binary_search_by_key(&error.0, |(code, ..)| *code) {
        Ok(index) => (NAMES[index].1, NAMES[index].2),
        Err(_) => (c"hipErrorUnknown", c"unknown error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_found() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(of(hipError_t::hipErrorNotReady).0, c"hipErrorNotReady");
        assert_eq!(of(hipError_t(31_415)).0, c"hipErrorUnknown");
    }
}
