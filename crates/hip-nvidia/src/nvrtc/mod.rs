//! hiprtc over NVRTC: the same functions and the same error numbers, with options spelled differently.

mod library;
mod options;
mod program;

pub(crate) use library::identity;

use hip_sys::{LoadError, RtcTable};

/// The table, if NVRTC was found.
pub(crate) fn table() -> Result<RtcTable, LoadError> {
    use program::*;
    library::open()?;
    Ok(RtcTable {
        hiprtcVersion,
        hiprtcGetErrorString,
        hiprtcCreateProgram,
        hiprtcDestroyProgram,
        hiprtcAddNameExpression,
        hiprtcCompileProgram,
        hiprtcGetProgramLogSize,
        hiprtcGetProgramLog,
        hiprtcGetLoweredName,
        hiprtcGetCodeSize,
        hiprtcGetCode,
    })
}
