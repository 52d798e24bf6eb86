//! Which parts of a file an AMD compiler reads: conditions are evaluated as far as they are known.

mod condition;
mod file;
mod macros;
mod project;
mod worlds;

pub(crate) use file::File;
pub(crate) use macros::{Macros, is_cuda};
pub(crate) use project::Project;
