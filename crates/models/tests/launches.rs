//! How many graph nodes, kernels and copies, a layer adds to a step of a quantized model. Each waits for the one before, which on a GPU takes
//! longer than many of them compute.

use std::sync::Arc;

use models::{Config, LanguageModel, Session, SessionOptions, Settings};
use tensor_core::{DType, Device, QTensor, QuantFormat, Tensor};
use weights::gguf::Metadata;
use weights::{Model, Weight};

/// More numbers than the kernels for short rows take.
const WIDTH: usize = 1056;
const HEAD: usize = 32;
const HIDDEN: usize = 64;

/// The kernels and copies of a step behind a prompt.
fn nodes(layers: usize, device: &Device) -> usize {
    let matrix = |rows: usize, columns: usize| -> Arc<Weight> {
        let numbers = Tensor::rand(-0.1f32, 0.1f32, [rows, columns], &Device::Cpu).unwrap();
        Arc::new(QTensor::quantize_onto(&numbers, QuantFormat::Q8_0, device).unwrap().into())
    };
    let norm = || -> Arc<Weight> { Arc::new(Tensor::ones(WIDTH, DType::F32, device).unwrap().into()) };
    let mut named =
        vec![("token_embd.weight".to_owned(), matrix(64, WIDTH)), ("output_norm.weight".to_owned(), norm())];
    for layer in 0..layers {
        let mut add = |name: &str, weight| named.push((format!("blk.{layer}.{name}.weight"), weight));
        add("attn_norm", norm());
        add("attn_q", matrix(WIDTH, WIDTH));
        add("attn_k", matrix(3 * HEAD, WIDTH));
        add("attn_v", matrix(3 * HEAD, WIDTH));
        add("attn_output", matrix(WIDTH, WIDTH));
        add("ffn_norm", norm());
        add("ffn_gate", matrix(HIDDEN, WIDTH));
        add("ffn_up", matrix(HIDDEN, WIDTH));
        add("ffn_down", matrix(WIDTH, HIDDEN));
    }
    let settings = serde_json::json!({
        "model_type": "llama", "hidden_size": WIDTH, "num_hidden_layers": layers, "intermediate_size": HIDDEN,
        "num_attention_heads": WIDTH / HEAD, "num_key_value_heads": 3, "rms_norm_eps": 1e-5, "rope_theta": 1e4,
        "max_position_embeddings": 2048, "tie_word_embeddings": true,
    });
    let config = Config::new(&Settings::from_json(&settings.to_string()).unwrap()).unwrap();
    let weights = Model::from_weights(device, named, Metadata::new()).unwrap();
    let model = LanguageModel::new(config, &weights).unwrap();
    let mut session = Session::new(&model, &SessionOptions::default()).unwrap();
    session.feed(&[1, 2, 3]).unwrap();
    session.feed(&[4]).unwrap();
    let text = format!("{session:?}");
    let (_, behind) = text.split_once("graph nodes Some(").expect("a step behind a prompt is a graph");
    behind.split(')').next().unwrap().parse().unwrap()
}

#[test]
fn a_layer_of_a_quantized_llama_has_few_launches() {
    let device = Device::parse("host:0").unwrap();
    let (one, three) = (nodes(1, &device), nodes(3, &device));
    println!("{one} nodes with a layer, {three} with three");
    assert_eq!((three - one) / 2, 10);
}
