//! What a script takes of a device's memory, to the byte.
//!
//! A program of its own with one test, for the pool of a device counts what every thread of the process allocates.

mod common;

use common::{Run, tiny_encoder, tiny_model};
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
    tiny_encoder(folder.path());
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
    assert_eq!(
        statistics().peak_allocated - before.allocated,
        loaded,
        "nothing is there twice while it is loaded"
    );

    // Layers, tensors and copies of all of them are references.
    let allocations = statistics().allocations;
    run.value(
        "let other = model; let layers = model.layers; let collection = #{};
         for layer in layers { collection[`q${layer.number}`] = layer[\"attn_q.weight\"]; }
         let again = collection; let all = [collection, layers, layers.map(|layer| layer[\"ffn_up.weight\"])];
         fn through(value) { value } let passed = through(all);",
    );
    assert_eq!((run.value(figures), statistics().allocations), (held.clone(), allocations));

    // A product takes its result, and nothing more while it is made.
    run.value("let product = collection.q0.matmul(again.q1.t());");
    let with_result = statistics().allocated - before.allocated;
    assert_eq!(with_result, loaded + 64 * 64 * 4);
    run.value("product += 1; product.affine_(0.5, 0); product -= layers[0][\"attn_q.weight\"];");
    assert_eq!(statistics().allocated - before.allocated, with_result);
    // The model, the product, and the 1 that was added, which is a tensor of one number.
    assert_eq!(statistics().peak_allocated - before.allocated, with_result + 4);

    // All but one tensor goes: its memory alone stays.
    run.value("let kept = layers[1][\"attn_k.weight\"]; model = (); other = (); layers = (); collection = (); again = (); all = (); passed = (); product = ();");
    device.synchronize().unwrap();
    assert_eq!(run.value(figures), format!("[{}, 1]", 32 * 64 * 4));
    run.value("kept = ();");
    assert_eq!(run.value(figures), "[0, 0]");
    each_kind_of_value_is_dropped_by_its_name(&mut run, &device, loaded - MODEL);
    closures_that_hold_themselves_are_dropped(&mut run, &device);

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

/// What a script holds of its device.
const FIGURES: &str = "[memory().live_bytes, memory().live_buffers]";

/// Sessions, encoders, language models, quantized tensors and layers: what a name held goes back when it gets another value.
fn each_kind_of_value_is_dropped_by_its_name(run: &mut Run, device: &Device, padding: usize) {
    // Half of the weights, and half of what their blocks are padded with.
    let layer = format!("[{}, 9]", LAYER_DENSE + 3 * BLOCKS + padding / 2);
    let mut figures = |text: &str| {
        run.value(text);
        device.synchronize().unwrap();
        run.value(FIGURES)
    };
    let model = figures("let l = language_model(\"tiny.gguf\");");
    // Tokenizers and generators are no device memory.
    assert_eq!(figures("let t = l.tokenizer; t.encode(\"to\"); let g = generator(1);"), model);
    let with_session = figures(
        "let s = l.session(#{ context: 64 }); let u = s; s.generate(\"to\", #{ most: 4 }); s.chat(\"be\", #{ most: 4 });",
    );
    assert_ne!(with_session, model);
    // Another name of a session is the same text; its model is referred to until the last one is gone.
    assert_eq!(figures("s = ();"), with_session);
    assert_eq!(figures("l = (); t = ();"), with_session);
    assert_eq!(figures("u.feed([3]); u = ();"), "[0, 0]");
    // A language model alone, and its weights and a layer of them after it.
    assert_eq!(figures("let l = language_model(\"tiny.gguf\"); l.session();"), model);
    assert_eq!(figures("let w = l.weights; l = ();"), model);
    assert_eq!(figures("let one = w.layer(1); w = ();"), layer);
    assert_eq!(figures("one = ();"), "[0, 0]");
    // An encoder, of which nothing stays but what it gave: three rows of 32 numbers.
    assert_ne!(
        figures("let e = encoder(\"encoder.gguf\"); let v = e.embed([\"a\", \"b\", \"a cat\"]);"),
        "[0, 0]"
    );
    assert_eq!(figures("e = ();"), format!("[{}, 1]", 3 * 32 * 4));
    assert_eq!(figures("v = ();"), "[0, 0]");
    // A quantized tensor of 64 by 256 numbers: 34 bytes for 32. The tensor that it was made of goes first.
    let bytes =
        figures("let x = g.normal(0, 1, [64, 256]); let q = x.quantize(\"q8_0\"); let r = q; x = ();");
    let held: usize = bytes.trim_start_matches('[').split(',').next().unwrap().parse().unwrap();
    assert!(
        bytes.ends_with(", 1]") && (64 * 256 / 32 * 34..64 * 256 / 32 * 34 + 512).contains(&held),
        "{bytes}"
    );
    assert_eq!(figures("q = (); r.forward(ones([2, 256])); r.dequantize();"), bytes);
    assert_eq!(figures("r = ();"), "[0, 0]");
    // A function's values go back at its end, also after an error.
    assert_eq!(
        figures(
            "fn inner() { let s = language_model(\"tiny.gguf\").session(); s.generate(\"a\", #{ most: 2 }); } inner();"
        ),
        "[0, 0]"
    );
    assert_eq!(
        figures("try { let q = ones([64, 256]).quantize(\"q8_0\"); q.forward(ones([3])); } catch {}"),
        "[0, 0]"
    );
}

/// A variable that a closure in it uses has a reference to itself. It is emptied at the end, or by hand.
fn closures_that_hold_themselves_are_dropped(run: &mut Run, device: &Device) {
    let figures = |run: &mut Run| {
        device.synchronize().unwrap();
        run.value(FIGURES)
    };
    run.value(
        "let m = #{ x: ones([8]) }; let n = #{ x: ones([4]) }; m.f = || m.x[0] + n.x; n.f = || [m, [n]];",
    );
    // A block's own variable of that kind, emptied by hand.
    run.value("{ let inner = #{ x: ones([8]) }; inner.f = || inner.x; inner = (); }");
    assert_eq!(figures(run), "[48, 2]");
    run.interpreter.clear();
    assert_eq!(figures(run), "[0, 0]");
    // Without a clear the end of the interpreter drops them.
    run.value("let m = #{ x: ones([8]) }; m.f = || m.x;");
}
