//! Blocking calls, which return only when their work is done. They mark the memory that they use, and hold no lock while they wait.

use super::{Guards, Submission, lock_in_order};
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

    /// Marks all memory that it uses in one step, while all of it is locked. So a call that waits for another's mark has set none itself, and
    /// two calls cannot wait for each other.
    fn begin(&self) -> Result<SmallVec<[(Begun<'a>, Access); 8]>> {
        let mut all = Guards::new();
        lock_in_order(self.stream, self.uses.as_slice().iter().copied(), &mut all)?;
        Ok(all.into_iter().map(|(guard, access)| (guard.begin(access), access)).collect())
    }
}
