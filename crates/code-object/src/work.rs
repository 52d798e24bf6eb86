//! Limits how much of a file is read, since parts of a malicious file may overlap.

use crate::Error;
use crate::elf::refuse;
use std::cell::Cell;

/// The limit, in bytes read for each byte of the file. Each byte of a compiler's file is read at most four
/// times; the rest covers other work on the bytes.
const TIMES: u64 = 16;

/// The remaining budget.
pub(crate) struct Work {
    left: Cell<u64>,
}

impl Work {
    /// The budget for a file.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { left: Cell::new((bytes.len() as u64).saturating_mul(TIMES)) }
    }

    /// Counts bytes that are read; an error if the budget is exceeded, which happens only if tables or notes
    /// overlap.
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
