//! Blocks: parts of segments, in one table, named by their index.

use super::config::Class;
use super::free_lists::OwnerId;
use std::ops::{Index, IndexMut};

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// A part of a segment, in use or free.
pub(super) struct Node<O> {
    pub(super) address: usize,
    pub(super) bytes: usize,
    /// The requested bytes, while it is in use.
    pub(super) requested: usize,
    /// The work that may still use it, while it is free.
    pub(super) order: O,
    /// The count of frees when it was freed last.
    pub(super) freed_at: u64,
    pub(super) segment: u32,
    /// Its neighbours in the segment.
    pub(super) before: u32,
    pub(super) after: u32,
    /// Its neighbours in the lists of free blocks: that of its owner, and that of all owners.
    pub(super) links: [Links; 2],
    pub(super) owner: OwnerId,
    pub(super) class: Class,
    pub(super) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Live,
    /// Free and in no list. It was freed recently, and only its owner may still use it.
    Held,
    /// Free, and only its owner may still use it.
    Untouched,
    /// Free, and other streams than its owner may still use it.
    Touched,
    /// Not a block: a slot of the table that can be used again.
    Vacant,
}

/// The neighbours of a block in a list. Lists are circular: `before` of the first block is the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    pub(super) before: u32,
    pub(super) after: u32,
}

impl Links {
    const NONE: Self = Self { before: NONE, after: NONE };
}

impl<O> Node<O> {
    pub(super) fn is_free(&self) -> bool {
        matches!(self.state, State::Untouched | State::Touched)
    }
}

/// The table of all blocks of a pool.
pub(super) struct Blocks<O> {
    nodes: Vec<Node<O>>,
    /// The first vacant slot. Each vacant slot names the next one in `after`.
    vacant: u32,
}

impl<O> Blocks<O> {
    /// The number of slots, including vacant ones.
    pub(super) fn slots(&self) -> u32 {
        self.nodes.len() as u32
    }
}

impl<O: Default> Blocks<O> {
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), vacant: NONE }
    }

    /// Adds a block that is in use and has no neighbours.
    pub(super) fn add(&mut self, address: usize, bytes: usize, segment: u32, class: Class) -> u32 {
        if self.vacant != NONE {
            let index = self.vacant;
            let node = &mut self[index];
            let next = std::mem::replace(&mut node.after, NONE);
            (node.address, node.bytes, node.segment, node.class) = (address, bytes, segment, class);
            (node.before, node.state) = (NONE, State::Live);
            (node.owner, node.freed_at) = (OwnerId::NOBODY, 0);
            self.vacant = next;
            return index;
        }
        assert!(self.nodes.len() < NONE as usize, "a pool of {NONE} blocks");
        self.nodes.push(Node {
            address,
            bytes,
            requested: 0,
            order: O::default(),
            freed_at: 0,
            segment,
            before: NONE,
            after: NONE,
            links: [Links::NONE; 2],
            owner: OwnerId::NOBODY,
            class,
            state: State::Live,
        });
        self.slots() - 1
    }

    /// Removes a block that is in no list, and returns the work that may still use it.
    pub(super) fn remove(&mut self, index: u32) -> O {
        let vacant = self.vacant;
        let node = &mut self[index];
        node.state = State::Vacant;
        node.after = vacant;
        let order = std::mem::take(&mut node.order);
        self.vacant = index;
        order
    }
}

impl<O> Index<u32> for Blocks<O> {
    type Output = Node<O>;

    fn index(&self, index: u32) -> &Node<O> {
        &self.nodes[index as usize]
    }
}

impl<O> IndexMut<u32> for Blocks<O> {
    fn index_mut(&mut self, index: u32) -> &mut Node<O> {
        &mut self.nodes[index as usize]
    }
}
