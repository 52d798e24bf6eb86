//! Held blocks: those that were freed last. They are kept for a request of the same size before they join their neighbours, so a loop that frees
//! and allocates the same sizes neither joins nor splits. Only a pool with one stream holds blocks.

use super::block::{NONE, State};
use super::space::Request;
use super::{Order, Pool};

/// The number of held blocks.
const MOST: usize = 4;

/// A ring of held blocks. `next` is the oldest one.
#[derive(Debug)]
pub(super) struct Held {
    ring: [u32; MOST],
    next: usize,
}

impl Held {
    pub(super) const fn new() -> Self {
        Self { ring: [NONE; MOST], next: 0 }
    }
}

impl<O: Order> Pool<O> {
    /// Holds a block that was just freed and that only its owner uses. The oldest held block goes to the free lists.
    pub(super) fn hold(&mut self, index: u32) {
        self.blocks[index].state = State::Held;
        let oldest = std::mem::replace(&mut self.held.ring[self.held.next], index);
        self.held.next = (self.held.next + 1) % MOST;
        self.let_go(oldest);
    }

    /// Takes a held block of the request's owner and size. The caller calls [`Pool::hand_out`] next.
    #[inline]
    pub(super) fn take_held(&mut self, request: Request) -> Option<u32> {
        let slot = self.held.ring.iter().position(|&index| {
            index != NONE && {
                let node = &self.blocks[index];
                node.bytes == request.size && node.owner == request.owner && node.class == request.class
            }
        })?;
        let index = std::mem::replace(&mut self.held.ring[slot], NONE);
        let node = &mut self.blocks[index];
        node.state = State::Live;
        node.requested = request.bytes;
        Some(index)
    }

    /// Moves all held blocks to the free lists. True if there was any.
    pub(super) fn let_all_go(&mut self) -> bool {
        let held = std::mem::replace(&mut self.held.ring, [NONE; MOST]);
        held.into_iter().for_each(|index| self.let_go(index));
        held != [NONE; MOST]
    }

    fn let_go(&mut self, index: u32) {
        if index != NONE {
            self.blocks[index].state = State::Untouched;
            self.put(index);
        }
    }
}
