//! CUDA's libraries, found at run time, and their functions.

use crate::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::ffi::c_int;
use std::path::{Path, PathBuf};

/// Where a library of CUDA's with one of these names is looked for, in order: the folders below `CUDA_PATH`, the system's search, and
/// `/usr/local/cuda/lib64`.
pub fn candidates(names: &[&str]) -> Vec<PathBuf> {
    let inside = |folder: &Path| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
    let mut list = Vec::new();
    if let Some(root) = std::env::var_os("CUDA_PATH") {
        list.extend(inside(&Path::new(&root).join("lib64")));
        list.extend(inside(&Path::new(&root).join("lib")));
    }
    list.extend(names.iter().map(PathBuf::from));
    list.extend(inside(Path::new("/usr/local/cuda/lib64")));
    list
}

/// A library's names in CUDA 13, in CUDA 12, and without a version, as a toolkit has it, in the order in which to look for them: a driver does not
/// load code of a later major version, so that version is tried last.
pub fn names_for_driver(
    driver_version: c_int,
    of_13: &'static str,
    of_12: &'static str,
    bare: &'static str,
) -> [&'static str; 3] {
    if driver_version >= 13_000 { [of_13, of_12, bare] } else { [of_12, bare, of_13] }
}

/// Opens the first of the [`candidates`]. `library` and `remedy` (a whole sentence) are for the error.
///
/// # Errors
/// There is no driver, without which no device could be used; [`LoadError::NotFound`] with every name tried.
pub fn open(library: &'static str, remedy: &'static str, names: &[&str]) -> Result<SharedLibrary, LoadError> {
    driver_version()?;
    SharedLibrary::open(library, remedy, candidates(names))
}

/// A struct of a library's functions, each field with its C function's name: `name(our argument = the header's, …)`. Where C has an enumeration
/// we have its number, and where C has a handle, an address. The compiler compares each with the module `sys` of the caller, cudarc's declarations.
/// Every function returns the header's `$status`, a number of 32 bits. `$first` is any of them, which tells the library's file.
#[macro_export]
macro_rules! cuda_functions {
    ($table:ident: $status:ty, $first:ident; $($name:ident($($ours:ty = $theirs:ty),* $(,)?);)*) => {
        const _: () = assert!(size_of::<u32>() == size_of::<$status>());
        $(
            const _: unsafe fn($($theirs),*) -> $status = sys::$name;
            const _: () = {
                $(assert!(size_of::<$ours>() == size_of::<$theirs>() && align_of::<$ours>() == align_of::<$theirs>());)*
            };
        )*

        /// The functions. Each field has its C function's name.
        pub(super) struct $table {
            $(pub(super) $name: unsafe extern "C" fn($($ours),*) -> u32,)*
            file: std::path::PathBuf,
        }

        impl $table {
            pub(super) fn fill(library: &hip_sys::provider::SharedLibrary) -> Result<Self, hip_sys::LoadError> {
                // SAFETY: S1: the functions of these names have had these signatures since CUDA 12.0, by the comparisons above.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($ours),*) -> u32>(
                            library.required(stringify!($name))?,
                        ),)*
                        file: library.file(library.required(stringify!($first))?),
                    })
                }
            }

            /// The file that it was loaded from.
            pub(super) fn file(&self) -> &std::path::Path {
                &self.file
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::names_for_driver;

    #[test]
    fn the_drivers_own_major_version_is_tried_first() {
        let names = |version| names_for_driver(version, "lib.so.13", "lib.so.12", "lib.so");
        assert_eq!(names(13_010), ["lib.so.13", "lib.so.12", "lib.so"]);
        assert_eq!(names(12_080), ["lib.so.12", "lib.so", "lib.so.13"]);
    }
}
