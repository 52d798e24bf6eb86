//! The contents of offsets and indices, looked at on the host.

use crate::parts::{Format, Parts};
use crate::{Error, Index, Result};
use hip_safe::{DeviceRepr, DeviceView};
use std::fmt;

/// How the entries of a matrix are ordered. Each order has all properties of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// In any order: a COO matrix with rows in any order.
    Any,
    /// Entries of a row lie together, in any order among them. In CSC that is said of columns, in BSR of rows of blocks.
    Grouped,
    /// Ascending in each row; some positions have several entries, which count as their sum.
    Sorted,
    /// Ascending in each row, with at most one entry for each position.
    Unique,
}

/// The order of a matrix, and for each better order the first entry that breaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordered {
    pub(crate) order: Order,
    /// By the order that it breaks: [`Order::Grouped`], [`Order::Sorted`], [`Order::Unique`].
    broken: [Option<usize>; 3],
}

impl Ordered {
    /// Of a matrix that the library made.
    pub(crate) const UNIQUE: Self = Self { order: Order::Unique, broken: [None; 3] };

    /// Of a matrix whose order the caller vouches for.
    pub(crate) fn vouched(order: Order) -> Self {
        Self { order, broken: [None; 3] }
    }

    /// Fails if an operation needs a better order.
    pub(crate) fn require(&self, operation: &'static str, needed: Order) -> Result<()> {
        if self.order >= needed {
            return Ok(());
        }
        let broken = self.broken[..needed as usize].iter().flatten().min();
        Err(Error::Order { operation, needed, found: self.order, at: broken.copied().unwrap_or_default() })
    }
}

/// Checks offsets and indices whose number is right.
pub(crate) fn contents<I: Index, A: AsRef<[I]>, V>(parts: &Parts<A, V>) -> Result<Ordered> {
    let inner = parts.inner.as_ref();
    let outer = parts.outer.as_ref().map(AsRef::as_ref).unwrap_or_default();
    let mut watch = Watch::default();
    match parts.format {
        Format::Csr => lists(outer, inner, ("the column index", parts.cols), &mut watch)?,
        Format::Csc => lists(outer, inner, ("the row index", parts.rows), &mut watch)?,
        Format::Bsr { block, .. } => {
            lists(outer, inner, ("the column of blocks", parts.cols / block), &mut watch)?;
        }
        Format::Coo => {
            for (at, (&row, &col)) in outer.iter().zip(inner).enumerate() {
                inside("the row index", at, row, parts.rows)?;
                inside("the column index", at, col, parts.cols)?;
                watch.see(at, row, col);
            }
        }
        // A width of 0 has no entries to check, however many rows there are.
        Format::Ell { width: 0 } => {}
        Format::Ell { width } => {
            for row in 0..parts.rows {
                let mut padded = false;
                for at in (0..width).map(|column| column * parts.rows + row) {
                    let col = inner[at];
                    padded |= col == I::PADDING;
                    if padded {
                        if col != I::PADDING {
                            let (what, value) = ("the column index behind padding", col.to_i64());
                            return Err(Error::Index { what, at, value, below: parts.cols });
                        }
                        continue;
                    }
                    inside("the column index", at, col, parts.cols)?;
                    watch.see(at, I::of_size(row).unwrap_or(col), col);
                }
            }
        }
    }
    Ok(watch.end())
}

/// Checks the indices of a sparse vector, which ascend.
pub(crate) fn vector<I: Index>(elements: usize, indices: &[I]) -> Result<()> {
    for (at, &index) in indices.iter().enumerate() {
        inside("the index", at, index, elements)?;
        if at > 0 && index <= indices[at - 1] {
            let (needed, found) =
                (Order::Unique, if index < indices[at - 1] { Order::Grouped } else { Order::Sorted });
            return Err(Error::Order { operation: "a sparse vector", needed, found, at });
        }
    }
    Ok(())
}

/// Checks offsets: they start at 0, never descend, and end at the number of stored entries.
pub(crate) fn offsets<I: Index>(offsets: &[I], stored: usize) -> Result<()> {
    let mut last = 0;
    for (at, &offset) in offsets.iter().enumerate() {
        let found = offset.to_size().filter(|&offset| offset >= last && offset <= stored);
        let ends = at + 1 < offsets.len() || found == Some(stored);
        match found {
            Some(offset) if ends && (at > 0 || offset == 0) => last = offset,
            _ => return Err(Error::Offset { at, value: offset.to_i64(), stored }),
        }
    }
    Ok(())
}

/// Fails for memory that a graph's launch may write after it was looked at.
///
/// The graph that this thread captures from the memory's own stream is one of them, and hip-safe leaves it out when it is asked for graphs that write.
pub(crate) fn not_written_by_graphs<T: DeviceRepr>(
    what: &'static str,
    view: DeviceView<'_, T>,
) -> Result<()> {
    if view.stream().is_capturing() || view.is_written_by_graphs() {
        return Err(Error::WrittenByGraph { what });
    }
    Ok(())
}

fn lists<I: Index>(
    offsets: &[I],
    indices: &[I],
    (what, below): (&'static str, usize),
    watch: &mut Watch<I>,
) -> Result<()> {
    self::offsets(offsets, indices.len())?;
    for (list, pair) in offsets.windows(2).enumerate() {
        let [from, to] = [pair[0], pair[1]].map(|offset| offset.to_size().unwrap_or_default());
        for (at, &index) in indices.iter().enumerate().take(to).skip(from) {
            inside(what, at, index, below)?;
            watch.see(at, I::of_size(list).unwrap_or(index), index);
        }
    }
    Ok(())
}

fn inside<I: Index>(what: &'static str, at: usize, index: I, below: usize) -> Result<()> {
    match index.to_size() {
        Some(size) if size < below => Ok(()),
        _ => Err(Error::Index { what, at, value: index.to_i64(), below }),
    }
}

/// Watches entries in the order in which they lie.
struct Watch<I> {
    last: Option<(I, I)>,
    broken: [Option<usize>; 3],
}

impl<I> Default for Watch<I> {
    fn default() -> Self {
        Self { last: None, broken: [None; 3] }
    }
}

impl<I: Index> Watch<I> {
    fn see(&mut self, at: usize, row: I, col: I) {
        let breaks = self.last.replace((row, col)).and_then(|last| match (row, col) {
            now if now > last => None,
            now if now == last => Some(2),
            (row, _) if row == last.0 => Some(1),
            _ => Some(0),
        });
        if let Some(which) = breaks {
            self.broken[which].get_or_insert(at);
        }
    }

    fn end(self) -> Ordered {
        let order = match self.broken {
            [Some(_), ..] => Order::Any,
            [_, Some(_), _] => Order::Grouped,
            [.., Some(_)] => Order::Sorted,
            _ => Order::Unique,
        };
        Ordered { order, broken: self.broken }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "in any order",
            Self::Grouped => "grouped by rows (or columns)",
            Self::Sorted => "sorted, some positions with several entries",
            Self::Unique => "sorted, with at most one entry for each position",
        })
    }
}
