//! AMD's other ROCm libraries, found at run time: rocRAND, rocFFT, rocBLAS, rocSOLVER, rocSPARSE, hipBLASLt and MIOpen.

use crate::hip::hipRuntimeGetVersion_fn;
use crate::hipblaslt::hipblasStatus_t;
use crate::libraries::{Libraries, Slot};
use crate::miopen::miopenStatus_t;
use crate::rocblas::{rocblas_create_handle_fn, rocblas_status};
use crate::rocfft::rocfft_status;
use crate::rocrand::rocrand_status;
use crate::{
    HipblasltTable, LoadError, MiopenTable, Platform, RocblasTable, RocfftTable, RocrandTable,
    RocsolverTable, RocsparseTable, Version, loader,
};
use std::ffi::{CStr, c_char};
use std::fmt;
use std::path::{Path, PathBuf};

/// A ROCm library other than HIP, by its table. It takes streams and device pointers of the HIP that it is linked to, which has to be
/// the one in use: a ROCm of one version brings both. It stays loaded for the life of the process.
///
/// ```
/// use hip_sys::{Rocblas, Rocrand};
///
/// match Rocrand::load() {
///     Ok(rocrand) => println!("rocRAND {}", rocrand.version()),
///     Err(missing) => println!("{missing}"),
/// }
/// match Rocblas::load() {
///     Ok(rocblas) => println!("rocBLAS {} from {}", rocblas.version(), rocblas.library().display()),
///     Err(missing) => println!("{missing}"),
/// }
/// ```
pub struct Library<T> {
    version: Version,
    library: PathBuf,
    table: T,
    /// Where the HIP that it is linked to has `hipRuntimeGetVersion`.
    hip: Option<usize>,
    /// Where the rocBLAS that it is linked to, or is, has `rocblas_create_handle`.
    rocblas: Option<usize>,
}

/// rocRAND: `librocrand.so.1`.
pub type Rocrand = Library<RocrandTable>;
/// rocFFT: `librocfft.so.0`.
pub type Rocfft = Library<RocfftTable>;
/// rocBLAS: `librocblas.so.5` (ROCm 7 and 10), `.so.4` (ROCm 6) or `.so.0` (ROCm 5). A later one is refused.
pub type Rocblas = Library<RocblasTable>;
/// rocSOLVER: `librocsolver.so.0`. It takes the handles of the rocBLAS that it is linked to.
pub type Rocsolver = Library<RocsolverTable>;
/// rocSPARSE: `librocsparse.so.1` (ROCm 6 and 7). That of ROCm 5 has other signatures.
pub type Rocsparse = Library<RocsparseTable>;
/// hipBLASLt: `libhipblaslt.so.1` (ROCm 7) or `.so.0` (ROCm 6). A later one is refused.
pub type Hipblaslt = Library<HipblasltTable>;
/// MIOpen: `libMIOpen.so.1`.
pub type Miopen = Library<MiopenTable>;

/// A table of a library's functions, and where the library is.
pub trait Table: Sized + sealed::Sealed {}

impl<T: Table> Library<T> {
    /// The names that [`Library::load`] looks for, in order.
    pub const NAMES: &'static [&'static str] = T::NAMES;

    /// The first that opens. In each folder each of its names is tried:
    /// 1. in `$ROCM_PATH/lib`, and where that is one of pip's packages in those beside it: `_rocm_sdk_core/lib` and
    ///    `_rocm_sdk_libraries*/lib`;
    /// 2. in those packages of the Python environment that is active (`$VIRTUAL_ENV`, `$CONDA_PREFIX`);
    /// 3. where the system searches by itself;
    /// 4. in `/opt/rocm/lib`, `/opt/rocm/core/lib`, `/opt/rocm/core-*/lib` and `/opt/rocm-*/lib`, the newest version first.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists every name tried; [`LoadError::MissingSymbol`] names the function a library lacks.
    pub fn load() -> Result<Self, LoadError> {
        Self::open(None)
    }

    /// The library from the given file.
    ///
    /// # Errors
    /// As [`Library::load`].
    ///
    /// # Safety
    /// The file is AMD's library, or one whose functions of these names have the same signatures and contracts.
    pub unsafe fn load_from(path: &Path) -> Result<Self, LoadError> {
        Self::open(Some(path))
    }

    fn open(path: Option<&Path>) -> Result<Self, LoadError> {
        let source = loader::open_library(T::TITLE, T::REMEDY, T::NAMES, path)?;
        let table = T::fill(&source)?;
        // SAFETY: S1: the table was just filled from the library.
        let version = unsafe { table.ask_version() }.map_err(|(call, code)| LoadError::Refused {
            library: source.name(),
            call,
            code,
        })?;
        if let Some(first) = T::TOO_NEW.filter(|first| version.major >= *first) {
            return Err(LoadError::TooNew { library: source.name(), found: version, first });
        }
        // Found through the library's handle, it is that of the HIP it depends on.
        let hip =
            source.find::<hipRuntimeGetVersion_fn>("hipRuntimeGetVersion").map(|function| function as usize);
        let rocblas = source
            .find::<rocblas_create_handle_fn>("rocblas_create_handle")
            .map(|function| function as usize);
        Ok(Self { version, library: source.path().to_path_buf(), table, hip, rocblas })
    }

    /// Whether it works on the streams and the memory of the HIP that has this function.
    pub(crate) fn is_linked_to(&self, hip: hipRuntimeGetVersion_fn) -> bool {
        self.hip == Some(hip as usize)
    }
}

impl<T> Library<T> {
    /// A library of the given functions: `library` says in messages what they call.
    ///
    /// # Safety
    /// Each function does what AMD's function of that name does, as far as callers rely on it for memory safety; the rest may answer
    /// an error.
    pub unsafe fn from_table(version: Version, library: PathBuf, table: T) -> Self {
        Self { version, library, table, hip: None, rocblas: None }
    }

    /// Its functions.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// The version that the library reports, which is not ROCm's.
    ///
    /// | library | in ROCm 5.2 | in ROCm 7.2 |
    /// |---|---|---|
    /// | rocRAND | 2.10.9 | 4.2.0 |
    /// | rocBLAS | 2.44 | 5.2 |
    /// | rocFFT | 1.0.17 | 1.0.36 |
    /// | rocSOLVER | 3.18 | 3.32 |
    /// | hipBLASLt | | 1.2.2 |
    /// | MIOpen | 2.17 | 3.5 |
    ///
    /// AMD SMI is 26.0 in ROCm 7.0 and 27.0 in 10.0. rocSPARSE's is 0.0.0 here: it reports its version only to a handle, and making one
    /// calls the device.
    #[doc(alias = "rocrand_get_version")]
    #[doc(alias = "rocblas_get_version_string")]
    #[doc(alias = "rocfft_get_version_string")]
    #[doc(alias = "rocsolver_get_version_string")]
    #[doc(alias = "hipblasLtGetVersion")]
    #[doc(alias = "miopenGetVersion")]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The file that it was loaded from: a path, or a bare name that the system found.
    pub fn library(&self) -> &Path {
        &self.library
    }
}

impl Rocsolver {
    /// AMD's rocSOLVER for a platform of AMD's: [`Library::load_for`], if it is linked to this rocBLAS, whose handles it is to take.
    ///
    /// # Errors
    /// As there; [`LoadError::OtherRocblas`] if it is linked to another one.
    pub fn load_with(platform: &Platform, rocblas: &Rocblas) -> Result<Self, LoadError> {
        let found = Self::load_for(platform)?;
        if found.rocblas == Some(rocblas.table.rocblas_create_handle as usize) {
            Ok(found)
        } else {
            Err(LoadError::OtherRocblas { library: found.library.display().to_string() })
        }
    }
}

impl<T: Table> fmt::Debug for Library<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(T::TITLE)
            .field("version", &self.version)
            .field("library", &self.library)
            .finish_non_exhaustive()
    }
}

mod sealed {
    use super::{Libraries, LoadError, Slot, Version, loader};

    /// How one library is opened.
    pub trait Sealed: Sized {
        const TITLE: &'static str;
        const NAMES: &'static [&'static str];
        const REMEDY: &'static str;
        /// The first major version whose declarations were not compared with ours.
        const TOO_NEW: Option<u32> = None;

        fn fill(source: &loader::Source) -> Result<Self, LoadError>;

        /// Where a platform keeps its one.
        fn slot(libraries: &Libraries) -> &Slot<Self>;

        /// The library's version, or the call that failed and its status.
        ///
        /// # Safety
        /// The table is as it was filled.
        unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)>;
    }
}

impl Table for RocrandTable {}

impl sealed::Sealed for RocrandTable {
    const TITLE: &'static str = "rocRAND (librocrand)";
    const NAMES: &'static [&'static str] = &["librocrand.so.1", "librocrand.so"];
    const REMEDY: &'static str = "Install rocRAND (rocrand, or librocrand1 on Debian 12), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.rocrand
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        let mut raw = 0;
        // SAFETY: S1: the table was filled from the library; the version is live and writable.
        match unsafe { (self.rocrand_get_version)(&mut raw) } {
            rocrand_status::ROCRAND_STATUS_SUCCESS => Ok(Version::from_rocrand(raw)),
            status => Err(("rocrand_get_version", status.0)),
        }
    }
}

impl Table for RocblasTable {}

impl sealed::Sealed for RocblasTable {
    const TITLE: &'static str = "rocBLAS (librocblas)";
    const NAMES: &'static [&'static str] =
        &["librocblas.so.5", "librocblas.so.4", "librocblas.so.0", "librocblas.so"];
    const TOO_NEW: Option<u32> = Some(6);
    const REMEDY: &'static str = "Install rocBLAS (rocblas, or librocblas0 on Debian 13), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.rocblas
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        // SAFETY: S1: the table was filled from the library.
        unsafe { rocblas_version("rocblas_get_version_string", self.rocblas_get_version_string) }
    }
}

impl Table for RocsolverTable {}

impl sealed::Sealed for RocsolverTable {
    const TITLE: &'static str = "rocSOLVER (librocsolver)";
    const NAMES: &'static [&'static str] = &["librocsolver.so.0", "librocsolver.so"];
    const REMEDY: &'static str = "Install rocSOLVER (rocsolver, or librocsolver0 on Debian 13), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.rocsolver
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        // SAFETY: S1: the table was filled from the library.
        unsafe { rocblas_version("rocsolver_get_version_string", self.rocsolver_get_version_string) }
    }
}

/// The version of rocBLAS or of a library that has its statuses.
///
/// # Safety
/// The function writes at most as many bytes as it is told.
unsafe fn rocblas_version(
    name: &'static str,
    ask: unsafe extern "C" fn(*mut c_char, usize) -> rocblas_status,
) -> Result<Version, (&'static str, u32)> {
    let mut text = [0_u8; 256];
    // SAFETY: S1: so many bytes are live and writable.
    match unsafe { ask(text.as_mut_ptr().cast(), text.len() - 1) } {
        rocblas_status::rocblas_status_success => Ok(version_in(&text)),
        status => Err((name, status.0)),
    }
}

/// The version that a text begins with: "4.4.1.", and perhaps a commit behind it.
fn version_in(text: &[u8]) -> Version {
    let text = CStr::from_bytes_until_nul(text).unwrap_or_default().to_string_lossy();
    let mut numbers = text.split('.').map_while(|part| part.parse().ok());
    let mut next = || numbers.next().unwrap_or_default();
    Version { major: next(), minor: next(), patch: next() }
}

impl Table for RocfftTable {}

impl sealed::Sealed for RocfftTable {
    const TITLE: &'static str = "rocFFT (librocfft)";
    const NAMES: &'static [&'static str] = &["librocfft.so.0", "librocfft.so"];
    const REMEDY: &'static str =
        "Install rocFFT (rocfft, or librocfft0 on Debian 13), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.rocfft
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        let mut text = [0_u8; 256];
        // SAFETY: S1: the table was filled from the library; so many bytes are live and writable.
        match unsafe { (self.rocfft_get_version_string)(text.as_mut_ptr().cast(), text.len() - 1) } {
            rocfft_status::rocfft_status_success => Ok(version_in(&text)),
            status => Err(("rocfft_get_version_string", status.0)),
        }
    }
}

impl Table for RocsparseTable {}

impl sealed::Sealed for RocsparseTable {
    const TITLE: &'static str = "rocSPARSE (librocsparse)";
    const NAMES: &'static [&'static str] = &["librocsparse.so.1", "librocsparse.so"];
    const REMEDY: &'static str =
        "Install rocSPARSE of ROCm 6 or later (rocsparse), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.rocsparse
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        Ok(Version { major: 0, minor: 0, patch: 0 })
    }
}

impl Table for HipblasltTable {}

impl sealed::Sealed for HipblasltTable {
    const TITLE: &'static str = "hipBLASLt (libhipblaslt)";
    const NAMES: &'static [&'static str] = &["libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"];
    const TOO_NEW: Option<u32> = Some(2);
    const REMEDY: &'static str = "Install hipBLASLt (hipblaslt, or libhipblaslt1 on Debian sid), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.hipblaslt
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        let mut raw = 0;
        // Every release answers its number for any handle but null, and does not look at it: one of its own would take a device.
        let any = std::ptr::from_mut(&mut raw).cast();
        // SAFETY: S1: the table was filled from the library; the version is live and writable.
        match unsafe { (self.hipblasLtGetVersion)(any, &mut raw) } {
            hipblasStatus_t::HIPBLAS_STATUS_SUCCESS => Ok(Version::from_rocrand(raw)),
            status => Err(("hipblasLtGetVersion", status.0)),
        }
    }
}

impl Table for MiopenTable {}

impl sealed::Sealed for MiopenTable {
    const TITLE: &'static str = "MIOpen (libMIOpen)";
    const NAMES: &'static [&'static str] = &["libMIOpen.so.1", "libMIOpen.so"];
    const REMEDY: &'static str = "Install MIOpen (miopen-hip, or libmiopen1 on Debian sid), or set ROCM_PATH to the folder above its lib/";

    fn fill(source: &loader::Source) -> Result<Self, LoadError> {
        Self::load(source)
    }

    fn slot(libraries: &Libraries) -> &Slot<Self> {
        &libraries.miopen
    }

    unsafe fn ask_version(&self) -> Result<Version, (&'static str, u32)> {
        let [mut major, mut minor, mut patch] = [0; 3];
        // SAFETY: S1: the table was filled from the library; the numbers are live and writable.
        match unsafe { (self.miopenGetVersion)(&mut major, &mut minor, &mut patch) } {
            miopenStatus_t::miopenStatusSuccess => {
                let [major, minor, patch] =
                    [major, minor, patch].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                Ok(Version { major, minor, patch })
            }
            status => Err(("miopenGetVersion", status.0)),
        }
    }
}
