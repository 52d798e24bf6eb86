//! XORWOW of G. Marsaglia, "Xorshift RNGs" (2003), with rocRAND's seeding and sequences of 2^67 words.

use super::ring::Engine;
use std::sync::LazyLock;

/// A state: a linear feedback register of 160 bits, and a counter.
#[derive(Clone)]
pub(crate) struct Xorwow {
    register: [u32; 5],
    counter: u32,
}

/// What the counter grows by.
const STEP: u32 = 362_437;

/// The powers of the register's step, each the square of the one before: 2^0 steps, 2^1 and so on.
static POWERS: LazyLock<Vec<Matrix>> = LazyLock::new(|| {
    std::iter::successors(Some(Matrix::step()), |power| Some(power.squared())).take(SEQUENCE + 1).collect()
});

/// The binary logarithm of a sequence's length.
const SEQUENCE: usize = 67;

impl Engine for Xorwow {
    const DEFAULT_SEED: u64 = 0;

    fn seeded(seed: u64) -> Self {
        let t0 = 1_228_688_033_u32.wrapping_mul(seed as u32 ^ 0x2C7F_967F);
        let t1 = 2_073_658_381_u32.wrapping_mul((seed >> 32) as u32 ^ 0xA036_97CB);
        let register = [
            123_456_789_u32.wrapping_add(t0),
            362_436_069 ^ t0,
            521_288_629_u32.wrapping_add(t1),
            88_675_123 ^ t1,
            5_783_321_u32.wrapping_add(t0),
        ];
        Self { register, counter: 6_615_241_u32.wrapping_add(t1).wrapping_add(t0) }
    }

    fn next_word(&mut self) -> u32 {
        self.register = step(self.register);
        self.counter = self.counter.wrapping_add(STEP);
        self.counter.wrapping_add(self.register[4])
    }

    fn next_sequence(&mut self) {
        // The counter comes round in a sequence.
        self.register = POWERS[SEQUENCE].times(self.register);
    }

    fn skip(&mut self, words: u64) {
        let bits = (0..u64::BITS as usize).filter(|bit| words >> bit & 1 == 1);
        self.register = bits.fold(self.register, |register, bit| POWERS[bit].times(register));
        self.counter = self.counter.wrapping_add((words as u32).wrapping_mul(STEP));
    }
}

fn step([a, b, c, d, e]: [u32; 5]) -> [u32; 5] {
    let t = a ^ (a >> 2);
    [b, c, d, e, e ^ (e << 4) ^ t ^ (t << 1)]
}

/// A linear map of registers: the images of registers with one bit each.
struct Matrix(Box<[[u32; 5]; 160]>);

impl Matrix {
    fn step() -> Self {
        Self(Box::new(std::array::from_fn(|bit| {
            let mut register = [0; 5];
            register[bit / 32] = 1 << (bit % 32);
            step(register)
        })))
    }

    fn times(&self, register: [u32; 5]) -> [u32; 5] {
        let mut image = [0; 5];
        for (bit, column) in self.0.iter().enumerate() {
            let mask = (register[bit / 32] >> (bit % 32) & 1).wrapping_neg();
            for (word, part) in image.iter_mut().zip(column) {
                *word ^= part & mask;
            }
        }
        image
    }

    fn squared(&self) -> Self {
        Self(Box::new(self.0.map(|column| self.times(column))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_is_the_same_as_counting() {
        crate::engine::assert_skips(|| Xorwow::seeded(7), Xorwow::skip, Xorwow::next_word);
    }

    /// 2^67 steps are 2^63 steps, 16 times.
    #[test]
    fn a_sequence_is_as_long_as_it_says() {
        let (mut sequence, mut skipped) = (Xorwow::seeded(1), Xorwow::seeded(1));
        sequence.next_sequence();
        (0..16).for_each(|_| skipped.skip(1 << 63));
        assert_eq!(sequence.register, skipped.register);
        assert_eq!(sequence.counter, skipped.counter);
    }
}
