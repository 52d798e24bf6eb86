//! Sticky errors, after which a device returns only errors. The first one is kept, and later calls return it.

use super::Inner;
use crate::Error;
use crate::code::FailureRecords;
use hip_sys::hip::hipError_t;
use std::sync::{Arc, OnceLock};

/// A device's first sticky error, if it had one.
#[derive(Default)]
pub(crate) struct Poison {
    first: OnceLock<Arc<Error>>,
    /// Where kernels say why they stopped.
    pub(super) records: FailureRecords,
}

impl Inner {
    /// Where kernels of its modules say why they stopped.
    pub(crate) fn failure_records(&self) -> &FailureRecords {
        &self.poison.records
    }
}

impl Poison {
    /// The first sticky error.
    pub(crate) fn cause(&self) -> Option<&Arc<Error>> {
        self.first.get()
    }

    /// Keeps the error if it is the first.
    pub(crate) fn set(&self, error: Error) -> &Arc<Error> {
        self.first.get_or_init(|| Arc::new(error))
    }
}

/// Whether a status means that the device's context is lost for the rest of the process.
///
/// The numbers without a name of their own in HIP are those that CUDA's driver passes through: NVLink (220), hardware
/// stack (714), illegal instruction (715), misaligned address (716), address space (717) and program counter (718).
pub(crate) fn is_sticky(code: hipError_t) -> bool {
    matches!(
        code,
        hipError_t::hipErrorECCNotCorrectable
            | hipError_t::hipErrorIllegalAddress
            | hipError_t::hipErrorLaunchTimeOut
            | hipError_t::hipErrorContextIsDestroyed
            | hipError_t::hipErrorAssert
            | hipError_t::hipErrorLaunchFailure
            | hipError_t(220 | 714..=718)
    )
}

/// Whether a status is sticky only if the platform reports a broken device: missing resources for a launch (701), or an unsupported operation
/// (801), detected when the launch was to run.
pub(crate) fn may_be_sticky(code: hipError_t) -> bool {
    matches!(code, hipError_t(701 | 801))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_codes_are_sticky() {
        let sticky: Vec<u32> = (0..2000).filter(|&c| is_sticky(hipError_t(c))).collect();
        assert_eq!(sticky, [214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719]);
        let perhaps: Vec<u32> = (0..2000).filter(|&c| may_be_sticky(hipError_t(c))).collect();
        assert_eq!(perhaps, [701, 801]);
    }

    #[test]
    fn the_first_cause_stays() {
        let poison = Poison::default();
        assert!(poison.cause().is_none());
        poison.set(Error::NotReady);
        let kept = poison.set(Error::EventNotRecorded);
        assert!(matches!(**kept, Error::NotReady));
    }
}
