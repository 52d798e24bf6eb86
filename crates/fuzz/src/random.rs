//! A small random number generator: the same seed gives the same inputs.

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    /// The generator for one input of a run.
    pub(super) fn for_input(seed: u64, index: u64) -> Self {
        let mut random = Self(seed ^ index.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a limit; 0 if the limit is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit.max(1)
    }

    /// True once in `times`.
    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A number that is likely to be wrong as a length or an offset.
    pub(super) fn odd_number(&mut self) -> u64 {
        const ODD: [u64; 16] = [
            0,
            1,
            2,
            3,
            7,
            8,
            63,
            64,
            0x7f,
            0xff,
            0xffff,
            0x7fff_ffff,
            0xffff_ffff,
            1 << 32,
            i64::MAX as u64,
            u64::MAX,
        ];
        match self.below(4) {
            0 => self.next(),
            1 => self.below(1 << 16) as u64,
            2 => self.pick(&ODD).wrapping_sub(self.below(3) as u64),
            _ => *self.pick(&ODD),
        }
    }
}
