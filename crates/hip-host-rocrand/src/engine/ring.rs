//! Many generators that take turns, as rocRAND's threads do: one for each sequence of a seed.

use super::Groups;

/// A generator whose sequences are so far apart that they never meet.
pub(crate) trait Engine: Clone {
    const DEFAULT_SEED: u64;

    /// The beginning of the first sequence.
    fn seeded(seed: u64) -> Self;

    fn next_word(&mut self) -> u32;

    /// From the beginning of a sequence to the beginning of the next.
    fn next_sequence(&mut self);

    /// Advances by so many words.
    fn skip(&mut self, words: u64);
}

/// The generators in a ring. Each group comes from the next one, in turn.
pub(crate) struct Ring<E> {
    seed: u64,
    offset: u64,
    /// The generators that had a turn, in the order of their first turns.
    engines: Vec<E>,
    /// The beginning of the sequence of the engine that comes next.
    coming: E,
    /// How many groups were given.
    groups: u64,
}

/// rocRAND's number of threads in its default ordering: 512 blocks of 256.
const SIZE: u64 = 512 * 256;

impl<E: Engine> Ring<E> {
    /// The ring without its first `offset` turns.
    pub(crate) fn new(seed: u64, offset: u64) -> Self {
        let mut coming = E::seeded(seed);
        (0..offset % SIZE).for_each(|_| coming.next_sequence());
        Self { seed, offset, engines: Vec::new(), coming, groups: 0 }
    }

    /// The engine whose first turn was the `turn`th of the ring. Calls come in the order of turns.
    fn engine(&mut self, turn: u64) -> &mut E {
        if self.engines.len() as u64 == turn {
            let id = (self.offset + turn) % SIZE;
            if id == 0 && turn > 0 {
                self.coming = E::seeded(self.seed);
            }
            let mut engine = self.coming.clone();
            // The engines before the first one already had one turn more.
            engine.skip(self.offset / SIZE + u64::from(id < self.offset % SIZE));
            self.coming.next_sequence();
            self.engines.push(engine);
        }
        &mut self.engines[turn as usize]
    }
}

impl<E: Engine> Groups<u32> for Ring<E> {
    fn group<const N: usize>(&mut self) -> [u32; N] {
        let turn = self.groups % SIZE;
        self.groups += 1;
        let engine = self.engine(turn);
        std::array::from_fn(|_| engine.next_word())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Xorwow;
    use super::*;

    fn take(ring: &mut Ring<Xorwow>, count: u64) -> Vec<u32> {
        (0..count).map(|_| ring.group::<1>()[0]).collect()
    }

    #[test]
    fn turns_go_round() {
        let words = take(&mut Ring::new(3, 0), SIZE + 2);
        let mut first = Xorwow::seeded(3);
        let mut second = first.clone();
        second.next_sequence();
        assert_eq!([words[0], words[1]], [first.next_word(), second.next_word()]);
        assert_eq!(words[SIZE as usize..], [first.next_word(), second.next_word()]);
    }

    #[test]
    fn an_offset_leaves_out_turns() {
        let all = take(&mut Ring::new(3, 0), 2 * SIZE + 6);
        for offset in [5, SIZE - 2, SIZE + 4] {
            let some = take(&mut Ring::new(3, offset), SIZE + 2);
            assert_eq!(some, all[offset as usize..][..some.len()], "{offset}");
        }
    }
}
