//! Reads what compilers for AMD GPUs write: code objects, and what they say of their kernels.
//!
//! The bytes may come from anywhere, so nothing here trusts them: what does not fit is an error with a reason.
//!
//! ```
//! use code_object::CodeObject;
//!
//! assert!(CodeObject::parse(b"not an ELF file").is_err());
//! ```

#![forbid(unsafe_code)]

mod metadata;

pub use metadata::{CodeObject, KernelInfo, Param};
