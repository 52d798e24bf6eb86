//! One launch of a kernel: its grid, its arguments, and how its blocks are claimed.

use super::GridBarrier;
use super::trap_report::timed_out;
use crate::adversary::{self, Order};
use crate::code::Kernel;
use crate::failure::{Failure, TIMED_OUT};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Number of claims that each OS thread makes of a launch's blocks, roughly.
const TURNS: u64 = 8;

/// A kernel's arguments, packed as in a C struct, with a pointer to each.
pub(crate) struct Arguments {
    #[expect(dead_code, reason = "owns what the pointers point into")]
    bytes: Box<[u128]>,
    pointers: Box<[*mut c_void]>,
}

// SAFETY: S8: the bytes are written before the value is shared and only read afterwards.
unsafe impl Send for Arguments {}
// SAFETY: S8: as above.
unsafe impl Sync for Arguments {}

impl Arguments {
    /// Copies a packed buffer. It must hold `kernel.kernarg_size` bytes.
    pub(crate) fn from_packed(kernel: &Kernel, packed: &[u8]) -> Self {
        let mut bytes = vec![0_u128; (kernel.kernarg_size as usize).div_ceil(16)].into_boxed_slice();
        let start = bytes.as_mut_ptr().cast::<u8>();
        let size = (kernel.kernarg_size as usize).min(packed.len());
        // SAFETY: S12: `bytes` holds kernarg_size bytes, `packed` its length; both are alive and do not
        // overlap.
        unsafe { start.copy_from_nonoverlapping(packed.as_ptr(), size) };
        let pointer = |offset: &u32| start.wrapping_add(*offset as usize).cast();
        let pointers = kernel.offsets.iter().map(pointer).collect();
        Self { bytes, pointers }
    }

    /// Copies the arguments that `values` point to, one for each that the kernel declares.
    ///
    /// # Safety
    /// Each pointer points to as many readable bytes as the kernel declares for that argument.
    pub(crate) unsafe fn from_values(kernel: &Kernel, values: &[*mut c_void]) -> Self {
        let mut packed = vec![0_u8; kernel.kernarg_size as usize];
        for ((value, offset), size) in values.iter().zip(kernel.offsets).zip(kernel.sizes) {
            let (offset, size) = (*offset as usize, *size as usize);
            // SAFETY: S9: the caller vouches for the size of each value.
            let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
            packed[offset..offset + size].copy_from_slice(value);
        }
        Self::from_packed(kernel, &packed)
    }

    pub(crate) fn pointers(&self) -> *const *mut c_void {
        self.pointers.as_ptr()
    }
}

/// A launch. Threads claim its blocks in runs, in increasing order.
pub(crate) struct Launch {
    pub(crate) kernel: &'static Kernel,
    pub(crate) arguments: Arc<Arguments>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) wave: u32,
    /// Workers prefer launches with a higher value.
    pub(crate) urgency: i32,
    /// The grid barrier of a cooperative launch.
    pub(crate) grid_barrier: Option<GridBarrier>,
    blocks: u64,
    /// With an adversary: the order in which blocks run, claimed one at a time.
    order: Option<Order>,
    /// With an adversary: the order in which the threads of each block start.
    pub(crate) thread_order: Option<Order>,
    turn: u64,
    next: AtomicU64,
    failed: AtomicBool,
    /// When the watchdog ends it; set when the first thread begins to work on it.
    pub(crate) deadline: OnceLock<Instant>,
    /// The watchdog has ended it.
    expired: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

/// The parameters of a launch.
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) wave: u32,
    pub(crate) urgency: i32,
    /// Whether all blocks run at once.
    pub(crate) cooperative: bool,
}

impl Launch {
    /// Creates a launch. The shape must have been checked: no dimension is zero and the products are within
    /// the device's limits.
    pub(crate) fn new(kernel: &'static Kernel, arguments: Arguments, shape: Shape) -> Self {
        Self::with(kernel, Arc::new(arguments), shape)
    }

    /// A copy of the launch that has not begun.
    pub(crate) fn again(&self) -> Self {
        let &Self { grid, block, shared_bytes, wave, urgency, .. } = self;
        let cooperative = self.grid_barrier.is_some();
        let shape = Shape { grid, block, shared_bytes, wave, urgency, cooperative };
        Self::with(self.kernel, Arc::clone(&self.arguments), shape)
    }

    fn with(kernel: &'static Kernel, arguments: Arc<Arguments>, shape: Shape) -> Self {
        let Shape { grid, block, shared_bytes, wave, urgency, cooperative } = shape;
        let blocks = grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let threads = block.iter().map(|n| u64::from(*n)).product();
        let (order, thread_order) = adversary::get().map(|it| it.launch_orders(blocks, threads)).unzip();
        let one_by_one = cooperative || order.is_some();
        let turn = if one_by_one { 1 } else { (blocks / (TURNS * super::threads() as u64)).max(1) };
        let grid_barrier = cooperative.then(|| GridBarrier::new(blocks));
        let (next, failed, failure) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(None));
        Self {
            kernel,
            arguments,
            grid,
            block,
            shared_bytes,
            wave,
            urgency,
            grid_barrier,
            blocks,
            order,
            thread_order,
            turn,
            next,
            failed,
            deadline: OnceLock::new(),
            expired: AtomicBool::new(false),
            failure,
        }
    }

    /// The number of claims. More threads than that cannot help.
    pub(crate) fn turns(&self) -> u64 {
        self.blocks.div_ceil(self.turn)
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Notes that a block has run to its end.
    pub(crate) fn block_ended(&self) {
        if let Some(grid_barrier) = &self.grid_barrier {
            grid_barrier.leave();
        }
    }

    /// Claims the next blocks to run; `None` when all are claimed or the launch has failed.
    pub(crate) fn claim(&self) -> Option<Range<u64>> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let first = self.next.fetch_add(self.turn, Ordering::Relaxed);
        if first >= self.blocks {
            return None;
        }
        if let Some(order) = &self.order {
            let block = order.number_at(first);
            return Some(block..block + 1);
        }
        Some(first..self.blocks.min(first + self.turn))
    }

    /// The index in the grid of the block with that number.
    pub(crate) fn index(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    /// Ends the launch early. The first failure is reported.
    pub(crate) fn fail(&self, failure: Failure) {
        self.failed.store(true, Ordering::Relaxed);
        // Once the launch has expired, other failures are a consequence of that.
        if failure.code == TIMED_OUT || !self.expired.load(Ordering::Relaxed) {
            self.failure.lock().get_or_insert(failure);
        }
        self.end_waits();
    }

    /// The address that stands for the launch's end in ThreadSanitizer. It differs from the launch's own
    /// address and from any other launch's.
    pub(crate) fn sanitizer_end(&self) -> *const AtomicBool {
        &raw const self.failed
    }

    /// Ends the launch because its time is over. The threads that work on it report where they were. Blocks
    /// that wait for other blocks go on waiting until [`Launch::end_waits`].
    pub(crate) fn expire(&self) {
        self.expired.store(true, Ordering::Relaxed);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Ends the waits of blocks for each other.
    pub(crate) fn end_waits(&self) {
        if let Some(grid_barrier) = &self.grid_barrier {
            grid_barrier.give_up();
        }
    }

    /// Takes the reason why the launch failed, if it did. Called once, when no thread works on the launch any
    /// more.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        let reported = self.failure.lock().take();
        reported.or_else(|| {
            let message = || format!("kernel {}: {}", self.kernel.name, timed_out());
            self.expired.load(Ordering::Relaxed).then(|| Failure { code: TIMED_OUT, message: message() })
        })
    }
}
