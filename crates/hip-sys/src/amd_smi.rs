//! AMD SMI, found at run time. It belongs to no HIP: it reads GPUs through the kernel driver.

use crate::amdsmi::{amdsmi_status_t, amdsmi_version_t};
use crate::{AmdsmiTable, Library, LoadError, Version, loader};
use std::fmt;
use std::path::Path;

/// AMD SMI: `libamd_smi.so.27` (ROCm 10) or `.so.26` (ROCm 7). Earlier ones have other structures and are refused, later ones are not known.
pub type AmdSmi = Library<AmdsmiTable>;

const TITLE: &str = "AMD SMI (libamd_smi)";
const REMEDY: &str = "Install AMD SMI (amd-smi-lib, or libamd-smi27 on Debian experimental), or set ROCM_PATH to the folder above its lib/";
/// The first major version whose declarations were not compared with ours.
const TOO_NEW: u32 = 28;

impl Library<AmdsmiTable> {
    /// The names that [`AmdSmi::load`] looks for, in order.
    pub const NAMES: &'static [&'static str] = &["libamd_smi.so.27", "libamd_smi.so.26", "libamd_smi.so"];

    /// AMD's library, searched as [`Rocblas::load`](crate::Rocblas) does. It is not initialised.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists every name tried; [`LoadError::MissingSymbol`] names the function a library lacks;
    /// [`LoadError::TooOld`] and [`LoadError::TooNew`] for versions other than 26 and 27.
    #[doc(alias = "amdsmi_get_lib_version")]
    pub fn load() -> Result<Self, LoadError> {
        Self::open(None)
    }

    /// The library from the given file.
    ///
    /// # Errors
    /// As [`AmdSmi::load`].
    ///
    /// # Safety
    /// The file is AMD's library, or one whose functions of these names have the same signatures and contracts.
    pub unsafe fn load_from(path: &Path) -> Result<Self, LoadError> {
        Self::open(Some(path))
    }

    fn open(path: Option<&Path>) -> Result<Self, LoadError> {
        let source = loader::open_library(TITLE, REMEDY, Self::NAMES, path)?;
        let table = AmdsmiTable::load(&source)?;
        let mut found = amdsmi_version_t::default();
        // SAFETY: S1: the table was just filled from the library; the structure is live, and had this layout in earlier versions too.
        let status = unsafe { (table.amdsmi_get_lib_version)(&mut found) };
        let library = source.name();
        if status != amdsmi_status_t::AMDSMI_STATUS_SUCCESS {
            return Err(LoadError::Refused { library, call: "amdsmi_get_lib_version", code: status.0 });
        }
        let version = Version { major: found.major, minor: found.minor, patch: found.release };
        match version.major {
            ..26 => Err(LoadError::TooOld { library, found: version.to_string(), needed: "26 (ROCm 7.0)" }),
            TOO_NEW.. => Err(LoadError::TooNew { library, found: version, first: TOO_NEW }),
            // SAFETY: S1: the functions are the library's own.
            26..TOO_NEW => Ok(unsafe { Self::from_table(version, source.path().to_path_buf(), table) }),
        }
    }
}

impl fmt::Debug for Library<AmdsmiTable> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(TITLE)
            .field("version", &self.version())
            .field("library", &self.library())
            .finish_non_exhaustive()
    }
}
