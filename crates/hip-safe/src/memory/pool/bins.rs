//! Free blocks by size: a list for each size class, and bitmaps of the non-empty lists (two-level segregated fit).

use super::block::{Blocks, Links, NONE};
use super::config::{GRANULE, LARGEST};

/// Size classes for each doubling of the size: a block is at most an eighth larger than the smallest of its class.
const CELLS: usize = 8;
const ROWS: usize = (LARGEST / GRANULE).ilog2() as usize;

/// Which of a block's two pairs of links a list uses.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chain {
    /// The list of the block's owner.
    Owner = 0,
    /// The list of all owners.
    All = 1,
}

/// Lists of free blocks. The newest block is at the end of its list.
pub(super) struct Bins {
    /// Bit r: row r has a list that is not empty.
    rows: u64,
    /// Bit c of cell r: list c of row r is not empty.
    cells: [u8; ROWS],
    first: [[u32; CELLS]; ROWS],
    chain: Chain,
}

/// The row and cell of a size.
fn size_class(bytes: usize) -> (usize, usize) {
    let granules = bytes / GRANULE;
    if granules < CELLS {
        return (0, granules);
    }
    let log = granules.ilog2();
    let row = (log - CELLS.ilog2() + 1) as usize;
    (row, (granules >> (log - CELLS.ilog2())) % CELLS)
}

impl Bins {
    pub(super) const fn new(chain: Chain) -> Self {
        Self { rows: 0, cells: [0; ROWS], first: [[NONE; CELLS]; ROWS], chain }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(super) fn insert<O>(&mut self, blocks: &mut Blocks<O>, index: u32) {
        let chain = self.chain as usize;
        let (row, cell) = size_class(blocks[index].bytes);
        let first = self.first[row][cell];
        if first == NONE {
            self.first[row][cell] = index;
            self.rows |= 1 << row;
            self.cells[row] |= 1 << cell;
            blocks[index].links[chain] = Links { before: index, after: index };
            return;
        }
        let last = std::mem::replace(&mut blocks[first].links[chain].before, index);
        blocks[last].links[chain].after = index;
        blocks[index].links[chain] = Links { before: last, after: first };
    }

    pub(super) fn remove<O>(&mut self, blocks: &mut Blocks<O>, index: u32) {
        let chain = self.chain as usize;
        let (row, cell) = size_class(blocks[index].bytes);
        let Links { before, after } = blocks[index].links[chain];
        if after == index {
            self.first[row][cell] = NONE;
            self.cells[row] &= !(1 << cell);
            if self.cells[row] == 0 {
                self.rows &= !(1 << row);
            }
            return;
        }
        blocks[before].links[chain].after = after;
        blocks[after].links[chain].before = before;
        if self.first[row][cell] == index {
            self.first[row][cell] = after;
        }
    }

    /// A block of at least `bytes` bytes: the smallest of the `most` newest ones of the same class, else one of the next class that has any.
    pub(super) fn fit<O>(&self, blocks: &Blocks<O>, bytes: usize, most: usize) -> Option<u32> {
        if self.rows == 0 {
            return None;
        }
        let (row, cell) = size_class(bytes);
        let first = self.first[row][cell];
        if first != NONE {
            let chain = self.chain as usize;
            let (mut best, mut best_bytes) = (NONE, usize::MAX);
            let mut index = first;
            for _ in 0..most {
                index = blocks[index].links[chain].before;
                let has = blocks[index].bytes;
                if has >= bytes && has < best_bytes {
                    (best, best_bytes) = (index, has);
                }
                if has == bytes || index == first {
                    break;
                }
            }
            if best != NONE {
                return Some(best);
            }
        }
        let (row, cell) = self.next(row, cell)?;
        let first = self.first[row][cell];
        Some(blocks[first].links[self.chain as usize].before)
    }

    /// The next non-empty list after this one.
    fn next(&self, row: usize, cell: usize) -> Option<(usize, usize)> {
        let cells = u32::from(self.cells[row]) & (!1 << cell);
        if cells != 0 {
            return Some((row, cells.trailing_zeros() as usize));
        }
        let rows = self.rows & (!1 << row);
        let row = (rows != 0).then(|| rows.trailing_zeros() as usize)?;
        Some((row, self.cells[row].trailing_zeros() as usize))
    }

    /// Blocks of at least `bytes` bytes, by ascending class, oldest first. Of each class only the `most` oldest are considered.
    pub(super) fn fitting<'a, O>(
        &'a self,
        blocks: &'a Blocks<O>,
        bytes: usize,
        most: usize,
    ) -> impl Iterator<Item = u32> + 'a {
        let own = size_class(bytes);
        let lists = std::iter::successors(Some(own), |&(row, cell)| self.next(row, cell));
        let all = lists.flat_map(move |(row, cell)| self.list(blocks, self.first[row][cell]).take(most));
        all.filter(move |&index| blocks[index].bytes >= bytes)
    }

    fn list<'a, O>(&self, blocks: &'a Blocks<O>, first: u32) -> impl Iterator<Item = u32> + 'a {
        let chain = self.chain as usize;
        let first = (first != NONE).then_some(first);
        std::iter::successors(first, move |&index| {
            let after = blocks[index].links[chain].after;
            (Some(after) != first).then_some(after)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Class;
    use super::*;

    #[test]
    fn classes_rise_with_the_size_and_are_an_eighth_wide() {
        let mut last = (0, 0);
        let mut smallest = GRANULE;
        for granules in 1..100_000 {
            let bytes = granules * GRANULE;
            let here = size_class(bytes);
            assert!(here >= last, "{granules}");
            if here != last {
                (last, smallest) = (here, bytes);
            }
            assert!(bytes - smallest <= smallest / 8, "{granules} and {}", smallest / GRANULE);
        }
        assert!(size_class(LARGEST).0 < ROWS, "the largest block has a class");
    }

    #[test]
    fn the_smallest_of_the_class_else_one_of_the_next() {
        let mut blocks = Blocks::<()>::new();
        let mut bins = Bins::new(Chain::All);
        assert!(bins.is_empty() && bins.fit(&blocks, GRANULE, 8).is_none());
        let sizes = [70, 64, 69, 66, 200, 1, 71];
        let of = sizes.map(|granules| {
            let index = blocks.add(0, granules * GRANULE, 0, Class::Small);
            bins.insert(&mut blocks, index);
            index
        });
        let fit = |bins: &Bins, blocks: &_, granules, most| {
            bins.fit(blocks, granules * GRANULE, most)
                .map(|index| sizes[of.iter().position(|i| *i == index).unwrap()])
        };
        assert_eq!(fit(&bins, &blocks, 65, 8), Some(66));
        assert_eq!(fit(&bins, &blocks, 65, 1), Some(71), "only the newest block is compared");
        assert_eq!(fit(&bins, &blocks, 72, 8), Some(200));
        assert_eq!(fit(&bins, &blocks, 201, 8), None);
        assert_eq!(fit(&bins, &blocks, 1, 8), Some(1));
        let fitting: Vec<_> = bins.fitting(&blocks, 66 * GRANULE, 8).collect();
        assert_eq!(fitting, [of[0], of[2], of[3], of[6], of[4]], "oldest first, then the larger class");
        assert_eq!(bins.fitting(&blocks, 66 * GRANULE, 3).collect::<Vec<_>>(), [of[0], of[2], of[4]]);
        for index in of {
            bins.remove(&mut blocks, index);
        }
        assert!(bins.is_empty() && bins.fitting(&blocks, GRANULE, 8).next().is_none());
    }
}
