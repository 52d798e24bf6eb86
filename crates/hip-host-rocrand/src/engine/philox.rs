//! Philox4x32-10 of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).

use super::counter::Cipher;

/// Philox with a key of 64 bits and a counter of 128.
pub(crate) struct Philox(pub(crate) u64);

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

impl Cipher for Philox {
    type Word = u32;
    const WIDTH: usize = 4;

    fn block(&self, index: u128) -> [u32; 4] {
        let mut words: [u32; 4] = std::array::from_fn(|word| (index >> (32 * word)) as u32);
        let mut key = [self.0 as u32, (self.0 >> 32) as u32];
        for _ in 0..10 {
            let [a, b, c, d] = words;
            let first = u64::from(MULTIPLIERS[0]) * u64::from(a);
            let second = u64::from(MULTIPLIERS[1]) * u64::from(c);
            words = [
                (second >> 32) as u32 ^ b ^ key[0],
                second as u32,
                (first >> 32) as u32 ^ d ^ key[1],
                first as u32,
            ];
            key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers that the authors' Random123 publishes (`kat_vectors`).
    #[test]
    fn known_answers() {
        assert_eq!(Philox(0).block(0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(Philox(u64::MAX).block(u128::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let counter = 0x0370_7344_1319_8a2e_85a3_08d3_243f_6a88;
        let key = 0x299f_31d0_a409_3822;
        assert_eq!(Philox(key).block(counter), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }
}
