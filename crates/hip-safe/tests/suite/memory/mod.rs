//! Memory: buffers and views, sharing, pinned and managed memory, other processes, the pool, and what is told of it.

mod buffers;
mod check;
mod ipc;
mod managed;
mod pinned;
mod pool_waits;
mod shared;
pub(crate) mod traced;
