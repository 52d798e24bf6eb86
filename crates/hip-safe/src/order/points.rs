//! Points on streams: submissions that other work has to come after.

use super::Timeline;
use crate::{Result, Stream, drop_errors};
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
    /// Boxed, because points are moved with the memory from owner to owner. An empty list is kept for its next points.
    list: Option<Box<List>>,
}

#[derive(Clone, Default)]
struct List {
    /// The first two points, enough for most memory. The first slot may be empty while the second is not.
    few: [Option<Point>; 2],
    /// Further points.
    more: Vec<Point>,
}

impl Point {
    pub(crate) fn new(timeline: &Arc<Timeline>, count: u64) -> Self {
        Self { timeline: Arc::clone(timeline), count }
    }

    fn is_complete(&self) -> bool {
        self.timeline.has_completed(self.count)
    }
}

impl From<Point> for Points {
    fn from(point: Point) -> Self {
        Self { list: Some(Box::new(List::of(point))) }
    }
}

impl List {
    fn of(point: Point) -> Self {
        Self { few: [Some(point), None], more: Vec::new() }
    }

    fn iter(&self) -> impl Iterator<Item = &Point> {
        self.few.iter().flatten().chain(&self.more)
    }

    fn into_points(self) -> impl Iterator<Item = Point> {
        self.few.into_iter().flatten().chain(self.more)
    }

    #[inline]
    fn of_timeline(&mut self, timeline: &Arc<Timeline>) -> Option<&mut Point> {
        let is_it = |point: &&mut Point| Arc::ptr_eq(&point.timeline, timeline);
        let [first, second] = &mut self.few;
        first
            .as_mut()
            .filter(is_it)
            .or_else(|| second.as_mut().filter(is_it))
            .or_else(|| self.more.iter_mut().find(is_it))
    }

    /// Adds a point of a stream that has none here.
    #[cold]
    fn push(&mut self, point: Point) {
        match self.few.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(point),
            None => self.more.push(point),
        }
    }

    /// Whether the predicate holds for every point.
    #[inline]
    fn all(&self, is: impl Fn(&Point) -> bool) -> bool {
        let [first, second] = &self.few;
        first.as_ref().is_none_or(&is) && second.as_ref().is_none_or(&is) && self.more.iter().all(is)
    }
}

impl Points {
    /// Adds a point, or advances the one of the same stream.
    #[inline]
    pub(crate) fn add(&mut self, timeline: &Arc<Timeline>, count: u64) {
        let list = self.list.get_or_insert_default();
        match list.of_timeline(timeline) {
            Some(point) => point.count = point.count.max(count),
            None => list.push(Point::new(timeline, count)),
        }
    }

    /// Replaces all points by this one.
    #[inline]
    pub(crate) fn set(&mut self, timeline: &Arc<Timeline>, count: u64) {
        let list = self.list.get_or_insert_default();
        match &mut list.few {
            [Some(point), None] if Arc::ptr_eq(&point.timeline, timeline) && list.more.is_empty() => {
                point.count = count;
            }
            _ => **list = List::of(Point::new(timeline, count)),
        }
    }

    /// Adds all of the other's points.
    pub(crate) fn add_all(&mut self, other: Self) {
        for point in other.into_points() {
            let list = self.list.get_or_insert_default();
            match list.of_timeline(&point.timeline) {
                Some(known) => known.count = known.count.max(point.count),
                None => list.push(point),
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    /// The point, if there is exactly one. It stays the first when others are added.
    #[inline]
    pub(crate) fn only(&self) -> Option<&Point> {
        match self.list.as_deref()? {
            List { few: [Some(point), None], more } if more.is_empty() => Some(point),
            _ => None,
        }
    }

    /// The point, if there is exactly one and it is on this stream.
    #[inline]
    pub(crate) fn only_on(&mut self, timeline: &Arc<Timeline>) -> Option<&mut Point> {
        match self.list.as_deref_mut()? {
            List { few: [Some(point), None], more } if more.is_empty() => {
                Arc::ptr_eq(&point.timeline, timeline).then_some(point)
            }
            _ => None,
        }
    }

    /// A point with this submission number on the stream of the first point.
    pub(crate) fn first(&self, count: u64) -> Option<Point> {
        let first = self.list.as_deref()?.few[0].as_ref()?;
        Some(Point { timeline: Arc::clone(&first.timeline), count })
    }

    /// Removes points that are known to be complete. True if none is left.
    pub(crate) fn forget_completed(&mut self) -> bool {
        let Some(list) = &mut self.list else { return true };
        for slot in &mut list.few {
            slot.take_if(|point| point.is_complete());
        }
        list.more.retain(|point| !point.is_complete());
        list.iter().next().is_none()
    }

    /// As [`Points::are_all_on`], by the stream's number.
    #[inline]
    pub(crate) fn are_only_on(&self, number: u64) -> bool {
        let on_it = |point: &Point| point.timeline.number() == number;
        self.list.as_ref().is_none_or(|list| list.all(on_it))
    }

    /// Whether all points are on this stream.
    #[inline]
    pub(crate) fn are_all_on(&self, timeline: &Arc<Timeline>) -> bool {
        let own = |point: &Point| Arc::ptr_eq(&point.timeline, timeline);
        self.list.as_ref().is_none_or(|list| list.all(own))
    }

    /// Whether the first point is on this stream, or there is none.
    #[inline]
    pub(crate) fn first_is_on(&self, timeline: &Arc<Timeline>) -> bool {
        let first = self.list.as_ref().and_then(|list| list.few[0].as_ref());
        first.is_none_or(|first| Arc::ptr_eq(&first.timeline, timeline))
    }

    /// Makes later work of the stream come after all points.
    pub(crate) fn order_before(&self, stream: &Stream) -> Result<()> {
        self.iter().try_for_each(|point| stream.come_after(point))
    }

    /// Waits on the host for all points.
    pub(crate) fn wait(&self) -> Result<()> {
        self.iter().try_for_each(|point| point.timeline.wait(point.count))
    }

    /// Waits for all points before memory is released. If a stream cannot be waited for but its device can, the first error goes to the hook.
    pub(crate) fn wait_to_release(self) -> Result<()> {
        for point in self.into_points() {
            let recovered = point.timeline.wait_to_release(point.count)?;
            recovered.iter().for_each(drop_errors::report);
        }
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = &Point> {
        self.list.iter().flat_map(|list| list.iter())
    }

    fn into_points(self) -> impl Iterator<Item = Point> {
        self.list.into_iter().flat_map(|list| list.into_points())
    }
}

impl fmt::Debug for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = self.iter().map(|point| (point.timeline.number(), point.count));
        f.debug_map().entries(points).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn there_is_one_point_for_each_stream() {
        let device = Device::new(&hip_host::platform(), 0).unwrap();
        let streams: Vec<Stream> = (0..5).map(|_| device.new_stream().unwrap()).collect();
        let counts = |points: &Points| {
            let count = |stream: &Stream| {
                let mut own = points.iter().filter(|point| Arc::ptr_eq(&point.timeline, stream.timeline()));
                let count = own.next().map(|point| point.count);
                assert!(own.next().is_none(), "two points of one stream");
                count
            };
            streams.iter().map(count).collect::<Vec<_>>()
        };
        let mut points = Points::default();
        for (index, stream) in streams.iter().enumerate() {
            points.add(stream.timeline(), 10 * (index as u64 + 1));
        }
        points.add(streams[4].timeline(), 7);
        points.add(streams[0].timeline(), 11);
        assert_eq!(counts(&points), [Some(11), Some(20), Some(30), Some(40), Some(50)]);
        assert_eq!((points.len(), points.are_only_on(streams[0].timeline().number())), (5, false));

        let mut other = Points::default();
        other.add(streams[3].timeline(), 45);
        other.add(streams[1].timeline(), 15);
        other.add_all(points.clone());
        assert_eq!(counts(&other), [Some(11), Some(20), Some(30), Some(45), Some(50)]);

        // Complete points are removed from both parts of the list, and their slots are used again.
        streams[0].timeline().note_completion(11);
        streams[3].timeline().note_completion(40);
        assert!(!points.forget_completed());
        assert_eq!(counts(&points), [None, Some(20), Some(30), None, Some(50)]);
        points.add(streams[3].timeline(), 41);
        assert_eq!(counts(&points), [None, Some(20), Some(30), Some(41), Some(50)]);

        points.set(streams[2].timeline(), 31);
        assert_eq!(counts(&points), [None, None, Some(31), None, None]);
        assert!(points.are_only_on(streams[2].timeline().number()));
        points.set(streams[2].timeline(), 32);
        points.set(streams[1].timeline(), 21);
        assert_eq!(counts(&points), [None, Some(21), None, None, None]);
        streams[1].timeline().note_completion(21);
        assert!(points.forget_completed());
        assert_eq!(points.len(), 0);
    }
}
