//! What crates that implement a platform share: handles, the names of errors and the last one of a thread, the table, libraries opened at
//! run time, and the descriptors of hipBLASLt and rocSPARSE.

mod handles;
pub mod hipblaslt;
mod last_error;
mod library;
mod names;
mod properties;
mod rocsolver;
mod same;
pub mod sparse;
mod table;
mod texts;

pub use handles::{Absent, Handles};
pub use last_error::LastError;
pub use library::SharedLibrary;
pub use names::{error_name, error_text};
pub use properties::{common_arch, device_attribute, legacy_properties};
pub use rocsolver::{Batched, Context, Element as SolverElement, Solver, table as rocsolver_table};
pub use same::same_hip;
pub use texts::{give_version, rocblas_status_name};

/// Returns the status as an error if the condition is false.
///
/// # Errors
/// That status.
pub fn ensure<S>(condition: bool, otherwise: S) -> Result<(), S> {
    if condition { Ok(()) } else { Err(otherwise) }
}
