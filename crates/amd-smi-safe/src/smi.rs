//! The library, initialised, and what it finds.

use crate::raw::{self, Failure};
use crate::{Error, EventKind, Events, Processor, Result, Socket};
use hip_sys::amdsmi::{amdsmi_processor_handle, amdsmi_socket_handle, amdsmi_status_t};
use hip_sys::{AmdsmiTable, Version};
use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// AMD SMI, initialised for this process. Copies are the same library.
///
/// It is never shut down. Earlier versions do not count how often they were initialised, so that one part of a program would end it for all.
/// What it found when it was initialised stays as it was: GPUs that are added, or partitioned anew, are found by a new process.
#[derive(Clone, Copy)]
pub struct AmdSmi {
    session: &'static Session,
}

/// A library that was initialised.
pub(crate) struct Session {
    library: hip_sys::AmdSmi,
    /// Held for each call. The library does not say that its functions may be called by several threads at once.
    entered: Mutex<()>,
    /// Whether there is an [`Events`].
    pub(crate) listening: AtomicBool,
}

/// A handle of the library: an opaque address, valid as long as the process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Handle(pub(crate) amdsmi_processor_handle);

// SAFETY: S8: the library looks it up and nobody else follows it.
unsafe impl Send for Handle {}
// SAFETY: S8: as above.
unsafe impl Sync for Handle {}

static SESSIONS: Mutex<Vec<&'static Session>> = Mutex::new(Vec::new());

impl Session {
    /// The table, while no other thread is in the library.
    pub(crate) fn enter(&self) -> Entered<'_> {
        Entered { session: self, _guard: self.entered.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    pub(crate) fn version(&self) -> Version {
        self.library.version()
    }
}

/// The table of a library that no other thread is in.
pub(crate) struct Entered<'s> {
    session: &'s Session,
    _guard: MutexGuard<'s, ()>,
}

impl std::ops::Deref for Entered<'_> {
    type Target = AmdsmiTable;

    fn deref(&self) -> &AmdsmiTable {
        self.session.library.table()
    }
}

impl AmdSmi {
    /// AMD's library of this machine: see [`hip_sys::AmdSmi::load`].
    ///
    /// # Errors
    /// [`Error::NoLibrary`], [`Error::NoDriver`] where the kernel driver is not loaded, or what the library answered.
    #[doc(alias = "amdsmi_init")]
    pub fn open() -> Result<Self> {
        Self::of(hip_sys::AmdSmi::load()?)
    }

    /// The library in a file.
    ///
    /// # Errors
    /// As [`AmdSmi::open`].
    ///
    /// # Safety
    /// The file is AMD's library, or one whose functions of these names have the same signatures and contracts.
    pub unsafe fn open_from(path: &Path) -> Result<Self> {
        // SAFETY: S1: the caller vouches for the file.
        Self::of(unsafe { hip_sys::AmdSmi::load_from(path) }?)
    }

    fn of(library: hip_sys::AmdSmi) -> Result<Self> {
        let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        // A file may be opened under several names; its functions have the same addresses.
        let address = |library: &hip_sys::AmdSmi| library.table().amdsmi_init as usize;
        if let Some(session) = sessions.iter().find(|session| address(&session.library) == address(&library))
        {
            return Ok(Self { session });
        }
        // SAFETY: S1, S23: the table is the library's, and nobody else of ours is in it before it is in the list.
        unsafe { raw::init(library.table()) }?;
        hip_sys::watch_exit();
        let session = Session { library, entered: Mutex::new(()), listening: AtomicBool::new(false) };
        let session: &'static Session = Box::leak(Box::new(session));
        sessions.push(session);
        Ok(Self { session })
    }

    /// The library's version, which is not ROCm's: 26.0 is in ROCm 7.0, 27.0 in ROCm 10.0.
    pub fn version(&self) -> Version {
        self.session.version()
    }

    /// The file that it was loaded from: a path, or a bare name that the system found.
    pub fn library(&self) -> &Path {
        self.session.library.library()
    }

    /// The library's words for a status, such as [`Error::Status`] has.
    ///
    /// # Errors
    /// [`Error::Status`] for a number that the library does not know either.
    #[doc(alias = "amdsmi_status_code_to_string")]
    pub fn status_text(&self, code: u32) -> Result<String> {
        let table = self.session.enter();
        // SAFETY: S1, S23: nobody else is in the library.
        let text = unsafe { raw::status_code_to_string(&table, amdsmi_status_t(code)) }?;
        if text.is_null() {
            let status = amdsmi_status_t::AMDSMI_STATUS_UNEXPECTED_DATA;
            return Err(Failure { function: "amdsmi_status_code_to_string", status }.into());
        }
        // SAFETY: S1: a successful call points to a static text with a NUL.
        Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// The sockets that hold GPUs.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_socket_handles")]
    pub fn sockets(&self) -> Result<Vec<Socket>> {
        let table = self.session.enter();
        // SAFETY: S1, S23: nobody else is in the library.
        let handles: Vec<amdsmi_socket_handle> = unsafe { raw::socket_handles(&table) }?;
        Ok(handles
            .into_iter()
            .map(|handle| Socket { session: self.session, handle: Handle(handle) })
            .collect())
    }

    /// The GPUs of all sockets, in the library's order.
    ///
    /// # Errors
    /// Those of the library.
    pub fn processors(&self) -> Result<Vec<Processor>> {
        let mut all = Vec::new();
        for socket in self.sockets()? {
            all.extend(socket.processors()?);
        }
        Ok(all)
    }

    /// Listens for events of these kinds on these GPUs. The kernel counts and keeps them from now on.
    ///
    /// # Errors
    /// [`Error::EventsTaken`] if there is an [`Events`] already, [`Error::NoSuchEvent`], [`Error::OtherLibrary`], or those of the library.
    #[doc(alias = "amdsmi_init_gpu_event_notification")]
    #[doc(alias = "amdsmi_set_gpu_event_notification_mask")]
    pub fn events(&self, of: &[Processor], kinds: &[EventKind]) -> Result<Events> {
        if of.iter().any(|processor| !std::ptr::eq(processor.session, self.session)) {
            return Err(Error::OtherLibrary);
        }
        Events::listen(self.session, of, kinds)
    }
}

impl std::fmt::Debug for AmdSmi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.session.library.fmt(f)
    }
}
