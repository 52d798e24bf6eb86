//! How destinations of sums by ids are cut into buckets.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::BucketMap;

/// Terms of a tile, as the source has it.
const TILE: u64 = 2048;
/// Most buckets.
const BUCKETS: u64 = 2048;
/// Values of a digit.
const DIGITS: u64 = 64;
/// Bits of a digit.
const BITS: u32 = 6;
/// The fewest terms that are worth the passes.
const MANY: u64 = 1 << 16;
/// How many ids a thread of `index_scatter_add` may look at for each of its own before the passes are quicker.
const LOOKS: u64 = 64;

/// Destinations of one launch: as many as the sums of all buckets.
pub fn bucket_part(element_bytes: usize) -> u64 {
    BUCKETS * if element_bytes == 8 { 4096 } else { 8192 }
}

/// So many terms at most: a block of `buckets_add` counts them in 32 bits, 512 at a time.
const MOST: u64 = (1 << 32) - 512;

/// Whether buckets are quicker than `owners` threads for each line of `index_scatter_add`, for `terms` terms of all lines.
pub fn by_buckets(terms: u64, owners: u64) -> bool {
    (MANY..=MOST).contains(&terms) && owners >= LOOKS
}

/// Fills in `tiles`, `shift` and `buckets` for the terms and the destinations of a map, which are at most [`bucket_part`].
///
/// ```
/// use bytemuck::Zeroable;
/// use kernels_hip::args::BucketMap;
///
/// let map = BucketMap { terms: 100_000, owned: 5000, ..Zeroable::zeroed() };
/// let map = kernels_hip::launch::buckets(&map);
/// assert_eq!((map.tiles, map.shift, map.buckets), (49, 2, 1250));
/// ```
pub fn buckets(map: &BucketMap) -> BucketMap {
    let shift = map.owned.div_ceil(BUCKETS).next_power_of_two().ilog2();
    let buckets = map.owned.div_ceil(1 << shift);
    BucketMap { tiles: map.terms.div_ceil(TILE), shift, digit: shift, buckets: buckets as u32, ..*map }
}

/// The passes of `buckets_count` and `buckets_deal` that bring the terms of a map of [`buckets`] to their buckets: a digit each. The first
/// makes the keys.
pub fn bucket_passes(map: &BucketMap) -> impl Iterator<Item = BucketMap> {
    // Terms without destination have the greatest digit, and no bucket.
    let digits = if u64::from(map.buckets) < DIGITS { 1 } else { 2 };
    let map = *map;
    (0..digits).map(move |pass| BucketMap { digit: map.shift + pass * BITS, ..map })
}

/// How many numbers `buckets_count` writes.
pub fn bucket_counts(map: &BucketMap) -> u64 {
    DIGITS * map.tiles
}

/// Of `buckets_add`: room for the sums of a bucket, 32 bits each at least, and claims to them.
pub fn sums_bytes(element_bytes: usize) -> u32 {
    4 * 2048 + (bucket_part(element_bytes) / BUCKETS) as u32 * element_bytes.max(4) as u32
}

/// For `buckets_count` and `buckets_deal`: a block for each tile.
pub fn bucket_tiles(map: &BucketMap, multiprocessors: u32) -> LaunchShape {
    shape(map.tiles, MAX_BLOCK, multiprocessors)
}

/// For `buckets_add`: a block for each bucket.
pub fn bucket_sums(map: &BucketMap, multiprocessors: u32) -> LaunchShape {
    shape(map.buckets.into(), MAX_BLOCK, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    fn cut(owned: u64) -> (u32, u32, Vec<u32>) {
        let map = buckets(&BucketMap { terms: 1, owned, ..Zeroable::zeroed() });
        (map.shift, map.buckets, bucket_passes(&map).map(|pass| pass.digit).collect())
    }

    #[test]
    fn buckets_cover_the_destinations() {
        assert_eq!(cut(1), (0, 1, vec![0]));
        assert_eq!(cut(63), (0, 63, vec![0]));
        assert_eq!(cut(64), (0, 64, vec![0, 6]));
        assert_eq!(cut(2048), (0, 2048, vec![0, 6]));
        assert_eq!(cut(2049), (1, 1025, vec![1, 7]));
        assert_eq!(cut(bucket_part(4)), (13, 2048, vec![13, 19]));
        assert_eq!(cut(bucket_part(8)), (12, 2048, vec![12, 18]));
    }

    #[test]
    fn many_terms_of_few_lines_take_buckets() {
        assert!(by_buckets(1 << 24, 16_896));
        assert!(!by_buckets(1 << 24, 20) && !by_buckets(1000, 16_896));
        assert!(by_buckets((1 << 32) - 512, 16_896) && !by_buckets((1 << 32) - 511, 16_896));
    }
}
