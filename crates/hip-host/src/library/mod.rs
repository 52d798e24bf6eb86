//! Calls of the libraries that this crate brings beside HIP: each is one operation of a stream.

mod call;
mod pool;

pub(crate) use call::{Call, Use, Uses};
pub(crate) use pool::pool;
