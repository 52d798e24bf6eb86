//! The figures of a pool.

/// The figures of a device's memory pool. `reserved` is always `active` plus the free bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// Bytes in allocated blocks, as requested.
    pub allocated: usize,
    /// Bytes in allocated blocks, including rounding and rests that were not split off.
    pub active: usize,
    /// Bytes that the pool has from the driver, allocated or free. Before this grows beyond twice [`peak_active`](Self::peak_active) plus
    /// 128 MiB, the pool returns unused segments.
    pub reserved: usize,
    /// The most bytes that were [`allocated`](Self::allocated) at once.
    pub peak_allocated: usize,
    /// The most bytes that were [`active`](Self::active) at once.
    pub peak_active: usize,
    /// The most bytes that were [`reserved`](Self::reserved) at once.
    pub peak_reserved: usize,
    /// Bytes that are being returned to the driver, after the work that used them. They are not reserved any more.
    pub leaving: usize,
    /// Bytes that could not be returned to the driver. They stay allocated until the process ends, and are not reserved any more.
    pub lost: usize,
    /// Allocations that succeeded.
    pub allocations: u64,
    /// Blocks that were freed.
    pub frees: u64,
    /// Allocations that needed no new memory.
    pub hits: u64,
    /// Allocations that needed new memory from the driver.
    pub misses: u64,
    /// Blocks that were split.
    pub splits: u64,
    /// Joins of two free neighbours.
    pub merges: u64,
    /// Allocations of a block that another stream may still use. The new stream waits for that, on the device.
    pub steals: u64,
    /// Retries after the driver was out of memory.
    pub retries: u64,
    /// Segments that the pool has from the driver.
    pub segments: usize,
}

impl PoolStatistics {
    /// Free bytes in the pool.
    pub fn free(&self) -> usize {
        self.reserved - self.active
    }

    pub(super) fn handed_out(&mut self, requested: usize, bytes: usize) {
        self.allocations += 1;
        self.allocated += requested;
        self.active += bytes;
        self.peak_allocated = self.peak_allocated.max(self.allocated);
        self.peak_active = self.peak_active.max(self.active);
    }

    pub(super) fn taken_back(&mut self, requested: usize, bytes: usize) {
        self.frees += 1;
        self.allocated -= requested;
        self.active -= bytes;
    }

    pub(super) fn grown(&mut self, bytes: usize) {
        self.segments += 1;
        self.reserved += bytes;
        self.peak_reserved = self.peak_reserved.max(self.reserved);
    }

    /// Counts a segment that begins to return to the source.
    pub(super) fn leaves(&mut self, bytes: usize) {
        self.segments -= 1;
        self.reserved -= bytes;
        self.leaving += bytes;
    }

    /// Counts a segment that has returned, or is lost.
    pub(super) fn left(&mut self, bytes: usize, arrived: bool) {
        self.leaving -= bytes;
        if !arrived {
            self.lost += bytes;
        }
    }
}
