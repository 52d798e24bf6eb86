//! The cache: hits, budget, what goes first, and the next layer that comes beside the computation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tensor_core::{DType, Device, Result, Tensor, safetensors};
use weights::{Cache, Checkpoint};

const LAYERS: usize = 6;
/// Bytes of a layer, which has two weights.
const LAYER: u64 = 2 * 4 * 256;

/// A model whose weights have the number of their layer in each element.
fn write(path: &Path) -> Result<()> {
    let mut named =
        vec![("model.embed_tokens.weight".to_owned(), Tensor::ones([256], DType::F32, &Device::Cpu)?)];
    for layer in 0..LAYERS {
        for name in ["self_attn.q_proj", "mlp.up_proj"] {
            let weight = Tensor::full(layer as f64, [256], DType::F32, &Device::Cpu)?;
            named.push((format!("model.layers.{layer}.{name}.weight"), weight));
        }
    }
    safetensors::write(path, named.iter().map(|(name, tensor)| (name.as_str(), tensor)), &BTreeMap::new())
}

/// Does something with a cache of that many layers, on the CPU and on a device.
fn with_cache(layers: u64, test: impl Fn(&Cache) -> Result<()>) -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    write(&path)?;
    for device in Device::all()?.into_iter().take(2) {
        test(&Cache::new(Checkpoint::open(&path)?, &device, layers * LAYER)?)?;
    }
    Ok(())
}

fn check(cache: &Cache, number: usize) -> Result<()> {
    let layer = cache.layer(number)?;
    for name in ["attn_q.weight", "ffn_up.weight"] {
        assert_eq!(layer[name].tensor()?.to_vec::<f32>()?, [number as f32; 256], "{name} of layer {number}");
    }
    Ok(())
}

#[test]
fn a_hit_is_a_reference() -> Result<()> {
    with_cache(2, |cache| {
        let name = "model.layers.2.mlp.up_proj.weight";
        let first = cache.get(name)?;
        assert!(Arc::ptr_eq(&first, &cache.get(name)?));
        assert!(Arc::ptr_eq(&first, &cache.get("blk.2.ffn_up.weight")?));
        let found = cache.statistics();
        assert_eq!((found.hits, found.misses, found.bytes), (2, 1, LAYER / 2));
        cache.clear();
        assert_eq!(cache.statistics().bytes, 0);
        assert_eq!(first.tensor()?.to_vec::<f32>()?, [2.0; 256], "who uses it still has it");
        assert!(!Arc::ptr_eq(&first, &cache.get(name)?));
        Ok(())
    })
}

#[test]
fn the_next_layer_comes_by_itself() -> Result<()> {
    with_cache(3, |cache| {
        check(cache, 0)?;
        for number in 1..LAYERS {
            cache.wait();
            let before = cache.statistics();
            check(cache, number)?;
            let after = cache.statistics();
            assert_eq!((after.hits - before.hits, after.misses - before.misses), (2, 0), "layer {number}");
        }
        // The first one follows the last.
        cache.wait();
        check(cache, 0)?;
        assert_eq!(cache.statistics().misses, 2, "only the first layer was waited for");
        assert!(cache.statistics().peak <= 3 * LAYER);
        Ok(())
    })
}

#[test]
fn without_room_beside_the_layer_in_use_nothing_comes() -> Result<()> {
    with_cache(1, |cache| {
        for number in 0..LAYERS {
            check(cache, number)?;
            cache.wait();
        }
        let found = cache.statistics();
        assert_eq!((found.prefetched, found.misses, found.peak), (0, 2 * LAYERS as u64, LAYER));
        Ok(())
    })
}

#[test]
fn threads_share_a_cache() -> Result<()> {
    with_cache(2, |cache| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    scope.spawn(move || {
                        (0..40).try_for_each(|turn| check(cache, (turn * (thread + 1)) % LAYERS))
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap())
        })?;
        cache.wait();
        let found = cache.statistics();
        assert!(found.peak <= 2 * LAYER && found.bytes <= found.budget, "{found:?}");
        assert_eq!(found.hits + found.misses, 4 * 40 * 2);
        Ok(())
    })
}

#[test]
fn what_does_not_fit_the_budget_is_an_error() -> Result<()> {
    with_cache(0, |cache| {
        let error = cache.get("blk.0.attn_q.weight").unwrap_err().to_string();
        assert!(
            error.contains("has 1024 bytes, more than the budget of 0; give the cache a larger one"),
            "{error}"
        );
        let error = cache.layer(1).unwrap_err().to_string();
        assert!(error.contains("layer 1 has 2048 bytes"), "{error}");
        assert!(cache.layer(LAYERS).unwrap_err().to_string().contains("no layer 6 among its 6"));
        assert!(cache.get("x").unwrap_err().to_string().contains("no weight \"x\""));
        Ok(())
    })
}
