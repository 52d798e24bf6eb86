//! The last error of a thread.

use crate::hip::hipError_t;
use std::cell::Cell;

/// A thread's last error of one platform. A platform has one in a `thread_local!`.
#[derive(Debug)]
pub struct LastError(Cell<hipError_t>);

impl LastError {
    /// No error yet.
    pub const fn new() -> Self {
        Self(Cell::new(hipError_t::hipSuccess))
    }

    /// Ends an entry point: makes a status of the outcome and remembers an error. "Not ready" is an answer, not an error.
    pub fn status(&self, outcome: Result<(), hipError_t>) -> hipError_t {
        match outcome {
            Ok(()) => hipError_t::hipSuccess,
            Err(error) => {
                if error != hipError_t::hipErrorNotReady {
                    self.0.set(error);
                }
                error
            }
        }
    }

    /// The last error, which is then forgotten.
    #[doc(alias = "hipGetLastError")]
    pub fn take(&self) -> hipError_t {
        self.0.replace(hipError_t::hipSuccess)
    }

    /// The last error.
    #[doc(alias = "hipPeekAtLastError")]
    pub fn get(&self) -> hipError_t {
        self.0.get()
    }
}

impl Default for LastError {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stays_until_it_is_taken_and_not_ready_is_none() {
        let last = LastError::new();
        assert_eq!(last.status(Err(hipError_t::hipErrorInvalidValue)), hipError_t::hipErrorInvalidValue);
        assert_eq!(last.status(Err(hipError_t::hipErrorNotReady)), hipError_t::hipErrorNotReady);
        assert_eq!(last.status(Ok(())), hipError_t::hipSuccess);
        assert_eq!(
            (last.get(), last.take()),
            (hipError_t::hipErrorInvalidValue, hipError_t::hipErrorInvalidValue)
        );
        assert_eq!(last.get(), hipError_t::hipSuccess);
    }
}
