//! MRG32k3a of P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators" (1999), with
//! rocRAND's seeding and sequences of 2^76 words.

use super::ring::Engine;
use std::sync::LazyLock;

/// The states of both recurrences, the oldest number first.
#[derive(Clone)]
pub(crate) struct Mrg32k3a {
    first: [u32; 3],
    second: [u32; 3],
}

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const A12: u64 = 1_403_580;
const A13_NEGATED: u64 = 810_728;
const A21: u64 = 527_612;
const A23_NEGATED: u64 = 1_370_589;

/// A step of three numbers, modulo M1 or M2.
type Matrix = [[u64; 3]; 3];

/// The powers of both steps, each the square of the one before: 2^0 steps, 2^1 and so on.
static POWERS: LazyLock<Vec<[Matrix; 2]>> = LazyLock::new(|| {
    let first = [[0, 1, 0], [0, 0, 1], [M1 - A13_NEGATED, A12, 0]];
    let second = [[0, 1, 0], [0, 0, 1], [M2 - A23_NEGATED, 0, A21]];
    let square = |[a, b]: &[Matrix; 2]| Some([product(a, a, M1), product(b, b, M2)]);
    std::iter::successors(Some([first, second]), square).take(SEQUENCE + 1).collect()
});

/// The binary logarithm of a sequence's length.
const SEQUENCE: usize = 76;

impl Engine for Mrg32k3a {
    const DEFAULT_SEED: u64 = 12_345;

    fn seeded(seed: u64) -> Self {
        let seed = if seed == 0 { Self::DEFAULT_SEED } else { seed };
        let x = seed as u32 ^ 0x5555_5555;
        let y = (seed >> 32) as u32 ^ 0xAAAA_AAAA;
        let first = |word| scaled(word, seed, |number| fold(number, M1));
        let second = |word| scaled(word, seed, |number| fold(fold_once(number, M2), M2));
        Self { first: [first(x), first(y), first(x)], second: [second(y), second(x), second(y)] }
    }

    /// A number from 1 to M1.
    fn next_word(&mut self) -> u32 {
        let [a, b, c] = self.first;
        // Seeding leaves numbers a little above the modulus, whose negation is meant to wrap around.
        let p = (A12 * u64::from(b) + A13_NEGATED * u64::from((M1 as u32).wrapping_sub(a))) % M1;
        self.first = [b, c, p as u32];
        let [d, e, f] = self.second;
        let q = (A21 * u64::from(f) + A23_NEGATED * u64::from((M2 as u32).wrapping_sub(d))) % M2;
        self.second = [e, f, q as u32];
        if p <= q { (p + M1 - q) as u32 } else { (p - q) as u32 }
    }

    fn next_sequence(&mut self) {
        self.advance(SEQUENCE);
    }

    fn skip(&mut self, words: u64) {
        (0..u64::BITS as usize).filter(|bit| words >> bit & 1 == 1).for_each(|bit| self.advance(bit));
    }
}

impl Mrg32k3a {
    /// Advances by 2^`power` words.
    fn advance(&mut self, power: usize) {
        let [first, second] = &POWERS[power];
        self.first = image(first, self.first, M1);
        self.second = image(second, self.second, M2);
    }
}

fn product(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let entry = |row: usize, column: usize| {
        (0..3).fold(0, |sum, k| (sum + a[row][k] * b[k][column] % modulus) % modulus)
    };
    std::array::from_fn(|row| std::array::from_fn(|column| entry(row, column)))
}

fn image(matrix: &Matrix, state: [u32; 3], modulus: u64) -> [u32; 3] {
    matrix.map(|row| {
        let sum = row.iter().zip(state).fold(0, |sum, (&a, s)| sum + a * u64::from(s) % modulus);
        (sum % modulus) as u32
    })
}

/// 2^32 is replaced by its remainder modulo the modulus. The result may exceed 32 bits.
fn fold_once(number: u64, modulus: u64) -> u64 {
    ((1 << 32) - modulus) * (number >> 32) + (number & 0xFFFF_FFFF)
}

fn fold(number: u64, modulus: u64) -> u64 {
    let folded = fold_once(number, modulus);
    if folded >= modulus { folded - modulus } else { folded }
}

/// rocRAND's product of half a seed and the seed, modulo the recurrence's modulus as far as `fold` does that. Its intermediate results come
/// round at 64 bits.
fn scaled(word: u32, seed: u64, fold: impl Fn(u64) -> u64) -> u32 {
    let (high, low) = (u64::from(word / 131_072), u64::from(word % 131_072));
    let high = fold(high.wrapping_mul(seed)).wrapping_mul(131_072);
    fold(high.wrapping_add(fold(low.wrapping_mul(seed)))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L'Ecuyer's own start, six times 12345, and the first numbers that his program gives for it (RngStreams, as fractions of M1 + 1).
    #[test]
    fn known_answers() {
        let mut state = Mrg32k3a { first: [12_345; 3], second: [12_345; 3] };
        let norm = 1.0 / (M1 as f64 + 1.0);
        for expected in [0.127_011_122_046_577, 0.318_527_565_396_794, 0.309_186_015_583_270] {
            let found = f64::from(state.next_word()) * norm;
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn skipping_is_the_same_as_counting() {
        crate::engine::assert_skips(|| Mrg32k3a::seeded(7), Mrg32k3a::skip, Mrg32k3a::next_word);
    }

    /// 2^76 steps are 2^63 steps, 8192 times.
    #[test]
    fn a_sequence_is_as_long_as_it_says() {
        let (mut sequence, mut skipped) = (Mrg32k3a::seeded(1), Mrg32k3a::seeded(1));
        sequence.next_sequence();
        (0..8192).for_each(|_| skipped.skip(1 << 63));
        assert_eq!((sequence.first, sequence.second), (skipped.first, skipped.second));
    }
}
