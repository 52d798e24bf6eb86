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

/// The name of a status.
pub(crate) fn status_name(status: amdsmi_status_t) -> &'static str {
    hip_sys::layout::AMDSMI.status_name("amdsmi_status_t", status.0)
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
