//! Files, models and layers, beside the crate weights, and NumPy's archives.

use std::fs;
use std::path::Path;

use serde_json::json;
use tensor_core::{DType, Device, QTensor, QuantFormat, Tensor, npy, safetensors};
use weights::gguf::{Array, Value};
use weights::{Checkpoint, Model};

use super::{Calls, Expected, numbers, rows, some};
use crate::common::project;

pub(super) fn check(calls: &mut Calls, folder: &Path) {
    models(calls, folder);
    written(calls, folder);
    archives(calls, folder);
}

fn models(calls: &mut Calls, folder: &Path) {
    let model = Model::open(folder.join("tiny.gguf"), &Device::Cpu).unwrap();
    let layer = model.layer(1).unwrap();
    let names: Vec<&str> = model.names().collect();
    let in_layer: Vec<&str> = layer.names().collect();
    let dense = |name: &str| model.get(name).unwrap().tensor().unwrap().copy();
    let up = model.get("blk.1.ffn_up.weight").unwrap().quantized().unwrap();
    calls.does("let m = load(\"tiny.gguf\"); let l = m.layer(1);");
    rows! { calls;
        "[m.len(), m.layers.len(), m.bytes, m.left_out, m.device == device()]" => json!([model.len(), 2, model.byte_len(), model.left_out(), true]);
        "m.names" => json!(names);
        "[l.number, l.len(), l.bytes]" => json!([1, layer.len(), layer.byte_len()]);
        "l.names" => json!(in_layer);
        "m.get(\"output_norm.weight\")" => dense("output_norm.weight");
        "m[\"blk.1.attn_q.weight\"]" => dense("blk.1.attn_q.weight");
        "l.get(\"attn_q.weight\")" => dense("blk.1.attn_q.weight");
        "m.layers[1][\"attn_q.weight\"]" => dense("blk.1.attn_q.weight");
        "l[\"ffn_up.weight\"].dequantize()" => up.dequantize(&Device::Cpu);
        "[m.contains(\"output_norm.weight\"), m.contains(\"none\"), l.contains(\"attn_q.weight\"), l.contains(\"none\")]"
            => json!([true, false, true, false]);
        "[m.metadata(\"llama.context_length\"), m.metadata(\"general.architecture\"), m.metadata(\"none\")]" => json!([512, "llama", null]);
        "let made = model(#{ b: ones([2]), a: zeros([3]) }); [made.names, made.bytes, made[\"b\"].to_array()]" => json!([["a", "b"], 20, [1.0, 1.0]]);
        // Each call has a reader of its own: the weights are other numbers of the same values.
        "let there = load(\"tiny.gguf\", device(\"cpu\")); there[\"output_norm.weight\"].shares_storage(m[\"output_norm.weight\"])" => json!(false);
    }
    // On another device than the script's.
    calls.gives(
        "let far = load(\"tiny.gguf\", device(\"host:0\"));
         [far.device == device(\"host:0\"), far[\"output_norm.weight\"].device == far.device, far[\"blk.0.ffn_up.weight\"].device == far.device]",
        json!([true, true, true]),
    );
    calls.gives("far[\"blk.1.attn_q.weight\"].to_device(device())", dense("blk.1.attn_q.weight"));
    calls.gives("far[\"blk.1.ffn_up.weight\"].dequantize().to_device(device())", up.dequantize(&Device::Cpu));
}

/// What scripts write, as the readers of other crates find it, and as scripts do.
fn written(calls: &mut Calls, folder: &Path) {
    let matrix = some(31, [2, 64]);
    calls.given("matrix", &matrix);
    calls.does(
        "let all = #{};
         for dtype in [\"f32\", \"f16\", \"bf16\", \"f64\", \"i64\", \"i32\", \"i16\"] { all[dtype] = (matrix * 100).to_dtype(dtype); }
         for format in [\"q4_0\", \"q8_0\"] { all[format] = matrix.quantize(format); }
         save(all, \"all.gguf\", #{ whole: 3, long: 1 << 40, less: -3, half: 0.5, yes: true, text: \"a\", texts: [\"a\", \"b\"], ints: [1, -2], floats: [1.5, 2] });
         let read = load(\"all.gguf\");",
    );
    let file = Checkpoint::open(folder.join("all.gguf")).unwrap();
    let model = Model::load(&file, &Device::Cpu, &mut |_| ()).unwrap();
    let hundred = matrix.affine(100, 0).unwrap();
    for name in ["f32", "f16", "bf16", "f64", "i64", "i32", "i16"] {
        let expected = hundred.to_dtype(name.parse().unwrap()).unwrap().json();
        assert_eq!(model.get(name).unwrap().tensor().unwrap().copy().json(), expected, "{name}");
        calls.gives(&format!("read[\"{name}\"]"), expected);
    }
    for (name, format) in [("q4_0", QuantFormat::Q4_0), ("q8_0", QuantFormat::Q8_0)] {
        let expected = QTensor::quantize(&matrix, format).unwrap().dequantize(&Device::Cpu).unwrap();
        let there = model.get(name).unwrap().quantized().unwrap().dequantize(&Device::Cpu).unwrap();
        assert_eq!(numbers(&there), numbers(&expected), "{name}");
        calls.gives(&format!("read[\"{name}\"].dequantize()"), expected);
    }
    for (key, expected, known) in [
        ("whole", Value::U32(3), json!(3)),
        ("long", Value::I64(1 << 40), json!(1u64 << 40)),
        ("less", Value::I64(-3), json!(-3)),
        ("half", Value::F32(0.5), json!(0.5)),
        ("yes", Value::Bool(true), json!(true)),
        ("text", Value::String("a".into()), json!("a")),
        ("texts", Value::Array(Array::String(["a", "b"].into_iter().collect())), json!(["a", "b"])),
        ("ints", Value::Array(Array::I32(vec![1, -2])), json!([1, -2])),
        ("floats", Value::Array(Array::F32(vec![1.5, 2.0])), json!([1.5, 2.0])),
    ] {
        assert_eq!(file.metadata().get(key), Some(&expected), "{key}");
        calls.gives(&format!("read.metadata(\"{key}\")"), known);
    }
    calls.does("save(#{ a: matrix, b: matrix.to_dtype(\"u8\") }, \"two.safetensors\", #{ format: \"pt\" }); save(matrix, \"one.npy\");");
    let two = safetensors::File::open(folder.join("two.safetensors")).unwrap();
    assert_eq!(two.load("a", &Device::Cpu).unwrap().json(), matrix.copy().unwrap().json());
    assert_eq!(two.load("b", &Device::Cpu).unwrap().json(), matrix.to_dtype(DType::U8).unwrap().json());
    assert_eq!(
        npy::read(folder.join("one.npy"), &Device::Cpu).unwrap().json(),
        matrix.copy().unwrap().json()
    );
}

/// NumPy's own files, whose numbers `tests/vectors/npz.py` of tensor-core gives.
fn archives(calls: &mut Calls, folder: &Path) {
    let archive = project("crates/tensor-core/tests/vectors/npz/deflated.npz");
    fs::copy(archive, folder.join("arrays.npz")).unwrap();
    let weight = Tensor::new([[0f32, 0.25, 0.5], [0.75, 1.0, 1.25]], &Device::Cpu);
    let ids = Tensor::new([[1i64, -2], [3, 1 << 40]], &Device::Cpu);
    rows! { calls;
        "let arrays = load(\"arrays.npz\"); arrays.keys()" => json!(["layer.0/ids", "scale", "weight", "zeros"]);
        "arrays.weight" => weight;
        "arrays[\"layer.0/ids\"]" => ids;
        "[arrays.scale.dtype, arrays.scale.to_scalar(), arrays.zeros.sum_all().to_scalar()]" => json!(["f16", 0.5, 0]);
        "load(\"arrays.npz\", device(\"host:0\")).weight.device == device(\"host:0\")" => json!(true);
        "load(\"one.npy\", device(\"host:0\")).device == device(\"host:0\")" => json!(true);
    }
}
