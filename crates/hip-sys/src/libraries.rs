//! The libraries beside HIP that belong to a platform: AMD's own, or those that replace them.

use crate::{
    HipblasltTable, Library, LoadError, MiopenTable, Platform, PlatformKind, RocblasTable, RocfftTable,
    RocrandTable, RocsolverTable, RocsparseTable, Table,
};
use std::sync::OnceLock;

/// They are opened when somebody asks for them first.
#[derive(Default)]
pub struct Libraries {
    pub(crate) rocrand: Slot<RocrandTable>,
    pub(crate) rocfft: Slot<RocfftTable>,
    pub(crate) rocblas: Slot<RocblasTable>,
    pub(crate) rocsolver: Slot<RocsolverTable>,
    pub(crate) rocsparse: Slot<RocsparseTable>,
    pub(crate) hipblaslt: Slot<HipblasltTable>,
    pub(crate) miopen: Slot<MiopenTable>,
}

/// A library, once it was asked for.
pub(crate) type Slot<T> = OnceLock<Result<Library<T>, LoadError>>;

impl Platform {
    /// A library on this platform's streams and memory. The first call opens it, and every later one gives what that call found.
    ///
    /// `rocblas_safe::library` and `miopen_safe::library` call this to open AMD's library, or the one that replaces it on other platforms.
    /// A program whose own platform has a library calls this before them.
    ///
    /// # Errors
    /// What the first call's `open` answered.
    ///
    /// # Safety
    /// The functions of the library that `open` returns take the streams and the memory of this platform's HIP, as
    /// [`Library::load_for`] finds them for AMD's.
    pub unsafe fn library<T: Table>(
        &self,
        open: impl FnOnce() -> Result<Library<T>, LoadError>,
    ) -> Result<&Library<T>, &LoadError> {
        T::slot(&self.libraries).get_or_init(open).as_ref()
    }
}

impl<T: Table> Library<T> {
    /// AMD's library for a platform of AMD's: [`Library::load`], if that is linked to the platform's HIP.
    ///
    /// # Errors
    /// As [`Library::load`]; [`LoadError::OtherHip`] for a library that is linked to another HIP; [`LoadError::NotProvided`] for a platform
    /// that is not AMD's.
    pub fn load_for(platform: &Platform) -> Result<Self, LoadError> {
        if platform.kind != PlatformKind::Amd {
            let reason = "AMD's works on AMD's HIP alone";
            return Err(LoadError::NotProvided { library: T::TITLE, reason });
        }
        let found = Self::load()?;
        if found.is_linked_to(platform.hip().hipRuntimeGetVersion) {
            Ok(found)
        } else {
            Err(LoadError::OtherHip { library: found.library().display().to_string() })
        }
    }
}

/// Why a crate with the features `host` and `nvidia` has no library for a platform that is not AMD's. For that crate alone, whose name is
/// given: its features are looked at.
#[macro_export]
macro_rules! why_no_library {
    ($package:literal, $kind:expr) => {
        match $kind {
            $crate::PlatformKind::Host if !cfg!(feature = "host") => {
                concat!("the feature `host` of ", $package, " brings it, and is off in this program")
            }
            $crate::PlatformKind::Nvidia if !cfg!(feature = "nvidia") => {
                concat!("the feature `nvidia` of ", $package, " brings it, and is off in this program")
            }
            _ => "its functions of HIP are a program's own, which brings none by `Platform::library`",
        }
    };
}

/// The end of a function that opens a platform's library and returns a `Result<Library<T>, LoadError>`, for a crate with the features `host` and
/// `nvidia`: that of the crate `$host` for hip-host's platform, that of `$nvidia` for hip-nvidia's, and `$amd` on AMD's.
#[macro_export]
macro_rules! open_library {
    ($title:literal, $package:literal, $platform:expr, $host:ident, $nvidia:ident, $amd:expr) => {{
        let platform = $platform;
        #[cfg(feature = "host")]
        if $host::serves(platform) {
            return Ok($host::library());
        }
        #[cfg(feature = "nvidia")]
        if $nvidia::serves(platform) {
            return $nvidia::library();
        }
        if platform.kind == $crate::PlatformKind::Amd {
            return $amd;
        }
        let reason = $crate::why_no_library!($package, platform.kind);
        Err($crate::LoadError::NotProvided { library: $title, reason })
    }};
}
