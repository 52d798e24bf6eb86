//! Random numbers for inputs: a function of (seed, stream, index), so any element can be made on its own.
//!
//! The generator is SplitMix64's output function over a counter. Its constants and order of operations never change: recorded
//! results depend on them through the inputs that they were computed from.

/// Steps the counter by the golden ratio, as SplitMix64 does, so that neighbouring indices differ in many bits.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function: a bijection of 64 bits in which every input bit reaches every output bit.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The random numbers of one array.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// The stream of operand number `operand` of the case with this id, under the run's seed.
    pub fn new(seed: u64, case_id: &str, operand: usize) -> Stream {
        let mut key = mix(seed.wrapping_add(STEP));
        for byte in case_id.bytes() {
            key = mix(key.wrapping_add(STEP) ^ u64::from(byte));
        }
        Stream { key: mix(key ^ operand as u64) }
    }

    /// The numbers for element `index`.
    pub fn element(self, index: usize) -> Draw {
        Draw { state: mix(self.key.wrapping_add((index as u64).wrapping_mul(STEP))) }
    }
}

/// A short run of random numbers for one element.
#[derive(Debug, Clone)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number in `0..bound`. The slight preference for small numbers (below 2^-32 for the bounds used here) does not matter.
    /// `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low.wrapping_add(self.below((high - low) as u64 + 1) as i64)
    }

    /// A uniform number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A random sign times `2^u` with `u` uniform in `[low, high)`.
    pub fn signed_power(&mut self, low: f64, high: f64) -> f64 {
        let sign = if self.bits() & 1 == 0 { 1.0 } else { -1.0 };
        sign * exp2(low + (high - low) * self.unit())
    }
}

/// `2^u` from multiplications and additions only, so that the inputs do not depend on a machine's mathematical library.
/// About eight digits; `u` within ±1000.
fn exp2(u: f64) -> f64 {
    let whole = u.floor();
    let x = (u - whole) * std::f64::consts::LN_2;
    let fraction = (1..=12).rev().fold(1.0, |sum, n| 1.0 + sum * x / f64::from(n));
    f64::from_bits(((1023 + whole as i64) as u64) << 52) * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_matches_its_published_sequence() {
        // The first outputs of SplitMix64 seeded with 1234567, as printed by Rosetta Code's task "Splitmix64".
        let mut draw = Draw { state: 1_234_567 };
        let first: Vec<u64> = (0..5).map(|_| draw.bits()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn powers_are_accurate_and_in_range() {
        for u in [-1000.0, -3.25, -1.0, 0.0, 0.5, 7.75, 1000.0] {
            assert!((exp2(u) / f64::exp2(u) - 1.0).abs() < 1e-8, "2^{u}");
        }
        let stream = Stream::new(7, "x", 0);
        for index in 0..1000 {
            let x = stream.element(index).signed_power(-2.0, 3.0).abs();
            assert!((0.25..8.0).contains(&x), "{x}");
        }
    }

    #[test]
    fn bounds_are_reached_and_kept() {
        let stream = Stream::new(1, "bounds", 0);
        let drawn: Vec<i64> = (0..1000).map(|index| stream.element(index).between(-2, 2)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-2), Some(&2)));
    }

    #[test]
    fn streams_differ_by_seed_case_and_operand() {
        let first = |seed, id, operand| Stream::new(seed, id, operand).element(0).bits();
        let all = [first(1, "a", 0), first(2, "a", 0), first(1, "b", 0), first(1, "a", 1)];
        for (i, x) in all.iter().enumerate() {
            assert!(!all[i + 1..].contains(x));
        }
    }
}
