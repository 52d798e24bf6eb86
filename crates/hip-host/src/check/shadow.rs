//! Shadow memory: the last uses of every byte, as a map of intervals that are split where uses begin and end.

use super::clock::{Clock, Moment};
use super::report::{Conflict, Operation};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The kind of a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Writes, and possibly reads.
    Write,
    /// Frees the memory: nobody may use it any more.
    Free,
}

/// A use of memory.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub(crate) at: Moment,
    pub(crate) by: Arc<Operation>,
}

/// The uses that a later use of the interval must be ordered after.
#[derive(Debug, Clone, Default)]
struct Cell {
    end: usize,
    write: Option<Use>,
    /// Reads since that write. Of reads that are ordered, only the last is kept.
    reads: Vec<Use>,
    freed: Option<Use>,
}

/// The conflicts of a new use: the rule that it breaks, the earlier use, and the bytes.
pub(crate) type Found = Vec<(Conflict, Use, Range<usize>)>;

/// The uses of all memory.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    /// By first byte. Intervals do not overlap.
    cells: BTreeMap<usize, Cell>,
}

impl Shadow {
    /// Records a use by an operation with clock `clock`. Returns the earlier uses that are not ordered before
    /// it.
    pub(crate) fn use_range(
        &mut self,
        range: Range<usize>,
        access: Access,
        new: &Use,
        clock: &Clock,
    ) -> Found {
        let mut found = Vec::new();
        self.for_each_piece(range, |piece, cell| {
            // An operation may use a byte twice, and free what it used.
            let unordered = |old: &Use| !clock.covers(old.at) && !Arc::ptr_eq(&old.by, &new.by);
            if let Some(free) = &cell.freed {
                let conflict = match access {
                    Access::Free => Conflict::DoubleFree,
                    _ => Conflict::UseAfterFree,
                };
                found.push((conflict, free.clone(), piece));
                return;
            }
            let mut report = |conflict, old: &Use| {
                if unordered(old) {
                    found.push((conflict, old.clone(), piece.clone()));
                }
            };
            let [after_write, after_read] = match access {
                Access::Read => [Conflict::ReadAfterWrite; 2],
                Access::Write => [Conflict::WriteAfterWrite, Conflict::WriteAfterRead],
                Access::Free => [Conflict::FreeInUse; 2],
            };
            cell.write.iter().for_each(|old| report(after_write, old));
            if access != Access::Read {
                cell.reads.iter().for_each(|old| report(after_read, old));
            }
            match access {
                Access::Read => {
                    cell.reads.retain(|old| !clock.covers(old.at));
                    cell.reads.push(new.clone());
                }
                Access::Write => {
                    cell.write = Some(new.clone());
                    cell.reads.clear();
                }
                Access::Free => cell.freed = Some(new.clone()),
            }
        });
        found
    }

    /// Forgets the history of the range: it is new memory.
    pub(crate) fn forget(&mut self, range: Range<usize>) {
        self.remove_if(range, |_| true);
    }

    /// Forgets the freed bytes of the range.
    pub(crate) fn forget_freed(&mut self, range: Range<usize>) {
        self.remove_if(range, |cell| cell.freed.is_some());
    }

    /// Allows uses of the range again; the uses before its release still count.
    pub(crate) fn revive(&mut self, range: Range<usize>) {
        self.cut(range.start);
        self.cut(range.end);
        for (_, cell) in self.cells.range_mut(range) {
            cell.freed = None;
        }
    }

    fn remove_if(&mut self, range: Range<usize>, wanted: impl Fn(&Cell) -> bool) {
        self.cut(range.start);
        self.cut(range.end);
        let found = self.cells.range(range).filter(|(_, cell)| wanted(cell));
        let firsts: Vec<usize> = found.map(|(first, _)| *first).collect();
        for first in firsts {
            self.cells.remove(&first);
        }
    }

    /// Visits the range interval by interval, with its history.
    fn for_each_piece(&mut self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, &mut Cell)) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        self.fill_gaps(range.clone());
        for (first, cell) in self.cells.range_mut(range.clone()) {
            visit(*first..cell.end, cell);
        }
        self.merge(range);
    }

    /// Splits the interval that contains the address.
    fn cut(&mut self, at: usize) {
        let Some((_, cell)) = self.cells.range_mut(..at).next_back() else { return };
        if cell.end > at {
            let rest = cell.clone();
            cell.end = at;
            self.cells.insert(at, rest);
        }
    }

    /// Fills the gaps of the range with empty cells.
    fn fill_gaps(&mut self, range: Range<usize>) {
        let mut gaps = Vec::new();
        let mut next = range.start;
        for (first, cell) in self.cells.range(range.clone()) {
            if *first > next {
                gaps.push(next..*first);
            }
            next = cell.end;
        }
        if next < range.end {
            gaps.push(next..range.end);
        }
        for gap in gaps {
            self.cells.insert(gap.start, Cell { end: gap.end, ..Cell::default() });
        }
    }

    /// Merges neighbouring intervals with the same history, so that the map does not grow with the number of
    /// uses.
    fn merge(&mut self, range: Range<usize>) {
        let firsts: Vec<usize> = self.cells.range(range).map(|(first, _)| *first).collect();
        let Some((mut kept, others)) = firsts.split_first().map(|(first, others)| (*first, others)) else {
            return;
        };
        for &first in others {
            let (before, cell) = (&self.cells[&kept], &self.cells[&first]);
            let end = cell.end;
            if before.end != first || !before.same_past(cell) {
                kept = first;
                continue;
            }
            self.cells.remove(&first);
            self.cells.entry(kept).and_modify(|cell| cell.end = end);
        }
    }
}

impl Cell {
    fn same_past(&self, other: &Self) -> bool {
        let all = |cell: &Self| {
            let uses = [&cell.write, &cell.freed].map(|it| it.as_ref().map(|it| Arc::as_ptr(&it.by)));
            (uses, cell.reads.iter().map(|read| Arc::as_ptr(&read.by)).collect::<Vec<_>>())
        };
        all(self) == all(other)
    }
}
