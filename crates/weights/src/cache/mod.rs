//! Some of a model's weights on a device: those used last, within a budget of bytes.

mod prefetch;
mod store;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tensor_core::{Device, Error, ErrorKind, Result, Upload};

use crate::checkpoint::{Checkpoint, Info};
use crate::gguf::Metadata;
use crate::layer::Layer;
use crate::names;
use crate::weight::Weight;
use prefetch::Prefetch;
use store::{Found, Store};

/// The weights of a model that is larger than its device: they are loaded when they are asked for, and stay until others
/// need their memory. Those used least recently go first.
///
/// The cache never holds more bytes than its budget, those that are being loaded included; a quantized tensor takes its bytes
/// once more while it is loaded. A weight is an `Arc`: one that
/// goes while somebody uses it stays alive, and its memory goes back to the device's pool after the last use. Such
/// weights are not counted.
///
/// [`Cache::layer`] begins to load the next layer on a thread and a stream of its own, while the program computes with
/// this one. The first layer follows the last, as in the decoding of one token after another.
///
/// Weights come through one [`Upload`] for each thread that ever loaded at the same time as another, and one for the next layer.
pub struct Cache {
    shared: Arc<Shared>,
    device: Device,
    /// Those that no thread uses now. None is locked while it is used: an allocation is an event, whose subscriber may use the cache,
    /// but for weights that are being loaded: it would wait for its own thread.
    uploads: Mutex<Vec<Upload>>,
    prefetch: Prefetch,
}

/// What a cache holds and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// The most bytes of weights that it holds.
    pub budget: u64,
    /// The bytes of weights that it holds now, or makes room for.
    pub bytes: u64,
    /// The most bytes that it ever held.
    pub peak: u64,
    /// Weights that were there when they were asked for, or on their way.
    pub hits: u64,
    /// Weights that had to be loaded first.
    pub misses: u64,
    /// Weights that were loaded before they were asked for.
    pub prefetched: u64,
    /// Weights that went to make room.
    pub evictions: u64,
}

/// What the threads of a cache share.
struct Shared {
    checkpoint: Checkpoint,
    /// GGUF's names, where the file has others.
    aliases: BTreeMap<String, String>,
    /// The names of each layer's weights, within it and in the file.
    layers: BTreeMap<usize, Vec<(String, String)>>,
    /// The layer of each weight that belongs to one.
    layer_of: HashMap<String, usize>,
    store: Mutex<Store>,
    /// The store has changed.
    changed: Condvar,
}

impl Cache {
    /// A cache of a checkpoint's weights on `device`, of at most `budget` bytes. Nothing is loaded yet.
    ///
    /// # Errors
    /// As [`Upload::new`] and [`Upload::beside`]; [`ErrorKind::Argument`] if the system makes no thread.
    pub fn new(checkpoint: Checkpoint, device: &Device, budget: u64) -> Result<Cache> {
        let named = names::by_layer(checkpoint.names());
        let aliases = names::aliases(checkpoint.names(), &named);
        let owned = |(rest, name): (&str, &str)| (rest.to_owned(), name.to_owned());
        let layers: BTreeMap<usize, Vec<(String, String)>> = named
            .into_iter()
            .map(|(number, named)| (number, named.into_iter().map(owned).collect()))
            .collect();
        let in_layer = |(number, named): (&usize, &Vec<(String, String)>)| {
            let number = *number;
            named.iter().map(|(_, name)| (name.clone(), number)).collect::<Vec<_>>()
        };
        let layer_of = layers.iter().flat_map(in_layer).collect();
        let (store, changed) = (Mutex::new(Store::new(budget)), Condvar::new());
        let shared = Arc::new(Shared { checkpoint, aliases, layers, layer_of, store, changed });
        let prefetch = Prefetch::start(Arc::clone(&shared), Upload::beside(device)?)?;
        let uploads = Mutex::new(vec![Upload::new(device)?]);
        Ok(Cache { shared, device: device.clone(), uploads, prefetch })
    }

    /// The weight of that name, of the file or of GGUF: a clone of the cache's reference, after loading it if it is not
    /// there.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such weight, or it has more bytes than the budget; and those of
    /// [`Checkpoint::load`].
    pub fn get(&self, name: &str) -> Result<Arc<Weight>> {
        let name = self.shared.aliases.get(name).map_or(name, String::as_str);
        self.load(name)
    }

    /// The weights of a layer, from 0 on, after loading those that are not there. The next layer is loaded from now on,
    /// as far as it has room beside this one.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such layer, or it has more bytes than the budget; and those of
    /// [`Cache::get`].
    pub fn layer(&self, number: usize) -> Result<Layer> {
        let names = self.shared.layers.get(&number).ok_or_else(|| {
            bad(format!("the model has no layer {number} among its {}", self.shared.layers.len()))
        })?;
        let bytes: u64 = names
            .iter()
            .filter_map(|(_, name)| self.shared.checkpoint.info(name))
            .map(|info| info.bytes)
            .sum();
        let what = || format!("layer {number}");
        self.shared.check_budget(&what, bytes)?;
        let mut named = Vec::new();
        for (rest, name) in names {
            // As for a whole model, what tensors cannot have is left out.
            if self.shared.checkpoint.info(name).is_some_and(|info| info.format.is_some()) {
                named.push((rest.as_str(), self.load(name)?));
            }
        }
        self.prefetch.next_of(number, &self.shared);
        Ok(Layer::new(number, named))
    }

    /// How many layers the model has.
    pub fn layer_count(&self) -> usize {
        self.shared.layers.len()
    }

    /// The names in the files, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.shared.checkpoint.names()
    }

    /// The metadata of the files.
    pub fn metadata(&self) -> &Metadata {
        self.shared.checkpoint.metadata()
    }

    /// What it holds and did so far.
    pub fn statistics(&self) -> CacheStatistics {
        self.shared.store.lock().statistics
    }

    /// Waits until the layers that were begun are loaded.
    pub fn wait(&self) {
        self.prefetch.wait(&self.shared);
    }

    /// Gives all weights back that nobody else uses.
    pub fn clear(&self) {
        let gone = self.shared.store.lock().clear();
        self.shared.changed.notify_all();
        drop(gone);
    }

    /// A weight by its name in the file.
    fn load(&self, name: &str) -> Result<Arc<Weight>> {
        if let Some(weight) = self.shared.find_or_reserve(name)? {
            return Ok(weight);
        }
        let settles = Settles { shared: &self.shared, name, weight: None };
        let free = self.uploads.lock().pop();
        let mut upload = match free {
            Some(upload) => upload,
            None => Upload::new(&self.device)?,
        };
        let loaded = settles.load(&mut upload);
        self.uploads.lock().push(upload);
        loaded
    }
}

impl Shared {
    /// A weight by its name in the file, for the program; `None` if it has to be loaded, for which there is room now.
    fn find_or_reserve(&self, name: &str) -> Result<Option<Arc<Weight>>> {
        let info = self.checkpoint.info(name).ok_or_else(|| {
            bad(format!("the model has no weight {name:?} among its {}", self.checkpoint.len()))
        })?;
        self.check_budget(&|| format!("weight {name:?}"), info.bytes)?;
        let mut store = self.store.lock();
        let gone = loop {
            match store.find(name) {
                Found::Here(weight) => {
                    store.statistics.hits += 1;
                    return Ok(Some(weight));
                }
                Found::Absent => {
                    if let Some(gone) = store.reserve(name, info.bytes, &|_| false) {
                        break gone;
                    }
                }
                Found::Coming => {}
            }
            // Another thread finishes loading, or gives its reservation back. Both notify.
            self.changed.wait(&mut store);
        };
        store.statistics.misses += 1;
        drop(store);
        drop(gone);
        Ok(None)
    }

    /// Loads a weight if it is not there and has room beside those that `keep` wants; false if it has none.
    fn prefetch(&self, name: &str, info: &Info, upload: &mut Upload, keep: &dyn Fn(&str) -> bool) -> bool {
        let mut store = self.store.lock();
        let gone = match store.find(name) {
            Found::Here(_) | Found::Coming => return true,
            Found::Absent => store.reserve(name, info.bytes, keep),
        };
        drop(store);
        if gone.is_none() {
            return false;
        }
        drop(gone);
        // An error is found again, and told, when the weight is asked for.
        if (Settles { shared: self, name, weight: None }).load(upload).is_ok() {
            self.store.lock().statistics.prefetched += 1;
        }
        true
    }

    fn check_budget(&self, what: &dyn Fn() -> String, bytes: u64) -> Result<()> {
        let budget = self.store.lock().statistics.budget;
        if bytes <= budget {
            return Ok(());
        }
        Err(bad(format!(
            "{} has {bytes} bytes, more than the budget of {budget}; give the cache a larger one",
            what()
        )))
    }
}

/// Tells the store on drop what became of a weight that it has room for: after a panic too, for others wait for it.
struct Settles<'a> {
    shared: &'a Shared,
    name: &'a str,
    weight: Option<Arc<Weight>>,
}

impl Settles<'_> {
    fn load(mut self, upload: &mut Upload) -> Result<Arc<Weight>> {
        let weight = Arc::new(self.shared.checkpoint.load(self.name, upload)?);
        self.weight = Some(Arc::clone(&weight));
        Ok(weight)
    }
}

impl Drop for Settles<'_> {
    fn drop(&mut self) {
        self.shared.store.lock().settle(self.name, self.weight.as_ref());
        self.shared.changed.notify_all();
    }
}

fn bad(what: String) -> Error {
    Error::new("cache", ErrorKind::Argument { what })
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache({:?})", self.statistics())
    }
}
