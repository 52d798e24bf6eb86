//! What a stream can be asked to do, as data.

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
    /// Run a kernel. In a node of a graph it is only the pattern of those that run.
    Launch(Arc<Launch>),
    /// Copy memory.
    Copy(Copy),
    /// Fill memory with a value.
    Fill(Fill),
    /// Do what a library was asked for.
    Call(Arc<Call>),
    /// Call a function of the program.
    Host(HostCall),
    /// Note the time.
    Record(Arc<Moment>),
    /// Give memory back, unless somebody has taken it since.
    Release(Arc<Released>),
    /// Run the nodes of a graph.
    Graph(Arc<Program>),
    /// Only wait for what comes before.
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

/// Where a copy reads.
#[derive(Clone)]
pub(crate) enum Source {
    /// In memory that stays as it is until the copy has run.
    Memory(*const u8),
    /// In our own copy of the caller's memory.
    Staged(Arc<[u8]>),
}

/// `count` values of `size` bytes (1, 2 or 4) at `to`.
#[derive(Clone)]
pub(crate) struct Fill {
    pub(crate) to: *mut u8,
    pub(crate) value: u32,
    pub(crate) size: usize,
    pub(crate) count: usize,
    /// The range that it lies in.
    pub(crate) side: Range,
}

/// Memory that a stream is to give back.
pub(crate) struct Released {
    pub(crate) range: Range,
    allocation: Mutex<Option<Allocation>>,
}

impl Released {
    pub(crate) fn new(allocation: Allocation) -> Arc<Self> {
        Arc::new(Self { range: allocation.range, allocation: Mutex::new(Some(allocation)) })
    }

    /// Whether the memory is there still, and of that pool.
    pub(crate) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        let allocation = self.allocation.lock();
        allocation.as_ref().and_then(|it| it.pool.as_ref()).is_some_and(|charge| charge.is_of(pool))
    }

    /// Takes the memory, if it is there still, to put it back into the registry.
    pub(crate) fn take(&self) -> Option<Allocation> {
        self.allocation.lock().take()
    }

    /// Takes memory up again that was put back into the registry for nothing.
    pub(crate) fn hold(&self, allocation: Allocation) {
        *self.allocation.lock() = Some(allocation);
    }

    /// Gives the memory back, if it is there still.
    fn give_back(&self) {
        if let Some(allocation) = self.take() {
            memory::left(&self.range);
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

// SAFETY: S8: the pointers are used by the one thread that runs the operation; what they point to was checked against
// the registry of memory or is the caller's word (S11).
unsafe impl Send for Copy {}
// SAFETY: S8: as above.
unsafe impl Send for Fill {}
// SAFETY: S8: as above.
unsafe impl Send for HostCall {}
// SAFETY: S8: only read by those who share it, in nodes of graphs.
unsafe impl Sync for Copy {}
// SAFETY: S8: as above.
unsafe impl Sync for Fill {}
// SAFETY: S8: as above.
unsafe impl Sync for HostCall {}

impl Work {
    /// What it is, for messages.
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

    /// The operation, to be run once more.
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

    /// Whether the calling thread, one of the program's that waits, leaves it to dispatchers: functions of the program, which a driver
    /// calls on a thread of its own, and calls of libraries on a thread of rayon's. Those wait for threads of a pool, and a thread of
    /// rayon's takes up other tasks meanwhile: one that waits for this stream would never end. So it does with calls that do not fit the
    /// thread.
    pub(crate) fn is_for_dispatchers(&self) -> bool {
        let unfit = |fits: &fn() -> bool| rayon::current_thread_index().is_some() || !fits();
        self.calls_host() || self.fits().iter().any(unfit)
    }

    /// The memory that copies, fills and calls of libraries use, as far as HIP knows it.
    fn ranges(&self) -> impl Iterator<Item = &Range> {
        let (sides, side, uses) = match self {
            Self::Copy(copy) => (copy.sides.as_slice(), None, &[][..]),
            Self::Fill(fill) => (&[][..], Some(&fill.side), &[][..]),
            Self::Call(call) => (&[][..], None, call.uses.as_slice()),
            _ => (&[][..], None, &[][..]),
        };
        sides.iter().flatten().chain(side).chain(uses.iter().map(|it| &it.range))
    }

    /// Whether a copy, a fill or a call of a library uses memory of a device.
    pub(crate) fn uses_memory_of(&self, device: usize) -> bool {
        self.ranges().any(|range| range.is_of_device() && range.device == device)
    }

    /// What there is to say of one of them whose memory was given back before its turn: it must not run.
    fn lost(&self) -> Option<String> {
        let Range { base, .. } = *self.ranges().find(|range| !memory::alive(range))?;
        let freed = guard::describe_freed(base);
        let why = freed.unwrap_or_else(|| "the memory was freed before the operation ran".to_owned());
        Some(format!("{}: illegal address {base:#x}: {why}", self.name()))
    }

    /// Does it. On a broken device only what others may wait for is done.
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
