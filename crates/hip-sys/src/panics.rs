//! Panics that must not go on, because C called the function or a drop is under way.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of the program's. A panic is caught here, and its message given: "no message" if it panicked with something else than a
/// text.
///
/// What it panicked with is dropped here as well. If that panics in turn, what comes then is leaked, because its drop could panic again
/// without end.
///
/// ```
/// assert_eq!(hip_sys::catch_panic(|| 5), Ok(5));
/// assert_eq!(hip_sys::catch_panic(|| panic!("number {}", 7)), Err::<(), _>("number 7".to_owned()));
/// ```
///
/// # Errors
/// The message.
pub fn catch_panic<R>(act: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| {
        let said = message(&*payload);
        if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(next);
        }
        said
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::panic_any;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Panics with one more of its kind when it is dropped.
    struct Again(&'static AtomicU32);

    impl Drop for Again {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic_any(Again(self.0));
        }
    }

    #[test]
    fn a_payload_that_panics_in_drop_is_dropped_once() {
        static DROPS: AtomicU32 = AtomicU32::new(0);
        assert_eq!(catch_panic(|| panic_any(Again(&DROPS))), Err::<(), _>("no message".to_owned()));
        assert_eq!(DROPS.load(Ordering::Relaxed), 1);
    }
}
