//! The lists of free blocks, by owner: a stream, or none.

use super::bins::{Bins, Chain};
use super::block::{Blocks, State};
use super::config::{Class, GRANULE};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The owner of a free block: the stream that may take it without a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnerId(u32);

impl OwnerId {
    /// No work uses the block, so every stream may take it.
    pub(super) const NOBODY: Self = Self(0);
    /// The owner stream is gone, and other streams may still use the block.
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

/// All free blocks. The cost of an operation does not depend on the number of streams.
pub(super) struct FreeLists {
    lists: Vec<Box<OwnerLists>>,
    /// The stream of each owner.
    streams: Vec<Option<u64>>,
    /// Owners whose streams are gone. Their lists are empty and are used again.
    vacant: Vec<OwnerId>,
    of_stream: HashMap<u64, OwnerId, BuildHasherDefault<NumberHasher>>,
    /// The last result of [`FreeLists::of`].
    last: Option<(u64, OwnerId)>,
    /// The blocks of every owner except [`OwnerId::NOBODY`] once more, to find a fitting block without a search in each stream's lists.
    all: [Bins; 2],
    /// Whether several streams own or use blocks. With one stream, `all` is empty, which saves its maintenance.
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

    /// The owner of a stream's blocks. It is created at the first call.
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

    /// Fills `all` when several streams own or use blocks, or empties it when one stream is left.
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

    /// Whether one stream is left, and only orphans of former streams count as the others.
    pub(super) fn is_nearly_alone(&self) -> bool {
        self.several && self.of_stream.len() < 2
    }

    fn has_orphans<O>(&self, blocks: &Blocks<O>) -> bool {
        self.any(blocks, OwnerId::ORPHANS).is_some()
    }

    /// Whether several streams own or use blocks.
    pub(super) fn has_several(&self) -> bool {
        self.several
    }

    /// Ends the ownership of a stream. The caller moves its blocks elsewhere before the next call of [`FreeLists::of`].
    pub(super) fn forget(&mut self, stream: u64) -> Option<OwnerId> {
        let owner = self.of_stream.remove(&stream)?;
        self.last = None;
        self.streams[owner.0 as usize] = None;
        self.vacant.push(owner);
        Some(owner)
    }

    /// The stream of an owner, if it has one.
    pub(super) fn stream(&self, owner: OwnerId) -> Option<u64> {
        self.streams[owner.0 as usize]
    }

    /// Any free block of an owner.
    pub(super) fn any<O>(&self, blocks: &Blocks<O>, owner: OwnerId) -> Option<u32> {
        let OwnerLists { untouched, touched } = &*self.lists[owner.0 as usize];
        untouched.iter().chain(touched).find_map(|bins| bins.fit(blocks, GRANULE, 1))
    }

    /// Inserts a free block into the lists of its owner and state.
    pub(super) fn insert<O>(&mut self, blocks: &mut Blocks<O>, index: u32) {
        let node = &blocks[index];
        let (owner, state, class) = (node.owner, node.state, node.class as usize);
        self.bins(owner, state)[class].insert(blocks, index);
        if owner != OwnerId::NOBODY && self.several {
            self.all[class].insert(blocks, index);
        }
    }

    /// Removes a free block from its lists.
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

    /// A block of at least `size` bytes for this owner: one that only it uses, else one without an owner, else one of its own that other
    /// streams use. At most `most` blocks of the same size class are compared.
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

    /// The blocks of all owners of at least `size` bytes, smaller size classes first, oldest first. Of each size class only the `most` oldest
    /// are compared.
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

/// A hasher for stream numbers, which are consecutive: a multiplication spreads them.
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
    /// Whether blocks of this owner are in `all` too.
    pub(super) fn lists(&self, owner: OwnerId) -> bool {
        self.several && owner != OwnerId::NOBODY
    }

    /// How many times a free block is in the list of its owner and state.
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
