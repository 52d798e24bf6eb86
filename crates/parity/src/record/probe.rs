//! What a record keeps of a result: a digest of all elements, or some elements with their tolerances.

use std::collections::BTreeSet;

use reference::{DType, Judge, Outcome, Value};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::judge;

/// Maximum number of elements sampled of a result.
pub const PROBES: usize = 16;

/// Bytes canonicalised at a time.
const BLOCK: usize = 1 << 16;

/// One element of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Row-major index.
    pub index: usize,
    /// Its bits. A NaN is replaced by the positive quiet NaN without payload.
    pub bits: u64,
    /// Its tolerance.
    pub allowed: Allowed,
}

/// The reference's tolerance for an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// The maximum error, rounded up to four digits: [`Judge::tolerance`].
    pub tolerance: f64,
    /// Whether some order of evaluation overflows, so that an infinity or NaN is also right.
    pub overflow: bool,
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:e}{}", self.tolerance, if self.overflow { " or an overflow" } else { "" })
    }
}

/// The sampled indices of a result of `elements` elements, ascending. If there are at most [`PROBES`], all are sampled;
/// otherwise that many, including the first and the last. They depend only on the case's hash and the number of
/// elements. The others are the 64-bit XXH3 of the hash and a counter from 0 (16 and 8 bytes, little-endian), modulo
/// `elements`, without repetitions.
pub fn positions(hash: u128, elements: usize) -> Vec<usize> {
    if elements <= PROBES {
        return (0..elements).collect();
    }
    let mut chosen = BTreeSet::from([0, elements - 1]);
    let mut seed = [0; 24];
    seed[..16].copy_from_slice(&hash.to_le_bytes());
    for counter in 0u64.. {
        if chosen.len() == PROBES {
            break;
        }
        seed[16..].copy_from_slice(&counter.to_le_bytes());
        chosen.insert((xxh3_64(&seed) % elements as u64) as usize);
    }
    chosen.into_iter().collect()
}

/// The 128-bit XXH3 of a result's dense little-endian elements, after replacing every NaN by the positive quiet one
/// without payload.
pub fn digest(dtype: DType, bytes: &[u8]) -> u128 {
    let mut hasher = Xxh3::new();
    if dtype.is_int() {
        hasher.update(bytes);
        return hasher.digest128();
    }
    let size = dtype.size();
    let mut block = Vec::with_capacity(BLOCK);
    for part in bytes.chunks(BLOCK) {
        block.clear();
        for element in part.chunks_exact(size) {
            dtype.write(canonical(dtype, judge::read(element, size)), &mut block);
        }
        hasher.update(&block);
    }
    hasher.digest128()
}

/// The bits, or the positive quiet NaN without payload for any NaN.
pub(super) fn canonical(dtype: DType, bits: u64) -> u64 {
    if dtype.is_nan(bits) { dtype.encode(Value::Float(f64::NAN)) } else { bits }
}

/// Samples elements of a result of the outcome's length.
pub(super) fn take(hash: u128, outcome: &Outcome<'_>, judge: Judge, bytes: &[u8]) -> Vec<Probe> {
    let (dtype, size) = (outcome.dtype(), outcome.dtype().size());
    let probe = |index: usize| {
        let expected = outcome.at(index);
        let tolerance = rounded_up(judge.tolerance(dtype, &expected));
        let bits = canonical(dtype, judge::read(&bytes[index * size..], size));
        Probe { index, bits, allowed: Allowed { tolerance, overflow: expected.overflow } }
    };
    positions(hash, outcome.len()).into_iter().map(probe).collect()
}

/// Rounds a tolerance up to four digits.
fn rounded_up(tolerance: f64) -> f64 {
    let digits = |x: f64| format!("{x:.3e}").parse::<f64>().unwrap_or(x);
    let nearest = digits(tolerance);
    // Half a unit of the fourth digit is at most 0.0005 of the number.
    if nearest >= tolerance { nearest } else { digits(tolerance * 1.00051) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_few_sorted_and_pinned() {
        assert_eq!(positions(5, 0), Vec::<usize>::new());
        assert_eq!(positions(5, 3), [0, 1, 2]);
        assert_eq!(positions(5, 16), (0..16).collect::<Vec<_>>());
        for elements in [17, 18, 40, 4773, usize::MAX] {
            let found = positions(u128::MAX / 3, elements);
            assert_eq!((found.len(), found[0], found[15]), (16, 0, elements - 1));
            assert!(found.is_sorted() && found.windows(2).all(|pair| pair[0] != pair[1]));
        }
        assert_ne!(positions(5, 4773), positions(6, 4773));
    }

    /// Other programs may read records by the same rules. Changing these numbers makes every record unreadable.
    #[test]
    fn positions_and_digests_are_pinned() {
        assert_eq!(positions(5, 4773), PINNED);
        assert_eq!(format!("{:032x}", digest(DType::U8, b"abc")), "06b05ab6733a618578af5f94892f3950");
    }

    /// As computed by Python's xxhash.
    const PINNED: [usize; 16] =
        [0, 155, 882, 1458, 1708, 2180, 2200, 2837, 2879, 3632, 3933, 4033, 4305, 4418, 4687, 4772];

    #[test]
    fn a_digest_sees_every_bit_but_a_nans() {
        let bytes = |values: [u32; 3]| values.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>();
        let of = |values| digest(DType::F32, &bytes(values));
        let nan = of([0x3f80_0000, 0x7fc0_0000, 0]);
        assert_eq!(of([0x3f80_0000, 0xffc0_1234, 0]), nan);
        assert_eq!(
            nan,
            digest(DType::I32, &bytes([0x3f80_0000, 0x7fc0_0000, 0])),
            "the canonical NaN of f32"
        );
        assert_ne!(of([0x3f80_0001, 0x7fc0_0000, 0]), nan);
        assert_ne!(of([0x3f80_0000, 0x7fc0_0000, 0x8000_0000]), nan, "the sign of zero counts");
        assert_ne!(
            digest(DType::I32, &bytes([0, 0xffc0_1234, 0])),
            digest(DType::I32, &bytes([0, 0x7fc0_0000, 0]))
        );
    }

    #[test]
    fn blocks_do_not_show_in_the_digest() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 40).map(|i| (i % 97) as u8).collect();
        assert_eq!(digest(DType::F64, &bytes), xxhash_rust::xxh3::xxh3_128(&bytes));
    }

    #[test]
    fn tolerances_only_grow_and_hardly() {
        for tolerance in [0.0, 1.0, 1.2345678e-7, 9.9999e-8, 5e-324, 1.5e-323, 3.3333e300, f64::MAX / 1.1] {
            let written = rounded_up(tolerance);
            assert!(written >= tolerance && written <= tolerance * 1.002, "{tolerance:e} as {written:e}");
            assert_eq!(format!("{written:.3e}").parse::<f64>(), Ok(written));
        }
        assert_eq!(rounded_up(f64::INFINITY), f64::INFINITY);
    }
}
