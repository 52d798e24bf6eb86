//! The host: a kernel's thread is one of hip-host's fibers, and a block stays on one OS thread.

use hip_host::abi::{Block, Runtime, Thread, WarpView};
use std::cell::Cell;
use std::ffi::c_void;

/// The running thread of a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) runtime: &'static Runtime,
    pub(crate) block: *const Block,
    pub(crate) thread: Thread,
    pub(crate) wave: u32,
    /// An address on the fiber's stack.
    pub(crate) stack: usize,
}

thread_local! {
    static FRAME: Cell<Option<Frame>> = const { Cell::new(None) };
}

/// Notes which thread of a kernel runs on this OS thread.
pub(crate) fn enter(frame: Option<Frame>) {
    FRAME.set(frame);
}

/// The thread that runs; `None` outside of kernels.
pub(crate) fn current() -> Option<Frame> {
    // An OS thread that has left a failed kernel still has its frame, but is not on the fiber's stack any more.
    FRAME.get().filter(|frame| is_on_stack(frame.stack))
}

/// Bytes below a fiber's first frame that hold its stack and no other fiber's.
const STACK: usize = 128 << 10;

/// Whether this function runs on the stack that has `first` near its top.
fn is_on_stack(first: usize) -> bool {
    let local = 0_u8;
    let here = (&raw const local).addr();
    (first.saturating_sub(STACK)..first).contains(&here)
}

#[inline]
fn frame() -> Frame {
    current().expect("indices, barriers, shared memory and waves exist in a launched kernel only")
}

/// What the block of the running thread looks like.
fn of_block<T>(read: impl FnOnce(&Block) -> T) -> T {
    // SAFETY: S25: the runner's block, which changes between threads only.
    read(unsafe { &*frame().block })
}

pub(crate) fn thread_idx() -> [u32; 3] {
    let Thread { x, y, z, .. } = frame().thread;
    [x, y, z]
}

pub(crate) fn block_idx() -> [u32; 3] {
    of_block(|block| block.index)
}

pub(crate) fn block_dim() -> [u32; 3] {
    of_block(|block| block.block)
}

pub(crate) fn grid_dim() -> [u32; 3] {
    of_block(|block| block.grid)
}

/// Threads of the grid.
pub(crate) fn grid_threads() -> [u32; 3] {
    let (grid, block) = (grid_dim(), block_dim());
    [grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]]
}

pub(crate) fn shared() -> *mut u8 {
    of_block(|block| block.shared.cast())
}

pub(crate) fn barrier(site: u32) {
    let frame = frame();
    // SAFETY: S25: called by the running thread of that block.
    unsafe { (frame.runtime.barrier)(frame.block, site, 0) };
    // Other threads ran on this OS thread meanwhile.
    enter(Some(frame));
}

pub(crate) fn wave_size() -> u32 {
    frame().wave
}

pub(crate) fn lane() -> u32 {
    let frame = frame();
    frame.thread.linear % frame.wave
}

/// Meets the other lanes of the wave that are at the same call.
fn meet(site: u32, value: u32, predicate: bool) -> WarpView {
    let frame = frame();
    let mut view = WarpView { slots: std::ptr::null(), mask: 0, predicates: 0, lane: 0, reserved: 0 };
    let (bytes, size) = (std::ptr::from_ref(&value).cast::<c_void>(), size_of::<u32>() as u32);
    // SAFETY: S25: called by the running thread of that block; value and view live for the call.
    unsafe { (frame.runtime.warp_sync)(frame.block, site, bytes, size, predicate.into(), &raw mut view) };
    enter(Some(frame));
    view
}

pub(crate) fn shuffle(value: u32, from: u32, site: u32) -> u32 {
    let view = meet(site, value, false);
    let from = from % wave_size();
    if view.mask >> from & 1 == 0 {
        return value;
    }
    // SAFETY: S25: the slots are 16 bytes for each lane, and this lane took part; they are valid until the next call of the runtime.
    unsafe { view.slots.add(16 * from as usize).cast::<u32>().read_unaligned() }
}

pub(crate) fn ballot(predicate: bool, site: u32) -> u64 {
    meet(site, 0, predicate).predicates
}

pub(crate) fn exp(x: f32) -> f32 {
    x.exp()
}

pub(crate) fn ln(x: f32) -> f32 {
    x.ln()
}

pub(crate) fn fast_exp(x: f32) -> f32 {
    x.exp()
}

pub(crate) fn fast_ln(x: f32) -> f32 {
    x.ln()
}

pub(crate) fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

pub(crate) fn fma(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

pub(crate) fn f32_to_f16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

#[cfg(test)]
mod tests {
    use super::is_on_stack;

    #[test]
    fn the_stack_of_another_is_not_this_one() {
        let local = 0_u8;
        let here = (&raw const local).addr();
        assert!(is_on_stack(here + 4096));
        assert!(!is_on_stack(here + (1 << 20)));
        assert!(!is_on_stack(here - (1 << 20)));
    }
}
