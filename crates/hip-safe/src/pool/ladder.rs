//! Where an allocation looks for its block: rung by rung, the cheap ones first.

use super::block::NONE;
use super::homes::HomeId;
use super::space::Request;
use super::{Order, Pool, PoolError, Source};

/// How many blocks of one size class are compared before the next rung.
const FEW: usize = 8;

/// How many blocks of other streams are looked at before the pool grows.
const SOME: usize = 64;

/// How many blocks are looked at for each free when all are looked at before the pool grows.
const LOOKS_PER_FREE: u64 = 16;

impl<O: Order> Pool<O> {
    /// A free block that the request can have without asking the source.
    pub(super) fn cached(&mut self, request: Request) -> Option<u32> {
        self.fit(request, FEW).or_else(|| self.cached_elsewhere(request))
    }

    /// The rungs between the usual ones and the source. They cost little beside new memory.
    #[cold]
    fn cached_elsewhere(&mut self, request: Request) -> Option<u32> {
        if let Some(found) = self.fit(request, usize::MAX).or_else(|| self.complete_or_old(request)) {
            return Some(found);
        }
        // A look at all blocks is paid for by the frees since the last one.
        if (self.statistics.frees - self.reaped_at) * LOOKS_PER_FREE < u64::from(self.blocks.places()) {
            return None;
        }
        self.reap();
        self.fit(request, usize::MAX)
    }

    /// A block that is at home with the request's stream or with nobody.
    fn fit(&self, Request { home, class, size, .. }: Request, most: usize) -> Option<u32> {
        self.homes.fit(&self.blocks, home, class, size, most)
    }

    /// A block of another stream whose work is known to be complete, else one that was freed long ago.
    fn complete_or_old(&mut self, request: Request) -> Option<u32> {
        let mut candidates = [NONE; SOME];
        let fitting = self.homes.fitting(&self.blocks, request.class, request.size, FEW);
        candidates.iter_mut().zip(fitting).for_each(|(place, index)| *place = index);
        let mut old = None;
        for index in candidates.into_iter().take_while(|index| *index != NONE) {
            let node = &mut self.blocks[index];
            if node.order.settle() {
                return Some(index);
            }
            if old.is_none() && self.statistics.frees - node.freed_at >= self.config.patience {
                old = Some(index);
            }
        }
        old
    }

    /// What is left when the source refused.
    #[cold]
    pub(super) fn after_refusal<S: Source<O>>(
        &mut self,
        source: &mut S,
        request: Request,
    ) -> Result<u32, PoolError<S::Error>> {
        // Reap: what is complete by now belongs to all, and joins its neighbours.
        self.reap();
        if let Some(found) = self.fit(request, usize::MAX) {
            self.statistics.hits += 1;
            return Ok(found);
        }
        // Steal: any stream's, with its work waited for on the device.
        let stolen = self.homes.fitting(&self.blocks, request.class, request.size, usize::MAX).next();
        if let Some(found) = stolen {
            self.statistics.hits += 1;
            return Ok(found);
        }
        // Release: what is free in pieces of other sizes, in the other class, or used by several streams.
        let released = self.release(source, 0).map_err(PoolError::Source)?;
        // Ask again, for no more than it takes.
        if released > 0 || request.size < self.config.segment(request.size) {
            self.statistics.retries += 1;
            if let Some(found) = self.grow(source, request, request.size)? {
                return Ok(found);
            }
        }
        Err(self.out_of_memory(request.bytes))
    }

    /// A new segment for the request, if the source has that much.
    pub(super) fn grow<S: Source<O>>(
        &mut self,
        source: &mut S,
        request: Request,
        bytes: usize,
    ) -> Result<Option<u32>, PoolError<S::Error>> {
        let Some(address) = source.allocate(bytes).map_err(PoolError::Source)? else { return Ok(None) };
        self.statistics.misses += 1;
        Ok(Some(self.add_segment(address, bytes, request.class)))
    }

    #[cold]
    pub(super) fn out_of_memory<E>(&self, requested: usize) -> PoolError<E> {
        let all = (0..self.blocks.places()).map(|index| &self.blocks[index]);
        let largest_free = all.filter(|node| node.is_free()).map(|node| node.bytes).max().unwrap_or(0);
        PoolError::OutOfMemory { requested, statistics: Box::new(self.statistics), largest_free }
    }

    /// Gives the free blocks of a stream that is gone to nobody, or to no stream as long as others use them.
    pub(super) fn orphan(&mut self, home: HomeId) {
        while let Some(index) = self.homes.any(&self.blocks, home) {
            self.homes.remove(&mut self.blocks, index);
            self.blocks[index].home = HomeId::ORPHANS;
            self.find_home(index);
            self.put(index);
        }
    }
}
