//! Logits of tiny models compared with those of PyTorch's transformers, from safetensors folders and from GGUF files.

mod common;

use std::f64::consts::TAU;
use std::path::Path;

use common::{NAMES, Recorded, apart, devices};
use models::{Architecture, CacheFormat, Config, LanguageModel, Logits, Session, SessionOptions, Settings};
use tensor_core::{Device, QTensor, QuantFormat, Tensor};
use weights::Weight;
use weights::gguf::{self, Metadata, Value};

/// PyTorch and we compute in f32, in different orders.
const APART: f32 = 1e-4;

fn open(recorded: &Recorded, device: &Device) -> LanguageModel {
    let folder = tempfile::tempdir().unwrap();
    recorded.write(folder.path());
    LanguageModel::open(folder.path(), device).unwrap()
}

fn session(model: &LanguageModel, chunk: usize) -> Session {
    Session::new(model, &SessionOptions { chunk, ..SessionOptions::default() }).unwrap()
}

#[test]
fn logits_are_those_of_pytorch_on_the_cpu_and_on_a_hip_device() {
    for device in devices() {
        for name in NAMES {
            let recorded = Recorded::read(name);
            let model = open(&recorded, &device);
            let found = session(&model, 512).feed_all(&recorded.tokens).unwrap();
            let apart = apart(&found, &recorded.logits);
            println!("{name} on {device}: {apart:.1e} apart");
            assert!(apart < APART, "{name} on {device}: {apart}");
        }
    }
}

#[test]
fn chunks_and_single_tokens_give_the_same() {
    for device in devices() {
        for name in NAMES {
            let recorded = Recorded::read(name);
            let model = open(&recorded, &device);
            for chunk in [5, 1] {
                let found = session(&model, chunk).feed_all(&recorded.tokens).unwrap();
                let apart = apart(&found, &recorded.logits);
                assert!(apart < APART, "{name} in chunks of {chunk} on {device}: {apart}");
            }
            // A prompt, and a text that goes on in another way and comes back.
            let mut session = session(&model, 7);
            let (prompt, rest) = recorded.tokens.split_at(15);
            session.feed(prompt).unwrap();
            session.feed(&[3, 1, 4]).unwrap();
            session.truncate(prompt.len());
            for (index, token) in rest.iter().enumerate() {
                let logits = session.feed(&[*token]).unwrap().unsqueeze(0).unwrap();
                let apart = apart(&logits, &recorded.logits[prompt.len() + index..][..1]);
                assert!(apart < APART, "{name}, token {index} on {device}: {apart}");
            }
        }
    }
}

#[test]
fn caches_of_16_and_8_bits_are_close() {
    for device in devices() {
        for name in ["llama3", "gemma3_caps"] {
            let recorded = Recorded::read(name);
            let model = open(&recorded, &device);
            for (format, most) in
                [(CacheFormat::F16, 0.02), (CacheFormat::BF16, 0.15), (CacheFormat::Q8_0, 0.15)]
            {
                let mut cache = model.new_cache(1, 24, format).unwrap();
                assert_eq!((cache.format(), cache.capacity()), (format, 24));
                let found = model.forward(&recorded.tokens, &mut cache, 0, Logits::All).unwrap();
                let apart = apart(&found, &recorded.logits);
                println!("{name} with a cache in {format} on {device}: {apart:.1e} apart");
                assert!(apart > 0.0 && apart < most, "{name} in {format} on {device}: {apart}");
                // Token by token each reads what was rounded before.
                let options = SessionOptions { cache: Some(format), chunk: 1, ..SessionOptions::default() };
                let mut session = Session::new(&model, &options).unwrap();
                let tokens = recorded.tokens.iter().zip(&recorded.logits);
                for (index, (token, expected)) in tokens.enumerate() {
                    let logits = session.feed(&[*token]).unwrap().unsqueeze(0).unwrap();
                    let apart = common::apart(&logits, std::slice::from_ref(expected));
                    assert!(apart < most, "{name} in {format}, token {index} on {device}: {apart}");
                }
            }
        }
    }
}

/// The order that llama.cpp's converter gives the rows of q and k of Llama models: those of the two halves of a head in turn.
fn permuted(weight: &Tensor, heads: usize) -> Tensor {
    let &[rows, columns] = weight.dims() else { panic!("a matrix") };
    let halves = weight.reshape([heads, 2, rows / heads / 2, columns]).unwrap();
    halves.transpose(1, 2).unwrap().reshape([rows, columns]).unwrap()
}

/// What the frequencies of Llama 3 are divided by: GGUF files have these numbers instead of settings.
fn factors(config: &serde_json::Value, head_size: usize) -> Tensor {
    let number = |key: &str| config["rope_scaling"][key].as_f64().unwrap();
    let (factor, original) = (number("factor"), number("original_max_position_embeddings"));
    let (low, high) = (number("low_freq_factor"), number("high_freq_factor"));
    let divisors = (0..head_size / 2).map(|pair| {
        let frequency = config["rope_theta"].as_f64().unwrap().powf(-2.0 * pair as f64 / head_size as f64);
        let wave = TAU / frequency;
        if wave < original / high {
            1.0
        } else if wave > original / low {
            factor as f32
        } else {
            let smooth = (original / wave - low) / (high - low);
            (1.0 / ((1.0 - smooth) / factor + smooth)) as f32
        }
    });
    Tensor::from_vec(divisors.collect::<Vec<f32>>(), head_size / 2, &Device::Cpu).unwrap()
}

/// The model as llama.cpp's converter would write it. If `quantized`, matrices whose rows are whole blocks become q8_0.
fn write_gguf(recorded: &Recorded, path: &Path, quantized: bool) {
    let config = Config::new(&Settings::from_json(&recorded.config.to_string()).unwrap()).unwrap();
    let model = recorded.model(&Device::Cpu);
    let architecture = config.architecture.name();
    let mut named: Vec<(String, Weight)> = Vec::new();
    let mut add = |name: String, weight: &Weight| {
        let tensor = weight.tensor().unwrap();
        let tensor = match config.architecture {
            Architecture::Llama if name.ends_with("attn_q.weight") => permuted(tensor, config.heads),
            Architecture::Llama if name.ends_with("attn_k.weight") => permuted(tensor, config.kv_heads),
            Architecture::Gemma3 if name.ends_with("norm.weight") => tensor.affine(1.0, 1.0).unwrap(),
            _ => tensor.clone(),
        };
        let weight = match *tensor.dims() {
            [_, columns] if quantized && columns.is_multiple_of(32) => {
                QTensor::quantize(&tensor, QuantFormat::Q8_0).unwrap().into()
            }
            _ => Weight::from(tensor),
        };
        named.push((name, weight));
    };
    for name in ["token_embd.weight", "output_norm.weight", "output.weight"] {
        if let Some(weight) = model.find(name) {
            add(name.to_owned(), weight);
        }
    }
    for layer in model.layers() {
        for (name, weight) in layer.iter() {
            add(format!("blk.{}.{name}", layer.number()), weight);
        }
    }
    if recorded.config["rope_scaling"]["rope_type"] == "llama3" {
        named.push(("rope_freqs.weight".to_owned(), factors(&recorded.config, config.head_size).into()));
    }
    let mut metadata = Metadata::new();
    metadata.insert("general.architecture", Value::String(architecture.to_owned()));
    let mut put = |key: &str, value: Value| {
        metadata.insert(format!("{architecture}.{key}"), value);
    };
    for (key, count) in [
        ("context_length", config.context),
        ("embedding_length", config.width),
        ("block_count", config.layers),
        ("feed_forward_length", config.hidden),
        ("attention.head_count", config.heads),
        ("attention.head_count_kv", config.kv_heads),
        ("attention.key_length", config.head_size),
        ("rope.dimension_count", config.head_size),
    ] {
        put(key, Value::U32(count as u32));
    }
    put("attention.layer_norm_rms_epsilon", Value::F32(config.norm_eps as f32));
    put("rope.freq_base", Value::F32(config.rope.base as f32));
    if let Some(window) = config.windows.iter().flatten().next() {
        put("attention.sliding_window", Value::U32(*window as u32));
    }
    gguf::write(path, &metadata, named.iter().map(|(name, weight)| (name.as_str(), weight))).unwrap();
}

#[test]
fn gguf_files_of_the_same_weights_give_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    for name in ["llama3", "qwen2", "qwen3"] {
        let recorded = Recorded::read(name);
        write_gguf(&recorded, &path, false);
        for device in devices() {
            let model = LanguageModel::open(&path, &device).unwrap();
            let found = session(&model, 512).feed_all(&recorded.tokens).unwrap();
            let apart = apart(&found, &recorded.logits);
            println!("{name}.gguf on {device}: {apart:.1e} apart");
            assert!(apart < APART, "{name}.gguf on {device}: {apart}");
        }
    }
}

/// Its scale of attention is the size of a head in GGUF files, and a factor of positions is a setting.
#[test]
fn a_gguf_file_of_gemma_gives_what_its_folder_gives() {
    let mut recorded = Recorded::read("gemma3");
    recorded.config["query_pre_attn_scalar"] = 16.into();
    recorded.config["rope_scaling"] = serde_json::Value::Null;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    write_gguf(&recorded, &path, false);
    for device in devices() {
        let logits = |model: &LanguageModel| session(model, 512).feed_all(&recorded.tokens).unwrap();
        let (gguf, folder) = (LanguageModel::open(&path, &device).unwrap(), open(&recorded, &device));
        assert_eq!(gguf.config().windows, folder.config().windows);
        assert_eq!(gguf.config().local_rope, folder.config().local_rope);
        let expected = logits(&folder).to_vec2::<f32>().unwrap();
        let apart = apart(&logits(&gguf), &expected);
        assert!(apart < APART, "on {device}: {apart}");
    }
}

/// GPUs with matrix units attend in `bf16` to prompts of 256 tokens or more, as with a cache in `bf16`.
#[test]
fn long_prompts_for_quantized_weights_attend_as_with_a_cache_in_bf16() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let recorded = Recorded::read("qwen3");
    write_gguf(&recorded, &path, true);
    let tokens: Vec<u32> = recorded.tokens.iter().copied().cycle().take(300).collect();
    for device in devices() {
        let Some(hip) = device.as_hip() else { continue };
        let model = LanguageModel::open(&path, &device).unwrap();
        let logits = |cache| {
            let options = SessionOptions { context: Some(300), cache: Some(cache), chunk: 300, pool: None };
            let found = Session::new(&model, &options).unwrap().feed_all(&tokens).unwrap();
            found.to_vec2::<f32>().unwrap()
        };
        let faster = hip.attends_bf16_faster(300, 300, model.config().head_size);
        let [in_bf16, in_f32] = [logits(CacheFormat::BF16), logits(CacheFormat::F32)];
        assert_eq!(in_bf16 == in_f32, faster, "on {device}");
        hip.allow_matrix_attention(false);
        assert_ne!(logits(CacheFormat::F32), in_bf16, "on {device}");
    }
}

/// Tokens one by one are multiplied as integers, and more of them otherwise: both are close to the weights before.
#[test]
fn quantized_weights_are_close_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let recorded = Recorded::read("qwen3");
    write_gguf(&recorded, &path, true);
    for device in devices() {
        let model = LanguageModel::open(&path, &device).unwrap();
        let quantized = model.weights().iter().filter(|(_, weight)| weight.quantized().is_some()).count();
        // All but norms and the two matrices with rows of 48.
        assert_eq!(quantized, model.weights().len() - (2 * 4 + 1) - 2);
        for chunk in [24, 1] {
            let found = session(&model, chunk).feed_all(&recorded.tokens).unwrap();
            let apart = apart(&found, &recorded.logits);
            println!("qwen3 in q8_0 in chunks of {chunk} on {device}: {apart:.1e} apart");
            assert!(apart > 0.0 && apart < 0.4, "in chunks of {chunk} on {device}: {apart}");
        }
    }
}
