//! A device's memory: where allocations come from and go to.

use super::pool::{Block, BlockId, Order, PoolConfig, PoolError, PoolStatistics, SharedPool, Source};
use crate::device::{Device, Inner};
use crate::graph;
use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::Points;
use crate::raw::{self, Failure};
use crate::trace::{self, Segment};
use crate::{Error, Result, Stream, drop_errors};
use hip_sys::Platform;
use hip_sys::hip::hipError_t;
use parking_lot::Mutex;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Duration;

/// A piece of device memory that is in use.
pub(crate) struct Piece {
    address: Handle<c_void>,
    bytes: usize,
    /// What was asked for.
    requested: usize,
    block: BlockId,
}

/// The source of a device's memory pool: see [`Device::set_memory_source`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemorySource {
    /// `hipMalloc` and `hipFree`.
    #[default]
    Driver,
    /// `hipMallocAsync` and `hipFreeAsync`: the driver's own stream-ordered pool, which other libraries of the process use too. Freeing does
    /// not wait for the whole device, as `hipFree` does. Kernels of other devices have no access to this memory, even after
    /// [`Device::enable_peer_access`], and it cannot be shared with other processes.
    #[doc(alias = "hipMallocAsync")]
    StreamOrdered,
}

/// The memory of one device: a pool of segments from the driver.
pub(crate) struct DeviceMemory {
    pool: SharedPool<Points>,
    /// Changed only while the pool has no segments.
    source: Mutex<MemorySource>,
}

/// The driver as the source of a pool.
struct Driver<'a> {
    device: &'a Inner,
    source: &'a Mutex<MemorySource>,
    /// The exact number of bytes to ask for, if the platform puts each allocation on pages of its own.
    exact: Option<usize>,
    segments: Vec<Segment>,
}

thread_local! {
    /// Whether this thread is returning memory to the driver.
    static RELEASING: Cell<bool> = const { Cell::new(false) };
}

impl Device {
    /// The figures of the device's memory pool.
    pub fn memory_statistics(&self) -> PoolStatistics {
        self.memory().statistics()
    }

    /// Chooses the source of the device's memory pool, for all references to the device. The device has no buffers: this comes before the first
    /// or after the last one. Segments that the pool keeps are returned to the former source.
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let platform = hip_host::platform();
    /// let device = hip_safe::Device::new(&platform, 0)?;
    /// device.set_memory_source(hip_safe::MemorySource::StreamOrdered)?;
    /// let buffer = device.new_stream()?.alloc_zeros::<f32>(1024)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::MemoryInUse`] while there are buffers, or the error of a return.
    pub fn set_memory_source(&self, source: MemorySource) -> Result<()> {
        self.check_usable()?;
        self.memory().set_source(self, source)
    }

    /// Returns unused segments of the pool to the driver while at least `keep_bytes` bytes stay reserved, and returns how many bytes that
    /// were. It waits for the work that used them. Other threads and host functions can use the pool meanwhile.
    ///
    /// # Errors
    /// The error of a wait or of a free. Then fewer segments were returned.
    #[doc(alias = "hipMemPoolTrimTo")]
    pub fn trim_memory(&self, keep_bytes: usize) -> Result<usize> {
        self.check_usable()?;
        self.memory().with_driver(self.inner(), |pool, driver| pool.trim(driver, keep_bytes))
    }

    /// Makes sure that the pool has a free block of `bytes` bytes that no work uses, so that the next allocation of that size needs no driver
    /// call on any stream. If the driver is out of memory, unused segments are returned to it first, as for a buffer.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or the driver's error.
    pub fn reserve_memory(&self, bytes: usize) -> Result<()> {
        self.check_usable()?;
        let reserved = self.memory().with_driver(self.inner(), |pool, driver| pool.reserve(driver, bytes));
        reserved.map_err(|error| out_of_memory(self, bytes, error))
    }
}

impl Piece {
    pub(crate) fn address(&self) -> Handle<c_void> {
        self.address
    }
}

impl DeviceMemory {
    pub(crate) fn new(config: PoolConfig) -> Self {
        Self { pool: SharedPool::new(config), source: Mutex::default() }
    }

    pub(crate) fn statistics(&self) -> PoolStatistics {
        self.pool.statistics()
    }

    /// As [`DeviceMemory::statistics`]; `None` if another thread held the pool's lock for longer than that.
    pub(crate) fn statistics_within(&self, patience: Duration) -> Option<PoolStatistics> {
        self.pool.statistics_within(patience)
    }

    /// Allocates `bytes` bytes of undefined content, with the uses that the first use has to come after.
    #[inline]
    pub(crate) fn allocate(&self, stream: &Stream, bytes: usize) -> Result<(Piece, Points)> {
        let device = stream.device();
        device.check_usable()?;
        let number = stream.timeline().number();
        let own_pages = device.platform().ext().own_pages;
        let (block, hit) = match self.allocate_cached(bytes, number) {
            Some(block) => (block, true),
            None => self.allocate_anew(device, own_pages, bytes, number)?,
        };
        let address = Handle::new(std::ptr::with_exposed_provenance_mut(block.address));
        if !own_pages {
            raw::reserve(device.platform(), address, block.bytes, stream.raw());
        }
        trace::allocated(stream, bytes, hit);
        Ok((Piece { address, bytes: block.bytes, requested: bytes, block: block.id }, block.order))
    }

    /// A block of the pool, without a driver call.
    #[inline]
    fn allocate_cached(&self, bytes: usize, stream: u64) -> Option<Block<Points>> {
        // A hook must not run while the pool is locked.
        let _later = drop_errors::later();
        self.pool.allocate_cached(bytes, stream)
    }

    /// A block, and whether no segment of the driver was needed.
    #[cold]
    fn allocate_anew(
        &self,
        device: &Device,
        own_pages: bool,
        bytes: usize,
        stream: u64,
    ) -> Result<(Block<Points>, bool)> {
        let (allocated, hit) = self.with_driver(device.inner(), |pool, driver| {
            driver.exact = own_pages.then_some(bytes);
            let block = pool.allocate(driver, bytes, stream);
            (block, driver.segments.is_empty())
        });
        Ok((allocated.map_err(|error| out_of_memory(device, bytes, error))?, hit))
    }

    /// Returns a piece to the pool with the uses that may not be complete. It waits for them only if pieces come directly from the driver.
    #[inline]
    pub(crate) fn release(&self, stream: &Stream, piece: Piece, mut former: Points) -> Result<()> {
        let (device, number) = (stream.device(), stream.timeline().number());
        trace::freed(stream, piece.requested);
        // A pending use on another stream may run after everything that this stream has now, so the platform is not told.
        let ext = device.platform().ext();
        if ext.release.is_some() && !ext.own_pages && (former.settle() || former.only_on(number)) {
            raw::release(device.platform(), piece.address, piece.bytes, stream.raw());
        }
        let Some(departed) = self.pool.free(piece.block, number, former) else { return Ok(()) };
        self.with_driver(device.inner(), |pool, driver| pool.give_back(driver, departed))
    }

    /// Called when a stream has ended.
    pub(crate) fn forget_stream(&self, number: u64) {
        self.pool.forget_stream(number);
    }

    /// Returns everything to the driver. The last reference to the device is gone, so no buffer and no stream is left.
    pub(crate) fn close(&mut self, device: &Inner) -> Result<()> {
        self.with_driver(device, |pool, driver| pool.trim(driver, 0)).map(drop)
    }

    fn set_source(&self, device: &Device, source: MemorySource) -> Result<()> {
        if *self.source.lock() == source {
            return Ok(());
        }
        self.with_driver(device.inner(), |pool, driver| {
            pool.trim(driver, 0)?;
            let changed = pool.while_empty(driver, || *self.source.lock() = source);
            changed.map_err(|bytes| Error::MemoryInUse { device: device.label(), bytes })
        })
    }

    fn with_driver<R>(
        &self,
        device: &Inner,
        act: impl FnOnce(&SharedPool<Points>, &mut Driver<'_>) -> R,
    ) -> R {
        // A hook must not run while the pool is locked.
        let _later = drop_errors::later();
        let mut driver = Driver { device, source: &self.source, exact: None, segments: Vec::new() };
        let answer = act(&self.pool, &mut driver);
        driver.segments.iter().for_each(|&segment| trace::segment(device.label(), segment));
        answer
    }
}

impl Driver<'_> {
    /// Makes calls with the device current.
    fn run<R>(
        &mut self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, MemorySource) -> Result<R, Failure>,
    ) -> Result<R> {
        let source = *self.source.lock();
        self.device.run(doing, |p| call(p, source))
    }

    fn wait_and_free(&mut self, address: usize, bytes: usize, order: Points) -> Result<()> {
        if !Wait::SegmentRelease.is_dropped() {
            order.wait_to_release()?;
        }
        let address = Handle::new(std::ptr::with_exposed_provenance_mut(address));
        let free = |p: &Platform, source: MemorySource| {
            // The checker of the platform is told that the driver owns the range again.
            if !p.ext().own_pages {
                raw::reserve(p, address, bytes, null_mut());
            }
            // SAFETY: S1, S3, S4: the pool is the only owner, the memory came from this source, and every use of it is complete.
            unsafe {
                match source {
                    MemorySource::Driver => raw::free(p, address),
                    MemorySource::StreamOrdered => raw::memory::free_async(p, address),
                }
            }
        };
        self.run(|| "freeing device memory".into(), free)?;
        self.segments.push(Segment::ToDriver(bytes));
        Ok(())
    }
}

impl Source<Points> for Driver<'_> {
    type Error = Error;

    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>> {
        let bytes = self.exact.unwrap_or(bytes);
        let allocate = |p: &Platform, source: MemorySource| match source {
            // SAFETY: S1, S3: the device is current.
            MemorySource::Driver => unsafe { raw::malloc(p, bytes) },
            MemorySource::StreamOrdered => {
                // SAFETY: S1, S3: the device is current.
                let address = unsafe { raw::memory::malloc_async(p, bytes) }?;
                // SAFETY: S1, S3: as above. The allocation is ordered on the null stream; after this wait any stream may use it.
                let waited = unsafe { raw::stream_synchronize(p, null_mut()) };
                if let Err(failure) = waited {
                    // SAFETY: S1, S3, S4: this is its only owner. Only the first error is returned.
                    let _ = unsafe { raw::memory::free_async(p, address) };
                    return Err(failure);
                }
                Ok(address)
            }
        };
        let attempt = |p: &Platform, source: MemorySource| match allocate(p, source) {
            Ok(address) if address.is_null() => Ok(None),
            Ok(address) => Ok(Some(address)),
            Err(Failure { code: hipError_t::hipErrorOutOfMemory, .. }) => Ok(None),
            Err(failure) => Err(failure),
        };
        let label = self.device.label();
        let address = self.run(|| format!("allocating {bytes} bytes on {label}"), attempt)?;
        Ok(address.map(|address| {
            self.segments.push(Segment::FromDriver(bytes));
            address.raw().expose_provenance()
        }))
    }

    fn release(&mut self, address: usize, bytes: usize, order: Points) -> Result<()> {
        let _releasing = Releasing { former: RELEASING.replace(true) };
        self.wait_and_free(address, bytes, order)
    }

    /// False while this thread returns memory: that wait may drop the last reference to a stream, and with it host functions and the buffers
    /// that they own.
    fn may_wait(&self) -> bool {
        !RELEASING.get()
    }

    /// False during any capture: a free may wait for the whole device, which invalidates captures.
    fn may_release(&self) -> bool {
        self.may_wait() && !graph::any_capture()
    }
}

/// Marks this thread as returning memory while it lives.
struct Releasing {
    former: bool,
}

impl Drop for Releasing {
    fn drop(&mut self) {
        RELEASING.set(self.former);
    }
}

impl Order for Points {
    fn merge(&mut self, other: Self) {
        self.add_all(other);
    }

    fn settle(&mut self) -> bool {
        self.forget_completed()
    }

    fn only_on(&self, stream: u64) -> bool {
        self.are_only_on(stream)
    }
}

/// The error with the figures of the pool and the driver.
fn out_of_memory(device: &Device, requested: usize, error: PoolError<Error>) -> Error {
    let (statistics, largest_free) = match error {
        PoolError::Source(error) => return error,
        PoolError::OutOfMemory { statistics, largest_free, .. } => (statistics, largest_free),
    };
    // The driver's figures are optional: a failed question must not hide this error.
    let driver = device.memory_info().ok();
    Error::OutOfMemory { device: device.label(), requested, driver, pool: statistics, largest_free }
}
