//! What `#[kernel]` makes for the host: a module of hip-host with the kernel, and the search for a GPU's code.

mod code;
mod run;

pub use code::load;
pub use run::{Registration, Signature};

/// What generated code names.
pub use hip_safe;
