//! x
pub use hip_nvidia::library::serves;
/// x
pub fn library() -> Result<hip_sys::Rocsolver, hip_sys::LoadError> {
    hip_nvidia_rocblas::library()?;
    todo!()
}
