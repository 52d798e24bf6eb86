//! Sequences that encrypt a counter.

use super::Groups;

/// An encryption of numbers: block `n` has the words `n * WIDTH..(n + 1) * WIDTH` of a sequence.
pub(crate) trait Cipher {
    type Word: Copy + Default;
    const WIDTH: usize;

    /// The words of a block, at most four.
    fn block(&self, index: u128) -> [Self::Word; 4];
}

/// The sequence of a cipher, from a position on. Groups are consecutive.
pub(crate) struct Counter<C: Cipher> {
    cipher: C,
    position: u128,
    block: [C::Word; 4],
}

impl<C: Cipher> Counter<C> {
    /// The sequence without its first `offset` words.
    pub(crate) fn new(cipher: C, offset: u64) -> Self {
        let position = u128::from(offset);
        let block = cipher.block(position / C::WIDTH as u128);
        Self { cipher, position, block }
    }

    fn next(&mut self) -> C::Word {
        let width = C::WIDTH as u128;
        let word = self.block[(self.position % width) as usize];
        self.position += 1;
        if self.position.is_multiple_of(width) {
            self.block = self.cipher.block(self.position / width);
        }
        word
    }
}

impl<C: Cipher> Groups<C::Word> for Counter<C> {
    fn group<const N: usize>(&mut self) -> [C::Word; N] {
        std::array::from_fn(|_| self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that are their own positions, three in a block.
    struct Positions;

    impl Cipher for Positions {
        type Word = u64;
        const WIDTH: usize = 3;
        fn block(&self, index: u128) -> [u64; 4] {
            std::array::from_fn(|word| index as u64 * 3 + word as u64)
        }
    }

    #[test]
    fn groups_are_consecutive_from_the_offset_on() {
        let mut counter = Counter::new(Positions, 4);
        assert_eq!(counter.group::<2>(), [4, 5]);
        assert_eq!(counter.group::<1>(), [6]);
        assert_eq!(counter.group::<4>(), [7, 8, 9, 10]);
    }
}
