//! Threefry with 20 rounds, of the same authors as Philox, with two or four words of 32 or 64 bits.

use super::counter::Cipher;

/// Threefry with two words.
pub(crate) struct Threefry2<W>(pub(crate) [W; 2]);

/// Threefry with four words.
pub(crate) struct Threefry4<W>(pub(crate) [W; 4]);

/// A word of Threefry: its arithmetic, and the constants of the algorithm.
pub(crate) trait Word: Copy + Default + std::ops::BitXor<Output = Self> {
    /// Makes the last word of the key, together with the others.
    const PARITY: Self;
    const BITS: u32;
    const ROTATIONS2: [u32; 8];
    const ROTATIONS4: [[u32; 2]; 8];

    fn plus(self, other: Self) -> Self;
    fn rotated(self, bits: u32) -> Self;
    fn low(number: u128) -> Self;
}

macro_rules! word {
    ($W:ty, $parity:literal, $two:expr, $four:expr) => {
        impl Word for $W {
            const PARITY: Self = $parity;
            const BITS: u32 = <$W>::BITS;
            const ROTATIONS2: [u32; 8] = $two;
            const ROTATIONS4: [[u32; 2]; 8] = $four;

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn rotated(self, bits: u32) -> Self {
                self.rotate_left(bits)
            }
            fn low(number: u128) -> Self {
                number as Self
            }
        }
    };
}

word!(
    u32,
    0x1BD1_1BDA,
    [13, 15, 26, 6, 17, 29, 16, 24],
    [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]]
);
word!(
    u64,
    0x1BD1_1BDA_A9FC_1A22,
    [16, 42, 12, 31, 16, 32, 24, 21],
    [[14, 16], [52, 57], [23, 40], [5, 37], [25, 33], [46, 12], [58, 22], [32, 32]]
);

const ROUNDS: usize = 20;

impl<W: Word> Cipher for Threefry2<W> {
    type Word = W;
    const WIDTH: usize = 2;

    fn block(&self, index: u128) -> [W; 4] {
        let [x, y] = self.0;
        let key = [x, y, W::PARITY ^ x ^ y];
        let mut a = W::low(index).plus(x);
        let mut b = W::low(index >> W::BITS).plus(y);
        for round in 0..ROUNDS {
            a = a.plus(b);
            b = b.rotated(W::ROTATIONS2[round % 8]) ^ a;
            if round % 4 == 3 {
                let turn = round / 4 + 1;
                a = a.plus(key[turn % 3]);
                b = b.plus(key[(turn + 1) % 3]).plus(W::low(turn as u128));
            }
        }
        [a, b, W::default(), W::default()]
    }
}

impl<W: Word> Cipher for Threefry4<W> {
    type Word = W;
    const WIDTH: usize = 4;

    fn block(&self, index: u128) -> [W; 4] {
        let [x, y, z, w] = self.0;
        let key = [x, y, z, w, W::PARITY ^ x ^ y ^ z ^ w];
        let counter = |word: u32| {
            let shift = word * W::BITS;
            W::low(if shift < u128::BITS { index >> shift } else { 0 })
        };
        let mut words: [W; 4] = std::array::from_fn(|word| counter(word as u32).plus(key[word]));
        for round in 0..ROUNDS {
            // The pairs that are mixed alternate after each two rounds, as in rocRAND; in the authors' text they do after each one.
            let (first, second) = if round & 2 == 0 { (1, 3) } else { (3, 1) };
            let [left, right] = W::ROTATIONS4[round % 8];
            words[0] = words[0].plus(words[first]);
            words[first] = words[first].rotated(left) ^ words[0];
            words[2] = words[2].plus(words[second]);
            words[second] = words[second].rotated(right) ^ words[2];
            if round % 4 == 3 {
                let turn = round / 4 + 1;
                for (word, value) in words.iter_mut().enumerate() {
                    *value = value.plus(key[(turn + word) % 5]);
                }
                words[3] = words[3].plus(W::low(turn as u128));
            }
        }
        words
    }
}
