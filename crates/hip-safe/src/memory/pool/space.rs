//! The pool's memory: freeing and joining blocks, taking and splitting them, adding and removing segments.

use super::block::{NONE, State};
use super::free_lists::OwnerId;
use super::segments::Segment;
use super::{Block, BlockId, Departed, Order, Pool};

/// A request for a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The requested bytes.
    pub(super) bytes: usize,
    /// The requested bytes, rounded up.
    pub(super) size: usize,
    pub(super) class: super::config::Class,
    pub(super) owner: OwnerId,
}

impl<O: Order> Pool<O> {
    /// Inserts a block into the free lists, joined with its free neighbours.
    pub(super) fn put(&mut self, mut index: u32) {
        let before = self.blocks[index].before;
        if self.may_join(before, index) {
            self.free.remove(&mut self.blocks, before);
            self.join(before, index);
            index = before;
        }
        loop {
            let after = self.blocks[index].after;
            if !self.may_join(index, after) {
                break;
            }
            self.free.remove(&mut self.blocks, after);
            self.join(index, after);
        }
        self.free.insert(&mut self.blocks, index);
    }

    /// Whether two neighbours exist and can be joined.
    pub(super) fn may_join(&self, before: u32, after: u32) -> bool {
        if before == NONE || after == NONE {
            return false;
        }
        let (a, b) = (&self.blocks[before], &self.blocks[after]);
        let nobody = OwnerId::NOBODY;
        a.is_free() && b.is_free() && (a.owner == b.owner || a.owner == nobody || b.owner == nobody)
    }

    fn join(&mut self, index: u32, after: u32) {
        let right = &self.blocks[after];
        let (bytes, next, owner, state, freed_at) =
            (right.bytes, right.after, right.owner, right.state, right.freed_at);
        let order = self.blocks.remove(after);
        let left = &mut self.blocks[index];
        // The joined block has the age of the larger part. Otherwise a block that keeps growing at its end would never become old.
        if bytes > left.bytes {
            left.freed_at = freed_at;
        }
        left.bytes += bytes;
        left.after = next;
        left.order.merge(order);
        if left.owner == OwnerId::NOBODY {
            (left.owner, left.state) = (owner, state);
        } else if state == State::Touched {
            left.state = State::Touched;
        }
        if next != NONE {
            self.blocks[next].before = index;
        }
        self.statistics.merges += 1;
    }

    /// Takes a free block, and splits off the rest if that is useful. The caller calls [`Pool::hand_out`] next.
    pub(super) fn take(&mut self, index: u32, request: Request) {
        self.free.remove(&mut self.blocks, index);
        let node = &mut self.blocks[index];
        let foreign = node.owner != OwnerId::NOBODY && node.owner != request.owner;
        if foreign || node.state == State::Touched {
            if node.order.settle() {
                (node.owner, node.state) = (OwnerId::NOBODY, State::Untouched);
            } else if foreign {
                self.statistics.steals += 1;
            }
        }
        let state = std::mem::replace(&mut node.state, State::Live);
        node.requested = request.bytes;
        if self.config.splits(node.class, node.bytes - request.size) {
            self.split(index, request.size, state);
        }
    }

    /// Counts a taken block as allocated, and returns it.
    #[inline]
    pub(super) fn hand_out(&mut self, index: u32) -> Block<O> {
        let node = &mut self.blocks[index];
        self.segments.get_mut(node.segment).live += 1;
        self.statistics.handed_out(node.requested, node.bytes);
        let order = std::mem::take(&mut node.order);
        Block { id: BlockId(index), address: node.address, bytes: node.bytes, order }
    }

    /// Splits a block. The rest is free, and may be used by the same work as the whole.
    fn split(&mut self, index: u32, size: usize, state: State) {
        let node = &mut self.blocks[index];
        let (address, rest) = (node.address + size, node.bytes - size);
        let (segment, class, after) = (node.segment, node.class, node.after);
        let (owner, freed_at, order) = (node.owner, node.freed_at, node.order.clone());
        node.bytes = size;
        let new = self.blocks.add(address, rest, segment, class);
        self.blocks[index].after = new;
        if after != NONE {
            self.blocks[after].before = new;
        }
        let node = &mut self.blocks[new];
        (node.before, node.after) = (index, after);
        (node.owner, node.state, node.freed_at, node.order) = (owner, state, freed_at, order);
        self.statistics.splits += 1;
        self.put(new);
    }

    /// Settles every free block: blocks that no work uses lose their owner. Then joins all neighbours that can be joined.
    pub(super) fn reap(&mut self) {
        self.let_all_go();
        self.reaped_at = self.statistics.frees;
        for index in 0..self.blocks.slots() {
            let node = &self.blocks[index];
            if node.is_free() && node.owner != OwnerId::NOBODY {
                self.free.remove(&mut self.blocks, index);
                self.update_owner(index);
                self.free.insert(&mut self.blocks, index);
            }
        }
        for index in 0..self.blocks.slots() {
            if self.blocks[index].is_free() && self.may_join(index, self.blocks[index].after) {
                self.free.remove(&mut self.blocks, index);
                self.put(index);
            }
        }
        self.free.count_streams(&mut self.blocks);
    }

    /// Updates owner and state of a block in no list: if no work uses it, it loses its owner.
    pub(super) fn update_owner(&mut self, index: u32) {
        let node = &mut self.blocks[index];
        let stream = self.free.stream(node.owner);
        if node.order.settle() {
            (node.owner, node.state) = (OwnerId::NOBODY, State::Untouched);
        } else if stream.is_some_and(|stream| node.order.only_on(stream)) {
            node.state = State::Untouched;
        } else {
            node.state = State::Touched;
        }
    }

    /// Adds a segment, as one free block without an owner.
    pub(super) fn add_segment(&mut self, address: usize, bytes: usize, class: super::config::Class) -> u32 {
        let made_at = self.statistics.frees;
        let segment = self.segments.add(Segment { address, bytes, first: NONE, live: 0, made_at });
        let index = self.blocks.add(address, bytes, segment, class);
        self.segments.get_mut(segment).first = index;
        self.blocks[index].state = State::Untouched;
        self.free.insert(&mut self.blocks, index);
        self.statistics.grown(bytes);
        index
    }

    /// Removes a segment without a block in use.
    pub(super) fn remove_segment(&mut self, segment: u32) -> Departed<O> {
        let Segment { address, bytes, first, .. } = self.segments.remove(segment);
        let mut order = O::default();
        let mut index = first;
        while index != NONE {
            let next = self.blocks[index].after;
            self.free.remove(&mut self.blocks, index);
            order.merge(self.blocks.remove(index));
            index = next;
        }
        self.statistics.leaves(bytes);
        Departed { address, bytes, order }
    }

    /// Removes the first unused segment from index `next` on, if at least `keep` bytes stay reserved. Moves `next` behind it.
    pub(super) fn depart(&mut self, next: &mut u32, keep: usize) -> Option<Departed<O>> {
        self.let_all_go();
        while *next < self.segments.end() {
            let index = *next;
            *next += 1;
            let unused = self.segments.get(index).filter(|segment| segment.live == 0);
            if unused.is_some_and(|segment| self.statistics.reserved - segment.bytes >= keep) {
                return Some(self.remove_segment(index));
            }
        }
        None
    }

    /// Whether the pool would hold far more than the program uses if it grew by `more` bytes for a request of `size` bytes.
    pub(super) fn would_be_idle(&self, size: usize, more: usize) -> bool {
        let used = self.expected.max(self.statistics.peak_active).max(self.statistics.active + size);
        self.statistics.reserved + more > used.saturating_mul(2).saturating_add(self.config.idle)
    }

    /// Removes the least recently used segment without a block in use, if there is one.
    pub(super) fn depart_oldest(&mut self) -> Option<Departed<O>> {
        self.let_all_go();
        let unused = |index: &u32| self.segments.get(*index).is_some_and(|segment| segment.live == 0);
        let oldest = (0..self.segments.end()).filter(unused).min_by_key(|index| self.used_until(*index))?;
        Some(self.remove_segment(oldest))
    }

    /// The count of frees at the last free in a segment.
    fn used_until(&self, segment: u32) -> u64 {
        let Some(segment) = self.segments.get(segment) else { return 0 };
        let (mut last, mut index) = (segment.made_at, segment.first);
        while index != NONE {
            let node = &self.blocks[index];
            (last, index) = (last.max(node.freed_at), node.after);
        }
        last
    }
}
