//! The rows that LU factors exchanged.

use crate::{Error, Result};
use hip_safe::{DeviceBuffer, DeviceView, Stream};

/// The rows that a factorisation with partial pivoting exchanged, in device memory: step i exchanged row i with row `pivots[i]`, both counted from
/// 1. The members of a batch lie one after the other, without gaps.
///
/// The library uses them as indices and does not check them. So they come from [`Solver::getrf`](crate::Solver::getrf), or from the host through
/// [`Pivots::from_host`], which checks them, and nothing else writes them.
#[derive(Debug)]
pub struct Pivots {
    /// Each from 1 to `rows`.
    pub(crate) buffer: DeviceBuffer<i32>,
    pub(crate) rows: usize,
    /// The pivots of one member.
    pub(crate) len: usize,
    /// The members of the batch; `None` for a single matrix.
    pub(crate) count: Option<usize>,
}

impl Pivots {
    /// The pivots of a square matrix of the given order: `order` numbers. For a batch of `count` such matrices `order` numbers for each of them.
    ///
    /// # Errors
    /// [`Error::Blas`] for another number of pivots, for a pivot below 1 or above `order`, while the stream captures, and if the copy fails.
    pub fn from_host(stream: &Stream, pivots: &[i32], order: usize, count: Option<usize>) -> Result<Self> {
        let wanted = order
            .checked_mul(count.unwrap_or(1))
            .ok_or(rocblas_safe::Error::SizeOverflow { what: "pivots" })?;
        if pivots.len() != wanted {
            let (got, wanted) = (format!("{} numbers", pivots.len()), wanted.to_string());
            return Err(Error::shape("pivots", "the slice", got, wanted));
        }
        let outside = |&pivot: &i32| !usize::try_from(pivot).is_ok_and(|row| (1..=order).contains(&row));
        if let Some(index) = pivots.iter().position(outside) {
            let (got, wanted) =
                (format!("{} at index {index}", pivots[index]), format!("a row from 1 to {order}"));
            return Err(Error::shape("pivots", "a number", got, wanted));
        }
        // The memory of a capture is zero until the first launch.
        refuse_capture(stream, "an upload of pivots")?;
        let buffer = stream.upload(pivots)?.named("pivots of rocSOLVER");
        Ok(Self { buffer, rows: order, len: order, count })
    }

    /// They, to be read.
    pub fn view(&self) -> DeviceView<'_, i32> {
        self.buffer.view()
    }

    /// The rows of the matrix: no pivot is larger.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The members of the batch; `None` for a single matrix.
    pub fn count(&self) -> Option<usize> {
        self.count
    }
}

/// Another thread may begin a capture at any time, and then refuses this thread's work itself.
pub(crate) fn refuse_capture(stream: &Stream, what: &'static str) -> Result<()> {
    if stream.is_capturing() {
        let remedy = "call it outside of the capture, which may contain getrs, potrs, geqrf, orgqr and ormqr";
        return Err(hip_safe::Error::Capturing { what, remedy }.into());
    }
    Ok(())
}
