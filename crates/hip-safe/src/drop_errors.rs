//! What happens to errors that have no caller to tell, as in `Drop`: they are counted and given to a hook.

use crate::Error;
use parking_lot::RwLock;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

thread_local! {
    /// What waits for the end of a [`collect`] on this thread.
    static COLLECTED: RefCell<Option<Vec<Error>>> = const { RefCell::new(None) };
}

/// How many errors of this process had no caller to be told so far:
/// - a drop that failed. It leaves its resource allocated: nothing is freed that may still be in use. Call `close` on an owner to get
///   the error instead;
/// - a panic in a function that a stream called on the host ([`Stream::launch_host`](crate::Stream::launch_host));
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

/// Counts the error and tells the hook.
pub(crate) fn report(error: &Error) {
    // A thread that ends has no list any more.
    let listed = COLLECTED.try_with(|list| list.borrow_mut().as_mut().map(|list| list.push(error.clone())));
    if let Ok(Some(())) = listed {
        return;
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    let hook = HOOK.read().clone();
    if let Some(hook) = hook {
        // A panic that left a drop during another panic would end the process.
        let _ = catch_unwind(AssertUnwindSafe(|| hook(error)));
    }
}

/// Does something in which no code of the program's may run: what is reported on this thread meanwhile goes to `told`, for the caller to
/// report.
pub(crate) fn collect<R>(told: &mut Vec<Error>, act: impl FnOnce() -> R) -> R {
    let Ok(former) = COLLECTED.try_with(|list| list.replace(Some(Vec::new()))) else { return act() };
    let answer = act();
    told.extend(COLLECTED.replace(former).into_iter().flatten());
    answer
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
    fn what_is_collected_is_left_to_the_caller() {
        let mut told = Vec::new();
        let answer = collect(&mut told, || {
            let mut inner = Vec::new();
            collect(&mut inner, || report(&Error::NotReady));
            assert_eq!(inner.len(), 1);
            report(&Error::EventNotRecorded);
            7
        });
        assert_eq!((answer, told.len()), (7, 1));
        assert!(matches!(told[..], [Error::EventNotRecorded]));
        // Whoever drops at a thread's end still has the others told.
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                collect(&mut Vec::new(), || ());
            }
        }
        thread_local!(static LAST: Last = const { Last });
        std::thread::spawn(|| LAST.with(|_| collect(&mut Vec::new(), || ()))).join().unwrap();
    }

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
    }
}
