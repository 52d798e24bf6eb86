//! Bounds-checked reading of numbers and slices.

use std::fmt;

/// An access beyond the end of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is cut short: bytes {offset} and {length} more are named, it has {available}")]
pub struct CutShort {
    /// The first byte accessed.
    pub offset: u64,
    /// The number of bytes accessed.
    pub length: u64,
    /// The total number of bytes.
    pub available: usize,
}

impl fmt::Debug for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `length` bytes starting at `offset`.
///
/// # Errors
/// [`CutShort`] if they are not all there.
pub fn part(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8], CutShort> {
    let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
    let start = usize::try_from(offset).ok();
    start.zip(end).and_then(|(start, end)| bytes.get(start..end)).ok_or(CutShort {
        offset,
        length,
        available: bytes.len(),
    })
}

/// Reads bytes sequentially.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader positioned at byte `at`.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The current position.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// [`CutShort`] if they are not all there; the position then stays unchanged.
    pub fn take(&mut self, length: u64) -> Result<&'a [u8], CutShort> {
        let taken = part(self.bytes, self.at as u64, length)?;
        self.at += taken.len();
        Ok(taken)
    }

    /// The next little-endian number of `N` bytes, at most 8.
    ///
    /// # Errors
    /// [`CutShort`] if they are not all there.
    pub fn number<const N: usize>(&mut self) -> Result<u64, CutShort> {
        const { assert!(N <= 8) };
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(self.take(N as u64)?);
        Ok(u64::from_le_bytes(wide))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_order() {
        let mut reader = Reader::new(&[0xff, 1, 2, 3, 0, 0, 9], 1);
        assert_eq!((reader.number::<1>(), reader.number::<4>(), reader.position()), (Ok(1), Ok(0x302), 6));
        assert_eq!(reader.number::<2>(), Err(CutShort { offset: 6, length: 2, available: 7 }));
        assert_eq!(reader.take(1), Ok(&[9][..]));
    }

    #[test]
    fn no_part_lies_beyond_the_end() {
        let bytes = [0; 8];
        assert_eq!(part(&bytes, 8, 0), Ok(&[][..]));
        for (offset, length) in [(8, 1), (0, 9), (u64::MAX, 2), (1, u64::MAX), (9, 0)] {
            assert!(part(&bytes, offset, length).is_err(), "{offset} {length}");
        }
    }
}
