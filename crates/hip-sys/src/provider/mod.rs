//! What crates that implement a platform share: handles, the names of errors, and libraries opened at run time.

mod handles;
mod library;
mod names;
mod properties;

pub use handles::{Absent, Handles};
pub use library::SharedLibrary;
pub use names::{error_name, error_text};
pub use properties::{device_attribute, legacy_properties};
