//! Warp operations: how the lanes of a warp meet. Pure state: which lanes wait at which line, and which may
//! continue.
//!
//! Lanes that wait at the same line form a group. A group is released when every live lane of the warp waits;
//! then the lowest line goes first, which is where structured code converges. A group is also released when
//! nothing else in the block can run; the missing lanes then count as inactive. A lane that has not read its
//! values is not waiting, so at most one released group of a warp has such lanes. Therefore two sets of slots
//! are enough.

use crate::abi::LINE_BITS;
use std::ops::Range;

/// Lanes of the widest warp.
pub(crate) const LANES: usize = 64;
/// Bytes that a lane can pass.
pub(crate) const SLOT: usize = 16;

#[repr(align(16))]
#[derive(Clone, Copy)]
struct Slots([[u8; SLOT]; LANES]);

/// One warp of a block.
pub(crate) struct Warp {
    live: u32,
    /// The number of waiting lanes, and their mask.
    arrived: u32,
    waiting: u64,
    predicates: u64,
    /// Line of the first waiting lane, and whether another lane waits at a different line.
    line: u32,
    mixed: bool,
    lines: [u32; LANES],
    fibers: [u32; LANES],
    slots: [Slots; 2],
    /// The set of slots that arriving lanes fill; released lanes read the other set.
    filling: usize,
    released: (u64, u64),
}

/// What released lanes see.
pub(crate) struct Seen {
    pub(crate) slots: *const u8,
    pub(crate) mask: u64,
    pub(crate) predicates: u64,
}

/// A lane's arrival.
pub(crate) struct Arrival<'a> {
    pub(crate) lane: u32,
    pub(crate) line: u32,
    pub(crate) fiber: u32,
    pub(crate) value: &'a [u8],
    pub(crate) predicate: bool,
}

impl Warp {
    pub(crate) fn new() -> Self {
        let slots = [Slots([[0; SLOT]; LANES]); 2];
        let (lines, fibers) = ([0; LANES], [0; LANES]);
        Self {
            live: 0,
            arrived: 0,
            waiting: 0,
            predicates: 0,
            line: 0,
            mixed: false,
            lines,
            fibers,
            slots,
            filling: 0,
            released: (0, 0),
        }
    }

    /// Prepares for a new block in which this warp has that many lanes.
    pub(crate) fn reset(&mut self, live: u32) {
        (self.live, self.arrived, self.waiting) = (live, 0, 0);
        (self.predicates, self.mixed) = (0, false);
    }

    pub(crate) fn any_waits(&self) -> bool {
        self.waiting != 0
    }

    /// Ends a lane's thread. Returns whether all live lanes now wait.
    pub(crate) fn leave(&mut self) -> bool {
        self.live -= 1;
        self.arrived != 0 && self.arrived == self.live
    }

    /// Notes that a lane waits. Returns whether all live lanes do.
    #[inline]
    pub(crate) fn arrive(&mut self, arrival: &Arrival<'_>) -> bool {
        let lane = arrival.lane as usize;
        if self.waiting == 0 {
            (self.line, self.mixed) = (arrival.line, false);
        }
        self.mixed |= arrival.line != self.line;
        self.lines[lane] = arrival.line;
        self.fibers[lane] = arrival.fiber;
        fill(&mut self.slots[self.filling].0[lane], arrival.value);
        self.waiting |= 1 << lane;
        self.predicates |= u64::from(arrival.predicate) << lane;
        self.arrived += 1;
        self.arrived == self.live
    }

    /// Releases the group with the lowest line and appends its fibers to `ready`, except `caller`, which
    /// already runs. Returns whether the caller is in the group.
    pub(crate) fn release(&mut self, ready: &mut Vec<u32>, caller: Option<u32>) -> bool {
        let group = if self.mixed { self.lowest_group() } else { self.waiting };
        self.released = (group, self.predicates & group);
        self.waiting &= !group;
        self.arrived = self.waiting.count_ones();
        self.predicates &= !group;
        let filled = self.filling;
        self.filling ^= 1;
        for lane in lanes(self.waiting) {
            self.slots[self.filling].0[lane] = self.slots[filled].0[lane];
        }
        if let Some(first) = lanes(self.waiting).next() {
            self.line = self.lines[first];
            self.mixed = lanes(self.waiting).any(|lane| self.lines[lane] != self.line);
        }
        let caller = caller.map(|lane| 1 << lane).unwrap_or(0);
        for run in runs(group & !caller) {
            ready.extend_from_slice(&self.fibers[run]);
        }
        group & caller != 0
    }

    /// What the last released group sees.
    #[inline]
    pub(crate) fn seen(&self) -> Seen {
        let slots = self.slots[self.filling ^ 1].0.as_ptr().cast();
        Seen { slots, mask: self.released.0, predicates: self.released.1 }
    }

    fn lowest_group(&self) -> u64 {
        let line = lanes(self.waiting).map(|lane| self.lines[lane]);
        // By the line's number first: the bits above it only tell source locations apart.
        let line = line.min_by_key(|line| line.rotate_left(u32::BITS - LINE_BITS)).unwrap_or(0);
        lanes(self.waiting).filter(|lane| self.lines[*lane] == line).fold(0, |mask, lane| mask | 1 << lane)
    }
}

/// The indices of the set bits.
fn lanes(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

/// The indices of the set bits, as runs of consecutive ones.
fn runs(mut mask: u64) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        let first = (mask != 0).then(|| mask.trailing_zeros())?;
        let end = first + (mask >> first).trailing_ones();
        mask &= u64::MAX.checked_shl(end).unwrap_or(0);
        Some(first as usize..end as usize)
    })
}

/// Copies a value of at most SLOT bytes. Most values have 4 or 8 bytes: those are copied by one move, whereas
/// a copy of unknown length is a call.
#[inline]
fn fill(slot: &mut [u8; SLOT], value: &[u8]) {
    match value.len() {
        4 => slot[..4].copy_from_slice(&value[..4]),
        8 => slot[..8].copy_from_slice(&value[..8]),
        length => slot[..length].copy_from_slice(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(lane: u32, line: u32, value: &[u8]) -> Arrival<'_> {
        Arrival { lane, line, fiber: 100 + lane, value, predicate: lane % 2 == 1 }
    }

    #[test]
    fn a_whole_warp_meets() {
        let (mut warp, mut ready) = (Warp::new(), Vec::new());
        warp.reset(3);
        assert!(!warp.arrive(&arrival(1, 7, &[11])));
        assert!(!warp.arrive(&arrival(0, 7, &[10])));
        assert!(warp.arrive(&arrival(2, 7, &[12])));
        assert!(warp.release(&mut ready, Some(2)));
        assert_eq!(ready, [100, 101]);
        let seen = warp.seen();
        assert_eq!((seen.mask, seen.predicates), (0b111, 0b010));
        assert!(!warp.any_waits());
    }

    #[test]
    fn runs_of_lanes() {
        let of = |mask| runs(mask).map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(of(0), []);
        assert_eq!(of(0b1), [(0, 1)]);
        assert_eq!(of(0b0110_1110), [(1, 4), (5, 7)]);
        assert_eq!(of(u64::MAX), [(0, 64)]);
        assert_eq!(of(u64::MAX - 1), [(1, 64)]);
        assert_eq!(of(1 << 63 | 1), [(0, 1), (63, 64)]);
    }

    #[test]
    fn values_of_every_size() {
        for length in 0..=SLOT {
            let value: Vec<u8> = (1..=length as u8).collect();
            let mut slot = [0; SLOT];
            fill(&mut slot, &value);
            assert_eq!(slot[..length], value);
            assert!(slot[length..].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn groups_at_different_lines_do_not_mix() {
        let (mut warp, mut ready) = (Warp::new(), Vec::new());
        warp.reset(4);
        for (lane, line) in [(0, 9), (1, 5), (2, 9)] {
            assert!(!warp.arrive(&arrival(lane, line, &[lane as u8 + 1])));
        }
        assert!(warp.arrive(&arrival(3, 5, &[4])));
        assert!(warp.release(&mut ready, Some(3)));
        assert_eq!(ready, [101]);
        ready.clear();
        assert_eq!((warp.seen().mask, warp.seen().predicates), (0b1010, 0b1010));
        // Lanes 0 and 2 still wait, with the values that they passed.
        assert!(!warp.leave());
        assert!(warp.leave());
        assert!(!warp.release(&mut ready, None));
        assert_eq!(ready, [100, 102]);
        assert_eq!(warp.seen().mask, 0b0101);
        // SAFETY: S12: the slots are the warp's own, 64 of 16 bytes.
        let third = unsafe { *warp.seen().slots.add(2 * SLOT) };
        assert_eq!(third, 3);
    }

    #[test]
    fn calls_on_one_line_differ_and_the_lowest_line_goes_first() {
        let (mut warp, mut ready) = (Warp::new(), Vec::new());
        warp.reset(3);
        let location = |hash: u32, line: u32| hash << LINE_BITS | line;
        for (lane, line) in [(0, location(1, 9)), (1, location(7, 5))] {
            assert!(!warp.arrive(&arrival(lane, line, &[])));
        }
        assert!(warp.arrive(&arrival(2, location(2, 9), &[])));
        let mut next = || {
            ready.clear();
            warp.release(&mut ready, None);
            for _ in 1..ready.len() {
                warp.leave();
            }
            warp.leave();
            ready.clone()
        };
        assert_eq!([next(), next(), next()], [[101], [100], [102]]);
    }
}
