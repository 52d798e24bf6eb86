//! Models from files of either format: names, layers, metadata, and what is shared.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tensor_core::{DType, Device, Result, Tensor, safetensors};
use weights::gguf::{Metadata, Value};
use weights::{Checkpoint, Model, Progress, Weight};

/// A tensor of eight numbers from `first` on.
fn tensor(first: f32) -> Tensor {
    let numbers: Vec<f32> = (0..8).map(|i| first + i as f32).collect();
    Tensor::from_vec(numbers, [2, 4], &Device::Cpu).unwrap()
}

fn write(path: &Path, named: &[(&str, f32)], metadata: &[(&str, &str)]) {
    let tensors: Vec<(&str, Tensor)> = named.iter().map(|(name, first)| (*name, tensor(*first))).collect();
    let metadata = metadata.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    safetensors::write(path, tensors.iter().map(|(name, tensor)| (*name, tensor)), &metadata).unwrap();
}

/// The first number of a weight.
fn first(model: &Model, name: &str) -> f32 {
    model.get(name).unwrap().tensor().unwrap().to_vec::<f32>().unwrap()[0]
}

const SMALL: [(&str, f32); 5] = [
    ("model.embed_tokens.weight", 1.0),
    ("model.layers.0.self_attn.q_proj.weight", 2.0),
    ("model.layers.1.self_attn.q_proj.weight", 3.0),
    ("model.layers.1.post_attention_layernorm.weight", 4.0),
    ("lm_head.weight", 5.0),
];

#[test]
fn names_of_both_schemes_lead_to_the_same_weights() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    write(&path, &SMALL, &[("format", "pt")]);
    for device in Device::all()?.into_iter().take(2) {
        let model = Model::open(&path, &device)?;
        assert!(model.device().same_device(&device));
        assert_eq!((model.len(), model.byte_len(), model.metadata().str("format")), (5, 160, Some("pt")));
        for (name, other, number) in [
            ("model.embed_tokens.weight", "token_embd.weight", 1.0),
            ("model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight", 2.0),
            ("model.layers.1.post_attention_layernorm.weight", "blk.1.ffn_norm.weight", 4.0),
            ("lm_head.weight", "output.weight", 5.0),
        ] {
            assert!(Arc::ptr_eq(model.get(name)?, model.get(other)?), "{name}");
            assert_eq!(first(&model, other), number, "{name}");
        }
        let layer = model.layer(1)?;
        assert_eq!(layer.names().collect::<Vec<_>>(), ["attn_q.weight", "ffn_norm.weight"]);
        for name in ["attn_q.weight", "self_attn.q_proj.weight"] {
            assert!(Arc::ptr_eq(&layer[name], &model["model.layers.1.self_attn.q_proj.weight"]));
        }
        assert_eq!((layer.number(), layer.byte_len(), model.layers().len()), (1, 64, 2));
        let error = layer.get("attn_k.weight").unwrap_err().to_string();
        assert_eq!(error, "layer: layer 1 has no \"attn_k.weight\"; it has attn_q.weight ffn_norm.weight");
        assert!(layer.find("attn_k.weight").is_none() && model.find("x").is_none());
        assert_eq!(model.layer(2).unwrap_err().to_string(), "model: the model has no layer 2 among its 2");
        assert_eq!(
            model.get("x").unwrap_err().to_string(),
            "model: the model has no weight \"x\" among its 5"
        );
    }
    Ok(())
}

#[test]
fn gguf_files_are_models() -> Result<()> {
    for device in Device::all()?.into_iter().take(2) {
        let checkpoint = Checkpoint::from_bytes(common::python("gguf"))?;
        let mut seen = Vec::new();
        let model = Model::load(&checkpoint, &device, &mut |progress: Progress<'_>| {
            seen.push((progress.name.to_owned(), progress.tensors, progress.bytes));
            assert_eq!((progress.all_tensors, progress.all_bytes), (checkpoint.len(), checkpoint.byte_len()));
        })?;
        // In the order of the file.
        assert_eq!(seen.first().unwrap(), &("float32".to_owned(), 1, 24));
        assert_eq!(seen.last().unwrap(), &("mxfp4".to_owned(), checkpoint.len(), checkpoint.byte_len()));
        assert_eq!(model.byte_len() as u64, checkpoint.byte_len());
        assert_eq!(model.metadata().get("all.f64"), Some(&Value::F64(0.1)));
        let q = model.layer(1)?["attn_q.weight"].tensor()?.to_vec::<f32>()?;
        assert_eq!(q, [2.0; 4]);
        for name in checkpoint.names() {
            assert_eq!(*model[name].to_bytes()?, *checkpoint.bytes(name)?, "{name}");
        }
        assert_eq!(model["q6_k"].shape().dims(), [2, 256]);
    }
    Ok(())
}

#[test]
fn a_model_in_several_files_has_an_index() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    write(&folder.path().join(files[0]), &SMALL[..2], &[("format", "pt")]);
    write(&folder.path().join(files[1]), &SMALL[2..], &[]);
    let index = folder.path().join("model.safetensors.index.json");
    let map = |file_of: &dyn Fn(usize) -> &'static str| {
        let map: BTreeMap<&str, &str> =
            SMALL.iter().enumerate().map(|(i, (name, _))| (*name, file_of(i))).collect();
        let json = serde_json::json!({"metadata": {"total_size": 160}, "weight_map": map});
        std::fs::write(&index, json.to_string()).unwrap();
    };
    map(&|i| files[usize::from(i >= 2)]);
    for path in [&index, folder.path()] {
        let model = Model::open(path, &Device::Cpu)?;
        assert_eq!((model.len(), first(&model, "lm_head.weight")), (5, 5.0));
        assert_eq!(first(&model, "blk.0.attn_q.weight"), 2.0);
        assert_eq!(model.metadata().str("format"), Some("pt"));
    }
    let error = || Checkpoint::open(&index).unwrap_err().to_string();
    map(&|_| files[0]);
    assert!(error().contains("which does not have it"), "{}", error());
    map(&|_| "../elsewhere.safetensors");
    assert!(error().contains("no name of a file beside the index"), "{}", error());
    map(&|_| "gone.safetensors");
    assert!(error().contains("gone.safetensors"), "{}", error());
    std::fs::write(&index, "{}").unwrap();
    assert!(error().contains("it is no index of safetensors files"), "{}", error());
    Ok(())
}

#[test]
fn a_folder_has_one_model() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let error = Checkpoint::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("it has no model"), "{error}");
    std::fs::write(folder.path().join("a.gguf"), common::python("gguf")).unwrap();
    assert!(Checkpoint::open(folder.path())?.as_gguf().is_some());
    // Later files of a split model count with its first; this name only looks like one.
    for later in ["b-00002-of-00002.gguf", "state-of-the-art.gguf"] {
        std::fs::write(folder.path().join(later), common::python("gguf")).unwrap();
    }
    let error = Checkpoint::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("it has 2 models"), "{error}");
    write(&folder.path().join("model.safetensors"), &SMALL, &[]);
    assert!(Checkpoint::open(folder.path())?.as_gguf().is_none());
    Ok(())
}

/// The models of ci/fetch-models.sh, whole, on a device.
#[test]
fn real_models_are_loaded() -> Result<()> {
    let Some(folder) = common::models() else { return Ok(()) };
    let device = Device::parse("host:0")?;
    for (name, layers, short, shape, format) in [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", 30, "ffn_gate.weight", [1536, 576], "q4_1"),
        ("gemma-3-270m-q4_k_m.gguf", 18, "attn_q.weight", [1024, 640], "q5_0"),
    ] {
        let checkpoint = Checkpoint::open(folder.join(name))?;
        let model = Model::load(&checkpoint, &device, &mut |_| ())?;
        assert_eq!(
            (model.byte_len() as u64, model.layers().len()),
            (checkpoint.byte_len(), layers),
            "{name}"
        );
        let weight = &model.layer(layers - 1)?[short];
        assert_eq!((weight.shape().dims(), weight.format().name()), (&shape[..], format), "{name}");
        for name in
            [format!("blk.0.{short}"), "token_embd.weight".to_owned(), "output_norm.weight".to_owned()]
        {
            assert!(*model[name.as_str()].to_bytes()? == *checkpoint.bytes(&name)?, "{name}");
        }
    }
    Ok(())
}

#[test]
fn what_tensors_cannot_be_is_left_out() -> Result<()> {
    let json = r#"{"mask":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let bytes =
        [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &[0, 0, 128, 63, 0, 0, 0, 64, 1, 0, 1]]
            .concat();
    let checkpoint = Checkpoint::from_bytes(bytes)?;
    assert_eq!(checkpoint.info("mask").unwrap().format_name, "bool");
    assert_eq!(*checkpoint.bytes("mask")?, [1, 0, 1]);
    let model = Model::load(&checkpoint, &Device::Cpu, &mut |_| ())?;
    assert_eq!((model.left_out(), model.names().collect::<Vec<_>>()), (&["mask".to_owned()][..], vec!["w"]));
    assert_eq!(model["w"].tensor()?.to_vec1::<f32>()?, [1.0, 2.0]);
    assert_eq!(model["w"].tensor()?.dtype(), DType::F32);
    Ok(())
}

#[test]
fn weights_that_are_there_make_a_model() {
    let host = Device::parse("host:0").unwrap();
    let matrix = |device: &Device| Arc::new(Weight::from(Tensor::ones([2, 3], DType::F32, device).unwrap()));
    let (query, embedding) = (matrix(&host), matrix(&host));
    let named = [
        ("model.layers.1.self_attn.q_proj.weight".to_owned(), Arc::clone(&query)),
        ("token_embd.weight".to_owned(), embedding),
    ];
    let model = Model::from_weights(&host, named, Metadata::new()).unwrap();
    assert_eq!((model.len(), model.byte_len()), (2, 48));
    assert!(Arc::ptr_eq(model.get("blk.1.attn_q.weight").unwrap(), &query));
    assert!(Arc::ptr_eq(&model.layer(1).unwrap()["attn_q.weight"], &query));
    let apart = [("token_embd.weight".to_owned(), matrix(&Device::Cpu))];
    let error = Model::from_weights(&host, apart, Metadata::new()).unwrap_err().to_string();
    assert!(error.contains("the weight token_embd.weight is on cpu, and the model on host:0"), "{error}");
}
