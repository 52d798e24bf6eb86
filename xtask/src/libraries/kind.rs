//! The libraries that hip-sys has tables for.

use hip_sys::layout::{self, Bindings};
use hip_sys::{
    AmdSmi, AmdsmiTable, HipTable, Hipblaslt, HipblasltTable, Miopen, MiopenTable, Platform, Rocblas,
    RocblasTable, Rocfft, RocfftTable, Rocrand, RocrandTable, Rocsolver, RocsolverTable, Rocsparse,
    RocsparseTable, RtcTable, Symbol,
};

/// A library that hip-sys has a function table for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Hip,
    Rtc,
    Rocrand,
    Rocfft,
    Rocblas,
    Rocsolver,
    Rocsparse,
    Hipblaslt,
    Miopen,
    AmdSmi,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Hip,
        Self::Rtc,
        Self::Rocrand,
        Self::Rocfft,
        Self::Rocblas,
        Self::Rocsolver,
        Self::Rocsparse,
        Self::Hipblaslt,
        Self::Miopen,
        Self::AmdSmi,
    ];

    /// Its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Hip => "HIP",
            Self::Rtc => "hiprtc",
            Self::Rocrand => "rocRAND",
            Self::Rocfft => "rocFFT",
            Self::Rocblas => "rocBLAS",
            Self::Rocsolver => "rocSOLVER",
            Self::Rocsparse => "rocSPARSE",
            Self::Hipblaslt => "hipBLASLt",
            Self::Miopen => "MIOpen",
            Self::AmdSmi => "AMD SMI",
        }
    }

    /// Its section of functions.toml, which is also its module.
    pub(super) const fn module(self) -> &'static str {
        match self {
            Self::Hip => "hip",
            Self::Rtc => "rtc",
            Self::Rocrand => "rocrand",
            Self::Rocfft => "rocfft",
            Self::Rocblas => "rocblas",
            Self::Rocsolver => "rocsolver",
            Self::Rocsparse => "rocsparse",
            Self::Hipblaslt => "hipblaslt",
            Self::Miopen => "miopen",
            Self::AmdSmi => "amdsmi",
        }
    }

    /// The file name without the version.
    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::Hip => "libamdhip64.so",
            Self::Rtc => "libhiprtc.so",
            Self::Rocrand => "librocrand.so",
            Self::Rocfft => "librocfft.so",
            Self::Rocblas => "librocblas.so",
            Self::Rocsolver => "librocsolver.so",
            Self::Rocsparse => "librocsparse.so",
            Self::Hipblaslt => "libhipblaslt.so",
            Self::Miopen => "libMIOpen.so",
            Self::AmdSmi => "libamd_smi.so",
        }
    }

    /// The file names that hip-sys looks for.
    pub(super) fn names(self) -> Vec<String> {
        let names = match self {
            Self::Hip | Self::Rtc => Platform::AMD_NAMES,
            Self::Rocrand => Rocrand::NAMES,
            Self::Rocfft => Rocfft::NAMES,
            Self::Rocblas => Rocblas::NAMES,
            Self::Rocsolver => Rocsolver::NAMES,
            Self::Rocsparse => Rocsparse::NAMES,
            Self::Hipblaslt => Hipblaslt::NAMES,
            Self::Miopen => Miopen::NAMES,
            Self::AmdSmi => AmdSmi::NAMES,
        };
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        if self == Self::Rtc {
            // hiprtc has HIP's version number; up to ROCm 5 it is part of HIP's library.
            names.extend(Platform::AMD_NAMES.iter().map(|name| name.replace("amdhip64", "hiprtc")));
        }
        names
    }

    /// The functions of its table.
    pub(super) const fn symbols(self) -> &'static [Symbol] {
        match self {
            Self::Hip => HipTable::SYMBOLS,
            Self::Rtc => RtcTable::SYMBOLS,
            Self::Rocrand => RocrandTable::SYMBOLS,
            Self::Rocfft => RocfftTable::SYMBOLS,
            Self::Rocblas => RocblasTable::SYMBOLS,
            Self::Rocsolver => RocsolverTable::SYMBOLS,
            Self::Rocsparse => RocsparseTable::SYMBOLS,
            Self::Hipblaslt => HipblasltTable::SYMBOLS,
            Self::Miopen => MiopenTable::SYMBOLS,
            Self::AmdSmi => AmdsmiTable::SYMBOLS,
        }
    }

    /// Its types.
    pub(super) const fn bindings(self) -> &'static Bindings {
        match self {
            Self::Hip => &layout::HIP,
            Self::Rtc => &layout::RTC,
            Self::Rocrand => &layout::ROCRAND,
            Self::Rocfft => &layout::ROCFFT,
            Self::Rocblas => &layout::ROCBLAS,
            Self::Rocsolver => &layout::ROCSOLVER,
            Self::Rocsparse => &layout::ROCSPARSE,
            Self::Hipblaslt => &layout::HIPBLASLT,
            Self::Miopen => &layout::MIOPEN,
            Self::AmdSmi => &layout::AMDSMI,
        }
    }

    /// The headers that declare it; the first of them exists in every version.
    pub(super) const fn headers(self) -> &'static [&'static str] {
        match self {
            Self::Hip => &["hip/hip_runtime_api.h", "hip/hip_deprecated.h"],
            Self::Rtc => &["hip/hiprtc.h"],
            Self::Rocrand => &["rocrand/rocrand.h"],
            Self::Rocfft => &["rocfft/rocfft.h"],
            Self::Rocblas => &["rocblas/rocblas.h"],
            Self::Rocsolver => &["rocsolver/rocsolver.h"],
            Self::Rocsparse => &["rocsparse/rocsparse.h"],
            Self::Hipblaslt => &["hipblaslt/hipblaslt.h"],
            Self::Miopen => &["miopen/miopen.h"],
            Self::AmdSmi => &["amd_smi/amdsmi.h"],
        }
    }

    /// Whether this is the name of one of the library's C functions.
    pub(super) fn owns(self, function: &str) -> bool {
        match self {
            Self::Hip => {
                function.starts_with("hip")
                    && !["hiprtc", "hipblas"].iter().any(|other| function.starts_with(other))
            }
            Self::Rtc => function.starts_with("hiprtc"),
            Self::Rocrand => function.starts_with("rocrand_"),
            Self::Rocfft => function.starts_with("rocfft_"),
            Self::Rocblas => function.starts_with("rocblas_"),
            Self::Rocsolver => function.starts_with("rocsolver_"),
            Self::Rocsparse => function.starts_with("rocsparse_"),
            Self::Hipblaslt => function.starts_with("hipblasLt"),
            Self::Miopen => function.starts_with("miopen"),
            Self::AmdSmi => function.starts_with("amdsmi_"),
        }
    }
}
