//! Devices: opening them, their properties and limits, which one is current, access between them, and sticky errors.
//!
//! This file has [`Device`], to which everything on the device holds a reference.

mod checks;
mod current;
mod identity;
mod limits;
mod peers;
mod poison;
mod properties;

pub use current::CurrentDevice;
pub use limits::Limit;
pub use properties::Properties;

use crate::code::ModuleCache;
use crate::graph;
use crate::memory::DeviceMemory;
use crate::memory::check as memory_check;
use crate::memory::pool::PoolConfig;
use crate::raw::{self, Failure};
use crate::stream::host_function;
use crate::{Error, Result, convert, drop_errors};
use hip_sys::hip::hipError_t;
use hip_sys::{MemoryKind, Platform, PlatformKind};
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use poison::{Poison, is_sticky, may_be_sticky};

/// A device. Cloning it copies a reference; opening the same ordinal of the same platform again gives the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

/// The state shared by the references.
pub(crate) struct Inner {
    platform: Arc<Platform>,
    ordinal: usize,
    raw_ordinal: c_int,
    /// Whether it is the platform's only device, which is current on every thread.
    only: bool,
    id: DeviceId,
    properties: Properties,
    poison: Poison,
    shared_copies: AtomicU64,
    memory: DeviceMemory,
    modules: ModuleCache,
}

/// A number that no other device of this process has, whichever platform it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(u64);

/// A device as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceLabel {
    /// Whose implementation it belongs to.
    pub platform: PlatformKind,
    /// Its number on the platform.
    pub ordinal: usize,
    /// Its number in this process.
    pub id: DeviceId,
}

/// Free and total memory of a device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that nobody has allocated.
    pub free: usize,
    /// Bytes in all.
    pub total: usize,
}

/// The open devices, so that opening one twice returns the same. While this is locked, no driver call is made, and no reference is dropped that
/// may be the last one.
static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// An open device with its key.
struct Open {
    /// The address of its platform, which is alive as long as the device.
    platform: usize,
    ordinal: usize,
    device: Weak<Inner>,
}

impl Device {
    /// Opens device `ordinal`, counted from 0.
    ///
    /// # Errors
    /// [`Error::DeviceOrdinal`] if there are not that many devices; [`Error::Hip`] if the driver returns an error.
    pub fn new(platform: &Arc<Platform>, ordinal: usize) -> Result<Self> {
        let count = Self::count(platform)?;
        let raw_ordinal = match c_int::try_from(ordinal) {
            Ok(raw) if ordinal < count => raw,
            _ => return Err(Error::DeviceOrdinal { ordinal, count }),
        };
        if let Some(open) = find_open(&OPEN.lock(), platform, ordinal) {
            return Ok(open);
        }
        let properties = Properties::read(platform, raw_ordinal)
            .map_err(|f| hip_error(platform, f, || format!("reading the properties of device {ordinal}")))?;
        let own_pages = platform.ext().own_pages;
        let pool = if own_pages { PoolConfig::direct() } else { PoolConfig::default() };
        // This comes after the first driver call, because drivers register exit handlers of their own then.
        hip_sys::watch_exit();
        let inner = |id| Inner {
            platform: Arc::clone(platform),
            ordinal,
            raw_ordinal,
            only: count == 1,
            id,
            properties,
            poison: Poison::default(),
            shared_copies: AtomicU64::new(0),
            memory: DeviceMemory::new(pool),
            modules: ModuleCache::default(),
        };
        let mut open = OPEN.lock();
        // Another thread may have opened it since the first look.
        if let Some(open) = find_open(&open, platform, ordinal) {
            return Ok(open);
        }
        let inner = Arc::new(inner(DeviceId(NEXT_ID.fetch_add(1, Ordering::Relaxed))));
        open.retain(|open| open.device.strong_count() > 0);
        open.push(Open { platform: Arc::as_ptr(platform).addr(), ordinal, device: Arc::downgrade(&inner) });
        drop(open);
        let device = Self { inner };
        memory_check::note_opened(&device);
        Ok(device)
    }

    /// How many devices the platform has; 0 where the driver says that there is none.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns another error.
    #[doc(alias = "hipGetDeviceCount")]
    pub fn count(platform: &Platform) -> Result<usize> {
        check_callable()?;
        // SAFETY: S1: a query.
        match unsafe { raw::get_device_count(platform) } {
            Ok(count) => Ok(convert::count(count)),
            Err(Failure { code: hipError_t::hipErrorNoDevice, .. }) => Ok(0),
            Err(failure) => Err(hip_error(platform, failure, || "counting the devices".into())),
        }
    }

    /// Every device of the platform, in order.
    ///
    /// # Errors
    /// As [`Device::count`] and [`Device::new`].
    pub fn all(platform: &Arc<Platform>) -> Result<Vec<Self>> {
        (0..Self::count(platform)?).map(|ordinal| Self::new(platform, ordinal)).collect()
    }

    /// The number on its platform.
    pub fn ordinal(&self) -> usize {
        self.inner.ordinal
    }

    /// The number that no other device of this process has.
    pub fn id(&self) -> DeviceId {
        self.inner.id
    }

    /// The platform it belongs to.
    pub fn platform(&self) -> &Arc<Platform> {
        &self.inner.platform
    }

    /// Its properties.
    pub fn properties(&self) -> &Properties {
        &self.inner.properties
    }

    /// Its name in messages.
    pub fn label(&self) -> DeviceLabel {
        self.inner.label()
    }

    /// The driver's version as `hipDriverGetVersion` reports it: 60443484 on AMD's, 12080 for CUDA 12.8.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipDriverGetVersion")]
    pub fn driver_version(&self) -> Result<i32> {
        // SAFETY: S1: it only asks.
        self.run(|| "asking for the driver's version".into(), |p| unsafe { raw::driver_version(p) })
    }

    /// Free and total memory, as the driver counts them.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipMemGetInfo")]
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        // SAFETY: S1, S3: the device is current.
        let ask = |p: &Platform| unsafe { raw::mem_get_info(p) };
        let (free, total) = self.run(|| "asking for the free memory".into(), ask)?;
        Ok(MemoryInfo { free, total })
    }

    /// Waits until everything submitted to any stream of the device is complete. First it waits for all captures of other threads, because a
    /// driver does not allow both at once.
    ///
    /// # Errors
    /// The error of the work, if it failed; [`Error::Capturing`] while this thread captures; [`Error::Poisoned`] after a
    /// sticky error.
    #[doc(alias = "hipDeviceSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        self.check_usable()?;
        let _turn = graph::begin_device_wait()?;
        // SAFETY: S1, S3: the device is current.
        self.run(|| format!("waiting for {self}"), |p| unsafe { raw::device_synchronize(p) })
    }

    /// The kind of memory at an address. The address is looked up, never dereferenced; an address that HIP does not know is
    /// [`MemoryKind::Unregistered`].
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipPointerGetAttributes")]
    pub fn memory_kind(&self, address: *const c_void) -> Result<MemoryKind> {
        let unknown = MemoryKind::Unregistered;
        if address.is_null() {
            return Ok(unknown);
        }
        // Only the number is looked up.
        let address = std::ptr::without_provenance(address.addr());
        // SAFETY: S1, S3: the device is current; any address may be asked about.
        let ask = |p: &Platform| match unsafe { raw::pointer_attributes(p, address) } {
            Ok(found) => Ok(MemoryKind::from_raw(found.type_, p.version())),
            Err(Failure { code: hipError_t::hipErrorInvalidValue, .. }) => Ok(unknown),
            Err(failure) => Err(failure),
        };
        self.run(|| format!("asking about address {address:p}"), ask)
    }

    /// Makes the device current on this thread until the guard is dropped: for direct calls of a platform's library.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipSetDevice")]
    pub fn make_current(&self) -> Result<CurrentDevice<'_>> {
        self.check_usable()?;
        CurrentDevice::enter(&self.inner)
            .map_err(|f| self.inner.error(f, || format!("making {self} current")))
    }

    /// Makes a call of another library that may wait for the whole device, such as one that creates or destroys a library's handle. The device is
    /// current during the call, and no thread captures a graph, which a driver does not allow at the same time. A capture on this thread during
    /// the call returns [`Error::Capturing`]. A capture on another thread waits for the end of the call, so the call must not wait for that
    /// thread.
    ///
    /// # Errors
    /// [`Error::Capturing`] while this thread captures; [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    /// The call was not made then.
    pub fn call_alone<R>(&self, call: impl FnOnce() -> R) -> Result<R> {
        self.check_usable()?;
        let _turn = graph::begin_device_wait()?;
        let _current = self.make_current()?;
        Ok(call())
    }

    /// The first sticky error, if the device had one. The device cannot be used any more in this process then.
    pub fn poisoned_by(&self) -> Option<Arc<Error>> {
        self.inner.poison.cause().cloned()
    }

    /// How many copies [`SharedBuffer::make_mut`](crate::SharedBuffer::make_mut) has made on this device.
    pub fn shared_copies(&self) -> u64 {
        self.inner.shared_copies.load(Ordering::Relaxed)
    }

    pub(crate) fn count_shared_copy(&self) {
        self.inner.shared_copies.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn memory(&self) -> &DeviceMemory {
        &self.inner.memory
    }

    pub(crate) fn modules(&self) -> &ModuleCache {
        &self.inner.modules
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Makes one or several driver calls with this device current.
    pub(crate) fn run<R>(
        &self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform) -> Result<R, Failure>,
    ) -> Result<R> {
        self.inner.run(doing, call)
    }

    /// Checks whether driver calls may be made, without making one. Crates above call this before they take a lock, because a host function must
    /// not wait for a lock whose holder may be waiting for that function.
    ///
    /// # Errors
    /// [`Error::InHostFunction`] in a host function; [`Error::Exiting`] while the process exits; [`Error::Poisoned`] after a sticky error.
    pub fn check_usable(&self) -> Result<()> {
        self.inner.check_usable()
    }

    /// Whether the process is not exiting and the device is not lost.
    pub(crate) fn is_usable(&self) -> bool {
        self.inner.is_usable()
    }

    /// Runs the release of an owner in its drop, unless the process exits or the device is lost. An error goes to the hook.
    pub(crate) fn release_in_drop(&self, release: impl FnOnce() -> Result<()>) {
        if self.is_usable() {
            drop_errors::report_failure(release());
        }
    }
}

impl Inner {
    pub(crate) fn label(&self) -> DeviceLabel {
        DeviceLabel { platform: self.platform.kind, ordinal: self.ordinal, id: self.id }
    }

    pub(crate) fn platform(&self) -> &Platform {
        &self.platform
    }

    pub(crate) fn raw_ordinal(&self) -> c_int {
        self.raw_ordinal
    }

    pub(crate) fn is_only(&self) -> bool {
        self.only
    }

    /// Makes one or several driver calls with this device current.
    #[inline]
    pub(crate) fn run<R>(
        &self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform) -> Result<R, Failure>,
    ) -> Result<R> {
        self.check_usable()?;
        self.run_allowed(doing, call)
    }

    /// As [`Inner::run`], inlined, for a caller that has checked [`Inner::may_call`].
    #[inline(always)]
    pub(crate) fn run_allowed<R>(
        &self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform) -> Result<R, Failure>,
    ) -> Result<R> {
        let result = CurrentDevice::enter(self).and_then(|_current| call(&self.platform));
        result.map_err(|failure| self.error(failure, doing))
    }

    /// The error of a failed call. A sticky error poisons the device.
    #[cold]
    pub(crate) fn error(&self, failure: Failure, doing: impl FnOnce() -> String) -> Error {
        let mut error = hip_error(&self.platform, failure, doing);
        let asked = is_sticky(failure.code) || may_be_sticky(failure.code);
        let told =
            || raw::last_fault(&self.platform, self.raw_ordinal).or_else(|| self.poison.records.told());
        let fault = asked.then(told).flatten();
        if is_sticky(failure.code) || fault.is_some() {
            if let Error::Hip { cause, .. } = &mut error {
                *cause = fault;
            }
            let first = Arc::clone(self.poison.set(error));
            return Error::Poisoned { device: self.label(), first };
        }
        error
    }

    #[inline]
    pub(crate) fn check_usable(&self) -> Result<()> {
        if self.may_call() { Ok(()) } else { self.why_not_usable() }
    }

    /// Whether this thread may make driver calls.
    #[inline]
    pub(crate) fn may_call(&self) -> bool {
        self.is_usable() && !host_function::is_running()
    }

    #[cold]
    fn why_not_usable(&self) -> Result<()> {
        check_callable()?;
        match self.poison.cause() {
            None => Ok(()),
            Some(first) => Err(Error::Poisoned { device: self.label(), first: Arc::clone(first) }),
        }
    }

    #[inline]
    fn is_usable(&self) -> bool {
        !hip_sys::exiting() && self.poison.cause().is_none()
    }
}

/// Refuses driver calls while the process exits, and in a host function.
fn check_callable() -> Result<()> {
    if hip_sys::exiting() {
        return Err(Error::Exiting);
    }
    if host_function::is_running() { Err(Error::InHostFunction) } else { Ok(()) }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.is_usable() {
            std::mem::take(&mut self.modules).close(self);
            let mut memory = std::mem::replace(&mut self.memory, DeviceMemory::new(PoolConfig::default()));
            drop_errors::report_failure(memory.close(self));
            memory_check::note_closed(self, memory.statistics());
        } else {
            memory_check::note_closed(self, self.memory.statistics());
        }
    }
}

/// The open devices; `None` if other threads held the lock for longer than that.
pub(crate) fn open_devices(patience: Duration) -> Option<Vec<Device>> {
    let open = OPEN.try_lock_for(patience)?;
    Some(open.iter().filter_map(Open::device).collect())
}

/// The device, if it is open. References to other devices are not upgraded, so none is dropped here.
fn find_open(open: &[Open], platform: &Arc<Platform>, ordinal: usize) -> Option<Device> {
    let address = Arc::as_ptr(platform).addr();
    // Another platform may have the address of a dropped one. That is no problem: no device of a dropped platform is open.
    open.iter().filter(|open| open.platform == address && open.ordinal == ordinal).find_map(Open::device)
}

impl Open {
    fn device(&self) -> Option<Device> {
        self.device.upgrade().map(|inner| Device { inner })
    }
}

fn hip_error(platform: &Platform, failure: Failure, doing: impl FnOnce() -> String) -> Error {
    let Failure { call, code } = failure;
    Error::Hip { call, code: code.0, name: raw::error_name(platform, code), doing: doing(), cause: None }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        // The same device is opened once.
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label().fmt(f)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { ordinal, id, properties, .. } = &*self.inner;
        f.debug_struct("Device")
            .field("ordinal", ordinal)
            .field("id", id)
            .field("name", &properties.name)
            .finish()
    }
}

impl fmt::Display for DeviceLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} device {}", self.platform, self.ordinal)
    }
}
