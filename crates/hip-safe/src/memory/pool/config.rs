//! Sizes: of requests, of segments, and from where on a block is worth splitting.

/// What sizes and addresses are multiples of, in bytes.
pub(crate) const GRANULE: usize = 512;

/// The largest request in bytes. No device has as much.
pub(super) const LARGEST: usize = 1 << 48;

/// How a pool cuts its memory. Sizes are in bytes and multiples of [`GRANULE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolConfig {
    /// Up to this size, requests are small: they come out of segments of their own kind.
    pub(crate) small_limit: usize,
    /// A segment of small blocks.
    pub(crate) small_segment: usize,
    /// Below this size, large requests share segments of [`PoolConfig::large_segment`].
    pub(crate) large_limit: usize,
    /// A segment that several large blocks share.
    pub(crate) large_segment: usize,
    /// What segments for one request are a multiple of.
    pub(crate) segment_granule: usize,
    /// After so many frees, a free block of another stream is taken, with a wait on the device, before the pool grows. The work on
    /// it is old by then, so the wait is short; without this, a stream that makes what another one frees would grow
    /// the pool for as long as the host runs ahead.
    pub(crate) patience: u64,
    /// Before the pool grows to more than twice the most that was in use, and so many bytes beside, it takes what any stream has left, and
    /// gives back what is too small. Without this, a program whose requests grow step by step, so that none fits what the one before has left,
    /// would end with all there is.
    pub(crate) idle: usize,
    /// Every allocation is a segment of its own, and leaves the pool when it is freed.
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

/// Small and large blocks never share a segment: a small one that stays would keep a large range from being whole again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Small,
    Large,
}

impl PoolConfig {
    /// One segment for each allocation, for a platform that gives each of them pages of its own to check accesses.
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

    /// Whether what a block would leave over becomes a block of its own. In large segments only what can serve a
    /// large request does: a smaller rest would stay unusable between its neighbours, and as part of the block it is free again with it.
    pub(super) fn splits(&self, class: Class, rest: usize) -> bool {
        match class {
            Class::Small => rest >= GRANULE,
            Class::Large => rest > self.small_limit,
        }
    }
}

/// The bytes of a block for a request, if there can be one.
pub(super) fn block_size(bytes: usize) -> Option<usize> {
    (bytes <= LARGEST).then(|| bytes.next_multiple_of(GRANULE))
}
