//! A model of which a part is on the device gives what the whole one gives.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{NAMES, Recorded, devices};
use models::{Batch, Config, Error, LanguageModel, Session, SessionOptions, Settings};
use tensor_core::{DType, Device, Tensor};
use weights::{CacheStatistics, Checkpoint};

/// A folder with the model, the bytes outside of its layers, and those of its largest layer.
fn folder(recorded: &Recorded) -> (tempfile::TempDir, u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    recorded.write(folder.path());
    let checkpoint = Checkpoint::open(folder.path()).unwrap();
    let layers = checkpoint.layer_bytes();
    let outside = checkpoint.byte_len() - layers.values().sum::<u64>();
    (folder, outside, layers.into_values().max().unwrap())
}

/// The logits of a prompt, and of single tokens behind it.
fn logits(model: &LanguageModel, tokens: &[u32]) -> Vec<Vec<f32>> {
    let options = SessionOptions { context: Some(24), chunk: 7, ..SessionOptions::default() };
    let mut session = Session::new(model, &options).unwrap();
    let (prompt, rest) = tokens.split_at(10);
    let mut found = session.feed_all(prompt).unwrap().to_vec2::<f32>().unwrap();
    found.extend(rest.iter().map(|token| session.feed(&[*token]).unwrap().to_vec1::<f32>().unwrap()));
    found
}

#[test]
fn logits_are_those_of_pytorch_whichever_layers_fit() {
    for device in devices() {
        for name in NAMES {
            let recorded = Recorded::read(name);
            let (folder, outside, layer) = folder(&recorded);
            for layers in [1, 2] {
                let budget = outside + layers * layer;
                let model = LanguageModel::open_within(folder.path(), &device, budget).unwrap();
                assert_eq!(model.weight_bytes(), Checkpoint::open(folder.path()).unwrap().byte_len());
                for (index, logits) in logits(&model, &recorded.tokens).iter().enumerate() {
                    let found = Tensor::from_slice(logits, [1, logits.len()], &Device::Cpu).unwrap();
                    let apart = common::apart(&found, &recorded.logits[index..=index]);
                    assert!(apart < 1e-4, "{name}, {layers} layers on {device}, token {index}: {apart}");
                }
                let CacheStatistics { peak, budget, evictions, .. } = model.cached_layers().unwrap();
                assert!(peak <= budget && budget == layers * layer, "{name}: {peak} of {budget}");
                let fits = model.config().layers as u64 <= layers;
                assert_eq!(evictions == 0, fits, "{name}: {evictions} evictions with {layers} layers");
            }
        }
    }
}

/// A layer on the device borrows its weights; one within a budget is made of a clone of each. Even the clones of a whole model take
/// less than a hundredth of a step, and the model is tiny.
#[test]
fn cloning_every_weight_costs_less_than_a_hundredth_of_a_step() {
    let recorded = Recorded::read("llama");
    let weights = recorded.model(&Device::Cpu);
    let config = Config::new(&Settings::from_json(&recorded.config.to_string()).unwrap()).unwrap();
    let model = LanguageModel::new(config, &weights).unwrap();
    let options = SessionOptions { context: Some(64), ..SessionOptions::default() };
    let mut session = Session::new(&model, &options).unwrap();
    session.feed(&recorded.tokens[..8]).unwrap();
    let fastest = |rounds: usize, run: &mut dyn FnMut()| {
        let times = (0..rounds).map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        });
        times.min().unwrap()
    };
    let step = fastest(40, &mut || {
        session.feed(&recorded.tokens[..1]).unwrap().to_vec1::<f32>().unwrap();
    });
    let clones = fastest(200, &mut || {
        for (_, weight) in model.weights().iter() {
            drop(std::hint::black_box(Arc::clone(std::hint::black_box(weight))));
        }
    });
    println!("{clones:?} for {} clones, {step:?} for a step", model.weights().len());
    assert!(clones * 100 < step, "{clones:?} of {step:?}");
}

#[test]
fn sequences_of_a_batch_go_on_together() {
    let recorded = Recorded::read("gemma3");
    let (folder, outside, layer) = folder(&recorded);
    for device in devices() {
        let model = LanguageModel::open_within(folder.path(), &device, outside + layer).unwrap();
        let options = SessionOptions { context: Some(24), ..SessionOptions::default() };
        let mut batch = Batch::new(&model, 2, &options).unwrap();
        batch.feed(0, &recorded.tokens[..5]).unwrap();
        for (step, tokens) in recorded.tokens.windows(6).take(8).enumerate() {
            let found = batch.step(&[Some(tokens[5]), Some(tokens[0])]).unwrap();
            for (sequence, index) in [step + 5, step].into_iter().enumerate() {
                let row = found.narrow(0, sequence, 1).unwrap();
                let apart = common::apart(&row, &recorded.logits[index..=index]);
                assert!(apart < 1e-4, "sequence {sequence}, token {index} on {device}: {apart}");
            }
        }
    }
}

#[test]
fn the_device_holds_the_budget_and_gives_it_back() {
    let device = Device::parse("host:1").unwrap();
    let hip = device.as_hip().unwrap();
    let recorded = Recorded::read("llama3");
    let (folder, outside, layer) = folder(&recorded);
    // What products and lookups keep of a device.
    let square = Tensor::ones([64, 64], DType::F32, &device).unwrap();
    square.matmul(&square).unwrap();
    square.embedding(&Tensor::zeros(1, DType::U32, &device).unwrap()).unwrap();
    drop(square);
    let in_use = || hip.device().memory_statistics().allocated as u64;
    let before = in_use();
    let model = LanguageModel::open_within(folder.path(), &device, outside + layer).unwrap();
    // The first layer was loaded for the dtype of its weights.
    assert_eq!(in_use() - before, outside + layer);
    logits(&model, &recorded.tokens);
    device.synchronize().unwrap();
    assert_eq!(in_use() - before, outside + layer);
    drop(model);
    device.synchronize().unwrap();
    assert_eq!(in_use(), before);
}

#[test]
fn a_budget_that_is_too_small_says_what_is_needed() {
    let recorded = Recorded::read("llama3");
    let (folder, outside, layer) = folder(&recorded);
    let needed = outside + layer;
    let error = LanguageModel::open_within(folder.path(), &Device::Cpu, needed - 1).unwrap_err();
    assert!(matches!(error, Error::BudgetTooSmall { .. }), "{error}");
    let text = format!(
        "a budget of {} bytes is too small: the largest layer and what is outside of layers take {needed}; give at least these",
        needed - 1
    );
    assert_eq!(error.to_string(), text);
}
