//! Whose a free block is: a stream's, or nobody's.

use super::bins::{Bins, Chain};
use super::block::{Blocks, State};
use super::config::{Class, GRANULE};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Who may take a free block without asking what still uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnerId(u32);

impl OwnerId {
    /// Nothing uses the block any more: everybody may take it.
    pub(super) const NOBODY: Self = Self(0);
    /// The stream is gone, and other streams may still use the block.
    pub(super) const ORPHANS: Self = Self(1);
}

/// The free blocks of one owner, by [`Class`].
struct OwnerLists {
    untouched: [Bins; 2],
    touched: [Bins; 2],
}

impl OwnerLists {
    fn new() -> Box<Self> {
        const BINS: Bins = Bins::new(Chain::Owner);
        Box::new(Self { untouched: [BINS; 2], touched: [BINS; 2] })
    }
}

/// All free blocks. No operation takes longer with more streams.
pub(super) struct FreeLists {
    lists: Vec<Box<OwnerLists>>,
    /// Whose they are.
    streams: Vec<Option<u64>>,
    /// Shelves of streams that are gone: they are empty.
    vacant: Vec<OwnerId>,
    of_stream: HashMap<u64, OwnerId, BuildHasherDefault<NumberHasher>>,
    /// The stream that was asked for last.
    last: Option<(u64, OwnerId)>,
    /// The blocks of every owner but [`OwnerId::NOBODY`] once more, so that one that fits is found without a look at each stream.
    all: [Bins; 2],
    /// Whether several streams have blocks or use them. With one, `all` is empty, which saves its upkeep.
    several: bool,
}

impl FreeLists {
    pub(super) fn new() -> Self {
        Self {
            lists: vec![OwnerLists::new(), OwnerLists::new()],
            streams: vec![None, None],
            vacant: Vec::new(),
            of_stream: HashMap::default(),
            last: None,
            all: [Bins::new(Chain::All), Bins::new(Chain::All)],
            several: false,
        }
    }

    /// The home of a stream, which is made when it is first asked for.
    pub(super) fn of<O>(&mut self, blocks: &mut Blocks<O>, stream: u64) -> OwnerId {
        if let Some((last, owner)) = self.last
            && last == stream
        {
            return owner;
        }
        let owner = match self.of_stream.get(&stream) {
            Some(owner) => *owner,
            None => self.add(blocks, stream),
        };
        self.last = Some((stream, owner));
        owner
    }

    #[cold]
    fn add<O>(&mut self, blocks: &mut Blocks<O>, stream: u64) -> OwnerId {
        let owner = self.vacant.pop().unwrap_or_else(|| {
            self.lists.push(OwnerLists::new());
            self.streams.push(None);
            OwnerId(self.lists.len() as u32 - 1)
        });
        self.streams[owner.0 as usize] = Some(stream);
        self.of_stream.insert(stream, owner);
        self.count_streams(blocks);
        owner
    }

    /// Fills the list of all homes when several streams have blocks, or empties it when one is left and nobody else uses any.
    pub(super) fn count_streams<O>(&mut self, blocks: &mut Blocks<O>) {
        let several = self.of_stream.len() > 1 || self.has_orphans(blocks);
        if std::mem::replace(&mut self.several, several) == several {
            return;
        }
        for index in 0..blocks.slots() {
            let node = &blocks[index];
            if node.is_free() && node.owner != OwnerId::NOBODY {
                let all = &mut self.all[node.class as usize];
                if several { all.insert(blocks, index) } else { all.remove(blocks, index) }
            }
        }
    }

    /// Whether it is only what a stream left behind that keeps another one from being alone.
    pub(super) fn is_nearly_alone(&self) -> bool {
        self.several && self.of_stream.len() < 2
    }

    fn has_orphans<O>(&self, blocks: &Blocks<O>) -> bool {
        self.any(blocks, OwnerId::ORPHANS).is_some()
    }

    /// Whether several streams have blocks or use them.
    pub(super) fn has_several(&self) -> bool {
        self.several
    }

    /// Takes the owner from a stream. Its blocks have to leave it before the next call of [`FreeLists::of`].
    pub(super) fn forget(&mut self, stream: u64) -> Option<OwnerId> {
        let owner = self.of_stream.remove(&stream)?;
        self.last = None;
        self.streams[owner.0 as usize] = None;
        self.vacant.push(owner);
        Some(owner)
    }

    /// The stream of a owner, if it is one of a stream.
    pub(super) fn stream(&self, owner: OwnerId) -> Option<u64> {
        self.streams[owner.0 as usize]
    }

    /// Any block of a owner.
    pub(super) fn any<O>(&self, blocks: &Blocks<O>, owner: OwnerId) -> Option<u32> {
        let OwnerLists { untouched, touched } = &*self.lists[owner.0 as usize];
        untouched.iter().chain(touched).find_map(|bins| bins.fit(blocks, GRANULE, 1))
    }

    /// Puts a free block into the lists where its home and state say.
    pub(super) fn insert<O>(&mut self, blocks: &mut Blocks<O>, index: u32) {
        let node = &blocks[index];
        let (owner, state, class) = (node.owner, node.state, node.class as usize);
        self.bins(owner, state)[class].insert(blocks, index);
        if owner != OwnerId::NOBODY && self.several {
            self.all[class].insert(blocks, index);
        }
    }

    /// Takes a free block out of them.
    pub(super) fn remove<O>(&mut self, blocks: &mut Blocks<O>, index: u32) {
        let node = &blocks[index];
        let (owner, state, class) = (node.owner, node.state, node.class as usize);
        self.bins(owner, state)[class].remove(blocks, index);
        if owner != OwnerId::NOBODY && self.several {
            self.all[class].remove(blocks, index);
        }
    }

    fn bins(&mut self, owner: OwnerId, state: State) -> &mut [Bins; 2] {
        let lists = &mut *self.lists[owner.0 as usize];
        match state {
            State::Untouched => &mut lists.untouched,
            State::Touched => &mut lists.touched,
            State::Live | State::Held | State::Vacant => unreachable!("only free blocks are in lists"),
        }
    }

    /// A block that the owner can have at once, of at least `size` bytes: one that only it uses, else nobody's, else one
    /// of its own that it has to wait for. `most` blocks of the same class are compared.
    pub(super) fn fit<O>(
        &self,
        blocks: &Blocks<O>,
        owner: OwnerId,
        class: Class,
        size: usize,
        most: usize,
    ) -> Option<u32> {
        let class = class as usize;
        let own = &*self.lists[owner.0 as usize];
        let nobodys = &*self.lists[OwnerId::NOBODY.0 as usize];
        let kinds = [&own.untouched[class], &nobodys.untouched[class], &own.touched[class]];
        kinds.into_iter().find_map(|bins| bins.fit(blocks, size, most))
    }

    /// The blocks of all homes of at least `size` bytes, those of the same size class first, oldest first; of each
    /// size class, only the `most` oldest are looked at.
    pub(super) fn fitting<'a, O>(
        &'a self,
        blocks: &'a Blocks<O>,
        class: Class,
        size: usize,
        most: usize,
    ) -> impl Iterator<Item = u32> + 'a {
        self.all[class as usize].fitting(blocks, size, most)
    }
}

/// Streams are numbers that rise: a multiplication spreads them.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
impl FreeLists {
    /// Whether a block of this owner is in the list of all free.
    pub(super) fn lists(&self, owner: OwnerId) -> bool {
        self.several && owner != OwnerId::NOBODY
    }

    /// How many times a free block is in the list where it belongs.
    pub(super) fn listed<O>(&self, blocks: &Blocks<O>, index: u32) -> usize {
        let node = &blocks[index];
        let lists = &*self.lists[node.owner.0 as usize];
        let bins = if node.state == State::Touched { &lists.touched } else { &lists.untouched };
        bins[node.class as usize]
            .fitting(blocks, node.bytes, usize::MAX)
            .filter(|listed| *listed == index)
            .count()
    }
}
