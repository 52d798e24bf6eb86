//! Plans that are used again.

use crate::{Complex, Layout, Plan, Real, Result, Spec, Transform};
use hip_safe::{Device, DeviceRepr};
use hip_sys::rocfft::rocfft_precision;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// The plans of a device, by what they transform. The one that was not asked for the longest time goes when there are too many; whoever has it
/// may use it on.
pub struct PlanCache {
    device: Device,
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    plans: HashMap<Key, Entry>,
    /// How often a plan was asked for.
    asked: u64,
}

struct Entry {
    plan: Arc<dyn Any + Send + Sync>,
    last: u64,
}

/// What makes a plan another one.
#[derive(PartialEq, Eq, Hash)]
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
        Self { device: device.clone(), capacity: capacity.max(1), state: Mutex::default() }
    }

    /// How many plans it has.
    pub fn len(&self) -> usize {
        self.state.lock().plans.len()
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
        if let Some(known) = self.state.lock().find(&key) {
            return Ok(known);
        }
        // Made without the lock, because it may take long: two threads may make one each, and the first stays.
        let made = Arc::new(Plan::new(&self.device, spec)?);
        let gone = {
            let mut state = self.state.lock();
            // What another thread made meanwhile stays; ours drops after the lock.
            if let Some(known) = state.find(&key) {
                drop(state);
                return Ok(known);
            }
            state.asked += 1;
            let entry = Entry { plan: Arc::clone(&made) as _, last: state.asked };
            let replaced = state.plans.insert(key, entry);
            (replaced, (state.plans.len() > self.capacity).then(|| state.remove_oldest()))
        };
        // Its drop may wait for the device.
        drop(gone);
        Ok(made)
    }
}

impl State {
    /// The plan of a key, which is used now.
    fn find<T: Real>(&mut self, key: &Key) -> Option<Arc<Plan<T>>>
    where
        Complex<T>: DeviceRepr,
    {
        self.asked += 1;
        let now = self.asked;
        let entry = self.plans.get_mut(key)?;
        entry.last = now;
        Arc::clone(&entry.plan).downcast().ok()
    }

    fn remove_oldest(&mut self) -> Option<Entry> {
        let oldest = self.plans.values().map(|entry| entry.last).min()?;
        self.plans.extract_if(|_, entry| entry.last == oldest).map(|(_, entry)| entry).next()
    }
}
