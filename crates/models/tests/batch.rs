//! Several sequences in one step give what each gives alone, and PyTorch gives.

mod common;

use common::{NAMES, Recorded, apart, devices};
use models::{Batch, CacheFormat, Error, LanguageModel, SessionOptions};
use tensor_core::{Device, Tensor};

const APART: f32 = 1e-4;

fn model(recorded: &Recorded, device: &Device) -> LanguageModel {
    let folder = tempfile::tempdir().unwrap();
    recorded.write(folder.path());
    LanguageModel::open(folder.path(), device).unwrap()
}

fn batch(recorded: &Recorded, sequences: usize, device: &Device) -> Batch {
    let model = model(recorded, device);
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

/// Texts in a batch, and the logits that each has alone.
struct Texts {
    tokens: Vec<Vec<u32>>,
    alone: Vec<Vec<Vec<f32>>>,
    most: f32,
    what: String,
}

impl Texts {
    fn compare(&self, logits: &Tensor, sequence: usize, length: usize) {
        let apart = apart(&logits.unsqueeze(0).unwrap(), &self.alone[sequence][length - 1..length]);
        assert!(apart < self.most, "{}, sequence {sequence}, token {length}: {apart}", self.what);
    }

    /// Adds tokens to a sequence as a prompt, and compares the logits behind the last.
    fn feed(&self, batch: &mut Batch, sequence: usize, count: usize) -> Result<(), Error> {
        let length = batch.length(sequence)?;
        let logits = batch.feed(sequence, &self.tokens[sequence][length..length + count])?;
        self.compare(&logits, sequence, length + count);
        Ok(())
    }

    /// Adds a token to each of these sequences, and compares their logits.
    fn step(&self, batch: &mut Batch, sequences: &[usize]) -> Result<(), Error> {
        let lengths = [0, 1, 2].map(|sequence| batch.length(sequence).unwrap());
        let given = [0, 1, 2].map(|s| sequences.contains(&s).then(|| self.tokens[s][lengths[s]]));
        let logits = batch.step(&given)?;
        for &sequence in sequences {
            self.compare(&logits.get(sequence).unwrap(), sequence, lengths[sequence] + 1);
        }
        Ok(())
    }
}

/// Pages of a sequence lie apart once another one has taken some, and are another sequence's when a text is cut.
#[test]
fn sequences_in_a_small_pool_are_those_alone() {
    let kinds = [
        ("llama3", CacheFormat::F32, APART),
        ("gemma3", CacheFormat::F32, APART),
        // An integer may be rounded otherwise where the sums of one row and of three differ by a bit.
        ("gemma3_caps", CacheFormat::Q8_0, 0.01),
    ];
    for (device, (name, format, most)) in
        devices().into_iter().flat_map(|d| kinds.map(|kind| (d.clone(), kind)))
    {
        let model = model(&Recorded::read(name), &device);
        let context = SessionOptions { context: Some(200), cache: Some(format), chunk: 40, pool: None };
        let tokens: Vec<Vec<u32>> = [7, 11, 13]
            .map(|by| (0..170).map(|at| (at * by + at / 9) % model.vocabulary() as u32).collect())
            .to_vec();
        let alone = tokens.iter().map(|tokens| {
            let logits = Batch::new(&model, 1, &context).unwrap().feed_all(0, tokens).unwrap();
            logits.to_vec2::<f32>().unwrap()
        });
        let texts = Texts { alone: alone.collect(), tokens, most, what: format!("{name} on {device}") };

        // Five pages: three sequences of 200 tokens would take twelve.
        let mut batch = Batch::new(&model, 3, &SessionOptions { pool: Some(320), ..context }).unwrap();
        for (sequence, count) in [(0, 100), (1, 30), (2, 61)] {
            texts.feed(&mut batch, sequence, count).unwrap();
        }
        assert_eq!(batch.pages(), (4, 5));
        for step in 0..28 {
            texts.step(&mut batch, if step % 5 == 3 { &[0, 2] } else { &[0, 1, 2] }).unwrap();
        }
        assert_eq!(batch.pages(), (5, 5));
        // The first sequence has filled two pages.
        let error = texts.step(&mut batch, &[0, 1, 2]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "pages of 64 tokens: 1 more are needed, and 0 of 5 are free; truncate a sequence, or make the batch with a larger pool \
             (SessionOptions::pool)"
        );
        assert!(matches!(texts.feed(&mut batch, 1, 60), Err(Error::OutOfPages { needed: 1, free: 0, .. })));
        let lengths = |batch: &Batch| [0, 1, 2].map(|sequence| batch.length(sequence).unwrap());
        assert_eq!((lengths(&batch), batch.pages()), ([128, 53, 89], (5, 5)));
        // Who needs no page goes on.
        texts.step(&mut batch, &[1, 2]).unwrap();
        batch.truncate(2, 10).unwrap();
        assert_eq!(batch.pages(), (4, 5));
        for _ in 0..3 {
            texts.step(&mut batch, &[0, 1, 2]).unwrap();
        }
        batch.truncate(1, 0).unwrap();
        // The first one reads the pages 0, 1 and 4, the second one gets the third page again.
        texts.feed(&mut batch, 0, 30).unwrap();
        texts.feed(&mut batch, 1, 41).unwrap();
        texts.step(&mut batch, &[0, 1, 2]).unwrap();
        assert_eq!((lengths(&batch), batch.pages()), ([162, 42, 14], (5, 5)));
        for sequence in 0..3 {
            batch.truncate(sequence, 0).unwrap();
        }
        assert_eq!(batch.pages(), (0, 5));
    }
}
