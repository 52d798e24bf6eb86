//! What holds of a pool between any two calls.

use super::super::block::{NONE, State};
use super::super::config::GRANULE;
use super::super::free_lists::OwnerId;
use super::*;

impl Pool<Points> {
    /// Panics if anything does not hold.
    pub(super) fn check(&self) {
        let statistics = self.statistics();
        let (mut reserved, mut active, mut allocated, mut free, mut live, mut in_segments) =
            (0, 0, 0, 0, 0, 0);
        let mut segments = 0;
        for number in 0..self.segments.end() {
            let Some(segment) = self.segments.get(number) else { continue };
            segments += 1;
            reserved += segment.bytes;
            let (mut index, mut before, mut end, mut used) = (segment.first, NONE, segment.address, 0);
            while index != NONE {
                let node = &self.blocks[index];
                assert_eq!((node.segment, node.before, node.address), (number, before, end), "in a row");
                assert!(
                    node.bytes > 0
                        && node.bytes.is_multiple_of(GRANULE)
                        && node.address.is_multiple_of(GRANULE)
                );
                assert!(!self.may_join(before, index), "free neighbours that could be one");
                end += node.bytes;
                in_segments += 1;
                match node.state {
                    State::Live => {
                        used += 1;
                        active += node.bytes;
                        allocated += node.requested;
                        assert!((1..=node.bytes).contains(&node.requested));
                    }
                    State::Held => {
                        free += node.bytes;
                        let stream = self.free.stream(node.owner).expect("a stream's");
                        assert!(node.order.only_on(stream), "others use it too");
                    }
                    State::Vacant => panic!("a vacant block in a segment"),
                    State::Untouched | State::Touched => {
                        free += node.bytes;
                        self.check_free(index);
                    }
                }
                (before, index) = (index, node.after);
            }
            assert_eq!(end, segment.address + segment.bytes, "the blocks are the segment");
            assert_eq!(used, segment.live);
            live += u64::from(used);
        }
        let vacant = (0..self.blocks.slots()).filter(|index| self.blocks[*index].state == State::Vacant);
        assert_eq!(in_segments + vacant.count(), self.blocks.slots() as usize, "every block is in a segment");
        assert_eq!((statistics.reserved, statistics.active), (reserved, active));
        assert_eq!((statistics.free(), active + free), (free, reserved), "bytes are conserved");
        assert_eq!((statistics.allocated, statistics.segments), (allocated, segments));
        assert_eq!(statistics.allocations - statistics.frees, live);
        assert_eq!(statistics.hits + statistics.misses, statistics.allocations);
        assert!(
            statistics.allocated <= statistics.peak_allocated
                && statistics.peak_allocated <= statistics.peak_active
        );
        assert!(
            statistics.active <= statistics.peak_active && statistics.peak_active <= statistics.peak_reserved
        );
        assert!(statistics.reserved <= statistics.peak_reserved && statistics.steals <= statistics.hits);
    }

    /// A free block is in the lists of its owner, and its owner may take it without a wait.
    fn check_free(&self, index: u32) {
        let node = &self.blocks[index];
        match (self.free.stream(node.owner), node.state) {
            (None, State::Untouched) => {
                assert!(node.owner == OwnerId::NOBODY && node.order.clone().settle(), "no owner, but in use");
            }
            (Some(stream), State::Untouched) => assert!(node.order.only_on(stream), "others use it too"),
            (stream, _) => assert!(stream.is_some() || node.owner == OwnerId::ORPHANS),
        }
        let all: Vec<_> = self.free.fitting(&self.blocks, node.class, node.bytes, usize::MAX).collect();
        let listed = all.iter().filter(|listed| **listed == index).count();
        assert_eq!(listed, usize::from(self.free.lists(node.owner)));
        for other in all {
            let other = &self.blocks[other];
            assert!(other.is_free() && other.class == node.class && other.owner != OwnerId::NOBODY);
        }
        assert_eq!(self.free.listed(&self.blocks, index), 1, "in its owner's list, once");
    }
}
