//! What a pool holds and did.

/// Figures of a device's memory pool. `active` and what lies free in the pool are `reserved` together, always.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// Bytes handed out, as they were asked for.
    pub allocated: usize,
    /// Bytes handed out, as blocks have them: rounded up, and with rests that were not worth splitting off.
    pub active: usize,
    /// Bytes that the pool has from the driver: handed out or kept for later. Before it asks for more than twice
    /// [`peak_active`](Self::peak_active) and 128 MiB, it gives back what nobody uses.
    pub reserved: usize,
    /// The most bytes that were [`allocated`](Self::allocated) at once.
    pub peak_allocated: usize,
    /// The most bytes that were [`active`](Self::active) at once.
    pub peak_active: usize,
    /// The most bytes that were [`reserved`](Self::reserved) at once.
    pub peak_reserved: usize,
    /// Bytes on their way back to the driver, behind the work that used them: not reserved any more.
    pub leaving: usize,
    /// Bytes that could not be given back to the driver: they are in use as long as the process is, and not reserved any more.
    pub lost: usize,
    /// Allocations that succeeded.
    pub allocations: u64,
    /// Blocks that were freed.
    pub frees: u64,
    /// Allocations out of memory that the pool had.
    pub hits: u64,
    /// Allocations that took new memory from the driver.
    pub misses: u64,
    /// Blocks that were cut in two.
    pub splits: u64,
    /// Times that two free neighbours became one block.
    pub merges: u64,
    /// Allocations that took memory which another stream may still use: the new stream waits for it, on the device.
    pub steals: u64,
    /// Times that the driver was asked again after it had refused.
    pub retries: u64,
    /// Ranges that the pool has from the driver.
    pub segments: usize,
}

impl PoolStatistics {
    /// Bytes in the pool that nobody uses.
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

    /// A segment goes on its way to the source.
    pub(super) fn leaves(&mut self, bytes: usize) {
        self.segments -= 1;
        self.reserved -= bytes;
        self.leaving += bytes;
    }

    /// It is there, or lost.
    pub(super) fn left(&mut self, bytes: usize, arrived: bool) {
        self.leaving -= bytes;
        if !arrived {
            self.lost += bytes;
        }
    }
}
