//! Reads what compilers for AMD GPUs write: code objects, and bundles of them.
//!
//! - [`CodeObject`] is what one ELF file says: the GPU it is for and its kernels, with every argument, size and limit.
//! - [`Bundle`] is several files in one, compressed or not, and knows which of them a device takes.
//! - [`TargetId`] names a GPU with its features, and says which code runs on which device.
//!
//! The bytes may come from anywhere, so nothing here trusts them: what does not fit is an [`Error`] with a reason.
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
//! // A bundle of nothing: the magic words, and no entries.
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
