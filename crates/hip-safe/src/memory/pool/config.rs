//! Sizes of requests and segments, and the limits for splitting a block.

/// All sizes and addresses are multiples of this, in bytes.
pub(crate) const GRANULE: usize = 512;

/// The largest request in bytes, more than any device has.
pub(super) const LARGEST: usize = 1 << 48;

/// How a pool cuts its memory. Sizes are in bytes and multiples of [`GRANULE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolConfig {
    /// Requests up to this size are small, and are served from segments for small blocks.
    pub(crate) small_limit: usize,
    /// The size of a segment for small blocks.
    pub(crate) small_segment: usize,
    /// Large requests below this size share segments of [`PoolConfig::large_segment`] bytes.
    pub(crate) large_limit: usize,
    /// The size of a segment for several large blocks.
    pub(crate) large_segment: usize,
    /// A segment for one request is a multiple of this.
    pub(crate) segment_granule: usize,
    /// The number of frees after which a free block of another stream is taken, with a wait on the device, before the pool grows. The work on
    /// such a block is old, so the wait is short. Without this, one stream that allocates what another frees would grow the pool as long as the
    /// host runs ahead.
    pub(crate) patience: u64,
    /// The pool grows beyond twice the peak use plus this many bytes only after it has tried blocks of any stream and returned unused segments.
    /// Without this, a program with slowly growing requests, none of which fits a former block, would take all of the device's memory.
    pub(crate) idle: usize,
    /// Gives every allocation its own segment, which leaves the pool when it is freed.
    pub(crate) direct: bool,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            small_limit: 1 << 20,
            small_segment: 2 << 20,
            large_limit: 10 << 20,
            large_segment: 20 << 20,
            segment_granule: 2 << 20,
            patience: 64,
            idle: 128 << 20,
            direct: false,
        }
    }
}

/// Small and large blocks never share a segment, because a small block in use would fragment a large range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Small,
    Large,
}

impl PoolConfig {
    /// One segment for each allocation, for a platform that checks accesses by separate pages.
    pub(crate) fn direct() -> Self {
        Self { direct: true, ..Self::default() }
    }

    pub(super) fn class(&self, size: usize) -> Class {
        if size <= self.small_limit { Class::Small } else { Class::Large }
    }

    /// The bytes of a new segment for a block of `size`.
    pub(super) fn segment(&self, size: usize) -> usize {
        if self.direct {
            size
        } else if size <= self.small_limit {
            self.small_segment.max(size)
        } else if size < self.large_limit {
            self.large_segment.max(size)
        } else {
            size.next_multiple_of(self.segment_granule)
        }
    }

    /// Whether the rest of a block is split off. In large segments only a rest that can serve a large request is: a smaller one would be unusable
    /// between its neighbours, and as a part of the block it is freed with it.
    pub(super) fn splits(&self, class: Class, rest: usize) -> bool {
        match class {
            Class::Small => rest >= GRANULE,
            Class::Large => rest > self.small_limit,
        }
    }
}

/// The size of a block for a request, if any block can be that large.
pub(super) fn block_size(bytes: usize) -> Option<usize> {
    (bytes <= LARGEST).then(|| bytes.next_multiple_of(GRANULE))
}
