//! Plans that are used again.

use crate::{Complex, Layout, Plan, Real, Result, Spec, Transform};
use hip_safe::{Device, DeviceRepr, Memo};
use hip_sys::rocfft::rocfft_precision;
use std::any::Any;
use std::sync::Arc;

/// The plans of a device, by what they transform. The one that was not asked for the longest time goes when there are too many; whoever has it
/// may use it on.
pub struct PlanCache {
    device: Device,
    plans: Memo<Key, Arc<dyn Any + Send + Sync>>,
}

/// What makes a plan another one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    precision: rocfft_precision,
    transform: Transform,
    lengths: Vec<usize>,
    batch: usize,
    in_place: bool,
    scale: u64,
    layouts: [Option<Layout>; 2],
}

impl PlanCache {
    /// An empty cache of at most so many plans, one at least.
    pub fn new(device: &Device, capacity: usize) -> Self {
        Self { device: device.clone(), plans: Memo::new(capacity) }
    }

    /// How many plans it has.
    pub fn len(&self) -> usize {
        self.plans.statistics().remembered
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The plan of a description, made at the first call.
    ///
    /// # Errors
    /// As [`Plan::new`]; then the cache is as it was.
    pub fn plan<T: Real>(&self, spec: &Spec) -> Result<Arc<Plan<T>>>
    where
        Complex<T>: DeviceRepr,
    {
        let Spec { transform, lengths, batch, in_place, scale, input, output } = spec.clone();
        let (precision, layouts) = (T::PRECISION, [input, output]);
        let key = Key { precision, transform, lengths, batch, in_place, scale: scale.to_bits(), layouts };
        // The key names the precision, so a plan that is known has this type.
        if let Some(Ok(known)) = self.plans.get(&key).map(Arc::downcast) {
            return Ok(known);
        }
        // Made without a lock, because it may take long: two threads may make one each, and the first stays.
        let made = Arc::new(Plan::new(&self.device, spec)?);
        Ok(self.plans.keep(key, Arc::clone(&made) as _).downcast().unwrap_or(made))
    }
}
