//! Between C's numbers and strings and ours.

use std::ffi::{c_char, c_int};

/// A C string in an array of fixed size, up to its NUL or its end.
pub(crate) fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&c| c.to_ne_bytes()[0]).take_while(|&b| b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A C `int` that counts something: negative ones count nothing.
pub(crate) fn count(value: c_int) -> usize {
    usize::try_from(value).unwrap_or(0)
}

/// As [`count`], for what we keep in 32 bits.
pub(crate) fn count32(value: c_int) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

/// Three C `int`s that count something.
pub(crate) fn dimensions(values: [c_int; 3]) -> [u32; 3] {
    values.map(count32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_nul_or_at_the_end() {
        let chars = |s: &str| s.bytes().map(|b| c_char::from_ne_bytes([b])).collect::<Vec<_>>();
        assert_eq!(text(&chars("gfx90a\0rest")), "gfx90a");
        assert_eq!(text(&chars("full")), "full");
        assert_eq!(text(&[]), "");
    }
}
