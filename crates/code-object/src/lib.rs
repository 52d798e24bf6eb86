//! Reads what compilers for AMD GPUs write: code objects, and bundles of them.
//!
//! - [`CodeObject`] is the content of one ELF file: the GPU it is for and its kernels, with every argument, size and limit.
//! - [`Bundle`] is several code objects in one file, compressed or not. It finds the one that a device can run.
//! - [`TargetId`] names a GPU with its features. It decides which code runs on which device.
//!
//! The bytes may be untrusted: malformed input is an [`Error`] with a reason.
//!
//! ```
//! use code_object::{Bundle, CodeObject, TargetId};
//!
//! assert!(CodeObject::parse(b"not an ELF file").is_err());
//!
//! let device = TargetId::parse("gfx90a:sramecc+:xnack-")?;
//! assert!(TargetId::parse("gfx90a")?.runs_on(&device));
//! assert!(!TargetId::parse("gfx90a:xnack+")?.runs_on(&device));
//!
//! // An empty bundle: the magic bytes and no entries.
//! let bundle = Bundle::parse(b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0")?;
//! assert!(bundle.best_for(&device).is_none());
//! # Ok::<(), code_object::Error>(())
//! ```

#![forbid(unsafe_code)]

mod argument;
mod bundle;
mod code;
mod compressed;
mod descriptor;
mod elf;
mod error;
mod kernel;
mod metadata;
mod reader;
mod symbols;
mod target;
mod words;
mod work;
mod write;

pub use argument::{Access, AddressSpace, Argument, Hidden, Object, ValueKind};
pub use bundle::{Bundle, Entry};
pub use code::CodeObject;
pub use compressed::{MAX_UNCOMPRESSED, Method};
pub use error::Error;
pub use kernel::{KernelInfo, Param};
pub use reader::{CutShort, Reader, part};
pub use target::{Feature, TargetId};
pub use write::{compress_bundle, write_bundle};
