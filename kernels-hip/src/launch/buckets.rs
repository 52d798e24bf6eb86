//! Bucket sizes and launches of the family `buckets`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::BucketMap;

/// Bytes of a tile's words, as in the source.
const TILE_BYTES: u64 = 32 * 1024;
/// Most buckets, which is also the number of runs of a tile.
const BUCKETS: u64 = 2048;
/// Fewest terms for which the passes pay.
const MANY: u64 = 1 << 16;
/// Ids that a thread of `index_scatter_add` may read for each of its own before the passes are faster.
const LOOKS: u64 = 64;

/// Destinations of one launch: the sums of all buckets.
pub fn bucket_part(element_bytes: usize) -> u64 {
    BUCKETS * if element_bytes == 8 { 4096 } else { 8192 }
}

/// Most terms: the words of whole tiles must be counted in 32 bits.
const MOST: u64 = (1 << 32) - 8192;

/// Whether buckets are faster than `owners` threads for each line of `index_scatter_add`, for `terms` terms of all lines.
pub fn by_buckets(terms: u64, owners: u64) -> bool {
    (MANY..=MOST).contains(&terms) && owners >= LOOKS
}

/// Bytes of a term's word: its destination within its bucket, and its value.
pub fn bucket_word_bytes(element_bytes: usize) -> usize {
    2 * element_bytes.max(2)
}

/// Fills in `tiles`, `shift` and `buckets` of a map with at most [`bucket_part`] destinations.
///
/// ```
/// use bytemuck::Zeroable;
/// use kernels_hip::args::BucketMap;
///
/// let map = BucketMap { terms: 100_000, owned: 5000, ..Zeroable::zeroed() };
/// let map = kernels_hip::launch::buckets(&map, 2);
/// assert_eq!((map.tiles, map.shift, map.buckets), (13, 2, 1250));
/// ```
pub fn buckets(map: &BucketMap, element_bytes: usize) -> BucketMap {
    // With many destinations, buckets are large enough that every thread of a block owns some, but there are enough buckets for all
    // multiprocessors.
    let enough = if map.owned < 16_384 { 0 } else { (map.owned / 256).ilog2().min(8) };
    let shift = map.owned.div_ceil(BUCKETS).next_power_of_two().ilog2().max(enough);
    let buckets = map.owned.div_ceil(1 << shift) as u32;
    BucketMap { tiles: map.terms.div_ceil(tile(element_bytes)), shift, buckets, ..*map }
}

/// Terms of a tile.
fn tile(element_bytes: usize) -> u64 {
    TILE_BYTES / bucket_word_bytes(element_bytes) as u64
}

/// Number of words that `buckets_deal` needs space for: those of whole tiles.
pub fn bucket_words(map: &BucketMap, element_bytes: usize) -> u64 {
    map.tiles * tile(element_bytes)
}

/// Number of runs that `buckets_deal` writes.
pub fn bucket_runs(map: &BucketMap) -> u64 {
    BUCKETS * map.tiles
}

/// Dynamic shared memory of `buckets_add`: the sums of a bucket, at least 32 bits each.
pub fn sums_bytes(map: &BucketMap, element_bytes: usize) -> u32 {
    (element_bytes.max(4) as u32) << map.shift
}

/// For `buckets_deal`: a block for each tile.
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

    fn cut(owned: u64, element_bytes: usize) -> (u32, u32, u32) {
        let map = buckets(&BucketMap { terms: 1, owned, ..Zeroable::zeroed() }, element_bytes);
        (map.shift, map.buckets, sums_bytes(&map, element_bytes))
    }

    #[test]
    fn buckets_cover_the_destinations() {
        assert_eq!(cut(1, 2), (0, 1, 4));
        assert_eq!(cut(2048, 4), (0, 2048, 4));
        assert_eq!(cut(2049, 8), (1, 1025, 16));
        assert_eq!(cut(16_383, 2), (3, 2048, 32));
        assert_eq!(cut(16_384, 2), (6, 256, 256));
        assert_eq!(cut(1 << 18, 4), (8, 1024, 1024));
        assert_eq!(cut(1 << 20, 4), (9, 2048, 2048));
        assert_eq!(cut(bucket_part(2), 2), (13, 2048, 32 * 1024));
        assert_eq!(cut(bucket_part(8), 8), (12, 2048, 32 * 1024));
    }

    #[test]
    fn tiles_have_room_for_their_words() {
        for (element_bytes, tiles) in [(1, 2), (2, 2), (4, 3), (8, 5)] {
            let map = buckets(&BucketMap { terms: 8193, owned: 1, ..Zeroable::zeroed() }, element_bytes);
            assert_eq!((map.tiles, bucket_runs(&map)), (tiles, tiles * 2048));
            let bytes = bucket_words(&map, element_bytes) * bucket_word_bytes(element_bytes) as u64;
            assert_eq!(bytes, tiles * 32 * 1024);
        }
    }

    #[test]
    fn many_terms_of_few_lines_take_buckets() {
        assert!(by_buckets(1 << 24, 16_896));
        assert!(!by_buckets(1 << 24, 20) && !by_buckets(1000, 16_896));
        assert!(by_buckets((1 << 32) - 8192, 16_896) && !by_buckets((1 << 32) - 8191, 16_896));
    }
}
