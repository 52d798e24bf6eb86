//! What the weights of a model take: while they are loaded, shared and cached, and after they are dropped.
//!
//! `cargo run --release -p examples --bin 08_weights -- [MODEL [DEVICE]]`
//!
//! MODEL is a GGUF or safetensors file, or a folder. Without it the program makes one up, of 2.1 GB of zeros.

use std::io::Write;
use std::sync::Arc;

use hip_safe::MemoryReport;
use tensor_core::Device;
use weights::{Cache, Checkpoint, Layer, Model, Weight, progress_bar};

const MB: f64 = 1e6;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next();
    let device = Device::parse(&arguments.next().unwrap_or_else(|| "host:0".to_owned()))?;
    let Some(hip) = device.as_hip() else {
        return Err("the CPU has no memory pool to ask: take host:0".into());
    };
    // A made-up file is removed when it is dropped.
    let (path, _made_up) = match model {
        Some(path) => (path.into(), None),
        None => made_up().map(|file| (file.path().to_owned(), Some(file)))?,
    };
    let pool = || hip.device().memory_statistics();
    let say = |what: &str, bytes: usize| println!("{what:<52} {:>10.3} MB", bytes as f64 / MB);

    // Loading: one tensor at a time, by position from the file, through page-locked memory.
    let before = pool();
    let checkpoint = Checkpoint::open(&path)?;
    let largest = checkpoint.names().filter_map(|name| checkpoint.info(name)).map(|info| info.bytes).max();
    let model = Model::load(&checkpoint, &device, &mut progress_bar())?;
    say("the model on its device", model.byte_len());
    say("its largest tensor", largest.unwrap_or(0) as usize);
    say("the peak while it was loaded", pool().peak_allocated - before.allocated);

    // Sharing: a clone of the model, its layers, every weight by name, every tensor as a value.
    let loaded = pool();
    let clone = model.clone();
    let layers: Vec<Layer> = model.layers().cloned().collect();
    let by_name: Vec<Arc<Weight>> = model.iter().map(|(_, weight)| Arc::clone(weight)).collect();
    let values: Vec<_> = model.iter().filter_map(|(_, weight)| weight.tensor().ok().cloned()).collect();
    say("a clone, all layers, all weights and values: more", pool().allocated - loaded.allocated);
    drop((model, clone, layers, by_name, values));

    // After the last reference is gone.
    say("in use after the drop, more than before", pool().allocated - before.allocated);
    hip.device().trim_memory(0)?;
    say("reserved after a trim, more than before", pool().reserved - before.reserved);

    // A model that is larger than its device: a quarter of it fits.
    let budget = checkpoint.byte_len() / 4;
    let cache = Cache::new(checkpoint, &device, budget)?;
    for number in (0..cache.layer_count()).chain(0..cache.layer_count()) {
        cache.layer(number)?;
        // A program computes here, while the next layer comes.
        cache.wait();
    }
    let found = cache.statistics();
    say("the budget of a cache", budget as usize);
    say("its peak, over all layers twice", found.peak as usize);
    println!("{} hits, {} misses, {} evictions", found.hits, found.misses, found.evictions);
    drop(cache);

    say("in use at the end, more than before", pool().allocated - before.allocated);
    println!("{} live buffers", MemoryReport::now().buffers.len());
    Ok(())
}

/// A file of 24 layers whose zeros take no space on the disk.
fn made_up() -> Result<tempfile::NamedTempFile, Box<dyn std::error::Error>> {
    const WIDTH: usize = 2048;
    let mut entries = Vec::new();
    let mut end = 0;
    let mut add = |name: String, rows: usize| {
        let start = end;
        end += 2 * rows * WIDTH;
        entries.push(format!(
            r#""{name}":{{"dtype":"F16","shape":[{rows},{WIDTH}],"data_offsets":[{start},{end}]}}"#
        ));
    };
    add("model.embed_tokens.weight".to_owned(), 32_000);
    for layer in 0..24 {
        for (name, rows) in [("self_attn.q_proj", 4 * WIDTH), ("mlp.up_proj", 11_800)] {
            add(format!("model.layers.{layer}.{name}.weight"), rows);
        }
    }
    let json = format!("{{{}}}", entries.join(","));
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(&(json.len() as u64).to_le_bytes())?;
    file.write_all(json.as_bytes())?;
    file.as_file().set_len((8 + json.len() + end) as u64)?;
    Ok(file)
}
