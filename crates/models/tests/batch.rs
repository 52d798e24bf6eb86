//! Several sequences in one step give what each gives alone, and PyTorch gives.

mod common;

use common::{NAMES, Recorded, apart, devices};
use models::{Batch, Error, LanguageModel, SessionOptions};
use tensor_core::Device;

const APART: f32 = 1e-4;

fn batch(recorded: &Recorded, sequences: usize, device: &Device) -> Batch {
    let folder = tempfile::tempdir().unwrap();
    recorded.write(folder.path());
    let model = LanguageModel::open(folder.path(), device).unwrap();
    let options = SessionOptions { context: Some(24), ..SessionOptions::default() };
    Batch::new(&model, sequences, &options).unwrap()
}

/// Row `sequence` of a step's logits compared with the recorded ones after token `index`.
fn compare(logits: &tensor_core::Tensor, sequence: usize, recorded: &Recorded, index: usize, what: &str) {
    let row = logits.narrow(0, sequence, 1).unwrap();
    let apart = apart(&row, &recorded.logits[index..=index]);
    assert!(apart < APART, "{what}, sequence {sequence}, token {index}: {apart}");
}

/// Three sequences are the same text, of which they have read 3, 9 and 0 tokens when the steps begin.
#[test]
fn sequences_of_different_lengths_are_those_of_pytorch() {
    for device in devices() {
        for name in NAMES {
            let recorded = Recorded::read(name);
            let (tokens, what) = (&recorded.tokens, format!("{name} on {device}"));
            let mut batch = batch(&recorded, 3, &device);
            let mut lengths = [3, 9, 0];
            for sequence in [0, 1] {
                batch.feed(sequence, &tokens[..lengths[sequence]]).unwrap();
            }
            for step in 0..20 {
                if step == 6 {
                    // Another prompt for one of them, between the steps of the others.
                    batch.truncate(0, 1).unwrap();
                    batch.feed(0, &tokens[1..5]).unwrap();
                    lengths[0] = 5;
                }
                // The second one ends, the last one makes a pause.
                let given = [0, 1, 2].map(|sequence| {
                    let goes_on = lengths[sequence] < tokens.len() && (sequence != 2 || step % 5 != 3);
                    goes_on.then(|| tokens[lengths[sequence]])
                });
                let logits = batch.step(&given).unwrap();
                for sequence in 0..3 {
                    if given[sequence].is_some() {
                        compare(&logits, sequence, &recorded, lengths[sequence], &what);
                        lengths[sequence] += 1;
                    }
                    assert_eq!(batch.length(sequence).unwrap(), lengths[sequence]);
                }
            }
        }
    }
}

#[test]
fn wrong_batches_are_errors_and_change_nothing() {
    let recorded = Recorded::read("llama3");
    for device in devices() {
        let mut batch = batch(&recorded, 2, &device);
        batch.feed(0, &recorded.tokens[..5]).unwrap();
        batch.step(&[Some(recorded.tokens[5]), Some(recorded.tokens[0])]).unwrap();
        let error = |result: Result<tensor_core::Tensor, Error>| result.unwrap_err().to_string();
        assert_eq!(
            error(batch.step(&[Some(1)])),
            "a step got 1 tokens or gaps, and the batch has 2 sequences: give one of them for each"
        );
        assert_eq!(error(batch.step(&[None, None])), "there are no tokens to begin with");
        assert_eq!(error(batch.feed(2, &[1])), "there is no sequence 2: there are 2, and the first is 0");
        assert!(error(batch.step(&[Some(u32::MAX), None])).contains("not in the vocabulary"));
        assert!(error(batch.feed(0, &[0; 19])).contains("do not fit a context of 24"));
        batch.feed(1, &recorded.tokens[1..24]).unwrap();
        assert!(error(batch.step(&[Some(1), Some(1)])).contains("do not fit a context of 24"));
        assert_eq!((batch.length(0).unwrap(), batch.length(1).unwrap()), (6, 24));
        // A full sequence rests, and keeps what it has, while the other one goes on.
        let logits = batch.step(&[Some(recorded.tokens[6]), None]).unwrap();
        compare(&logits, 0, &recorded, 6, "beside a full sequence");
        batch.truncate(1, 23).unwrap();
        let logits = batch.step(&[None, Some(recorded.tokens[23])]).unwrap();
        compare(&logits, 1, &recorded, 23, "after a rest");
    }
}
