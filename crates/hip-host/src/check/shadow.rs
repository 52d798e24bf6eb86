//! What was last done to every byte: a map of intervals, which are split where uses begin and end.

use super::clock::{Clock, Moment};
use super::report::{Conflict, Operation};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// What an operation does to a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Writes, and perhaps reads.
    Write,
    /// Gives the memory back: nobody may use it any more.
    Free,
}

/// A use of memory that was made.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub(crate) at: Moment,
    pub(crate) by: Arc<Operation>,
}

/// The uses that a later one has to come after.
#[derive(Debug, Clone, Default)]
struct Cell {
    end: usize,
    write: Option<Use>,
    /// Reads since that write; of reads that are ordered, the last.
    reads: Vec<Use>,
    freed: Option<Use>,
}

/// What a new use collides with: the earlier use, the rule it breaks, and where.
pub(crate) type Found = Vec<(Conflict, Use, Range<usize>)>;

/// The uses of all memory.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    /// By their first byte. They do not overlap.
    cells: BTreeMap<usize, Cell>,
}

impl Shadow {
    /// Makes a use, whose operation knows `clock`. Gives the earlier uses that it is not ordered behind.
    pub(crate) fn use_range(
        &mut self,
        range: Range<usize>,
        access: Access,
        new: &Use,
        clock: &Clock,
    ) -> Found {
        let mut found = Vec::new();
        self.for_each_piece(range, |piece, cell| {
            // An operation may use a place twice, and free what it used.
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

    /// The range was never used: it is new memory.
    pub(crate) fn forget(&mut self, range: Range<usize>) {
        self.remove_if(range, |_| true);
    }

    /// Forgets those bytes of the range that are free.
    pub(crate) fn forget_freed(&mut self, range: Range<usize>) {
        self.remove_if(range, |cell| cell.freed.is_some());
    }

    /// The range may be used again; the uses before its release still count.
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

    /// Visits the range piece by piece, each with what is known of it.
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

    /// Makes no cell reach across the address.
    fn cut(&mut self, at: usize) {
        let Some((_, cell)) = self.cells.range_mut(..at).next_back() else { return };
        if cell.end > at {
            let rest = cell.clone();
            cell.end = at;
            self.cells.insert(at, rest);
        }
    }

    /// Puts empty cells where the range has none.
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

    /// Joins neighbours in the range that have the same past, so that the map does not grow with the number of uses.
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
