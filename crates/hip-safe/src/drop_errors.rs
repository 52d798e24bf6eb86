//! Errors without a caller to return them to, as in `Drop`: they are counted and passed to a hook.

use crate::Error;
use parking_lot::RwLock;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

thread_local! {
    /// Twice the number of this thread's [`DropErrorsLater`], plus one if anything is deferred. It is a single number because every call reads
    /// it.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { errors: Vec::new(), values: Vec::new() }) };
}

/// The work that is deferred until a thread's last [`DropErrorsLater`] is dropped.
#[derive(Default)]
struct Kept {
    /// Errors for the hook.
    errors: Vec<Error>,
    /// Values to drop.
    values: Vec<Box<dyn Any>>,
}

/// Defers the hook of [`on_drop_error`] on this thread while it lives. The hook is called when the thread's last one is dropped.
/// [`drop_errors_later`] creates it. This crate creates one before it takes a lock, because a hook, or the drop of a last reference, may take
/// the same lock.
#[must_use = "the hook is called as soon as this is dropped"]
pub struct DropErrorsLater {
    this_thread: PhantomData<*const ()>,
}

/// The number of errors in this process so far that had no caller:
/// - a drop that failed. The resource stays allocated, because it may still be in use. Call `close` on an owner to get the error instead.
/// - a panic in a host function ([`Stream::launch_host`](crate::Stream::launch_host)), or in its drop.
/// - a device that could not be made current again after a call or a [`CurrentDevice`](crate::CurrentDevice) guard. The call itself may have
///   succeeded.
/// - a failed wait for a stream before a release, if a wait for the whole device then succeeded. The resource was released.
///
/// If the number has not changed, nothing leaked in drops. If it has risen, something may have leaked; the [hook](on_drop_error) gets each
/// error.
pub fn drop_errors() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Calls `hook` with each error that [`drop_errors`] counts from now on, on the thread where it occurred. A later call replaces the hook.
/// A panic in the hook is caught.
pub fn on_drop_error(hook: impl Fn(&Error) + Send + Sync + 'static) {
    // The former hook is dropped after the lock, because the drop of a captured value may call back here.
    let former = HOOK.write().replace(Arc::new(hook));
    drop(former);
}

/// Counts an error of a drop in a crate above and passes it to the hook: for owners of libraries' handles. A failure of another library is
/// reported as [`Error::Hip`] with the library's function and status.
pub fn report_drop_error(error: &Error) {
    report(error);
}

/// Defers the hook of [`on_drop_error`] on this thread while a lock is held. Crates above call this before they take a lock, because the hook
/// is code of the program and may take the same lock. Errors are still counted immediately.
///
/// ```
/// use std::sync::Mutex;
///
/// static LOCK: Mutex<u32> = Mutex::new(0);
///
/// hip_safe::on_drop_error(|_| *LOCK.lock().unwrap() += 1);
/// {
///     // Dropped last, when nothing is locked any more.
///     let _later = hip_safe::drop_errors_later();
///     let errors = LOCK.lock().unwrap();
///     hip_safe::report_drop_error(&hip_safe::Error::NotReady);
///     assert_eq!(*errors, 0);
/// }
/// assert_eq!(*LOCK.lock().unwrap(), 1);
/// ```
pub fn drop_errors_later() -> DropErrorsLater {
    later()
}

/// Added to [`HELD`] for each [`DropErrorsLater`].
const ONE: usize = 2;
/// Set in [`HELD`] if anything is deferred.
const ANY: usize = 1;

/// Defers errors, and the values of [`drop_later`], until locks are released.
// Not inlined: access to the thread-local variables is fast only in this crate's own code.
#[inline(never)]
pub(crate) fn later() -> DropErrorsLater {
    HELD.with(|held| held.set(held.get() + ONE));
    DropErrorsLater { this_thread: PhantomData }
}

impl Drop for DropErrorsLater {
    #[inline(never)]
    fn drop(&mut self) {
        let left = HELD.with(|held| {
            held.set(held.get() - ONE);
            held.get()
        });
        if left == ANY {
            run_deferred();
        }
    }
}

#[cold]
fn run_deferred() {
    HELD.set(0);
    let Kept { errors, values } = KEPT.try_with(RefCell::take).unwrap_or_default();
    errors.iter().for_each(tell);
    drop(values);
}

/// Drops a value when no [`DropErrorsLater`] is left. It may be the last reference to a stream or a device, whose drop waits and runs code of
/// the program.
pub(crate) fn drop_later(value: impl Any) {
    if HELD.get() == 0 {
        return;
    }
    let value = Box::new(value);
    if KEPT.try_with(|kept| kept.borrow_mut().values.push(value)).is_ok() {
        HELD.set(HELD.get() | ANY);
    }
}

/// Counts the error and calls the hook, immediately or when no [`DropErrorsLater`] is left.
pub(crate) fn report(error: &Error) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let kept = HELD.get() > 0 && KEPT.try_with(|kept| kept.borrow_mut().errors.push(error.clone())).is_ok();
    if kept {
        HELD.set(HELD.get() | ANY);
    } else {
        tell(error);
    }
}

fn tell(error: &Error) {
    let hook = HOOK.read().clone();
    if let Some(hook) = hook {
        // A panic out of a drop during another panic would abort the process. The hook is moved, because this may be its last reference.
        let _message = hip_sys::catch_panic(move || hook(error));
    }
}

/// Reports the error of a result, if it is one.
pub(crate) fn report_failure(result: Result<(), Error>) {
    if let Err(error) = result {
        report(&error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn errors_are_counted_and_reported_and_a_panic_of_the_hook_is_caught() {
        static TOLD: AtomicBool = AtomicBool::new(false);
        on_drop_error(|error| {
            TOLD.store(matches!(error, Error::NotReady), Ordering::SeqCst);
            panic!("a hook that panics");
        });
        report_failure(Ok(()));
        assert_eq!(drop_errors(), 0);
        report_failure(Err(Error::NotReady));
        assert_eq!((drop_errors(), TOLD.load(Ordering::SeqCst)), (1, true));
        TOLD.store(false, Ordering::SeqCst);
        let outer = later();
        let inner = later();
        report(&Error::NotReady);
        drop(inner);
        assert_eq!((drop_errors(), TOLD.load(Ordering::SeqCst)), (2, false), "a lock may be held");
        drop(outer);
        assert!(TOLD.load(Ordering::SeqCst));
        // Deferred values are dropped then too.
        let value = Arc::new(());
        let outer = later();
        drop_later(Arc::clone(&value));
        assert_eq!(Arc::strong_count(&value), 2, "a lock may be held");
        drop(outer);
        assert_eq!(Arc::strong_count(&value), 1);
        drop_later(Arc::clone(&value));
        assert_eq!(Arc::strong_count(&value), 1);
        // Errors at the end of a thread are reported too.
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                let _later = later();
                report(&Error::NotReady);
            }
        }
        thread_local!(static LAST: Last = const { Last });
        TOLD.store(false, Ordering::SeqCst);
        std::thread::spawn(|| LAST.with(|_| drop(later()))).join().unwrap();
        assert_eq!((drop_errors(), TOLD.load(Ordering::SeqCst)), (3, true));
    }
}
