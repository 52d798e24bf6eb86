//! What crates that implement a platform share: handles, the names of errors and the last one of a thread, the table, hipBLASLt's descriptors, and libraries opened at run time.

mod handles;
pub mod hipblaslt;
mod last_error;
mod library;
mod names;
mod properties;
mod same;
mod table;

pub use handles::{Absent, Handles};
pub use last_error::LastError;
pub use library::SharedLibrary;
pub use names::{error_name, error_text};
pub use properties::{common_arch, device_attribute, legacy_properties};
pub use same::same_hip;
