//! The structures and constants of the bindings as data, so that they can be held against any version's headers.
//!
//! The sizes, offsets and values are the compiler's own, of the types that calls are made with.

pub use crate::generated::layout::{
    AMDSMI, HIP, HIPBLASLT, MIOPEN, ROCBLAS, ROCFFT, ROCRAND, ROCSOLVER, ROCSPARSE, RTC,
};

/// Everything of a library's headers that the bindings repeat.
#[derive(Debug, Clone, Copy)]
pub struct Bindings {
    /// The version of the headers that they were made from, `major.minor`.
    pub version: &'static str,
    /// The structures that C declares with their fields.
    pub structures: &'static [Structure],
    /// Enumerators and flags.
    pub constants: &'static [Constant],
}

impl Bindings {
    /// The C name of a status: of `value` in the enumeration `of`.
    pub fn status_name(&self, of: &str, value: u32) -> &'static str {
        let found = self.constants.iter().find(|known| known.of == of && known.value == i64::from(value));
        found.map_or("a status without a name", |known| known.name)
    }
}

/// A C structure as the bindings have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structure {
    /// Its name in C.
    pub name: &'static str,
    /// In bytes.
    pub size: usize,
    /// In bytes.
    pub align: usize,
    /// Names in C and offsets in bytes, without bit fields.
    pub fields: &'static [(&'static str, usize)],
}

/// An enumerator or a flag as the bindings have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Its name in C.
    pub name: &'static str,
    /// The enumeration; empty for what C defines as a macro.
    pub of: &'static str,
    /// Its value.
    pub value: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_the_names_of_their_own_enumeration() {
        assert_eq!(ROCFFT.status_name("rocfft_status_e", 4), "rocfft_status_invalid_array_type");
        assert_eq!(ROCFFT.status_name("rocfft_status_e", 99), "a status without a name");
        assert_eq!(AMDSMI.status_name("amdsmi_status_t", 2), "AMDSMI_STATUS_NOT_SUPPORTED");
        assert_eq!(AMDSMI.status_name("amdsmi_link_status_t", 2), "AMDSMI_LINK_STATUS_INACTIVE");
    }

    /// Counted in the generated text, not by what made the list.
    #[test]
    fn nothing_in_the_bindings_is_left_out() {
        for (bindings, text) in [
            (HIP, include_str!("generated/hip.rs")),
            (RTC, include_str!("generated/rtc.rs")),
            (ROCRAND, include_str!("generated/rocrand.rs")),
            (ROCFFT, include_str!("generated/rocfft.rs")),
            (HIPBLASLT, include_str!("generated/hipblaslt.rs")),
            (ROCBLAS, include_str!("generated/rocblas.rs")),
            (ROCSOLVER, include_str!("generated/rocsolver.rs")),
            (ROCSPARSE, include_str!("generated/rocsparse.rs")),
            (MIOPEN, include_str!("generated/miopen.rs")),
            (AMDSMI, include_str!("generated/amdsmi.rs")),
        ] {
            // What has no name in C has one of bindgen's, and is in no list.
            let named =
                |start: &str| text.lines().filter(|l| l.contains(start) && !l.contains("__bindgen")).count();
            assert_eq!(bindings.structures.len(), named("\"Size of "));
            let fields: usize = bindings.structures.iter().map(|s| s.fields.len()).sum();
            assert_eq!(fields, named("\"Offset of field: "));
            let names = [
                "hip",
                "HIP",
                "ROCRAND",
                "rocfft",
                "rocblas",
                "rocsparse",
                "miopen",
                "MIOPEN",
                "AMDSMI",
                "CLK_LIMIT",
            ]
            .map(|start| format!("pub const {start}"));
            let defines = |line: &&str| names.iter().any(|name| line.trim_start().starts_with(name));
            assert_eq!(bindings.constants.len(), text.lines().filter(defines).count());
        }
    }

    /// Facts of ROCm's documentation, written by hand.
    #[test]
    fn both_layouts_of_the_device_properties_are_as_documented() {
        let find = |name| HIP.structures.iter().find(|s| s.name == name).expect("it is in the bindings");
        let offset = |s: &Structure, field| s.fields.iter().find(|f| f.0 == field).map(|f| f.1);
        let new = find("hipDeviceProp_tR0600");
        assert_eq!((new.size, offset(new, "gcnArchName")), (1472, Some(1160)));
        assert_eq!(offset(find("hipDeviceProp_tR0000"), "gcnArchName"), Some(396));
    }
}
