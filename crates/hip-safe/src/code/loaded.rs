//! Loaded code. It holds no reference to its device, because the device may own it.

use super::failure::FailureRecord;
use super::function::Kernel;
use crate::device::{Device, Inner};
use crate::drop_errors::report_failure;
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

/// The number of points from which complete ones are removed.
const MANY: usize = 16;

/// A module of the driver. The owner of the last reference calls [`Loaded::unload`]; otherwise it stays loaded.
pub(crate) struct Loaded {
    raw: Handle<ihipModule_t>,
    /// Dropped after the module is unloaded, because the runtime may read it until then.
    image: ManuallyDrop<Image>,
    /// The stream of the first launch. The unloading waits for all work of this stream, so its launches are not recorded and take no lock.
    first: OnceLock<Arc<Timeline>>,
    /// The last launch on each other stream.
    launches: Mutex<Points>,
    /// The kernels that were looked up so far.
    kernels: RwLock<HashMap<String, Arc<Kernel>>>,
    /// Where its kernels say why they stopped.
    failure: Option<Arc<FailureRecord>>,
    /// Whether the load was traced.
    traced: AtomicBool,
}

impl Loaded {
    pub(crate) fn load(device: &Device, image: Image) -> Result<Self> {
        let doing = || format!("loading {image} on {device}");
        // SAFETY: S1, S3, S4: the image was checked, ends in zeros and is kept as long as the module.
        let raw = device.run(doing, |p| unsafe { raw::module_load_data(p, image.address()) })?;
        let failure = match FailureRecord::of(device, raw.raw()) {
            Ok(failure) => failure,
            Err(error) => {
                // SAFETY: S1, S3, S4: nobody else has the module.
                let unloaded =
                    device.run(|| format!("unloading {image}"), |p| unsafe { raw::module_unload(p, raw) });
                report_failure(unloaded);
                return Err(error);
            }
        };
        let (launches, kernels, traced) = (Mutex::default(), RwLock::default(), AtomicBool::new(false));
        let (image, first) = (ManuallyDrop::new(image), OnceLock::new());
        Ok(Self { raw, image, first, launches, kernels, failure, traced })
    }

    /// Traces the load, once. The caller holds no lock, and no thread waits for this one to load something, because subscribers are code of the
    /// program.
    pub(crate) fn trace(&self, device: &Device) {
        if !self.traced.swap(true, Ordering::Relaxed) {
            trace::module(device.label(), self.image.bytes().len());
        }
    }

    pub(crate) fn raw(&self) -> hipModule_t {
        self.raw.raw()
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    /// Records a launch of one of its kernels on the stream.
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

    /// The kernel of that name, from the cache or by `find`.
    pub(crate) fn kernel(&self, name: &str, find: impl FnOnce() -> Result<Kernel>) -> Result<Arc<Kernel>> {
        if let Some(kernel) = self.kernels.read().get(name) {
            return Ok(Arc::clone(kernel));
        }
        // Two threads may look it up at once. They find the same kernel.
        let kernel = Arc::new(find()?);
        Ok(Arc::clone(self.kernels.write().entry(name.to_owned()).or_insert(kernel)))
    }

    /// Waits for the launches of its kernels and unloads it. If a wait fails, it stays loaded.
    pub(crate) fn unload(self, device: &Inner) -> Result<()> {
        if !Wait::ModuleUnload.is_dropped() {
            let mut launches = self.launches.into_inner();
            if let Some(timeline) = self.first.into_inner() {
                // All launches were counted before the last reference was dropped.
                let count = timeline.submitted();
                launches.add_all(Point { timeline, count }.into());
            }
            launches.wait_to_release()?;
        }
        let doing = || format!("unloading {}", *self.image);
        // SAFETY: S1, S3, S4: this was the last reference, and every launch of its kernels is complete.
        let unload = |p: &Platform| unsafe { raw::module_unload(p, self.raw) };
        device.run(doing, unload)?;
        self.failure.map_or(Ok(()), |failure| failure.release(device))?;
        drop(ManuallyDrop::into_inner(self.image));
        Ok(())
    }
}
