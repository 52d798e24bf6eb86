//! The libraries beside HIP that belong to a platform: AMD's own, or what the platform brings in their place.

use crate::{LoadError, Miopen, Platform, PlatformKind, Rocblas};
use std::sync::OnceLock;

/// They are opened when somebody asks for them first.
#[derive(Default)]
pub(crate) struct Libraries {
    rocblas: OnceLock<Result<Rocblas, LoadError>>,
    miopen: OnceLock<Result<Miopen, LoadError>>,
}

macro_rules! library {
    ($platform:expr, $field:ident, $Library:ident, $title:literal) => {
        $platform
            .libraries
            .$field
            .get_or_init(|| match ($platform.ext().$field, $platform.kind) {
                (Some(provided), _) => provided(),
                (None, PlatformKind::Amd) => {
                    let found = $Library::load()?;
                    if found.is_linked_to($platform.hip().hipRuntimeGetVersion) {
                        Ok(found)
                    } else {
                        Err(LoadError::OtherHip { library: found.library().display().to_string() })
                    }
                }
                (None, _) => Err(LoadError::NotProvided {
                    library: $title,
                    reason: "it is made of functions that do not call it",
                }),
            })
            .as_ref()
    };
}

impl Platform {
    /// rocBLAS's functions on this platform's streams and memory: AMD's library, or what stands in its place. Loaded at the first call.
    ///
    /// # Errors
    /// Why there is none, also if AMD's is linked to another HIP than this one.
    pub fn rocblas(&self) -> Result<&Rocblas, &LoadError> {
        library!(self, rocblas, Rocblas, "rocBLAS")
    }

    /// MIOpen's functions on this platform's streams and memory: AMD's library, or what stands in its place. Loaded at the first call.
    ///
    /// # Errors
    /// As [`Platform::rocblas`].
    pub fn miopen(&self) -> Result<&Miopen, &LoadError> {
        library!(self, miopen, Miopen, "MIOpen")
    }
}
