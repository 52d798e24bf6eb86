//! Finds what breaks or changes when CUDA source is built for AMD's GPUs with HIP.
//!
//! Each [`Finding`] has a location, a rule, the reason and a remedy. The rules are written for HIP 7.2; names that AMD's tool
//! `hipify` translates, such as `cudaMalloc`, are no findings. Files that are checked together are read as one project: a macro that
//! one of them defines decides the conditions of the others. Code that only one of the two compilers sees gives no findings.
//!
//! ```
//! use port_check::{Checker, Severity, Source};
//!
//! let kernel = "
//! __global__ void sum(float* x) {
//!     float v = x[threadIdx.x];
//!     for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
//!     // __shfl_xor_sync(0xffffffff, v, 1) in a comment is no finding
//!     if (threadIdx.x == 0) x[0] = v;
//! }";
//! let report = Checker::new().check(&[Source::new("sum.cu", kernel)]);
//!
//! let first = &report.findings[0];
//! assert_eq!((first.rule, first.line, first.column), ("warp-size", 4, 5));
//! assert_eq!((report.findings[1].rule, report.findings[1].severity), ("sync-mask", Severity::Breaks));
//! assert_eq!(report.findings.len(), 2);
//! ```

#![forbid(unsafe_code)]

mod check;
mod error;
mod lex;
mod preprocess;
mod report;
mod rules;
mod scene;
mod source;

pub use check::Checker;
pub use error::Error;
pub use report::{Finding, Report, Severity};
pub use rules::{Rule, rules};
pub use source::Source;
