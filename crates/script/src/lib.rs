//! Scripts whose values are tensors, models, layers, quantized tensors, generators and tokenizers, in the language
//! [Rhai](https://rhai.rs/book). A value is a reference: a copy of it counts one more, and copies no numbers. The memory goes back
//! when the last one is dropped.
//!
//! ```
//! use script::{Interpreter, Options};
//!
//! # fn main() -> Result<(), script::Error> {
//! let mut interpreter = Interpreter::new(Options::default(), |text| print!("{text}"))?;
//! let text = "
//!     let x = tensor([[1.0, 2.0], [3.0, 4.0]]);
//!     let y = x;                              // the same numbers
//!     print(x.matmul(y.t()) + 1);
//!     (x * y).sum_all().to_scalar()
//! ";
//! let value = interpreter.run("example", text)?;
//! assert_eq!(value.to_string(), "30.0");
//!
//! // An error has its position, the operation, and the shapes and devices.
//! let error = interpreter.run("example", "let z = x[0];\n x.matmul(z.unsqueeze(0))").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "example:2:4: matmul: inner dimensions differ: [2, 2] x [1, 2] on cpu"
//! );
//! # Ok(())
//! # }
//! ```
//!
//! `docs/SCRIPTS.md` lists what scripts can call. The program `hipstack run` is this crate with a command line.
//!
//! # Limits
//! A script runs on one thread. [`Options::most_operations`] and [`Options::interrupted`] end it between two operations of the
//! language; an operation of a tensor is finished first. There is no limit on the memory of its texts, arrays and tensors.

#![forbid(unsafe_code)]

mod argument;
mod error;
mod files;
mod interpreter;
mod json;
mod measure;
mod metadata;
mod operands;
mod random;
mod registry;
mod tensors;
mod text;
mod value;
mod weights;

pub use error::Error;
pub use interpreter::{Interpreter, Options};
pub use value::Value;
