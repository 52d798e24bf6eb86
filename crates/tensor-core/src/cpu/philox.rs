//! Philox4x32-10: 32-bit words from a seed and a counter (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy
//! as 1, 2, 3, 2011).
//!
//! The key is the seed. The low half of the counter is the index of a block of four words, the high half is the stream.

/// A sequence of random numbers: the blocks of a seed and a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draw {
    /// Philox's key.
    pub seed: u64,
    /// The high half of its counter.
    pub stream: u64,
}

/// Blocks computed in parallel, so that the compiler vectorises.
const LANES: usize = 8;

impl Draw {
    /// The words of the blocks from `first` on. `out` holds whole blocks.
    pub(super) fn words(self, first: u64, out: &mut [u32]) {
        for (group, out) in out.chunks_mut(4 * LANES).enumerate() {
            let begin = first.wrapping_add((group * LANES) as u64);
            let words = self.blocks(begin);
            for (lane, block) in out.chunks_mut(4).enumerate() {
                block.iter_mut().zip(&words).for_each(|(word, lanes)| *word = lanes[lane]);
            }
        }
    }

    /// The 64-bit words of the blocks from `first` on, two per block, low word first. `words` is scratch memory.
    pub(super) fn long_words(self, first: u64, words: &mut Vec<u32>, out: &mut [u64]) {
        words.resize(2 * out.len().next_multiple_of(2), 0);
        self.words(first, words);
        for (long, pair) in out.iter_mut().zip(words.chunks_exact(2)) {
            *long = u64::from(pair[1]) << 32 | u64::from(pair[0]);
        }
    }

    /// Word w of block `first + lane` at \[w\]\[lane\].
    fn blocks(self, first: u64) -> [[u32; LANES]; 4] {
        let number = |lane: usize| first.wrapping_add(lane as u64);
        let counter = [
            std::array::from_fn(|lane| number(lane) as u32),
            std::array::from_fn(|lane| (number(lane) >> 32) as u32),
            [self.stream as u32; LANES],
            [(self.stream >> 32) as u32; LANES],
        ];
        philox(counter, [self.seed as u32, (self.seed >> 32) as u32])
    }
}

/// Ten rounds, on as many counters as there are lanes.
fn philox<const N: usize>(counter: [[u32; N]; 4], key: [u32; 2]) -> [[u32; N]; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        for lane in 0..N {
            let p0 = 0xd251_1f53 * u64::from(c0[lane]);
            let p1 = 0xcd9e_8d57 * u64::from(c2[lane]);
            c0[lane] = (p1 >> 32) as u32 ^ c1[lane] ^ k0;
            c2[lane] = (p0 >> 32) as u32 ^ c3[lane] ^ k1;
            c1[lane] = p1 as u32;
            c3[lane] = p0 as u32;
        }
        k0 = k0.wrapping_add(0x9e37_79b9);
        k1 = k1.wrapping_add(0xbb67_ae85);
    }
    [c0, c1, c2, c3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers (counter, key, words) published with the authors' library Random123 (`kat_vectors`, philox4x32
    /// 10).
    const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];

    #[test]
    fn known_answers() {
        for (counter, key, answer) in KNOWN {
            assert_eq!(philox(counter.map(|word| [word]), key), answer.map(|word| [word]));
            let seed = u64::from(key[1]) << 32 | u64::from(key[0]);
            let stream = u64::from(counter[3]) << 32 | u64::from(counter[2]);
            let first = u64::from(counter[1]) << 32 | u64::from(counter[0]);
            let mut words = [0; 4];
            Draw { seed, stream }.words(first, &mut words);
            assert_eq!(words, answer);
        }
    }

    #[test]
    fn groups_of_lanes_leave_no_seam() {
        let draw = Draw { seed: 7, stream: 1 << 40 };
        let mut all = [0; 4 * 21];
        draw.words(3, &mut all);
        for (block, words) in all.chunks(4).enumerate() {
            let mut one = [0; 4];
            draw.words(3 + block as u64, &mut one);
            assert_eq!(one, words);
        }
        let mut long = [0; 3];
        draw.long_words(3, &mut Vec::new(), &mut long);
        assert_eq!(
            long.map(|word| (word as u32, (word >> 32) as u32)),
            [(all[0], all[1]), (all[2], all[3]), (all[4], all[5])]
        );
    }
}
