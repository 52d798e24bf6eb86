//! Segments: ranges from the pool's source, each divided into blocks.

/// A range from the source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) address: usize,
    pub(super) bytes: usize,
    /// Its first block.
    pub(super) first: u32,
    /// How many of its blocks are in use.
    pub(super) live: u32,
    /// The count of frees when it was added.
    pub(super) made_at: u64,
}

/// All segments of a pool, named by their index.
#[derive(Default)]
pub(super) struct Segments {
    slots: Vec<Option<Segment>>,
    vacant: Vec<u32>,
}

impl Segments {
    /// Adds a segment. The caller sets its first block.
    pub(super) fn add(&mut self, segment: Segment) -> u32 {
        if let Some(index) = self.vacant.pop() {
            self.slots[index as usize] = Some(segment);
            return index;
        }
        self.slots.push(Some(segment));
        self.slots.len() as u32 - 1
    }

    pub(super) fn get_mut(&mut self, index: u32) -> &mut Segment {
        self.slots[index as usize].as_mut().expect("a block's segment exists")
    }

    pub(super) fn remove(&mut self, index: u32) -> Segment {
        self.vacant.push(index);
        self.slots[index as usize].take().expect("a block's segment exists")
    }

    /// One past the last index.
    pub(super) fn end(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The segment of an index, if there is one.
    pub(super) fn get(&self, index: u32) -> Option<&Segment> {
        self.slots[index as usize].as_ref()
    }
}
