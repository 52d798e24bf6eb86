//! One unsafe function for each operation and type, over the forms in which the library has it: statuses become results. Nothing else
//! here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: a live handle that no other thread uses at the same time, with its pointer
//! mode set, operands inside live memory of the handle's device, sizes that agree, and that device current (docs/SAFETY.md S1 to S3).

// The functions repeat C's; the traits seal public ones, and are reachable by those alone.
#![allow(clippy::too_many_arguments, unreachable_pub)]

mod call;
pub(crate) mod ex;
pub(crate) mod handles;
mod level1;
mod level2;
mod level3;

pub(crate) use call::{Call, Failure, Form, Operand, status};
pub use ex::{ProductTypes, VectorProductCalls};
pub use level1::{ComplexCalls, ElementCalls, Level1Calls};
pub use level2::Level2Calls;
pub use level3::{GemmCalls, HermitianCalls, Level3Calls, Triangular};
