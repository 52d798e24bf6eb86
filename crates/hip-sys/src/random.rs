//! rocRAND as its library has it: the table, found at run time.

use crate::rocrand::rocrand_status;
use crate::{LoadError, RocrandTable, Version, loader};
use std::fmt;
use std::path::{Path, PathBuf};

/// AMD's rocRAND. It takes streams and device pointers of the HIP that it is linked to, which has to be the one in use:
/// a ROCm of one version brings both.
///
/// ```
/// use hip_sys::Rocrand;
///
/// match Rocrand::load() {
///     Ok(rocrand) => println!("rocRAND {}", rocrand.version()),
///     Err(missing) => println!("{missing}"),
/// }
/// ```
pub struct Rocrand {
    /// What `rocrand_get_version` answered, e.g. 201009.
    pub raw_version: i32,
    /// The file that it was loaded from: a path, or a bare name that the system found.
    pub library: PathBuf,
    table: RocrandTable,
}

impl Rocrand {
    /// rocRAND in `$ROCM_PATH/lib`, then `librocrand.so.1` and `librocrand.so` by the system's search, then `/opt/rocm/lib`. The
    /// library stays loaded for the life of the process.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists every name tried; [`LoadError::MissingSymbol`] names the function a library lacks.
    pub fn load() -> Result<Self, LoadError> {
        Self::open(loader::open_rocrand(None)?)
    }

    /// rocRAND from the given file.
    ///
    /// # Errors
    /// As [`Rocrand::load`].
    ///
    /// # Safety
    /// The file is AMD's rocRAND, or a library whose functions of these names have the same signatures and contracts.
    pub unsafe fn load_from(path: &Path) -> Result<Self, LoadError> {
        Self::open(loader::open_rocrand(Some(path))?)
    }

    fn open(source: loader::Source) -> Result<Self, LoadError> {
        let table = RocrandTable::load(&source)?;
        let mut raw_version = 0;
        // SAFETY: S1: the table was just filled from the library; the version is live and writable.
        let status = unsafe { (table.rocrand_get_version)(&mut raw_version) };
        if status != rocrand_status::ROCRAND_STATUS_SUCCESS {
            let call = "rocrand_get_version";
            return Err(LoadError::Refused { library: source.name(), call, code: status.0 });
        }
        Ok(Self { raw_version, library: source.path().to_path_buf(), table })
    }

    /// Its functions.
    pub fn table(&self) -> &RocrandTable {
        &self.table
    }

    /// rocRAND's own version, which is not ROCm's: 2.10.9 in ROCm 5.2, 3.3.0 in 6.4.
    pub fn version(&self) -> Version {
        Version::from_rocrand(self.raw_version)
    }
}

impl fmt::Debug for Rocrand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rocrand")
            .field("version", &self.version())
            .field("library", &self.library)
            .finish_non_exhaustive()
    }
}
