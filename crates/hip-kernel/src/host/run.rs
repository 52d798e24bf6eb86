//! A Rust kernel as a module of hip-host.

use crate::backend::cpu::{Frame, current, enter};
use hip_host::abi::{ABI, Block, KERNEL_BARRIERS, KERNEL_KEEPS_STACKS, Kernel, Module, Runtime, Thread};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Once, OnceLock};

/// A kernel, as `#[kernel]` describes it.
///
/// # Safety
/// `call` reads arguments of these sizes and alignments.
pub unsafe trait Signature: 'static {
    /// Where it was written: the package's library and the module path, and the kernel's name.
    const PATH: &'static str;
    /// The kernel's name.
    const NAME: &'static str;
    /// The library of its crate, after which files with code for GPUs are named.
    const LIBRARY: &'static str;
    /// Size and alignment of each argument.
    const ARGUMENTS: &'static [(usize, usize)];
    /// What code for a GPU has in it, if it was built for these sizes and those of buffers' elements: see `layout`.
    const LAYOUT: [u8; 16];
    /// What hip-host was told.
    fn registration() -> &'static Registration;
    /// Runs one thread.
    ///
    /// # Safety
    /// On a fiber of hip-host, with pointers to the arguments, which a launch has checked.
    unsafe fn call(arguments: *const *mut c_void);
}

/// The tables of one kernel that hip-host reads, for waves of 32 and of 64 lanes.
pub struct Registration {
    runtime: OnceLock<&'static Runtime>,
    modules: [OnceLock<Tables>; 2],
}

struct Tables(*const Module);

// SAFETY: S8: the tables are leaked and never change.
unsafe impl Send for Tables {}
// SAFETY: S8: as above.
unsafe impl Sync for Tables {}

impl Registration {
    /// Of a kernel that hip-host does not know yet.
    #[expect(clippy::new_without_default, reason = "a static of generated code")]
    pub const fn new() -> Self {
        Self { runtime: OnceLock::new(), modules: [OnceLock::new(), OnceLock::new()] }
    }
}

/// Makes the kernel known to hip-host.
pub(super) fn register<K: Signature>() -> Result<(), hip_host::RegisterError> {
    catch_messages();
    // SAFETY: S25: the tables are those that `module` makes of the kernel's own signature, and they are leaked. `threads` catches panics, and
    // the kernel keeps its stacks.
    unsafe {
        hip_host::register_module(module::<K, 32>)?;
        hip_host::register_module(module::<K, 64>)
    }
}

/// What hip-host calls to get the module for waves of that size.
unsafe extern "C" fn module<K: Signature, const WAVE: u32>(runtime: *const Runtime) -> *const Module {
    // SAFETY: S11: hip-host passes its table, which is static.
    let runtime: &'static Runtime = unsafe { &*runtime };
    if runtime.abi != ABI {
        return ptr::null();
    }
    let registration = K::registration();
    registration.runtime.get_or_init(|| runtime);
    let of_wave = &registration.modules[usize::from(WAVE == 64)];
    of_wave.get_or_init(|| Tables(tables::<K, WAVE>())).0
}

fn tables<K: Signature, const WAVE: u32>() -> *const Module {
    let sizes: Vec<u32> = K::ARGUMENTS.iter().map(|(size, _)| *size as u32).collect();
    // The C layout of a struct of the arguments.
    let mut total = 0_usize;
    let offset = |&(size, align): &(usize, usize)| {
        let offset = total.next_multiple_of(align);
        total = offset + size;
        offset as u32
    };
    let offsets: Vec<u32> = K::ARGUMENTS.iter().map(offset).collect();
    let kernel = Kernel {
        name: text(K::NAME).into_raw(),
        nargs: sizes.len() as u32,
        flags: KERNEL_BARRIERS | KERNEL_KEEPS_STACKS,
        arg_size: Box::leak(sizes.into_boxed_slice()).as_ptr(),
        arg_offset: Box::leak(offsets.into_boxed_slice()).as_ptr(),
        kernarg_size: total as u32,
        max_threads: 0,
        plain: None,
        threads: Some(threads::<K, WAVE>),
        next: ptr::null(),
    };
    let kernels = Box::leak(Box::new(kernel));
    let name = text(K::PATH).into_raw();
    Box::leak(Box::new(Module { abi: ABI, wave_size: WAVE, name, kernels, globals: ptr::null() }))
}

/// Runs threads of a block, one after another, until none is left.
unsafe extern "C" fn threads<K: Signature, const WAVE: u32>(
    block: *const Block,
    arguments: *const *mut c_void,
) {
    let Some(runtime) = K::registration().runtime.get().copied() else { return };
    let mut thread = Thread { x: 0, y: 0, z: 0, linear: u32::MAX };
    let stack = (&raw const thread).addr();
    // SAFETY: S25: hip-host calls this on a fiber, with a block of the launch; `thread` is a local.
    while unsafe { (runtime.next_thread)(block, &raw mut thread) } != 0 {
        enter(Some(Frame { runtime, block, thread, wave: WAVE, stack }));
        // SAFETY: S25: hip-host passes the arguments, of the sizes in the tables.
        let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { K::call(arguments) }));
        if let Err(panic) = outcome {
            fail(runtime, block, &thread, panic);
        }
    }
    enter(None);
}

/// Reports a panic as the failure of the launch. It does not return: hip-host leaves the fiber.
fn fail(runtime: &Runtime, block: *const Block, thread: &Thread, panic: Box<dyn Any + Send>) {
    let message = format!("panicked: {}", said(&*panic));
    // The hook may be another one by now, or what it kept belongs to a panic that the kernel caught.
    let caught = CAUGHT.take().filter(|caught| caught.message == message);
    let unknown = || ("an unknown location".to_owned(), 0);
    let (file, line) = caught.map_or_else(unknown, |caught| (caught.file, caught.line));
    // A value whose drop panics must not unwind into hip-host.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
    // The fiber is left with nothing dropped, so these are leaked.
    let (message, file) = (text(&message).into_raw(), text(&file).into_raw());
    let index = [thread.x, thread.y, thread.z];
    enter(None);
    // SAFETY: S25: on the fiber of that thread; the texts are C strings.
    unsafe { (runtime.fail)(block, index.as_ptr(), 0, message, file, line) };
}

/// The text of a panic.
fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a value that is no text")
}

/// A panic of a kernel, as the hook saw it.
struct Caught {
    message: String,
    file: String,
    line: u32,
}

thread_local! {
    static CAUGHT: RefCell<Option<Caught>> = const { RefCell::new(None) };
}

/// Keeps the message and the location of a panic in a kernel, which only a hook sees. Other panics go on to the hook that was there.
fn catch_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if current().is_none() {
                return before(info);
            }
            let message = format!("panicked: {}", said(info.payload()));
            let (file, line) =
                info.location().map_or(Default::default(), |at| (at.file().to_owned(), at.line()));
            CAUGHT.replace(Some(Caught { message, file, line }));
        }));
    });
}

/// A text for C, up to its first zero byte.
fn text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
