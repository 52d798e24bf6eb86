//! STUB
pub use hip_nvidia::library::serves;
use hip_sys::{LoadError, Rocsparse};
/// STUB
pub fn library() -> Result<Rocsparse, LoadError> {
    Err(LoadError::NotProvided { library: "rocSPARSE", reason: "not yet" })
}
