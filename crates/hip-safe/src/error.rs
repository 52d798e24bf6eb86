//! The errors of this crate. Each says what was requested, what was found and what to do.

use crate::{DeviceLabel, MemoryInfo, PoolStatistics, StreamId};
use hip_sys::hip::hipError_t;
use std::sync::Arc;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A C function returned an error.
    #[error("{call} answered {name} ({code}) while {doing}{}", explanation(cause.as_deref(), *code))]
    Hip {
        /// The C function.
        call: &'static str,
        /// The status, a `hipError_t`.
        code: u32,
        /// The status' name, as the platform spells it.
        name: String,
        /// The purpose of the call.
        doing: String,
        /// The cause of the fault, if the platform reports it: the kernel, the thread, the address.
        cause: Option<Box<str>>,
    },
    /// The platform's library lacks a function.
    #[error(transparent)]
    Unsupported(#[from] hip_sys::Unsupported),
    /// The device or the platform does not support an operation.
    #[error("{device} does not offer {what}")]
    NotOffered {
        /// The device.
        device: DeviceLabel,
        /// What was asked for.
        what: &'static str,
    },
    /// An earlier sticky error: the device cannot be used any more.
    #[error("{device} is out of use since: {first}. Every later call fails too; restart the process")]
    Poisoned {
        /// The device.
        device: DeviceLabel,
        /// The first sticky error.
        first: Arc<Error>,
    },
    /// The process has begun to exit, and the driver may be gone.
    #[error("the process is exiting: no more calls are made")]
    Exiting,
    /// A call was made in a host function, for which the driver may be waiting.
    #[error("a function that a stream calls on the host makes no calls itself: let another thread make them")]
    InHostFunction,
    /// A host function panicked, or the drop of one that was never called.
    #[error("a host function on {stream} panicked: {message}")]
    HostFunctionPanicked {
        /// The stream.
        stream: StreamId,
        /// The message of the panic.
        message: Box<str>,
    },
    /// There is no such device.
    #[error("there is no device {ordinal}: this platform has {count}, counted from 0")]
    DeviceOrdinal {
        /// The ordinal asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },
    /// Two values of different devices were used together.
    #[error("{what} belongs to {bound} and cannot be used on {used}; make one there")]
    WrongDevice {
        /// What was used.
        what: &'static str,
        /// The device it belongs to.
        bound: DeviceLabel,
        /// The device it was used on.
        used: DeviceLabel,
    },
    /// A length in bytes overflows.
    #[error("{count} elements of {element_bytes} bytes are more than an address space holds; ask for fewer")]
    SizeOverflow {
        /// How many elements were asked for.
        count: usize,
        /// The size of each.
        element_bytes: usize,
    },
    /// The device is out of memory.
    #[error(
        "{device} is out of memory: {requested} bytes wanted, {}; the pool has {} bytes, \
         {} of them in buffers, the largest free piece is of {}. Drop buffers, or take smaller ones",
        free_at_driver(*driver), pool.reserved, pool.active, largest_free
    )]
    OutOfMemory {
        /// The device.
        device: DeviceLabel,
        /// The bytes asked for.
        requested: usize,
        /// Free and total bytes, if the driver reports them.
        driver: Option<MemoryInfo>,
        /// The figures of the device's pool.
        pool: Box<PoolStatistics>,
        /// The pool's largest free piece in bytes.
        largest_free: usize,
    },
    /// The host is out of memory.
    #[error("the host is out of memory: {requested} bytes wanted. Read back a smaller part at a time")]
    HostMemory {
        /// The bytes asked for.
        requested: usize,
    },
    /// A range lies outside its buffer.
    #[error("elements {start}..{end} were asked for, of a buffer of {len}")]
    OutOfRange {
        /// The first element.
        start: usize,
        /// One past the last.
        end: usize,
        /// The length of the buffer.
        len: usize,
    },
    /// Two lengths that must be equal differ.
    #[error("{what}: {expected} elements are needed, {got} were given")]
    LengthMismatch {
        /// The operation.
        what: &'static str,
        /// The length needed.
        expected: usize,
        /// The length given.
        got: usize,
    },
    /// A view cannot be recast to elements of another type.
    #[error("{bytes} bytes at {address:#x} cannot be seen as elements of {size} bytes aligned to {align}")]
    Recast {
        /// The bytes of the view.
        bytes: usize,
        /// Its address.
        address: usize,
        /// The size of the elements asked for.
        size: usize,
        /// Their alignment.
        align: usize,
    },
    /// The source of a device's memory cannot be changed while memory is in use.
    #[error(
        "{bytes} bytes of {device}'s memory are in use: choose where it comes from before the first buffer is made"
    )]
    MemoryInUse {
        /// The device.
        device: DeviceLabel,
        /// Bytes that the pool has from the driver.
        bytes: usize,
    },
    /// The event was never recorded.
    #[error("the event was never recorded: call Stream::record_event first")]
    EventNotRecorded,
    /// The event was created without timing.
    #[error("the event was made without timing: make it with Event::new")]
    EventWithoutTiming,
    /// The two events of a time measurement are swapped.
    #[error(
        "{milliseconds} ms lie between the earlier event and this one: this one came first, so ask the other for the time since it"
    )]
    EventsSwapped {
        /// What the driver answers: below 0.
        milliseconds: f32,
    },
    /// An operation cannot be part of the graph that a stream captures. No call was made, and the capture continues.
    #[error("{what} cannot happen while a stream captures a graph: {remedy}")]
    Capturing {
        /// What was asked for.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A captured graph has nodes that allocate or free memory, which this crate cannot order.
    #[error(
        "{nodes} operations of the captured graph allocate or free memory: allocate through the stream that captures, \
         not by its raw handle"
    )]
    GraphMemory {
        /// How many.
        nodes: usize,
    },
    /// An executable graph cannot take over another graph.
    #[error("the graph cannot be taken over: {why}. Instantiate it instead ({error})")]
    GraphUpdate {
        /// The reason.
        why: &'static str,
        /// What the driver answered.
        error: Box<Error>,
    },
    /// A graph may use the pinned buffer at any launch, so it cannot be borrowed as a slice.
    #[error(
        "a graph {} this pinned buffer, and its next launch would do so beside the slice: copy its elements with to_vec \
         and copy_from_slice, or drop the graph and what was instantiated from it",
        if *writes {"writes"} else {"reads"}
    )]
    PinnedInGraph {
        /// Whether a graph writes it, or only reads it.
        writes: bool,
    },
    /// The work is not complete.
    #[error("the work is not complete yet: synchronize first, or ask again")]
    NotReady,
    /// The bytes are not an image that a module can be loaded from.
    #[error("{name} cannot be loaded: {reason}")]
    InvalidImage {
        /// The module, as its caller named it.
        name: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The platform has no run-time compiler, or it could not be loaded.
    #[error("no run-time compiler: {0}")]
    NoCompiler(hip_sys::LoadError),
    /// A text does not compile.
    #[error("{name} does not compile for {arch}:\n{log}")]
    Compilation {
        /// The text, as its caller named it.
        name: String,
        /// The architecture it was compiled for.
        arch: String,
        /// What the compiler says.
        log: String,
    },
    /// The run-time compiler of this version does not know the architecture. It was not called, because AMD's would end the process.
    #[error(transparent)]
    UnknownArchitecture(#[from] Box<hip_sys::UnknownArchitecture>),
    /// A source that cannot be given to a compiler.
    #[error("{name} cannot be compiled: {reason}")]
    InvalidSource {
        /// The text, as its caller named it.
        name: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A function of the run-time compiler answered an error.
    #[error("{call} answered {text} ({code}) for {name}")]
    Rtc {
        /// The C function.
        call: &'static str,
        /// The status, a `hiprtcResult`.
        code: u32,
        /// The status in the platform's words.
        text: String,
        /// The text, as its caller named it.
        name: String,
    },
    /// The module has no such kernel.
    #[error("{module} has no kernel {kernel:?}{}; {hint}", suggestions(.near))]
    KernelNotFound {
        /// The kernel asked for.
        kernel: String,
        /// The module, and the text that it was compiled from.
        module: String,
        /// Similar names in the module or in that text.
        near: Vec<String>,
        /// Why a kernel may have another name, and what to do then.
        hint: Box<str>,
    },
    /// A name is bound to other code.
    #[error(
        "module {name:?} was loaded from code with the hash {loaded} and is asked for with code of the hash {given}; take \
         another name, or call Device::unload_custom first"
    )]
    ModuleConflict {
        /// The name.
        name: String,
        /// The hash of the code that the device has under that name.
        loaded: String,
        /// The hash of the code given now.
        given: String,
    },
    /// A condition of a [`kernel!`](macro@crate::kernel) does not hold.
    #[error("kernel {kernel} is not launched: {condition} does not hold")]
    LaunchRefused {
        /// The kernel.
        kernel: &'static str,
        /// The condition, as it is written.
        condition: &'static str,
    },
    /// The arguments of a launch are not those that the kernel declares.
    #[error("kernel {kernel} takes {expected} and was given {got}")]
    LaunchMismatch {
        /// The kernel.
        kernel: String,
        /// Number and sizes that it declares.
        expected: String,
        /// Number and sizes that were given.
        got: String,
    },
    /// A launch is larger than the device or the kernel allows.
    #[error("kernel {kernel}: {what} is {requested}, allowed are {limit}")]
    LaunchLimit {
        /// The kernel.
        kernel: String,
        /// Which figure.
        what: &'static str,
        /// The figure asked for.
        requested: u64,
        /// What it may be.
        limit: String,
    },
}

hip_sys::debug_by_display!(Error);

impl Error {
    pub(crate) fn capturing(what: &'static str, remedy: &'static str) -> Self {
        Self::Capturing { what, remedy }
    }

    /// The `hipError_t` behind the error, where a C function answered one; a poisoned device's first one.
    pub fn hip_code(&self) -> Option<u32> {
        match self {
            Self::Hip { code, .. } => Some(*code),
            Self::Poisoned { first, .. } => first.hip_code(),
            Self::GraphUpdate { error, .. } => error.hip_code(),
            Self::OutOfMemory { .. } => Some(hipError_t::hipErrorOutOfMemory.0),
            _ => None,
        }
    }
}

fn free_at_driver(driver: Option<MemoryInfo>) -> String {
    match driver {
        Some(MemoryInfo { free, total }) => format!("{free} of {total} free at the driver"),
        None => "and the driver does not say how many are free".into(),
    }
}

/// What the platform knows, else what the code usually means.
fn explanation(cause: Option<&str>, code: u32) -> String {
    cause.map_or_else(|| remedy(code).to_owned(), |cause| format!(": {cause}"))
}

fn remedy(code: u32) -> &'static str {
    match hipError_t(code) {
        hipError_t::hipErrorNoDevice => {
            ". No GPU answers: check the driver and the rights on /dev/kfd and /dev/dri"
        }
        hipError_t::hipErrorInsufficientDriver => ". The driver is older than the library: update it",
        hipError_t::hipErrorNoBinaryForGpu => ". Build the module for this device's architecture",
        hipError_t::hipErrorInvalidImage | hipError_t::hipErrorInvalidKernelFile => {
            ". The image is not one for this platform: build it again"
        }
        hipError_t::hipErrorIllegalAddress => ". A kernel touched memory that is not its own",
        hipError_t::hipErrorLaunchTimeOut => ". A kernel took longer than it may",
        hipError_t::hipErrorLaunchFailure => ". A kernel failed while it ran",
        hipError_t::hipErrorAssert => ". An assertion in a kernel failed; its text is on standard error",
        hipError_t::hipErrorLaunchOutOfResources => ". Use smaller blocks or less shared memory",
        hipError_t::hipErrorNotSupported => ". This platform does not offer it",
        _ => "",
    }
}

fn suggestions(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; it has {}", near.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_and_what_to_do() {
        let error = Error::Hip {
            call: "hipModuleLoadData",
            code: 209,
            name: "hipErrorNoBinaryForGpu".into(),
            doing: "loading it".into(),
            cause: None,
        };
        assert_eq!(
            error.to_string(),
            "hipModuleLoadData answered hipErrorNoBinaryForGpu (209) while loading it. \
             Build the module for this device's architecture"
        );
        let error = Error::Hip {
            call: "hipStreamSynchronize",
            code: 700,
            name: "hipErrorIllegalAddress".into(),
            doing: "waiting".into(),
            cause: Some("kernel k, block (0, 0, 0): illegal address 0x0: null pointer".into()),
        };
        assert_eq!(
            error.to_string(),
            "hipStreamSynchronize answered hipErrorIllegalAddress (700) while waiting: \
             kernel k, block (0, 0, 0): illegal address 0x0: null pointer"
        );
        let error = Error::KernelNotFound {
            kernel: "ad".into(),
            module: "m".into(),
            near: vec!["add".into(), "and".into()],
            hint: "ask for one of them".into(),
        };
        assert_eq!(error.to_string(), "m has no kernel \"ad\"; it has add, and; ask for one of them");
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn an_error_is_small_enough_to_return() {
        assert!(size_of::<Error>() <= 96, "{}", size_of::<Error>());
    }
}
