//! Code of kernels: modules and functions, run-time compilation, and the caches of both.
//!
//! `cache` keeps compiled code on disk. `module_cache` keeps the modules that a device has loaded.

mod cache;
mod compile;
mod failure;
mod function;
mod kernel_names;
mod loaded;
mod module;
mod module_cache;
mod near_names;
mod single_flight;

pub use cache::{CacheAnswer, CacheStatistics, CacheUsage, CodeCache};
pub(crate) use compile::Text;
pub use compile::{Compiled, Source, compiler_version};
pub(crate) use failure::FailureRecords;
pub use function::Function;
pub(crate) use function::ask_attribute;
pub use module::Module;
pub(crate) use module_cache::ModuleCache;
pub use module_cache::ModuleCode;
