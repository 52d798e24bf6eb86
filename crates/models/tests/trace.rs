//! The activations of a pass, and where those of two devices part.

mod common;

use std::collections::HashSet;

use common::{NAMES, Recorded, apart, devices};
use models::{Activation, Config, LanguageModel, Settings, drift};
use tensor_core::Device;
use weights::Checkpoint;

fn trace(recorded: &Recorded, device: &Device) -> (LanguageModel, Vec<Activation>) {
    let folder = tempfile::tempdir().unwrap();
    recorded.write(folder.path());
    let checkpoint = Checkpoint::open(folder.path()).unwrap();
    let config = Config::new(&Settings::read(folder.path(), &checkpoint).unwrap()).unwrap();
    let model = LanguageModel::new(config, &recorded.model(device)).unwrap();
    let activations = model.trace(&recorded.tokens).unwrap();
    (model, activations)
}

/// PyTorch's logits are the last activation, so keeping the others changed nothing.
#[test]
fn every_operation_is_kept_and_the_last_gives_pytorchs_logits() {
    for name in NAMES {
        let recorded = Recorded::read(name);
        let (model, found) = trace(&recorded, &Device::Cpu);
        let names: HashSet<&str> = found.iter().map(|activation| activation.name.as_str()).collect();
        assert_eq!(names.len(), found.len(), "{name}: two have one name");
        let last = found.last().unwrap();
        let far = apart(&last.tensor, &recorded.logits);
        assert!(far < 1e-4, "{name}: {} is {far} off", last.name);
        for layer in 0..model.config().layers {
            let of_layer = found.iter().filter(|activation| activation.layer == Some(layer)).count();
            assert!(of_layer >= 13, "{name}: {of_layer} in layer {layer}");
        }
    }
}

#[test]
fn two_devices_stay_together() {
    for device in devices() {
        let recorded = Recorded::read("gemma3");
        let ((_, here), (_, there)) = (trace(&recorded, &Device::Cpu), trace(&recorded, &device));
        let found = drift(&here, &there).unwrap();
        assert_eq!(found.len(), here.len());
        let worst = found.iter().max_by(|a, b| a.error.total_cmp(&b.error)).unwrap();
        assert!(worst.error < 1e-4, "{worst:?} on {device}");
    }
}

/// An error in one operation shows there first, and in no activation before it.
#[test]
fn an_error_shows_at_its_operation() {
    let recorded = Recorded::read("llama3");
    let (_, right) = trace(&recorded, &Device::Cpu);
    let mut wrong = right.clone();
    let index = wrong.iter().position(|activation| activation.name == "blk.1.ffn_gate").unwrap();
    wrong[index].tensor = wrong[index].tensor.affine(1.01, 0.0).unwrap();
    let found = drift(&wrong, &right).unwrap();
    let first = found.iter().find(|drift| drift.error > 1e-3).unwrap();
    assert_eq!((first.name.as_str(), first.operation, first.layer), ("blk.1.ffn_gate", "linear", Some(1)));
    assert!((first.error - 0.01).abs() < 1e-6, "{first:?}");
    assert!(found[..index].iter().all(|drift| drift.error == 0.0));
    // What one pass lacks is off too.
    let found = drift(&right, &right[..index]).unwrap();
    assert_eq!(found.len(), right.len());
    assert!(found[..index].iter().all(|drift| drift.error == 0.0));
    assert!(found[index..].iter().all(|drift| drift.error == f64::INFINITY));
}

/// Every operation is timed once for each chunk, and together they take no more than the pass.
#[test]
fn operations_of_a_prompt_are_timed() {
    for device in devices() {
        let recorded = Recorded::read("llama3");
        let model = trace(&recorded, &device).0;
        let kept = model.trace(&recorded.tokens).unwrap();
        let start = std::time::Instant::now();
        let found = model.profile(&recorded.tokens, 10).unwrap();
        let took = start.elapsed();
        let chunks = recorded.tokens.len().div_ceil(10);
        for one in &found {
            let count = kept.iter().filter(|activation| activation.operation == one.operation).count();
            assert_eq!(one.count, count * chunks, "{} on {device}", one.operation);
        }
        assert_eq!(found.iter().map(|one| one.count).sum::<usize>(), kept.len() * chunks);
        let all: std::time::Duration = found.iter().map(|one| one.time).sum();
        assert!(!all.is_zero() && all <= took, "{all:?} of {took:?} on {device}");
    }
}
