//! The operations of streams, as data.

use crate::device::Device;
use crate::event::Moment;
use crate::failure::ILLEGAL_ADDRESS;
use crate::graph::exec::Program;
use crate::guard;
use crate::library::Call;
use crate::memory::{self, Allocation, Range};
use crate::pool::Pool;
use crate::run::{self, Launch, Runner};
use hip_sys::hip::hipHostFn_t;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::Arc;

/// One operation.
#[derive(Clone)]
pub(crate) enum Work {
    /// Run a kernel. In a graph node it is only a template for the launches.
    Launch(Arc<Launch>),
    /// Copy memory.
    Copy(Copy),
    /// Fill memory with a value.
    Fill(Fill),
    /// Call a library.
    Call(Arc<Call>),
    /// Call a function of the program.
    Host(HostCall),
    /// Record the time.
    Record(Arc<Moment>),
    /// Free memory, unless it was taken for reuse since.
    Release(Arc<Released>),
    /// Run the nodes of a graph.
    Graph(Arc<Program>),
    /// Do nothing; used to wait for other operations.
    Nothing,
}

/// A copy of `height` rows of `width` bytes.
#[derive(Clone)]
pub(crate) struct Copy {
    pub(crate) to: *mut u8,
    pub(crate) to_pitch: usize,
    pub(crate) from: Source,
    pub(crate) from_pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// The ranges that its sides (to, from) lie in; `None` for memory that HIP does not know.
    pub(crate) sides: [Option<Range>; 2],
}

/// The source of a copy.
#[derive(Clone)]
pub(crate) enum Source {
    /// Memory that stays unchanged until the copy has run.
    Memory(*const u8),
    /// Our own copy of the caller's memory.
    Staged(Arc<[u8]>),
}

/// A fill of `count` values of `size` bytes (1, 2 or 4) at `to`.
#[derive(Clone)]
pub(crate) struct Fill {
    pub(crate) to: *mut u8,
    pub(crate) value: u32,
    pub(crate) size: usize,
    pub(crate) count: usize,
    /// The range that it lies in.
    pub(crate) side: Range,
}

/// Memory that a stream is going to free.
pub(crate) struct Released {
    pub(crate) range: Range,
    allocation: Mutex<Option<Allocation>>,
}

impl Released {
    pub(crate) fn new(allocation: Allocation) -> Arc<Self> {
        Arc::new(Self { range: allocation.range, allocation: Mutex::new(Some(allocation)) })
    }

    /// Whether the memory is still there, and belongs to that pool.
    pub(crate) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        let allocation = self.allocation.lock();
        allocation.as_ref().and_then(|it| it.pool.as_ref()).is_some_and(|charge| charge.is_of(pool))
    }

    /// Takes the memory, if it is still there, to put it back into the registry.
    pub(crate) fn take(&self) -> Option<Allocation> {
        self.allocation.lock().take()
    }

    /// Stores memory again that was put back into the registry in vain.
    pub(crate) fn hold(&self, allocation: Allocation) {
        *self.allocation.lock() = Some(allocation);
    }

    /// Frees the memory, if it is still there.
    fn give_back(&self) {
        if let Some(allocation) = self.take() {
            memory::finish_free(&self.range);
            drop(allocation);
        }
    }
}

impl Drop for Released {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// A function of the program and its argument.
#[derive(Clone)]
pub(crate) struct HostCall {
    pub(crate) function: hipHostFn_t,
    pub(crate) data: *mut c_void,
}

// SAFETY: S8: the pointers are used by the one thread that runs the operation; what they point to was checked
// against the registry of memory or is guaranteed by the caller (S11).
unsafe impl Send for Copy {}
// SAFETY: S8: as above.
unsafe impl Send for Fill {}
// SAFETY: S8: as above.
unsafe impl Send for HostCall {}
// SAFETY: S8: shared only in graph nodes, where it is read-only.
unsafe impl Sync for Copy {}
// SAFETY: S8: as above.
unsafe impl Sync for Fill {}
// SAFETY: S8: as above.
unsafe impl Sync for HostCall {}

impl Work {
    /// A description for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Launch(launch) => format!("kernel {}", launch.kernel.name),
            Self::Copy(copy) => format!("copy of {} bytes", copy.width * copy.height),
            Self::Fill(fill) => format!("fill of {} bytes", fill.size * fill.count),
            Self::Call(call) => call.job.name.to_owned(),
            Self::Host(_) => "host function".to_owned(),
            Self::Record(_) => "event record".to_owned(),
            Self::Release(_) => "hipFreeAsync".to_owned(),
            Self::Graph(program) => program.name(),
            Self::Nothing => "wait".to_owned(),
        }
    }

    /// A copy of the operation, to run it once more.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Launch(launch) => Self::Launch(Arc::new(launch.again())),
            _ => self.clone(),
        }
    }

    /// Whether it calls functions of the program.
    pub(crate) fn calls_host(&self) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Graph(program) => program.calls_host(),
            _ => false,
        }
    }

    /// For each library that it calls, whether the calling thread can run that.
    pub(crate) fn fits(&self) -> &[fn() -> bool] {
        match self {
            Self::Call(call) => std::slice::from_ref(&call.job.fits),
            Self::Graph(program) => program.fits(),
            _ => &[],
        }
    }

    /// Whether a thread of the program that waits leaves the operation to a dispatcher. This holds for
    /// functions of the program: a driver calls them on a thread of its own. It also holds for library calls
    /// in two cases. On a thread of rayon, a library call waits for the thread pool and runs other tasks
    /// meanwhile; a task that waits for this stream would deadlock. And a call may not fit the thread, such as
    /// one that is exiting and has lost the thread-local memory that products need.
    pub(crate) fn is_for_dispatchers(&self) -> bool {
        let unfit = |fits: &fn() -> bool| rayon::current_thread_index().is_some() || !fits();
        self.calls_host() || self.fits().iter().any(unfit)
    }

    /// The known memory ranges that copies, fills and library calls use.
    fn ranges(&self) -> impl Iterator<Item = &Range> {
        let (sides, side, uses) = match self {
            Self::Copy(copy) => (copy.sides.as_slice(), None, &[][..]),
            Self::Fill(fill) => (&[][..], Some(&fill.side), &[][..]),
            Self::Call(call) => (&[][..], None, call.uses.as_slice()),
            _ => (&[][..], None, &[][..]),
        };
        sides.iter().flatten().chain(side).chain(uses.iter().map(|it| &it.range))
    }

    /// Whether a copy, a fill or a library call uses memory of a device.
    pub(crate) fn uses_memory_of(&self, device: usize) -> bool {
        self.ranges().any(|range| range.is_of_device() && range.device == device)
    }

    /// The error message if memory that the operation uses was freed before it ran; such an operation must
    /// not run.
    fn lost(&self) -> Option<String> {
        let Range { base, .. } = *self.ranges().find(|range| !memory::alive(range))?;
        let freed = guard::describe_freed(base);
        let why = freed.unwrap_or_else(|| "the memory was freed before the operation ran".to_owned());
        Some(format!("{}: illegal address {base:#x}: {why}", self.name()))
    }

    /// Runs the operation. On a broken device it does only what other threads may wait for.
    pub(crate) fn run(self, device: &'static Device, runner: &mut Runner) {
        let healthy = device.healthy().is_ok();
        if healthy && let Some(message) = self.lost() {
            return device.poison(ILLEGAL_ADDRESS, &message);
        }
        match self {
            Self::Launch(launch) if healthy => {
                run::run(&launch, runner);
                if let Some(failure) = launch.take_failure() {
                    device.poison(failure.code, &failure.message);
                }
            }
            Self::Copy(copy) if healthy => copy.run(),
            Self::Fill(fill) if healthy => fill.run(),
            Self::Call(call) if healthy => {
                if let Err(failure) = call.run() {
                    device.poison(failure.code, &failure.message);
                }
            }
            Self::Host(HostCall { function: Some(function), data }) => {
                // SAFETY: S11: the program gave the function for this argument.
                unsafe { function(data) };
            }
            Self::Record(moment) => moment.pass(),
            Self::Release(released) => released.give_back(),
            Self::Graph(program) => program.run(runner),
            _ => {}
        }
    }
}

impl Source {
    fn start(&self) -> *const u8 {
        match self {
            Self::Memory(from) => *from,
            Self::Staged(bytes) => bytes.as_ptr(),
        }
    }
}

impl Copy {
    /// Whether each side (to, from) is a device's memory.
    pub(crate) fn sides_on_devices(&self) -> [bool; 2] {
        self.sides.map(|side| side.is_some_and(|range| range.is_of_device()))
    }

    fn run(&self) {
        let from = self.from.start();
        let tight = self.width == self.to_pitch && self.width == self.from_pitch;
        let (rows, width) = if tight { (1, self.width * self.height) } else { (self.height, self.width) };
        for row in 0..rows {
            // SAFETY: S2: both ranges were checked when the copy was submitted; ranges may overlap.
            unsafe {
                let from = from.add(row * self.from_pitch);
                std::ptr::copy(from, self.to.add(row * self.to_pitch), width);
            }
        }
    }
}

impl Fill {
    fn run(&self) {
        // SAFETY: S2: the range was checked when the fill was submitted; the address is a multiple of the size.
        unsafe {
            match self.size {
                1 => self.to.write_bytes(self.value as u8, self.count),
                2 => write_all(self.to.cast(), self.value as u16, self.count),
                _ => write_all(self.to.cast(), self.value, self.count),
            }
        }
    }
}

/// # Safety
/// `to` is aligned and `count` values may be written there. They need not have been written before.
unsafe fn write_all<T: std::marker::Copy>(to: *mut T, value: T, count: usize) {
    for index in 0..count {
        // SAFETY: S2: the caller vouches for the range.
        unsafe { to.add(index).write(value) };
    }
}
