//! Priorities of streams.

use crate::raw;
use crate::{Device, Result, Stream};
use hip_sys::Platform;
use hip_sys::hip::hipStreamNonBlocking;
use std::ops::RangeInclusive;

impl Device {
    /// The range of stream priorities, the highest first: higher priorities have smaller numbers. [`Device::new_stream`] uses 0.
    ///
    /// # Errors
    /// [`Error::Hip`](crate::Error::Hip) if the driver returns an error, [`Error::Poisoned`](crate::Error::Poisoned) after a
    /// sticky one.
    #[doc(alias = "hipDeviceGetStreamPriorityRange")]
    pub fn stream_priorities(&self) -> Result<RangeInclusive<i32>> {
        // SAFETY: S1, S3: the device is current.
        let ask = |p: &Platform| unsafe { raw::streams::priorities(p) };
        let (least, greatest) = self.run(|| format!("asking for the priorities of {self}"), ask)?;
        Ok(greatest..=least)
    }

    /// Makes a stream with a priority. Its work is scheduled before that of streams with larger numbers. A number outside
    /// [`Device::stream_priorities`] is clamped; [`Stream::priority`] returns the result.
    ///
    /// # Errors
    /// As [`Device::new_stream`].
    #[doc(alias = "hipStreamCreateWithPriority")]
    pub fn new_stream_with_priority(&self, priority: i32) -> Result<Stream> {
        let range = self.stream_priorities()?;
        let priority = priority.max(*range.start()).min(*range.end());
        // SAFETY: S1, S3: the device is current; the flag is one that the function knows.
        let create =
            |p: &Platform| unsafe { raw::streams::create_with_priority(p, hipStreamNonBlocking, priority) };
        let raw = self.run(|| format!("making a stream of priority {priority} on {self}"), create)?;
        Ok(Stream::from_handle(self, raw, true))
    }
}

impl Stream {
    /// Its priority: see [`Device::stream_priorities`].
    ///
    /// # Errors
    /// [`Error::Hip`](crate::Error::Hip) if the driver returns an error, [`Error::Poisoned`](crate::Error::Poisoned) after a
    /// sticky one.
    #[doc(alias = "hipStreamGetPriority")]
    pub fn priority(&self) -> Result<i32> {
        // SAFETY: S1, S3: the stream is live and its device current.
        let ask = |p: &Platform| unsafe { raw::streams::priority(p, self.raw()) };
        self.device().run(|| format!("asking for the priority of {self}"), ask)
    }
}
