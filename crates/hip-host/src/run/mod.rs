//! Running kernels: blocks over OS threads, threads of a block over fibers. Independent of HIP's API.

mod alt_stack;
mod callbacks;
mod cooperative;
mod launch;
mod registers;
mod runner;
mod sanitizer;
mod schedule;
mod stacks;
mod trap;
mod trap_report;
mod warp;
mod watchdog;
mod workers;

pub(crate) use callbacks::RUNTIME;
pub(crate) use cooperative::GridBarrier;
pub(crate) use launch::{Arguments, Launch, Shape};
pub(crate) use runner::Runner;
pub(crate) use stacks::{THREADS_PER_PROCESSOR, most as most_stacks};
pub(crate) use workers::{THREAD_STACK, run, threads};

/// Most threads a block may have.
pub(crate) const MAX_BLOCK: u32 = 1024;
/// Most dynamic shared memory a block may have, in bytes.
pub(crate) const MAX_SHARED: u32 = 64 << 10;
