//! What settings of both kinds mean.

use models::{Architecture, BertConfig, Config, Error, Origin, Pooling, Scaling, Settings};
use weights::gguf::{Array, Metadata, Value};

fn json(value: serde_json::Value) -> Result<Config, Error> {
    Config::new(&Settings::from_json(&value.to_string())?)
}

/// A config.json with the sizes that every model needs, and these values.
fn with(values: serde_json::Value) -> Result<Config, Error> {
    let mut all = serde_json::json!({
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 7, "num_attention_heads": 4, "num_key_value_heads": 2,
    });
    for (key, value) in values.as_object().unwrap() {
        all[key] = value.clone();
    }
    json(all)
}

fn gguf(architecture: &str, values: &[(&str, Value)]) -> Metadata {
    let mut metadata = Metadata::new();
    metadata.insert("general.architecture", Value::String(architecture.to_owned()));
    for (key, number) in [
        ("context_length", 512),
        ("embedding_length", 64),
        ("block_count", 7),
        ("feed_forward_length", 128),
        ("attention.head_count", 4),
    ] {
        metadata.insert(format!("{architecture}.{key}"), Value::U32(number));
    }
    metadata.insert(format!("{architecture}.attention.layer_norm_rms_epsilon"), Value::F32(0.5));
    for (key, value) in values {
        metadata.insert(format!("{architecture}.{key}"), value.clone());
    }
    metadata
}

fn of_gguf(architecture: &str, values: &[(&str, Value)]) -> Result<Config, Error> {
    Config::new(&Settings::from_gguf(&gguf(architecture, values))?)
}

#[test]
fn gemma_has_what_its_files_leave_out() {
    let window = Some(512);
    let five_of_six = [window, window, window, window, window, None, window];
    let sliding = ("attention.sliding_window", Value::U32(512));
    let config = of_gguf("gemma3", std::slice::from_ref(&sliding)).unwrap();
    assert_eq!((config.architecture, config.origin), (Architecture::Gemma3, Origin::Gguf));
    assert_eq!(config.windows, five_of_six);
    assert_eq!((config.rope.base, config.local_rope.base), (1e6, 1e4));
    assert_eq!((config.kv_heads, config.head_size, config.norm_eps), (4, 16, 0.5));
    assert_eq!((config.attention_scale, config.logits_cap), (0.25, None));

    // Other patterns, as a number and as a list; without a window there is none.
    let three = [sliding.clone(), ("attention.sliding_window_pattern", Value::U32(3))];
    let expected = [window, window, None, window, window, None, window];
    assert_eq!(of_gguf("gemma3", &three).unwrap().windows, expected);
    let flags = vec![true, false, true, false, true, false, true];
    let list = Value::Array(Array::Bool(flags));
    let listed = [sliding.clone(), ("attention.sliding_window_pattern", list)];
    let expected = [window, None, window, None, window, None, window];
    assert_eq!(of_gguf("gemma3", &listed).unwrap().windows, expected);
    let short = Value::Array(Array::Bool(vec![true]));
    assert!(of_gguf("gemma3", &[sliding, ("attention.sliding_window_pattern", short)]).is_err());
    assert_eq!(of_gguf("gemma3", &[]).unwrap().windows, [None; 7]);

    // The text part of a model for texts and images, with numbers of heads left out.
    let text = serde_json::json!({
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 7, "sliding_window": 512,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "model_type": "gemma3_text",
    });
    let config = json(serde_json::json!({"model_type": "gemma3", "text_config": text})).unwrap();
    assert_eq!((config.heads, config.kv_heads, config.head_size), (8, 4, 256));
    assert_eq!(config.windows, five_of_six);
    assert_eq!((config.rope.scaling, config.local_rope.scaling), (Scaling::Linear(8.0), Scaling::None));
    assert_eq!((config.context, config.attention_scale), (131_072, 1.0 / 16.0));
}

/// transformers 5 writes the positions of both kinds of layers, and the kind of each layer.
#[test]
fn newer_config_files_say_more() {
    let config = with(serde_json::json!({
        "model_type": "gemma3_text", "sliding_window": 9, "head_dim": 16, "final_logit_softcapping": 30.0,
        "layer_types": ["full_attention", "sliding_attention", "full_attention", "full_attention", "full_attention",
            "full_attention", "sliding_attention"],
        "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 3e5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 2e3}},
    }));
    let config = config.unwrap();
    assert_eq!(config.windows, [None, Some(9), None, None, None, None, Some(9)]);
    assert_eq!((config.rope.base, config.rope.scaling), (3e5, Scaling::Linear(2.0)));
    assert_eq!((config.local_rope.base, config.local_rope.scaling), (2e3, Scaling::None));
    assert_eq!((config.logits_cap, config.attention_cap), (Some(30.0), None));

    let config = with(serde_json::json!({
        "model_type": "llama",
        "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, "factor": 32.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
    }));
    let scaling = Scaling::Llama3 { factor: 32.0, low: 1.0, high: 4.0, original: 8192.0 };
    let rope = config.unwrap().rope;
    assert_eq!((rope.base, rope.scaling), (5e5, scaling));
}

#[test]
fn windows_are_those_that_a_model_uses() {
    let qwen = |uses: bool| {
        let values = serde_json::json!({
            "model_type": "qwen2", "use_sliding_window": uses, "sliding_window": 5, "max_window_layers": 5,
        });
        with(values).unwrap().windows
    };
    assert_eq!(qwen(false), [None; 7]);
    assert_eq!(qwen(true), [None, None, None, None, None, Some(5), Some(5)]);
    let mistral = |window: serde_json::Value| {
        with(serde_json::json!({"model_type": "mistral", "sliding_window": window})).unwrap().windows
    };
    assert_eq!(mistral(4096.into()), [Some(4096); 7]);
    assert_eq!(mistral(serde_json::Value::Null), [None; 7]);
}

#[test]
fn settings_of_gguf_files_are_read_and_compared() {
    let config = of_gguf("llama", &[("rope.scaling.factor", Value::F32(4.0))]).unwrap();
    assert_eq!((config.rope.base, config.rope.scaling), (1e4, Scaling::Linear(4.0)));
    let off =
        [("rope.scaling.factor", Value::F32(4.0)), ("rope.scaling.type", Value::String("none".to_owned()))];
    assert_eq!(of_gguf("llama", &off).unwrap().rope.scaling, Scaling::None);
    let error = |values: &[(&str, Value)]| of_gguf("llama", values).unwrap_err().to_string();
    let in_metadata = "of the GGUF file's metadata is";
    assert_eq!(
        error(&[("rope.scaling.type", Value::String("yarn".to_owned()))]),
        format!("\"llama.rope.scaling.type\" {in_metadata} \"yarn\"; expected none or linear")
    );
    assert_eq!(
        error(&[("expert_count", Value::U32(8))]),
        format!("\"llama.expert_count\" {in_metadata} 8; expected 0: mixtures of experts are not supported")
    );
    assert_eq!(
        error(&[("attention.head_count_kv", Value::Array(Array::U32(vec![2; 7])))]),
        format!(
            "\"llama.attention.head_count_kv\" {in_metadata} of type arr[u32,7]; expected a whole number below 2^32"
        )
    );
    assert_eq!(
        error(&[("rope.dimension_count", Value::U32(8))]),
        format!("\"llama.rope.dimension_count\" {in_metadata} 8; expected 16, the size of a head")
    );
}

#[test]
fn encoders_have_a_config_of_their_own() {
    let values = [("attention.layer_norm_epsilon", Value::F32(0.25)), ("pooling_type", Value::U32(2))];
    let config = BertConfig::new(&Settings::from_gguf(&gguf("bert", &values)).unwrap()).unwrap();
    assert_eq!((config.width, config.layers, config.heads, config.norm_eps), (64, 7, 4, 0.25));
    assert_eq!((config.context, config.pooling), (512, Pooling::First));
    let pooled = [("attention.layer_norm_epsilon", Value::F32(0.25)), ("pooling_type", Value::U32(4))];
    assert!(BertConfig::new(&Settings::from_gguf(&gguf("bert", &pooled)).unwrap()).is_err());
}
