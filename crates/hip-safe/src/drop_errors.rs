//! What happens to errors in `Drop`, which has no caller to tell: they are counted and given to a hook.

use crate::Error;
use parking_lot::RwLock;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

/// How many drops of this process have failed so far. A failed drop leaves its resource allocated: it never frees what
/// may still be in use. Call `close` on an owner to get the error instead.
pub fn drop_errors() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Calls `hook` with each error that a drop meets from now on, on the thread that drops. A later call replaces the hook.
/// A panic in the hook is caught.
pub fn on_drop_error(hook: impl Fn(&Error) + Send + Sync + 'static) {
    // The former hook is dropped after the lock: what it captured may call back here.
    let former = HOOK.write().replace(Arc::new(hook));
    drop(former);
}

/// Counts the error and tells the hook.
pub(crate) fn report(error: &Error) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let hook = HOOK.read().clone();
    if let Some(hook) = hook {
        // A panic that left a drop during another panic would end the process.
        let _ = catch_unwind(AssertUnwindSafe(|| hook(error)));
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
    }
}
