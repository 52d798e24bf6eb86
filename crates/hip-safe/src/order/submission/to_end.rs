//! Calls that return only when their work is done: what they use is marked, and nothing is locked while they wait.

use super::{AllTaken, Submission, take_in_order};
use crate::Result;
use crate::graph::NoCapture;
use crate::order::uses::Begun;
use crate::raw::Failure;
use hip_sys::hip::hipStream_t;
use hip_sys::{Access, Extent, Platform};
use smallvec::SmallVec;

impl<'a> Submission<'a> {
    /// As [`Submission::execute`], for [`Submission::run_to_end`].
    pub(super) fn execute_to_end<R>(
        &mut self,
        _turn: &NoCapture<'_>,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    ) -> Result<R> {
        let begun = self.begin()?;
        let Self { stream, extents, .. } = self;
        let result = stream.device().run(doing, |p| call(p, stream.raw(), extents.as_deref()));
        let count = stream.timeline().note_submission();
        for (begun, access) in begun {
            begun.commit(stream, access, count);
        }
        result
    }

    /// Marks all that it uses at once, while all of it is locked: who waits for another's mark has none of his own.
    fn begin(&self) -> Result<SmallVec<[(Begun<'a>, Access); 8]>> {
        let mut all = AllTaken::new();
        take_in_order(self.stream, self.uses.as_slice().iter().copied(), &mut all)?;
        Ok(all.into_iter().map(|(taken, access)| (taken.begin(access), access)).collect())
    }
}
