//! A subscriber of the events of memory may use the cache that allocates and frees: nothing of it is locked meanwhile.
//!
//! A program of its own, because the subscriber is that of the whole process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use tensor_core::{DType, Device, Result, Tensor, safetensors};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use weights::{Cache, Checkpoint};

/// What the subscriber asks.
static CACHE: OnceLock<Arc<Cache>> = OnceLock::new();
/// The events that it got.
static EVENTS: AtomicUsize = AtomicUsize::new(0);

/// Asks the cache at each event of memory for its figures, and for a weight.
struct Asking;

impl Subscriber for Asking {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "hip_safe::memory"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        let Some(cache) = CACHE.get() else { return };
        assert!(cache.statistics().bytes <= 3 * BYTES);
        // The first event is that of "a", which is on its way.
        if EVENTS.fetch_add(1, Ordering::SeqCst) == 0 {
            assert_eq!(cache.get("b").unwrap().byte_len() as u64, BYTES);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

const BYTES: u64 = 4 * 256;

fn load_and_free() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let tensor = Tensor::ones([256], DType::F32, &Device::Cpu)?;
    safetensors::write(&path, ["a", "b", "c", "d"].map(|name| (name, &tensor)), &BTreeMap::new())?;
    let cache = Cache::new(Checkpoint::open(&path)?, &Device::parse("host:0")?, 3 * BYTES)?;
    let cache = Arc::clone(CACHE.get_or_init(|| Arc::new(cache)));
    let events = || EVENTS.load(Ordering::SeqCst);
    cache.get("a")?;
    assert_eq!(cache.statistics().misses, 2, "\"a\", and \"b\" in its event");
    cache.get("c")?;
    // It replaces "b".
    let (told, evicted) = (events(), cache.statistics().evictions);
    cache.get("d")?;
    assert_eq!(cache.statistics().evictions, evicted + 1);
    assert!(events() >= told + 2, "a piece was freed, and one allocated");
    let told = events();
    cache.clear();
    assert!(events() >= told + 3, "three weights were freed");
    Ok(())
}

#[test]
fn a_subscriber_may_use_the_cache() {
    tracing::subscriber::set_global_default(Asking).unwrap();
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(load_and_free()));
    ended.recv_timeout(Duration::from_secs(60)).expect("it waits for itself, or it failed").unwrap();
}
