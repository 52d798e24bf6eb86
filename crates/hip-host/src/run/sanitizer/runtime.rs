//! The functions of a sanitizer's run-time library, looked up by name.

use parking_lot::Mutex;
use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::ptr::null;
use std::sync::LazyLock;

/// The sanitizer library of this process.
pub(super) enum Runtime {
    Address(Address),
    Thread(Thread),
}

/// AddressSanitizer's.
pub(super) struct Address {
    poison: unsafe extern "C" fn(*const c_void, usize),
    unpoison: unsafe extern "C" fn(*const c_void, usize),
    start_switch: unsafe extern "C" fn(*mut *mut c_void, *const c_void, usize),
    finish_switch: unsafe extern "C" fn(*mut c_void, *mut *const c_void, *mut usize),
}

/// ThreadSanitizer's.
pub(super) struct Thread {
    current: unsafe extern "C" fn() -> *mut c_void,
    create: unsafe extern "C" fn(c_uint) -> *mut c_void,
    /// Contexts without a fiber, kept because creating one is slow.
    spare: Mutex<Vec<usize>>,
    switch: unsafe extern "C" fn(*mut c_void, c_uint),
    acquire: unsafe extern "C" fn(*const c_void),
    release: unsafe extern "C" fn(*const c_void),
    set_name: unsafe extern "C" fn(*mut c_void, *const c_char),
}

/// The sanitizer of this process, if it has one.
#[inline]
pub(super) fn get() -> Option<&'static Runtime> {
    static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(find);
    RUNTIME.as_ref()
}

fn find() -> Option<Runtime> {
    // SAFETY: S20: each function has the type that the sanitizers' public headers declare.
    unsafe {
        let address = || {
            Some(Address {
                poison: symbol(c"__asan_poison_memory_region")?,
                unpoison: symbol(c"__asan_unpoison_memory_region")?,
                start_switch: symbol(c"__sanitizer_start_switch_fiber")?,
                finish_switch: symbol(c"__sanitizer_finish_switch_fiber")?,
            })
        };
        let thread = || {
            Some(Thread {
                current: symbol(c"__tsan_get_current_fiber")?,
                create: symbol(c"__tsan_create_fiber")?,
                spare: Mutex::default(),
                switch: symbol(c"__tsan_switch_to_fiber")?,
                acquire: symbol(c"__tsan_acquire")?,
                release: symbol(c"__tsan_release")?,
                set_name: symbol(c"__tsan_set_fiber_name")?,
            })
        };
        address().map(Runtime::Address).or_else(|| thread().map(Runtime::Thread))
    }
}

/// The function of that name, if a library of this process has it.
///
/// # Safety
/// `F` is the type of a pointer to that function.
unsafe fn symbol<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: S20: a name that ends in a zero byte; RTLD_DEFAULT needs no handle.
    let found: *mut c_void = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: S20: not null, and the caller vouches for the type; a function pointer has the size of an address.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

impl Runtime {
    pub(super) fn address(&self) -> Option<&Address> {
        if let Self::Address(address) = self { Some(address) } else { None }
    }

    pub(super) fn thread(&self) -> Option<&Thread> {
        if let Self::Thread(thread) = self { Some(thread) } else { None }
    }
}

impl Address {
    /// Marks the bytes as inaccessible.
    pub(super) fn forbid(&self, start: *const c_void, bytes: usize) {
        // SAFETY: S20: notes about memory that the caller owns.
        unsafe { (self.poison)(start, bytes) };
    }

    /// Marks the bytes as accessible again.
    pub(super) fn allow(&self, start: *const c_void, bytes: usize) {
        // SAFETY: S20: as above.
        unsafe { (self.unpoison)(start, bytes) };
    }

    /// Announces a switch from the running stack to one of `size` bytes from `bottom`.
    pub(super) fn leave(&self, shadow: &mut *mut c_void, bottom: *const c_void, size: usize) {
        // SAFETY: S20: the output pointer for the left stack's fake stack is live; the switch follows.
        unsafe { (self.start_switch)(shadow, bottom, size) };
    }

    /// Announces that the running stack was entered. Returns the bounds of the stack that was left.
    pub(super) fn arrive(&self, shadow: *mut c_void) -> (*const c_void, usize) {
        let (mut bottom, mut size) = (null(), 0);
        // SAFETY: S20: the shadow is what this stack's `leave` stored, or null on its first entry.
        unsafe { (self.finish_switch)(shadow, &mut bottom, &mut size) };
        (bottom, size)
    }
}

impl Thread {
    /// Flag of a switch that creates no happens-before edge.
    const NO_ORDER: c_uint = 1;

    /// The running context.
    pub(super) fn current(&self) -> *mut c_void {
        // SAFETY: S20: no arguments.
        unsafe { (self.current)() }
    }

    /// Creates a context for a fiber, or reuses one.
    pub(super) fn create(&self) -> *mut c_void {
        if let Some(context) = self.spare.lock().pop() {
            return context as *mut c_void;
        }
        // SAFETY: S20: no flags.
        unsafe { (self.create)(0) }
    }

    /// Names a context in reports.
    pub(super) fn name(&self, context: *mut c_void, name: String) {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: S20: a live context; the name is copied.
        unsafe { (self.set_name)(context, name.as_ptr()) };
    }

    /// Keeps a context that does not run, for another fiber.
    pub(super) fn give_back(&self, context: *mut c_void) {
        self.spare.lock().push(context as usize);
    }

    /// Declares that this context runs from here on.
    pub(super) fn switch(&self, context: *mut c_void) {
        // SAFETY: S20: a live context, which runs on no other OS thread.
        unsafe { (self.switch)(context, Self::NO_ORDER) };
    }

    /// Orders the running context after all releases of the address.
    pub(super) fn acquire<T>(&self, address: *const T) {
        // SAFETY: S20: only the address is used.
        unsafe { (self.acquire)(address.cast()) };
    }

    /// Orders the running context before all later acquires of the address.
    pub(super) fn release<T>(&self, address: *const T) {
        // SAFETY: S20: as above.
        unsafe { (self.release)(address.cast()) };
    }

    /// Orders each of the contexts after all of them. None of them runs when this is called; the last one
    /// runs afterwards.
    pub(super) fn meet<T>(&self, contexts: &[*mut c_void], address: *const T) {
        for context in contexts {
            self.switch(*context);
            self.release(address);
        }
        for context in contexts {
            self.switch(*context);
            self.acquire(address);
        }
    }
}
