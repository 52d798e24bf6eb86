//! What a script takes of a device's memory, to the byte.
//!
//! A program of its own with one test, for the pool of a device counts what every thread of the process allocates.

mod common;

use common::{Run, tiny_model};
use script::Options;
use tensor_core::{DType, Device, Tensor, copies_on_write};

/// The weights of the example's model in the file: an embedding of 320 rows, and two layers whose last three matrices have blocks of
/// 34 bytes for 32 numbers.
const MODEL: usize = 320 * 64 * 4 + 64 * 4 + 2 * (LAYER_DENSE + 3 * BLOCKS);
const LAYER_DENSE: usize = (2 * 64 * 64 + 2 * 32 * 64 + 2 * 64) * 4;
const BLOCKS: usize = 128 * 64 / 32 * 34;

#[test]
fn memory_goes_back_to_the_byte_and_nothing_is_copied() {
    let device = Device::parse("host:0").unwrap();
    let hip = device.as_hip().unwrap();
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    // The device keeps its BLAS's workspace from the first product on, and a word for wrong ids from the first lookup on.
    let square = Tensor::ones([64, 64], DType::F32, &device).unwrap();
    square.matmul(&square).unwrap();
    square.embedding(&Tensor::zeros(1, DType::U32, &device).unwrap()).unwrap();
    drop(square);
    device.synchronize().unwrap();
    hip_safe::MemoryCheck::Names.start();
    let statistics = || hip.device().memory_statistics();
    let (before, copies) = (statistics(), copies_on_write());
    let mut run = Run::inside(folder.path(), Options { device: device.clone(), ..Options::default() });
    let figures = "[memory().live_bytes, memory().live_buffers]";

    run.value("let model = load(\"tiny.gguf\");");
    let loaded = statistics().allocated - before.allocated;
    assert_eq!(run.value("model.bytes"), MODEL.to_string());
    assert!((MODEL..MODEL + 20 * 512).contains(&loaded), "{loaded} of {MODEL}: only blocks are padded");
    let held = run.value(figures);
    assert_eq!(held, format!("[{loaded}, 20]"), "20 weights are 20 buffers");
    // At its peak loading takes a second copy of the largest quantized tensor, whose blocks get another order.
    let peak = statistics().peak_allocated - before.allocated;
    assert!(peak <= loaded + 2 * BLOCKS, "{peak} at the peak of loading {loaded}");

    // Layers, tensors and copies of all of them are references.
    let allocations = statistics().allocations;
    run.value(
        "let other = model; let layers = model.layers; let collection = #{};
         for layer in layers { collection[`q${layer.number}`] = layer[\"attn_q.weight\"]; }
         let again = collection; let all = [collection, layers, layers.map(|layer| layer[\"ffn_up.weight\"])];
         fn through(value) { value } let passed = through(all);",
    );
    assert_eq!((run.value(figures), statistics().allocations), (held.clone(), allocations));

    // A product takes its result, and while it is made no more than the other operand's memory.
    run.value("let product = collection.q0.matmul(again.q1.t());");
    let with_result = statistics().allocated - before.allocated;
    assert_eq!(with_result, loaded + 64 * 64 * 4);
    run.value("product += 1; product.affine_(0.5, 0); product -= layers[0][\"attn_q.weight\"];");
    assert_eq!(statistics().allocated - before.allocated, with_result);
    let peak = statistics().peak_allocated - before.allocated;
    assert!(
        peak <= loaded + 2 * 64 * 64 * 4 + 2 * BLOCKS,
        "{peak}: the model, a tensor, and what an operation needs"
    );

    // All but one tensor goes: its memory alone stays.
    run.value("let kept = layers[1][\"attn_k.weight\"]; model = (); other = (); layers = (); collection = (); again = (); all = (); passed = (); product = ();");
    device.synchronize().unwrap();
    assert_eq!(run.value(figures), format!("[{}, 1]", 32 * 64 * 4));
    run.value("kept = ();");
    assert_eq!(run.value(figures), "[0, 0]");

    // A session of a language model, an answer, and an error on the way.
    run.value("let l = language_model(\"tiny.gguf\"); let s = l.session(#{ context: 32 }); s.generate(\"a\", #{ most: 4 });");
    run.error("fn f(l) { let x = l.weights[\"token_embd.weight\"] * 2; x.matmul(x) } f(l)");
    drop(run);
    device.synchronize().unwrap();
    assert_eq!(statistics().allocated, before.allocated);
    assert_eq!(hip.device().live_buffers().len(), 0);
    assert_eq!(copies_on_write(), copies, "nothing was copied to be written");
    hip.device().trim_memory(0).unwrap();
}
