//! Loaded code, without a reference to its device: the device itself may keep it.

use super::function::Kernel;
use crate::device::{Device, Inner};
use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::{Point, Points, Timeline};
use crate::{Result, Stream, raw, trace};
use hip_sys::hip::{hipModule_t, ihipModule_t};
use hip_sys::{Image, Platform};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// More streams than this are looked through for those whose launches are known to be complete.
const MANY: usize = 16;

/// A module of the driver's. Whoever has the last reference calls [`Loaded::unload`]; without that it stays loaded.
pub(crate) struct Loaded {
    raw: Handle<ihipModule_t>,
    /// Dropped only once the module is unloaded: a runtime may read it for as long.
    image: ManuallyDrop<Image>,
    /// The stream that had the first launch of its kernels: it counts as if all of its work were such launches, so that none of them
    /// takes a lock.
    first: OnceLock<Arc<Timeline>>,
    /// The last launch on each of the others.
    launches: Mutex<Points>,
    /// The kernels that were asked for so far.
    kernels: RwLock<HashMap<String, Arc<Kernel>>>,
    /// Whether those who listen know of it.
    told: AtomicBool,
}

impl Loaded {
    pub(crate) fn load(device: &Device, image: Image) -> Result<Self> {
        let doing = || format!("loading {image} on {device}");
        // SAFETY: S1, S3, S4: the image was checked, ends in zeros and is kept as long as the module.
        let raw = device.run(doing, |p| unsafe { raw::module_load_data(p, image.address()) })?;
        let (launches, kernels, told) = (Mutex::default(), RwLock::default(), AtomicBool::new(false));
        let (image, first) = (ManuallyDrop::new(image), OnceLock::new());
        Ok(Self { raw, image, first, launches, kernels, told })
    }

    /// Tells those who listen that it was loaded, once. Nothing is locked, and nobody waits for this thread to load something.
    pub(crate) fn tell(&self, device: &Device) {
        if !self.told.swap(true, Ordering::Relaxed) {
            trace::module(device.label(), self.image.bytes().len());
        }
    }

    pub(crate) fn raw(&self) -> hipModule_t {
        self.raw.raw()
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    /// A launch of one of its kernels was submitted to the stream.
    #[inline]
    pub(crate) fn note_launch(&self, stream: &Stream) {
        let timeline = stream.timeline();
        if !Arc::ptr_eq(self.first.get_or_init(|| Arc::clone(timeline)), timeline) {
            self.note_launch_elsewhere(stream);
        }
    }

    #[inline(never)]
    fn note_launch_elsewhere(&self, stream: &Stream) {
        let mut launches = self.launches.lock();
        launches.add(stream.timeline(), stream.submitted());
        if launches.len() > MANY {
            launches.forget_completed();
        }
    }

    /// The kernel of that name: it is looked up once.
    pub(crate) fn kernel(&self, name: &str, find: impl FnOnce() -> Result<Kernel>) -> Result<Arc<Kernel>> {
        if let Some(kernel) = self.kernels.read().get(name) {
            return Ok(Arc::clone(kernel));
        }
        // Two threads may both look it up: they find the same.
        let kernel = Arc::new(find()?);
        Ok(Arc::clone(self.kernels.write().entry(name.to_owned()).or_insert(kernel)))
    }

    /// Waits for the launches of its kernels and unloads it. If they cannot be waited for it stays loaded.
    pub(crate) fn unload(self, device: &Inner) -> Result<()> {
        if !Wait::ModuleUnload.is_dropped() {
            let mut launches = self.launches.into_inner();
            if let Some(timeline) = self.first.into_inner() {
                // Each launch was submitted while somebody had a reference.
                let count = timeline.submitted();
                launches.add_all(Point { timeline, count }.into());
            }
            launches.wait_to_release()?;
        }
        let doing = || format!("unloading {}", *self.image);
        // SAFETY: S1, S3, S4: this was the last reference, and every launch of its kernels is complete.
        let unload = |p: &Platform| unsafe { raw::module_unload(p, self.raw) };
        device.run(doing, unload)?;
        drop(ManuallyDrop::into_inner(self.image));
        Ok(())
    }
}
