//! Places on streams that something has to come after.

use super::Timeline;
use crate::{Result, Stream, drop_errors};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// The first `count` submissions of a stream.
#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) count: u64,
}

/// Points of different streams, at most one of each.
#[derive(Clone, Default)]
pub(crate) struct Points {
    list: SmallVec<[Point; 2]>,
}

impl Point {
    pub(crate) fn new(stream: &Stream, count: u64) -> Self {
        Self { timeline: Arc::clone(stream.timeline()), count }
    }

    fn is_complete(&self) -> bool {
        self.timeline.has_completed(self.count)
    }
}

impl Points {
    /// Adds a point, in the place of an earlier one of its stream.
    pub(crate) fn add(&mut self, stream: &Stream, count: u64) {
        match self.of(stream.timeline()) {
            Some(point) => point.count = point.count.max(count),
            None => self.list.push(Point::new(stream, count)),
        }
    }

    /// Forgets all points but this one.
    pub(crate) fn set(&mut self, stream: &Stream, count: u64) {
        match &mut self.list[..] {
            [point] if Arc::ptr_eq(&point.timeline, stream.timeline()) => point.count = count,
            _ => {
                self.list.clear();
                self.list.push(Point::new(stream, count));
            }
        }
    }

    /// Adds all of the other's points.
    pub(crate) fn add_all(&mut self, other: Self) {
        for point in other.list {
            match self.of(&point.timeline) {
                Some(known) => known.count = known.count.max(point.count),
                None => self.list.push(point),
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Forgets points that are known to be complete; true if none is left.
    pub(crate) fn forget_completed(&mut self) -> bool {
        self.list.retain(|point| !point.is_complete());
        self.list.is_empty()
    }

    /// Whether all of them are on this stream.
    pub(crate) fn are_only_on(&self, number: u64) -> bool {
        self.list.iter().all(|point| point.timeline.number() == number)
    }

    /// Makes what the stream gets from now on come after all of them.
    pub(crate) fn order_before(&self, stream: &Stream) -> Result<()> {
        self.list.iter().try_for_each(|point| stream.come_after(point))
    }

    /// Waits on the host for all of them.
    pub(crate) fn wait(&self) -> Result<()> {
        self.list.iter().try_for_each(|point| point.timeline.wait(point.count))
    }

    /// Waits before memory is released that only these submissions use. What went wrong and was got over goes to the hook.
    pub(crate) fn wait_to_release(self) -> Result<()> {
        for point in self.list {
            let got_over = point.timeline.wait_to_release(point.count)?;
            got_over.iter().for_each(drop_errors::report);
        }
        Ok(())
    }

    fn of(&mut self, timeline: &Arc<Timeline>) -> Option<&mut Point> {
        self.list.iter_mut().find(|point| Arc::ptr_eq(&point.timeline, timeline))
    }
}

impl fmt::Debug for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = self.list.iter().map(|point| (point.timeline.number(), point.count));
        f.debug_map().entries(points).finish()
    }
}
