//! Hashes of sources and compiled code.

use xxhash_rust::xxh3::Xxh3;

/// The 128-bit XXH3 hash of some bytes, such as those of a compiled unit, as 32 hexadecimal digits.
///
/// It detects damaged or outdated files. It is no protection against forgery.
pub fn hash_bytes(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// The hash of several byte strings. It depends on their boundaries: `["ab", "c"]` and `["a", "bc"]` differ. As [`hash_bytes`] otherwise.
pub fn hash_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    format!("{:032x}", hasher.digest128())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_xxh3() {
        // The published 128-bit XXH3 hash of no bytes with seed 0.
        assert_eq!(hash_bytes(b""), "99aa06d3014798d86001c324468d497f");
        assert_ne!(hash_bytes(b"a"), hash_bytes(b"b"));
    }

    #[test]
    fn where_one_part_ends_matters() {
        let hash = |parts: &[&str]| hash_parts(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["ab"]), hash(&["ab", ""]));
        assert_eq!(hash(&["ab", "c"]).len(), 32);
    }
}
