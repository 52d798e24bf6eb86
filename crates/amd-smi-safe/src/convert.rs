//! From C's numbers to ours: open enumerations, values that mean "unknown", names of statuses.

use hip_sys::amdsmi::amdsmi_status_t;

/// A newtype of the numbers of a C enumeration. C may add some, so each number is a value, and those without a name say so.
macro_rules! open_enum {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $number:literal, $text:literal;)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$doc])* pub const $value: Self = Self($number);)*

            /// Its name, unless it is newer than this crate.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($text),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "unknown ({})", self.0),
                }
            }
        }
    };
}
pub(crate) use open_enum;

/// A value, unless it is the largest of its own or of a narrower type, which stands for "not known".
pub(crate) fn known(value: u64) -> Option<u64> {
    (![u64::from(u16::MAX), u64::from(u32::MAX), u64::MAX].contains(&value)).then_some(value)
}

/// A count of 64 bits, all of whose values are possible but for the largest.
pub(crate) fn counted(value: u64) -> Option<u64> {
    (value != u64::MAX).then_some(value)
}

/// As [`known`], of 32 bits.
pub(crate) fn known32(value: u32) -> Option<u32> {
    (![u32::from(u16::MAX), u32::MAX].contains(&value)).then_some(value)
}

/// A value of 32 bits all of which are possible but for the largest.
pub(crate) fn not_max(value: u32) -> Option<u32> {
    (value != u32::MAX).then_some(value)
}

/// A text, unless the library left it empty or wrote that there is none.
pub(crate) fn told(text: String) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.eq_ignore_ascii_case("N/A")).then(|| text.to_owned())
}

macro_rules! names {
    ($status:expr; $($name:ident),* $(,)?) => {
        match $status {
            $(amdsmi_status_t::$name => stringify!($name),)*
            _ => "a status without a name",
        }
    };
}

/// The name of a status.
pub(crate) fn status_name(status: amdsmi_status_t) -> &'static str {
    names!(status;
        AMDSMI_STATUS_SUCCESS, AMDSMI_STATUS_INVAL, AMDSMI_STATUS_NOT_SUPPORTED, AMDSMI_STATUS_NOT_YET_IMPLEMENTED,
        AMDSMI_STATUS_FAIL_LOAD_MODULE, AMDSMI_STATUS_FAIL_LOAD_SYMBOL, AMDSMI_STATUS_DRM_ERROR, AMDSMI_STATUS_API_FAILED,
        AMDSMI_STATUS_TIMEOUT, AMDSMI_STATUS_RETRY, AMDSMI_STATUS_NO_PERM, AMDSMI_STATUS_INTERRUPT, AMDSMI_STATUS_IO,
        AMDSMI_STATUS_ADDRESS_FAULT, AMDSMI_STATUS_FILE_ERROR, AMDSMI_STATUS_OUT_OF_RESOURCES,
        AMDSMI_STATUS_INTERNAL_EXCEPTION, AMDSMI_STATUS_INPUT_OUT_OF_BOUNDS, AMDSMI_STATUS_INIT_ERROR,
        AMDSMI_STATUS_REFCOUNT_OVERFLOW, AMDSMI_STATUS_DIRECTORY_NOT_FOUND, AMDSMI_STATUS_IPC_ERROR, AMDSMI_STATUS_BUSY,
        AMDSMI_STATUS_NOT_FOUND, AMDSMI_STATUS_NOT_INIT, AMDSMI_STATUS_NO_SLOT, AMDSMI_STATUS_DRIVER_NOT_LOADED,
        AMDSMI_STATUS_MORE_DATA, AMDSMI_STATUS_NO_DATA, AMDSMI_STATUS_INSUFFICIENT_SIZE, AMDSMI_STATUS_UNEXPECTED_SIZE,
        AMDSMI_STATUS_UNEXPECTED_DATA, AMDSMI_STATUS_FILE_NOT_FOUND, AMDSMI_STATUS_ARG_PTR_NULL,
        AMDSMI_STATUS_AMDGPU_RESTART_ERR, AMDSMI_STATUS_SETTING_UNAVAILABLE, AMDSMI_STATUS_CORRUPTED_EEPROM,
        AMDSMI_STATUS_MAP_ERROR, AMDSMI_STATUS_UNKNOWN_ERROR,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_name_are_kept() {
        use crate::PageStatus;
        assert_eq!(
            (PageStatus(1).to_string(), PageStatus(7).to_string()),
            ("pending".into(), "unknown (7)".into())
        );
        assert_eq!((PageStatus(1), PageStatus(7).name()), (PageStatus::PENDING, None));
    }

    #[test]
    fn the_largest_value_of_each_width_is_unknown() {
        assert_eq!(
            [0, 0xFFFE, 0xFFFF, 0x1_0000, 0xFFFF_FFFF, u64::MAX].map(known),
            [Some(0), Some(0xFFFE), None, Some(0x1_0000), None, None]
        );
        assert_eq!([1, 0xFFFF, u32::MAX].map(known32), [Some(1), None, None]);
        assert_eq!([0xFFFF, u32::MAX].map(not_max), [Some(0xFFFF), None]);
        assert_eq!([0xFFFF_FFFF, u64::MAX].map(counted), [Some(0xFFFF_FFFF), None]);
    }

    #[test]
    fn texts_that_say_nothing_are_none() {
        assert_eq!(
            ["", " ", "N/A", "n/a", " 7 "].map(|text| told(text.into())),
            [None, None, None, None, Some("7".into())]
        );
    }
}
