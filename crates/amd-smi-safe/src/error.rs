//! All errors, with what was found and what to do.

use crate::convert::status_name;
use crate::raw::Failure;
use hip_sys::amdsmi::amdsmi_status_t;
use hip_sys::{LoadError, Unsupported};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// AMD SMI could not be loaded.
    #[error("no AMD SMI: {0}")]
    NoLibrary(#[from] LoadError),
    /// The library is there, and the kernel driver is not.
    #[error(
        "AMD SMI has no GPU to read: the kernel driver amdgpu is not loaded (amdsmi_init answered AMDSMI_STATUS_DRIVER_NOT_LOADED). \
         Load it with `modprobe amdgpu`, or install AMD's driver first; a container has to be given /dev/kfd, /dev/dri and /sys"
    )]
    NoDriver,
    /// This version of the library lacks the function.
    #[error(transparent)]
    NoFunction(#[from] Unsupported),
    /// The GPU or its driver does not have what was asked for.
    #[error("{function}: this GPU or its driver does not have it")]
    NotSupported {
        /// The function.
        function: &'static str,
    },
    /// The system does not let this user read it.
    #[error("{function}: permission denied: run as root, or as a member of the groups render and video")]
    NoPermission {
        /// The function.
        function: &'static str,
    },
    /// A function of AMD SMI returned another error.
    #[error("{function} answered {name} ({code})")]
    Status {
        /// The C function.
        function: &'static str,
        /// The status, an `amdsmi_status_t`.
        code: u32,
        /// Its name, such as `AMDSMI_STATUS_BUSY`.
        name: &'static str,
    },
    /// A list that was longer at each attempt than the room for it.
    #[error("{function}: the list grew at each of 8 attempts (last {count}): try again")]
    Growing {
        /// The C function.
        function: &'static str,
        /// The number that it answered last.
        count: u32,
    },
    /// A list that is longer than any real one.
    #[error(
        "{function}: the list has {count} elements, and at most 65536 are read: the driver or the library has an error, look for an update"
    )]
    TooLong {
        /// The C function.
        function: &'static str,
        /// The number that it answered.
        count: u32,
    },
    /// Somebody in this process already waits for events. The library gives each event away once.
    #[error("events are already being read in this process: close the other `Events` first")]
    EventsTaken,
    /// There is no such kind of event to wait for.
    #[error("{0} is no event to wait for: the kinds are numbered from 1 to 64")]
    NoSuchEvent(crate::EventKind),
    /// Two processors of different libraries.
    #[error("the two processors were found by two copies of AMD SMI: take both from one `AmdSmi`")]
    OtherLibrary,
    /// NVML could not be loaded, or a function of it returned an error.
    #[error("{function} of NVML: {why}")]
    Nvml {
        /// What was asked for.
        function: &'static str,
        /// NVML's own words.
        why: String,
    },
}

hip_sys::debug_by_display!(Error);

impl Error {
    /// Whether the GPU, its driver or this version of the library does not have it, so that a program can leave the value out.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NotSupported { .. } | Self::NoFunction(_))
    }
}

impl From<Failure> for Error {
    fn from(Failure { function, status }: Failure) -> Self {
        match status {
            amdsmi_status_t::AMDSMI_STATUS_DRIVER_NOT_LOADED => Self::NoDriver,
            amdsmi_status_t::AMDSMI_STATUS_NOT_SUPPORTED
            | amdsmi_status_t::AMDSMI_STATUS_NOT_YET_IMPLEMENTED => Self::NotSupported { function },
            amdsmi_status_t::AMDSMI_STATUS_NO_PERM => Self::NoPermission { function },
            _ => Self::Status { function, code: status.0, name: status_name(status) },
        }
    }
}
