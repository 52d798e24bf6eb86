//! The crate's unsafe code on a platform of Rust functions, which Miri can interpret: `ci/miri.sh` does that. As an ordinary test program
//! it takes no time.
//!
//! What it shows under Miri and nowhere else: memory that is used after it was freed or before it was written, references that must not
//! be beside each other, and work that nothing orders. Each stream is a thread, so an order that was forgotten is a race of two threads.

mod buffers;
mod host;
mod launches;
mod order;
mod pool;
mod threads;
mod toy;
