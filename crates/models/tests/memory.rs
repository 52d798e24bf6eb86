//! What a model, a session and its steps take of a device's memory.
//!
//! A program of its own with one test, for the pool of a device counts what every thread of the process allocates.

mod common;

use common::Recorded;
use models::{Batch, CacheFormat, Config, LanguageModel, Session, SessionOptions, Settings, greedy};
use tensor_core::{DType, Device, Tensor, copies_on_write};

/// Tokens of the answer, after the one that follows the prompt.
const STEPS: usize = 40;

#[test]
fn steps_allocate_nothing_from_the_driver_and_models_copy_nothing() {
    let device = Device::parse("host:0").unwrap();
    let hip = device.as_hip().unwrap();
    let statistics = || hip.device().memory_statistics();
    // The device keeps its BLAS's workspace from the first product on, and a word for wrong ids from the first lookup on.
    let square = Tensor::ones([64, 64], DType::F32, &device).unwrap();
    square.matmul(&square).unwrap();
    square.embedding(&Tensor::zeros(1, DType::U32, &device).unwrap()).unwrap();
    drop(square);
    let live = hip.device().live_buffers().len();
    for name in ["llama3", "qwen2", "qwen3", "gemma3"] {
        let recorded = Recorded::read(name);
        let before = statistics();
        let weights = recorded.model(&device);
        let loaded = statistics();

        // A model is made of its weights. Only norms that are stored as differences from 1 have new memory.
        let config = Config::new(&Settings::from_json(&recorded.config.to_string()).unwrap()).unwrap();
        let model = LanguageModel::new(config, &weights).unwrap();
        let more = statistics().allocated - loaded.allocated;
        let config = model.config();
        let norms = config.layers * (4 * config.width + 2 * config.head_size) + config.width;
        assert_eq!(more, if name == "gemma3" { 4 * norms } else { 0 }, "{name}");

        // A session allocates its cache once.
        let made = statistics();
        let options = SessionOptions { context: Some(64), chunk: 8, ..SessionOptions::default() };
        let mut session = Session::new(&model, &options).unwrap();
        let cache = model.config().cache_bytes(1, 64, CacheFormat::F32).unwrap();
        let tables = 2 * 64 * config.head_size / 2 * 4 * if name == "gemma3" { 2 } else { 1 };
        // What steps read: a token, its position and its first row, the positions of 64 rows, and what each sees through a window.
        let windows =
            model.config().windows.iter().flatten().collect::<std::collections::BTreeSet<_>>().len();
        let steps = 4 * (1 + 2 + 64 * (1 + windows));
        assert_eq!(statistics().allocated - made.allocated, cache + tables + steps, "{name}");

        // The prompt and the first step bring all kernels, what the pool needs, and the graph of the other steps.
        let in_use = statistics().allocated;
        let copies = copies_on_write();
        let (prompt, stops) = (&recorded.tokens[..20], [u32::MAX]);
        let mut answer = session.generate(prompt, &stops, greedy).unwrap();
        for _ in 0..2 {
            answer.next().unwrap().unwrap();
        }
        let (warm, waits) = (statistics(), hip_safe::waits());
        let tokens: Vec<u32> = answer.by_ref().take(STEPS).map(Result::unwrap).collect();
        let after = statistics();
        assert_eq!(tokens.len(), STEPS);
        assert_eq!(hip_safe::waits() - waits, STEPS as u64, "{name}: a step waits for its logits alone");
        assert_eq!(after.misses, warm.misses, "{name}: no step asks the driver for memory");
        assert_eq!((after.reserved, after.segments), (warm.reserved, warm.segments), "{name}");
        let allocations = after.allocations - warm.allocations;
        assert_eq!(after.hits - warm.hits, allocations, "{name}: every allocation is a hit");
        // One by one the operations of a step allocate dozens of results.
        assert!(allocations <= 4 * STEPS as u64, "{name}: {allocations}: a step is a launch of its graph");
        assert_eq!(copies_on_write(), copies, "{name}: the cache is written in place");
        drop(answer);
        // The next prompt gives the graph back.
        session.truncate(0);
        session.feed(&prompt[..2]).unwrap();
        assert_eq!(statistics().allocated, in_use, "{name}: a text takes the cache alone");

        drop(session);
        steps_of_a_batch_take_pages_without_waiting(&model, name);
        drop((model, weights));
        hip.synchronize().unwrap();
        assert_eq!(statistics().allocated, before.allocated, "{name}");
    }
    assert_eq!(hip.device().live_buffers().len(), live);
}

/// Two texts, of which both come to another page, and one rests sometimes.
fn steps_of_a_batch_take_pages_without_waiting(model: &LanguageModel, name: &str) {
    let statistics = || model.device().as_hip().unwrap().device().memory_statistics();
    let made = statistics().allocated;
    let options = SessionOptions { context: Some(1000), pool: Some(384), ..SessionOptions::default() };
    let mut batch = Batch::new(model, 2, &options).unwrap();
    let (taken, config) = (statistics().allocated - made, model.config());
    // Six pages and a row, not sixteen pages for each text.
    let cache = config.cache_bytes(1, 384, CacheFormat::F32).unwrap()
        + config.cache_bytes(1, 64, CacheFormat::F32).unwrap() / 64;
    let tables = 2 * 1000 * config.head_size / 2 * 4 * if name == "gemma3" { 2 } else { 1 };
    // Tokens, positions, what is added to these for rows, and six pages of each.
    assert_eq!(taken, cache + tables + 4 * 2 * (1 + 1 + 1 + 6), "{name}");
    for (sequence, tokens) in [(0, 50), (1, 100)] {
        batch.feed(sequence, &vec![1; tokens]).unwrap();
    }
    let mut step = |at: usize| {
        let rests = at % 7 == 3;
        batch.step(&[Some(2), (!rests).then_some(3)]).unwrap().to_vec2::<f32>().unwrap();
    };
    // The first text takes its second page, and later each its third.
    (0..30).for_each(&mut step);
    let (warm, waits, copies) = (statistics(), hip_safe::waits(), copies_on_write());
    (30..100).for_each(&mut step);
    let after = statistics();
    assert_eq!(batch.pages(), (6, 6), "{name}");
    assert_eq!(hip_safe::waits() - waits, 70, "{name}: a step waits for its logits alone");
    assert_eq!(
        (after.misses, after.reserved),
        (warm.misses, warm.reserved),
        "{name}: no step asks the driver for memory"
    );
    assert_eq!(copies_on_write(), copies, "{name}: the cache and the table of pages are written in place");
}
