//! What a kernel's code was built for: sizes that its name does not tell, because a macro sees types as they are written.

/// A mark and a hash of the kernel's name, of size and alignment of each argument and of an element of each buffer, and of the bytes of
/// shared memory. A GPU's code has these bytes, and `load` looks for them.
#[doc(hidden)]
pub const fn layout(
    name: &str,
    arguments: &[(usize, usize)],
    elements: &[(usize, usize)],
    shared: u32,
) -> [u8; 16] {
    let mut hash = FNV_BASIS;
    let mut index = 0;
    while index < name.len() {
        hash = fnv(hash, name.as_bytes()[index] as u64);
        index += 1;
    }
    hash = fnv_sizes(hash, arguments);
    hash = fnv_sizes(hash, elements);
    hash = fnv(hash, shared as u64);
    let mut bytes = *b"hklayout........";
    index = 0;
    while index < 8 {
        bytes[8 + index] = (hash >> (8 * index)) as u8;
        index += 1;
    }
    bytes
}

/// Their number, and each size and alignment.
const fn fnv_sizes(hash: u64, sizes: &[(usize, usize)]) -> u64 {
    let mut hash = fnv(hash, sizes.len() as u64);
    let mut index = 0;
    while index < sizes.len() {
        hash = fnv(fnv(hash, sizes[index].0 as u64), sizes[index].1 as u64);
        index += 1;
    }
    hash
}

/// A step of FNV-1a, by words.
const fn fnv(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x100_0000_01b3)
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

#[cfg(test)]
mod tests {
    use super::layout;

    #[test]
    fn each_part_counts() {
        let one = layout("k", &[(4, 4), (8, 8)], &[(12, 4)], 64);
        assert_eq!(one, layout("k", &[(4, 4), (8, 8)], &[(12, 4)], 64));
        assert_ne!(one, layout("l", &[(4, 4), (8, 8)], &[(12, 4)], 64));
        assert_ne!(one, layout("k", &[(4, 4), (12, 8)], &[(12, 4)], 64));
        assert_ne!(one, layout("k", &[(4, 4), (8, 4)], &[(12, 4)], 64));
        assert_ne!(one, layout("k", &[(4, 4), (8, 8)], &[(16, 4)], 64));
        assert_ne!(one, layout("k", &[(4, 4), (8, 8)], &[(12, 1)], 64));
        assert_ne!(one, layout("k", &[(4, 4), (8, 8), (12, 4)], &[], 64));
        assert_ne!(one, layout("k", &[(4, 4), (8, 8)], &[(12, 4)], 80));
    }
}
