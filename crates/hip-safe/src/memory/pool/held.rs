//! The blocks that were freed last. They wait for a request of their size before they join their neighbours: a loop that frees and
//! allocates the same sizes neither joins nor cuts. Only a pool of one stream has any.

use super::block::{NONE, State};
use super::space::Request;
use super::{Order, Pool};

/// How many there are.
const MOST: usize = 4;

/// Blocks in no list, the latest at the end of a ring.
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
    /// Keeps a block that was just freed and that only its owner uses. The oldest one goes to the lists instead.
    pub(super) fn hold(&mut self, index: u32) {
        self.blocks[index].state = State::Held;
        let oldest = std::mem::replace(&mut self.held.ring[self.held.next], index);
        self.held.next = (self.held.next + 1) % MOST;
        self.let_go(oldest);
    }

    /// Takes the block of the request's stream and size, if one is held. [`Pool::hand_out`] is next.
    #[inline]
    pub(super) fn take_held(&mut self, request: Request) -> Option<u32> {
        let place = self.held.ring.iter().position(|&index| {
            index != NONE && {
                let node = &self.blocks[index];
                node.bytes == request.size && node.owner == request.owner && node.class == request.class
            }
        })?;
        let index = std::mem::replace(&mut self.held.ring[place], NONE);
        let node = &mut self.blocks[index];
        node.state = State::Live;
        node.requested = request.bytes;
        Some(index)
    }

    /// Gives all of them to the lists. Whether there was any.
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
