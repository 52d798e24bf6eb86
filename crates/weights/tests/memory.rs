//! What models take: no more than their size and a tensor while they are loaded, nothing for clones, and nothing afterwards.
//!
//! A program of its own with one test a device, for the pool of a device counts what every thread of the process allocates.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hip_safe::{MemoryCheck, MemoryReport};
use tensor_core::{DType, Device, HipDevice, Result, Tensor, Upload};
use weights::gguf::{self, Metadata};
use weights::{Cache, Checkpoint, Layer, Model, Weight};

const LAYERS: usize = 12;
/// Bytes of a layer: three matrices of 512 KiB, one of them longer than a piece of an upload, and a norm.
const WIDTH: usize = 512;

/// A model of 21 MB: a hundredth of the one that docs speak of.
fn write(path: &Path) -> Result<()> {
    let ones = |shape: &[usize]| Tensor::ones(shape, DType::F16, &Device::Cpu).map(Weight::from);
    let mut named = vec![("token_embd.weight".to_owned(), ones(&[4500, WIDTH])?)];
    for layer in 0..LAYERS {
        let mut add = |name: &str, shape: &[usize]| -> Result<()> {
            named.push((format!("blk.{layer}.{name}.weight"), ones(shape)?));
            Ok(())
        };
        add("attn_q", &[WIDTH, WIDTH])?;
        add("attn_k", &[WIDTH, WIDTH])?;
        add("ffn_up", &[WIDTH, WIDTH])?;
        add("attn_norm", &[WIDTH])?;
    }
    gguf::write(path, &Metadata::new(), named.iter().map(|(name, weight)| (name.as_str(), weight)))
}

/// The most bytes of a tensor.
fn largest(checkpoint: &Checkpoint) -> usize {
    checkpoint.names().map(|name| checkpoint.info(name).unwrap().bytes as usize).max().unwrap()
}

/// What the seed of this project cloned: the model, its layers, a cache by name, and the values of a graph.
type Shared = (Model, Vec<Layer>, HashMap<String, Arc<Weight>>, Vec<Tensor>);

fn share(model: &Model) -> Result<Shared> {
    let layers = model.layers().cloned().collect();
    let by_name = model.iter().map(|(name, weight)| (name.to_owned(), Arc::clone(weight))).collect();
    let values: Result<Vec<Tensor>> = model.iter().map(|(_, weight)| weight.tensor().cloned()).collect();
    Ok((model.clone(), layers, by_name, values?))
}

#[test]
fn memory_is_the_models_and_comes_back() -> Result<()> {
    MemoryCheck::Names.start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    write(&path)?;
    let device = Device::parse("host:0")?;
    on_a_device(&path, &device, device.as_hip().unwrap())?;
    on_the_cpu(&path)
}

fn on_a_device(path: &Path, device: &Device, hip: &HipDevice) -> Result<()> {
    let statistics = || hip.device().memory_statistics();
    hip.device().trim_memory(0)?;
    let before = statistics();
    let checkpoint = Checkpoint::open(path)?;

    let model = Model::load(&checkpoint, device, &mut |_| ())?;
    let size = checkpoint.byte_len() as usize;
    assert_eq!(model.byte_len(), size);
    let loaded = statistics();
    assert_eq!(loaded.allocated - before.allocated, size);
    assert!(loaded.peak_allocated - before.allocated <= size + largest(&checkpoint), "{loaded:?}");
    let live = hip.device().live_buffers();
    assert_eq!(live.len(), model.len(), "the pinned memory of the upload is gone: {live:?}");
    assert_eq!(live[0].name.as_deref(), Some("token_embd.weight"));

    // Everything that shares it, and reads it.
    let shared = share(&model)?;
    assert_eq!(statistics().allocations, loaded.allocations, "clones allocate nothing");
    drop(model);
    assert_eq!(statistics().allocated, loaded.allocated, "the clones keep it alive");
    assert_eq!(shared.0["blk.3.attn_q.weight"].to_bytes()?.len(), 2 * WIDTH * WIDTH);
    drop(shared);
    came_back(hip, before)?;

    // A model of which a part fits, twice.
    let budget = size as u64 / 4;
    let cache = Cache::new(checkpoint, device, budget)?;
    let kept = cache.get("blk.0.attn_norm.weight")?;
    for _ in 0..2 {
        for number in 0..LAYERS {
            let layer = cache.layer(number)?;
            assert_eq!(layer["attn_norm.weight"].to_bytes()?, kept.to_bytes()?);
        }
    }
    cache.wait();
    let (found, now) = (cache.statistics(), statistics());
    assert!(found.peak <= budget && found.evictions > 0, "{found:?}");
    assert!(
        found.bytes <= now.allocated as u64 && now.allocated as u64 <= found.bytes + kept.byte_len() as u64
    );
    drop(cache);
    // It went long ago, and is still in use.
    assert_eq!(kept.to_bytes()?, 15360u16.to_le_bytes().repeat(WIDTH));
    assert_eq!(statistics().allocated - before.allocated, kept.byte_len());
    drop(kept);
    came_back(hip, before)
}

/// To the byte, and after a trim what the pool has from the driver as well.
fn came_back(hip: &HipDevice, before: hip_safe::PoolStatistics) -> Result<()> {
    hip.synchronize()?;
    let live = hip.device().live_buffers();
    assert!(live.is_empty(), "{}", MemoryReport::now());
    assert_eq!(hip.device().memory_statistics().allocated, before.allocated);
    hip.device().trim_memory(0)?;
    assert_eq!(hip.device().memory_statistics().reserved, before.reserved);
    Ok(())
}

fn on_the_cpu(path: &Path) -> Result<()> {
    let checkpoint = Checkpoint::open(path)?;
    let mut model = None;
    let loading = allocation_counter::measure(|| {
        model = Some(Model::load(&checkpoint, &Device::Cpu, &mut |_| ()));
    });
    let model = model.unwrap()?;
    let (size, largest) = (checkpoint.byte_len(), largest(&checkpoint) as u64);
    // Names and maps take some of it.
    assert!(loading.bytes_max <= size + largest, "{loading:?} for {size}");
    let mut shared = None;
    let cloning = allocation_counter::measure(|| shared = Some(share(&model)));
    assert!(cloning.bytes_max < size / 100, "{cloning:?}: clones count references");
    let clone = allocation_counter::measure(|| drop(model.clone()));
    assert_eq!(clone.bytes_total, 0);
    let dropping = allocation_counter::measure(|| drop((model, shared)));
    let left = loading.bytes_current + cloning.bytes_current + dropping.bytes_current;
    assert_eq!(left, 0, "what loading and cloning took came back");
    Ok(())
}

/// An upload through page-locked memory brings every byte, for lengths around its pieces.
#[test]
fn uploads_bring_every_byte() -> Result<()> {
    const PIECE: usize = 4 << 20;
    let device = Device::parse("host:1")?;
    for mut upload in [Upload::new(&device)?, Upload::beside(&device)?] {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
            let byte = |index: usize| (index % 251) as u8;
            let tensor = upload.tensor(DType::U8, [length], &mut |first, piece| {
                piece.iter_mut().enumerate().for_each(|(index, out)| *out = byte(first + index));
                Ok(())
            })?;
            let bytes = tensor.to_vec1::<u8>()?;
            assert!(bytes.iter().enumerate().all(|(index, found)| *found == byte(index)), "{length} bytes");
        }
        upload.finish()?;
    }
    Ok(())
}
