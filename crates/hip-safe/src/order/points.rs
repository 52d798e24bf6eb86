//! Places on streams that something has to come after.

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
    /// The first ones: those of most memory are all here. A place may be free before one that is not.
    few: [Option<Point>; 2],
    /// The others. The box keeps what is moved about small where there are none.
    #[allow(clippy::box_collection, reason = "a word, where a vector is three")]
    more: Option<Box<Vec<Point>>>,
}

impl Point {
    pub(crate) fn new(stream: &Stream, count: u64) -> Self {
        Self { timeline: Arc::clone(stream.timeline()), count }
    }

    fn is_complete(&self) -> bool {
        self.timeline.has_completed(self.count)
    }
}

impl From<Point> for Points {
    fn from(point: Point) -> Self {
        Self { few: [Some(point), None], more: None }
    }
}

impl Points {
    /// Adds a point, in the place of an earlier one of its stream.
    #[inline]
    pub(crate) fn add(&mut self, stream: &Stream, count: u64) {
        match self.of(stream.timeline()) {
            Some(point) => point.count = point.count.max(count),
            None => self.push(Point::new(stream, count)),
        }
    }

    /// Forgets all points but this one.
    #[inline]
    pub(crate) fn set(&mut self, stream: &Stream, count: u64) {
        match self {
            Self { few: [Some(point), None], more: None }
                if Arc::ptr_eq(&point.timeline, stream.timeline()) =>
            {
                point.count = count;
            }
            _ => *self = Point::new(stream, count).into(),
        }
    }

    /// Adds all of the other's points.
    pub(crate) fn add_all(&mut self, other: Self) {
        for point in other.into_points() {
            match self.of(&point.timeline) {
                Some(known) => known.count = known.count.max(point.count),
                None => self.push(point),
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    /// Forgets points that are known to be complete; true if none is left.
    pub(crate) fn forget_completed(&mut self) -> bool {
        for place in &mut self.few {
            place.take_if(|point| point.is_complete());
        }
        if let Some(more) = &mut self.more {
            more.retain(|point| !point.is_complete());
            if more.is_empty() {
                self.more = None;
            }
        }
        self.iter().next().is_none()
    }

    /// Whether all of them are on this stream.
    #[inline]
    pub(crate) fn are_only_on(&self, number: u64) -> bool {
        let on_it = |point: &Point| point.timeline.number() == number;
        let [first, second] = &self.few;
        first.as_ref().is_none_or(on_it)
            && second.as_ref().is_none_or(on_it)
            && self.more.as_ref().is_none_or(|more| more.iter().all(on_it))
    }

    /// Makes what the stream gets from now on come after all of them.
    #[inline]
    pub(crate) fn order_before(&self, stream: &Stream) -> Result<()> {
        // Most memory is used on one stream, which keeps that order by itself.
        let own = |place: &Option<Point>| {
            place.as_ref().is_none_or(|point| Arc::ptr_eq(&point.timeline, stream.timeline()))
        };
        if self.few.iter().all(own) && self.more.is_none() { Ok(()) } else { self.order_all_before(stream) }
    }

    #[inline(never)]
    fn order_all_before(&self, stream: &Stream) -> Result<()> {
        self.iter().try_for_each(|point| stream.come_after(point))
    }

    /// Waits on the host for all of them.
    pub(crate) fn wait(&self) -> Result<()> {
        self.iter().try_for_each(|point| point.timeline.wait(point.count))
    }

    /// Waits before memory is released that only these submissions use. What went wrong and was got over goes to the hook.
    pub(crate) fn wait_to_release(self) -> Result<()> {
        for point in self.into_points() {
            let got_over = point.timeline.wait_to_release(point.count)?;
            got_over.iter().for_each(drop_errors::report);
        }
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = &Point> {
        self.few.iter().flatten().chain(self.more.iter().flat_map(|more| more.iter()))
    }

    fn into_points(self) -> impl Iterator<Item = Point> {
        self.few.into_iter().flatten().chain(self.more.into_iter().flat_map(|more| *more))
    }

    #[inline]
    fn of(&mut self, timeline: &Arc<Timeline>) -> Option<&mut Point> {
        let is_it = |point: &&mut Point| Arc::ptr_eq(&point.timeline, timeline);
        let [first, second] = &mut self.few;
        first
            .as_mut()
            .filter(is_it)
            .or_else(|| second.as_mut().filter(is_it))
            .or_else(|| self.more.as_mut()?.iter_mut().find(is_it))
    }

    /// Adds a point of a stream that has none.
    #[cold]
    fn push(&mut self, point: Point) {
        match self.few.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(point),
            None => self.more.get_or_insert_default().push(point),
        }
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
    fn one_point_of_each_stream_however_many_there_are() {
        let device = Device::new(&hip_host::platform(), 0).unwrap();
        let streams: Vec<Stream> = (0..5).map(|_| device.new_stream().unwrap()).collect();
        let counts = |points: &Points| {
            let count = |stream: &Stream| {
                let mut own = points.iter().filter(|point| Arc::ptr_eq(&point.timeline, stream.timeline()));
                let count = own.next().map(|point| point.count);
                assert!(own.next().is_none(), "one of each stream");
                count
            };
            streams.iter().map(count).collect::<Vec<_>>()
        };
        let mut points = Points::default();
        for (index, stream) in streams.iter().enumerate() {
            points.add(stream, 10 * (index as u64 + 1));
        }
        points.add(&streams[4], 7);
        points.add(&streams[0], 11);
        assert_eq!(counts(&points), [Some(11), Some(20), Some(30), Some(40), Some(50)]);
        assert_eq!((points.len(), points.are_only_on(streams[0].timeline().number())), (5, false));

        let mut other = Points::default();
        other.add(&streams[3], 45);
        other.add(&streams[1], 15);
        other.add_all(points.clone());
        assert_eq!(counts(&other), [Some(11), Some(20), Some(30), Some(45), Some(50)]);

        // What is complete goes, wherever it is, and its place is used again.
        streams[0].timeline().note_completion(11);
        streams[3].timeline().note_completion(40);
        assert!(!points.forget_completed());
        assert_eq!(counts(&points), [None, Some(20), Some(30), None, Some(50)]);
        points.add(&streams[3], 41);
        assert_eq!(counts(&points), [None, Some(20), Some(30), Some(41), Some(50)]);

        points.set(&streams[2], 31);
        assert_eq!(counts(&points), [None, None, Some(31), None, None]);
        assert!(points.are_only_on(streams[2].timeline().number()));
        points.set(&streams[2], 32);
        points.set(&streams[1], 21);
        assert_eq!(counts(&points), [None, Some(21), None, None, None]);
        streams[1].timeline().note_completion(21);
        assert!(points.forget_completed());
        assert_eq!(points.len(), 0);
    }
}
