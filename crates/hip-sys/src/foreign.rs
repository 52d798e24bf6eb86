//! What C libraries fill for us: structures that may have grown, and texts in arrays.

use std::ffi::c_char;

/// Memory for a structure that a library may have extended at its end since our headers were written.
#[repr(C)]
#[derive(Debug)]
pub struct WithSlack<T> {
    /// The structure as we know it.
    pub value: T,
    slack: [u64; 256],
}

impl<T: Default> Default for WithSlack<T> {
    fn default() -> Self {
        Self { value: T::default(), slack: [0; 256] }
    }
}

impl<T> WithSlack<T> {
    /// The address of the structure, with all of this memory behind it.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        (&raw mut *self).cast()
    }
}

/// A C string in an array of fixed size, up to its NUL or its end.
pub fn text_in(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&c| c.to_ne_bytes()[0]).take_while(|&b| b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_nul_or_at_the_end() {
        let chars = |s: &str| s.bytes().map(|b| c_char::from_ne_bytes([b])).collect::<Vec<_>>();
        assert_eq!(text_in(&chars("gfx90a\0rest")), "gfx90a");
        assert_eq!(text_in(&chars("full")), "full");
        assert_eq!(text_in(&[]), "");
    }

    #[test]
    fn a_library_may_write_behind_the_structure_it_was_asked_for() {
        let mut space = WithSlack::<[u64; 2]>::default();
        // SAFETY: S1: there are 256 words of slack behind the two.
        unsafe { space.as_mut_ptr().cast::<[u64; 4]>().write([7, 8, 9, 10]) };
        assert_eq!(space.value, [7, 8]);
    }
}
