//! A use of memory by a submission, and the kinds of memory that are tracked.

use super::{Tracked, UsesGuard};
use crate::graph::GraphPiece;
use crate::memory::{Allocation, PinnedMemory};
use hip_sys::Access;
use std::sync::Arc;

/// A use of memory by a submission.
#[derive(Clone, Copy)]
pub(crate) struct Use<'a> {
    pub(super) memory: Memory<'a>,
    /// [`Memory::key`].
    pub(super) key: usize,
    pub(super) access: Access,
    /// Whether the whole buffer is borrowed exclusively for this use.
    pub(super) exclusive: bool,
}

/// The memory of a [`Use`].
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    Device(&'a Arc<Allocation>),
    Pinned(&'a Arc<PinnedMemory>),
    /// The record of a graph's launches.
    Graph(&'a Tracked),
}

impl<'a> Use<'a> {
    /// A use of memory that is not borrowed exclusively.
    pub(crate) fn of(memory: Memory<'a>, access: Access) -> Self {
        Self { memory, key: memory.key(), access, exclusive: false }
    }

    /// Locks the uses. `None` during a conflicting blocking call.
    #[inline]
    pub(super) fn lock(self) -> Option<UsesGuard<'a>> {
        match self.lock_exclusive() {
            Some(uses) => Some(uses),
            None => self.memory.tracked().guard_for(self.access),
        }
    }

    /// The uses without the lock, if no other thread can reach them.
    #[inline]
    pub(super) fn lock_exclusive(self) -> Option<UsesGuard<'a>> {
        match self.memory {
            // SAFETY: S4, S8: the view that this was made from borrows the buffer exclusively for longer than the result lives, and a
            // submission contains each piece of memory once.
            Memory::Device(allocation) if self.exclusive => unsafe { allocation.exclusive_uses() },
            _ => None,
        }
    }
}

impl<'a> Memory<'a> {
    pub(crate) fn tracked(self) -> &'a Tracked {
        match self {
            Self::Device(allocation) => allocation.tracked(),
            Self::Pinned(memory) => memory.tracked(),
            Self::Graph(launches) => launches,
        }
    }

    /// The piece of a graph's memory, if it is one. This never changes.
    pub(super) fn graph_piece(self) -> Option<&'a GraphPiece> {
        match self {
            Self::Device(allocation) => allocation.graph_piece(),
            Self::Pinned(_) | Self::Graph(_) => None,
        }
    }

    /// Its position in the locking order.
    pub(crate) fn key(self) -> usize {
        std::ptr::from_ref(self.tracked()).addr()
    }

    /// Whether a graph may use it. Managed memory is excluded, because the host may have a slice of it; and memory of another process, because
    /// that process may free it.
    pub(super) fn may_be_captured(self) -> bool {
        match self {
            Self::Device(allocation) => allocation.is_pooled(),
            Self::Pinned(_) => true,
            Self::Graph(_) => false,
        }
    }

    /// Whether this crate orders its uses, and not the caller.
    pub(super) fn is_ordered(self) -> bool {
        match self {
            Self::Device(allocation) => allocation.is_ordered(),
            Self::Pinned(_) | Self::Graph(_) => true,
        }
    }
}
