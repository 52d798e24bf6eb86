//! Strided grids in memory.

/// Whether all elements of a strided grid have different offsets. The extents are the count and the stride of each direction.
///
/// For crates that wrap libraries. It answers false for some grids whose elements are interleaved.
pub fn is_injective(extents: &[(usize, usize)]) -> bool {
    let mut extents: Vec<_> = extents.iter().copied().filter(|&(count, _)| count > 1).collect();
    extents.sort_unstable_by_key(|&(_, stride)| stride);
    let mut reach = 0_usize;
    extents.iter().all(|&(count, stride)| {
        let apart = stride > reach;
        reach = reach.saturating_add((count - 1).saturating_mul(stride));
        apart
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_without_overlaps_is_injective() {
        assert!(is_injective(&[(3, 1), (4, 3), (2, 12)]));
        // Blocks of columns side by side.
        assert!(is_injective(&[(3, 1), (4, 6), (2, 3)]));
        assert!(!is_injective(&[(3, 1), (4, 3), (2, 11)]));
        assert!(!is_injective(&[(3, 1), (2, 0)]));
        assert!(is_injective(&[(3, 1), (1, 0)]));
    }
}
