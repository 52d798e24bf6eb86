//! What happens to errors that have no caller to tell, as in `Drop`: they are counted and given to a hook.

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
    /// Twice how many [`DropErrorsLater`] this thread has, and one more if there is anything to be told then: one number, for it is looked at in
    /// every call.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { errors: Vec::new(), values: Vec::new() }) };
}

/// What is to be done when a thread's last [`DropErrorsLater`] goes.
#[derive(Default)]
struct Kept {
    /// To be told.
    errors: Vec<Error>,
    /// To be dropped.
    values: Vec<Box<dyn Any>>,
}

/// While it lives, the hook of [`on_drop_error`] is not called on this thread. The hook is called when the thread's last one is dropped.
/// Made by [`drop_errors_later`]. Code of this crate makes one before it takes a lock, because a hook, or the drop of a last reference, may
/// take the same lock.
#[must_use = "the hook is called as soon as this is dropped"]
pub struct DropErrorsLater {
    this_thread: PhantomData<*const ()>,
}

/// How many errors of this process had no caller to be told so far:
/// - a drop that failed. It leaves its resource allocated: nothing is freed that may still be in use. Call `close` on an owner to get
///   the error instead;
/// - a panic in a function that a stream called on the host ([`Stream::launch_host`](crate::Stream::launch_host)), or in its drop;
/// - the device that was current before a call, or before a [`CurrentDevice`](crate::CurrentDevice) guard, and could not be made
///   current again: the call itself may have succeeded;
/// - a wait for a stream that failed before memory, a module or the like was released, where waiting for the whole device did
///   instead: then nothing is left allocated.
///
/// So a number that does not change says that nothing leaked in drops; one that rises does not say that something did. The
/// [hook](on_drop_error) is told which error it was.
pub fn drop_errors() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Calls `hook` with each error that [`drop_errors`] counts from now on, on the thread that met it. A later call replaces the hook.
/// A panic in the hook is caught.
pub fn on_drop_error(hook: impl Fn(&Error) + Send + Sync + 'static) {
    // The former hook is dropped after the lock: what it captured may call back here.
    let former = HOOK.write().replace(Arc::new(hook));
    drop(former);
}

/// Counts an error of a drop in a crate above, and tells the hook: for owners of libraries' handles, whose `Drop` has no caller either.
/// Failures that are not of HIP's are told as [`Error::Hip`] with the library's function and status.
pub fn report_drop_error(error: &Error) {
    report(error);
}

/// Keeps the hook of [`on_drop_error`] from running on this thread while a lock is held. Crates above call this before they take a lock,
/// because the hook is code of the program and may take the same lock. Errors are counted at once.
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
///     let told = LOCK.lock().unwrap();
///     hip_safe::report_drop_error(&hip_safe::Error::NotReady);
///     assert_eq!(*told, 0);
/// }
/// assert_eq!(*LOCK.lock().unwrap(), 1);
/// ```
pub fn drop_errors_later() -> DropErrorsLater {
    later()
}

/// Added to [`HELD`] for each [`DropErrorsLater`].
const ONE: usize = 2;
/// Set in [`HELD`] if there is anything to be told.
const ANY: usize = 1;

/// Keeps errors, and what [`drop_later`] is given, until locks are released.
// A call of its own: the thread's variables are found at once only in this module.
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
            tell_kept();
        }
    }
}

#[cold]
fn tell_kept() {
    HELD.set(0);
    let Kept { errors, values } = KEPT.try_with(RefCell::take).unwrap_or_default();
    errors.iter().for_each(tell);
    drop(values);
}

/// Drops a value when no [`DropErrorsLater`] is left: it may be the last reference to a stream or a device, whose end waits and runs code of the program's.
pub(crate) fn drop_later(value: impl Any) {
    if HELD.get() == 0 {
        return;
    }
    let value = Box::new(value);
    if KEPT.try_with(|kept| kept.borrow_mut().values.push(value)).is_ok() {
        HELD.set(HELD.get() | ANY);
    }
}

/// Counts the error and tells the hook, at once or when no [`DropErrorsLater`] is left.
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
        // A panic that left a drop during another panic would end the process. This may be the hook's last reference.
        let _message = hip_sys::catch_panic(move || hook(error));
    }
}

/// Reports a failure; success is no news.
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
    fn errors_are_counted_and_told_and_a_panic_stays_inside() {
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
        // The last references to others go then as well.
        let value = Arc::new(());
        let outer = later();
        drop_later(Arc::clone(&value));
        assert_eq!(Arc::strong_count(&value), 2, "a lock may be held");
        drop(outer);
        assert_eq!(Arc::strong_count(&value), 1);
        drop_later(Arc::clone(&value));
        assert_eq!(Arc::strong_count(&value), 1);
        // Whoever drops at a thread's end is told too.
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
