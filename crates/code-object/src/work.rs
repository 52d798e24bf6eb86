//! How much is read of a file, whose parts may lie over one another.

use crate::Error;
use crate::elf::refuse;
use std::cell::Cell;

/// Bytes that are read for each byte of a file, at most: each of a compiler's file is read four times or less, and counted for what else
/// is done with it.
const TIMES: u64 = 16;

/// What may still be read.
pub(crate) struct Work {
    left: Cell<u64>,
}

impl Work {
    /// What may be read of a file.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { left: Cell::new((bytes.len() as u64).saturating_mul(TIMES)) }
    }

    /// Counts bytes that are read; an error if they are too many, which they are only if tables or notes lie over one another.
    pub(crate) fn spend(&self, bytes: usize) -> Result<(), Error> {
        match self.left.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                refuse(format!("its tables or notes lie over one another: they have {TIMES} times its size"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_read_a_few_times() {
        let work = Work::of(&[0; 4]);
        assert_eq!(work.spend(60), Ok(()));
        assert_eq!(work.spend(4), Ok(()));
        assert!(work.spend(1).is_err_and(|error| error.to_string().contains("lie over one another")));
        assert_eq!(work.spend(0), Ok(()));
    }
}
