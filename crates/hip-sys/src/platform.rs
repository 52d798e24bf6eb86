//! A platform: the tables of one implementation of HIP, as a value.

use crate::hip::{hipError_t, hipFunction_t, hipStream_t};
use crate::libraries::Libraries;
use crate::{HipTable, LoadError, RtcTable, UnknownArchitecture, architectures, files, loader, watch_exit};
use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};

/// One implementation of HIP: the tables of its functions, as a value. Two of them can be open in one process.
///
/// Everything above trusts the tables, so safe code reads them and cannot change them; see [`Platform::from_tables`].
pub struct Platform {
    /// Whose implementation it is: for messages and file names. What it can do is asked of the tables.
    pub kind: PlatformKind,
    /// What `hipRuntimeGetVersion` answered, e.g. 60443484.
    pub raw_version: i32,
    /// The file that HIP was loaded from.
    pub library: Option<PathBuf>,
    hip: HipTable,
    rtc: Result<RtcTable, LoadError>,
    /// What hiprtc may be asked for, where it trusts its callers.
    rtc_architectures: Option<Vec<&'static str>>,
    ext: Extensions,
    pub(crate) libraries: Libraries,
}

/// Whose implementation of HIP a platform is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlatformKind {
    /// AMD's `libamdhip64`.
    Amd,
    /// NVIDIA's CUDA driver behind HIP's functions.
    Nvidia,
    /// Threads of this CPU.
    Host,
}

/// Functions beyond ROCm's, which a platform may offer.
#[derive(Clone, Copy, Default)]
pub struct Extensions {
    /// Offset and size in bytes of a kernel's argument; `hipErrorInvalidValue` past the last one.
    pub func_param_info: Option<
        unsafe extern "C" fn(
            function: hipFunction_t,
            index: usize,
            offset: *mut usize,
            size: *mut usize,
        ) -> hipError_t,
    >,
    /// Writes a text that says what broke the device, with a zero byte at the end, truncated to `capacity`. Returns its whole length
    /// in bytes; 0 if the device is well.
    pub last_fault: Option<unsafe extern "C" fn(device: c_int, text: *mut c_char, capacity: usize) -> usize>,
    /// Announces exactly what the calling thread's next launch or host function on `stream` uses. A null list withdraws the
    /// announcement. `None` while nothing checks uses, so that callers need not prepare a list.
    ///
    /// # Safety
    /// `extents` is null or points to `count` values. Their pointers are looked up and never followed.
    pub announce:
        Option<unsafe extern "C" fn(stream: hipStream_t, extents: *const Extent, count: usize) -> hipError_t>,
    /// Says that the calling thread itself uses these extents now: host memory that operations use too.
    ///
    /// # Safety
    /// As for `announce`.
    pub touch: Option<unsafe extern "C" fn(extents: *const Extent, count: usize) -> hipError_t>,
    /// Says that a pool hands out a piece of an allocation, for use on `stream` at first. The uses that its former owner
    /// made still have to come before those of the new one.
    ///
    /// # Safety
    /// The pointer is looked up and never followed.
    pub reserve:
        Option<unsafe extern "C" fn(pointer: *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t>,
    /// Says that a pool takes a piece back: what is in `stream` by now, and what that waits for, was its last use. Any use is
    /// an error then until the piece is reserved again.
    ///
    /// # Safety
    /// As for `reserve`.
    pub release:
        Option<unsafe extern "C" fn(pointer: *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t>,
    /// Every allocation has pages of its own, so that an access past its end is found: buffers are not to share one.
    pub own_pages: bool,
    /// A text that identifies the run-time compiler: another compiler, or another build, has another text.
    pub compiler: Option<fn() -> String>,
    /// Whether the run-time compiler can be started; the error says what to install. `None`: a compiler that is a library, which was
    /// loaded with the platform.
    pub check_compiler: Option<fn() -> Result<(), String>>,
}

/// Bytes that an operation uses, for [`Extensions::announce`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub pointer: *const c_void,
    /// How many.
    pub bytes: usize,
    /// What happens to them.
    pub access: Access,
}

// SAFETY: S8: the address is looked up and never followed.
unsafe impl Send for Extent {}
// SAFETY: S8: as above.
unsafe impl Sync for Extent {}

/// What an operation does to bytes.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access(pub u32);

impl Access {
    /// It only reads them.
    pub const READ: Self = Self(1);
    /// It writes them, and perhaps reads them.
    pub const WRITE: Self = Self(2);
}

/// A version of ROCm, or of a library in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 6 in 6.4.43484.
    pub major: u32,
    /// 4 in 6.4.43484.
    pub minor: u32,
    /// 43484 in 6.4.43484.
    pub patch: u32,
}

impl Platform {
    /// The names that [`Platform::load_amd`] looks for, in order.
    pub const AMD_NAMES: &'static [&'static str] = &loader::HIP_NAMES;

    /// AMD's HIP: `libamdhip64.so.7`, `.so.6`, `.so.5` or `.so`, in the folders of [`Library::load`](crate::Library::load). The library
    /// stays loaded for the life of the process.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists every name tried; [`LoadError::MissingSymbol`] names the function a library lacks.
    /// A machine without a GPU is no error here: `hipGetDeviceCount` says so.
    pub fn load_amd() -> Result<Self, LoadError> {
        Self::open(loader::open_hip(None)?)
    }

    /// AMD's HIP from the given file.
    ///
    /// # Errors
    /// As [`Platform::load_amd`].
    ///
    /// # Safety
    /// The file is AMD's HIP, or a library whose functions of these names have the same signatures and contracts.
    pub unsafe fn load_amd_from(path: &Path) -> Result<Self, LoadError> {
        Self::open(loader::open_hip(Some(path))?)
    }

    /// A platform of the given tables.
    ///
    /// # Safety
    /// Each function does what ROCm's function of that name does, as far as callers rely on it for memory safety; the rest
    /// may answer an error.
    pub unsafe fn from_tables(
        kind: PlatformKind,
        raw_version: i32,
        hip: HipTable,
        rtc: Result<RtcTable, LoadError>,
        ext: Extensions,
    ) -> Self {
        watch_exit();
        Self {
            kind,
            raw_version,
            library: None,
            hip,
            rtc,
            rtc_architectures: None,
            ext,
            libraries: Libraries::default(),
        }
    }

    /// HIP.
    pub fn hip(&self) -> &HipTable {
        &self.hip
    }

    /// hiprtc.
    ///
    /// # Errors
    /// Why this platform has none.
    pub fn rtc(&self) -> Result<&RtcTable, &LoadError> {
        self.rtc.as_ref()
    }

    /// The architectures that hiprtc may be asked for, without their features; `None` if it may be asked for any and answers an
    /// error to those it does not know. AMD's ends the process instead.
    pub fn rtc_architectures(&self) -> Option<&[&'static str]> {
        self.rtc_architectures.as_deref()
    }

    /// Whether hiprtc may be asked for an architecture, such as `gfx90a:sramecc+:xnack-`, without an end of the process.
    ///
    /// # Errors
    /// [`UnknownArchitecture`] names the version of hiprtc, what it knows, and the remedy.
    pub fn check_rtc_architecture(&self, arch: &str) -> Result<(), UnknownArchitecture> {
        self.rtc_architectures.as_ref().map_or(Ok(()), |_| architectures::check(self.version(), arch))
    }

    /// Treats hiprtc as AMD's of this platform's version: architecture names are checked before a call, and one thread at a time
    /// calls it. [`Platform::load_amd`] does so by itself.
    #[must_use]
    pub fn guard_rtc(mut self) -> Self {
        self.rtc_architectures = Some(architectures::known(self.version()));
        self
    }

    /// A text that identifies the run-time compiler: its library files with their sizes and times of last change. Another compiler
    /// may make other code of the same source.
    pub fn compiler_identity(&self) -> String {
        match (self.ext.compiler, &self.rtc) {
            (Some(identity), _) => identity(),
            (None, Ok(rtc)) => files::compilers(&[
                self.hip.hipRuntimeGetVersion as *const c_void,
                rtc.hiprtcCompileProgram as *const c_void,
            ]),
            (None, Err(_)) => String::new(),
        }
    }

    /// Whether there is a run-time compiler that can be started.
    ///
    /// # Errors
    /// Why there is none, and what to install.
    pub fn check_compiler(&self) -> Result<(), String> {
        self.rtc().map_err(|missing| format!("no run-time compiler: {missing}"))?;
        self.ext.check_compiler.map_or(Ok(()), |check| check())
    }

    /// Whether hiprtc must be called by one thread at a time. No release of AMD's says that it may be called by several; the compiler
    /// in it takes turns anyway.
    pub fn rtc_takes_turns(&self) -> bool {
        self.rtc_architectures.is_some()
    }

    /// What HIP itself does not offer.
    pub fn ext(&self) -> &Extensions {
        &self.ext
    }

    fn open(source: loader::Source) -> Result<Self, LoadError> {
        let hip = HipTable::load(&source)?;
        let mut raw_version = 0;
        // SAFETY: S1: the table was just filled from the library; the version is live and writable.
        let status = unsafe { (hip.hipRuntimeGetVersion)(&mut raw_version) };
        if status != hipError_t::hipSuccess {
            let call = "hipRuntimeGetVersion";
            return Err(LoadError::Refused { library: source.name(), call, code: status.0 });
        }
        let file = files::file_of(hip.hipRuntimeGetVersion as *const c_void);
        let rtc = loader::open_rtc(&source, Version::from_raw(raw_version), file)
            .and_then(|source| RtcTable::load(&source));
        watch_exit();
        let library = Some(source.path().to_path_buf());
        let rtc_architectures = Some(architectures::known(Version::from_raw(raw_version)));
        let ext = Extensions::default();
        Ok(Self {
            kind: PlatformKind::Amd,
            raw_version,
            hip,
            rtc,
            rtc_architectures,
            ext,
            library,
            libraries: Libraries::default(),
        })
    }

    /// The version of HIP that its runtime reports. The version of the ROCm release around it may be another.
    pub fn version(&self) -> Version {
        Version::from_raw(self.raw_version)
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform")
            .field("kind", &self.kind)
            .field("version", &self.version())
            .field("library", &self.library)
            .field("rtc", &self.rtc.as_ref().map(|_| "loaded"))
            .finish_non_exhaustive()
    }
}

impl PlatformKind {
    /// The lower-case name used for folders and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amd => "amd",
            Self::Nvidia => "nvidia",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for PlatformKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Version {
    /// Reads what `rocrand_get_version`, `rocsparse_get_version` and `hipblasLtGetVersion` answer: major × 10⁵ + minor × 100 + patch.
    #[doc(alias = "rocrand_get_version")]
    #[doc(alias = "rocsparse_get_version")]
    #[doc(alias = "hipblasLtGetVersion")]
    pub fn from_rocrand(raw: i32) -> Self {
        let raw = raw.unsigned_abs();
        Self { major: raw / 100_000, minor: raw / 100 % 1000, patch: raw % 100 }
    }

    /// Reads what `hipRuntimeGetVersion` answers: major × 10⁷ + minor × 10⁵ + patch.
    #[doc(alias = "hipRuntimeGetVersion")]
    pub fn from_raw(raw: i32) -> Self {
        let raw = raw.unsigned_abs();
        Self { major: raw / 10_000_000, minor: raw / 100_000 % 100, patch: raw % 100_000 }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_the_libraries_write_them() {
        assert_eq!(Version::from_raw(50_221_153).to_string(), "5.2.21153");
        assert_eq!(Version::from_raw(60_443_484).to_string(), "6.4.43484");
        assert_eq!(Version::from_rocrand(201_009).to_string(), "2.10.9");
        assert_eq!(Version::from_rocrand(300_300).to_string(), "3.3.0");
        assert!(Version::from_raw(60_443_484) > Version::from_raw(50_221_153));
    }
}
