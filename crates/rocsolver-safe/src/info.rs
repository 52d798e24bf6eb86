//! LAPACK's `info`: what became of a computation.

use crate::{Error, Result};
use hip_safe::{DeviceBuffer, Stream};

/// What became of an operation, once it is done. Without [`Info::check`] a failure goes unnoticed, and its results have no meaning.
#[must_use = "the operation may have failed: `check` says so"]
#[derive(Debug)]
pub struct Info {
    pub(crate) op: &'static str,
    pub(crate) meaning: Meaning,
    /// Whether the operation had a batch.
    pub(crate) batched: bool,
    pub(crate) stream: Stream,
    /// A number for each member; `None` where nothing was to be done.
    pub(crate) numbers: Option<DeviceBuffer<i32>>,
}

/// What a number above 0 says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meaning {
    Pivot,
    Minor,
    Rank,
    Convergence,
    /// Up to this order the iteration, above it a minor of the second matrix.
    ConvergenceOrMinor(usize),
}

impl Info {
    /// Waits for the operation.
    ///
    /// # Errors
    /// [`Error::Singular`], [`Error::NotPositiveDefinite`], [`Error::RankDeficient`], [`Error::NotConverged`] or [`Error::InvalidArgument`]: the first
    /// member that failed;
    /// [`Error::Blas`] if the wait fails, as it does while the stream captures.
    pub fn check(self) -> Result<()> {
        let numbers = self.numbers()?;
        match numbers.iter().position(|&number| number != 0) {
            None => Ok(()),
            Some(member) => Err(self.meaning.error(self.op, numbers[member], self.batched.then_some(member))),
        }
    }

    /// Waits for the operation, and returns LAPACK's number for each member: 0 for success. Where nothing was to be done, there are none.
    ///
    /// # Errors
    /// [`Error::Blas`] if the wait fails.
    pub fn numbers(&self) -> Result<Vec<i32>> {
        match &self.numbers {
            Some(numbers) => Ok(self.stream.download(numbers)?),
            None => Ok(Vec::new()),
        }
    }
}

impl Meaning {
    /// What a number other than 0 says.
    fn error(self, op: &'static str, info: i32, member: Option<usize>) -> Error {
        let Ok(number) = usize::try_from(info) else { return Error::InvalidArgument { op, info, member } };
        match self {
            Self::Pivot => Error::Singular { op, pivot: number, member },
            Self::Minor => Error::NotPositiveDefinite { op, minor: number, member },
            Self::Rank => Error::RankDeficient { op, element: number, member },
            Self::ConvergenceOrMinor(order) if number > order => {
                Error::NotPositiveDefinite { op, minor: number - order, member }
            }
            Self::Convergence | Self::ConvergenceOrMinor(_) => Error::NotConverged { op, info, member },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_zero_name_an_argument() {
        for meaning in [Meaning::Pivot, Meaning::Minor, Meaning::Convergence, Meaning::ConvergenceOrMinor(2)]
        {
            let error = meaning.error("getrf", -4, Some(1));
            let text = "getrf: the library answered info -4 of member 1 of the batch: it did not accept argument 4 of its function, and computed \
                        nothing";
            assert_eq!(error.to_string(), text);
        }
        let error = Meaning::ConvergenceOrMinor(2).error("sygvd", 3, None);
        assert!(matches!(error, Error::NotPositiveDefinite { minor: 1, .. }), "{error}");
    }
}
