//! A small decoder from end to end: embedding, grouped-query attention with rotary positions, a gated layer, logits.
//!
//! The weights come from a fixed sequence of numbers. Every device must give the same logits as the CPU in f64, up to f32's
//! rounding, and choose the same tokens.

use crate::common::{on_devices, values};
use tensor_core::{DType, Device, Result, Tensor};

const VOCABULARY: usize = 61;
const WIDTH: usize = 48;
const HEADS: usize = 6;
const KV_HEADS: usize = 2;
const HEAD: usize = WIDTH / HEADS;
const HIDDEN: usize = 80;
const LAYERS: usize = 3;
const LONGEST: usize = 96;

/// Numbers in [−1, 1), the same everywhere: the high bits of a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    fn matrix(&mut self, dims: &[usize], size: f64, to: &Target) -> Result<Tensor> {
        let count: usize = dims.iter().product();
        let numbers: Vec<f64> = (0..count).map(|_| self.next() * size).collect();
        Tensor::from_slice(&numbers, dims, &to.0)?.to_dtype(to.1)
    }
}

/// Where a model lives, and in which dtype.
struct Target(Device, DType);

struct Layer {
    attention_norm: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    feed_norm: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
}

struct Decoder {
    target: Target,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    cos: Tensor,
    sin: Tensor,
}

impl Decoder {
    fn new(device: &Device, dtype: DType) -> Result<Decoder> {
        let (target, mut numbers) = (Target(device.clone(), dtype), Numbers(2026));
        let mut matrix = |rows: usize, columns: usize| {
            numbers.matrix(&[rows, columns], 1.7 / (rows as f64).sqrt(), &target)
        };
        let embedding = matrix(VOCABULARY, WIDTH)?;
        let mut layers = Vec::new();
        for _ in 0..LAYERS {
            layers.push(Layer {
                attention_norm: matrix(1, WIDTH)?,
                q: matrix(WIDTH, WIDTH)?,
                k: matrix(WIDTH, KV_HEADS * HEAD)?,
                v: matrix(WIDTH, KV_HEADS * HEAD)?,
                out: matrix(WIDTH, WIDTH)?,
                feed_norm: matrix(1, WIDTH)?,
                gate: matrix(WIDTH, HIDDEN)?,
                up: matrix(WIDTH, HIDDEN)?,
                down: matrix(HIDDEN, WIDTH)?,
            });
        }
        let norm = matrix(1, WIDTH)?;
        let angle =
            |i: usize| (i / (HEAD / 2)) as f64 / 10_000f64.powf((i % (HEAD / 2)) as f64 * 2.0 / HEAD as f64);
        let table = |function: fn(f64) -> f64| -> Result<Tensor> {
            let numbers: Vec<f64> = (0..LONGEST * HEAD / 2).map(|i| function(angle(i))).collect();
            Tensor::from_slice(&numbers, [LONGEST, HEAD / 2], device)?.to_dtype(dtype)
        };
        Ok(Decoder { embedding, layers, norm, cos: table(f64::cos)?, sin: table(f64::sin)?, target })
    }

    /// The logits of the last of the tokens. With `last_alone`, the last layer's attention is asked for the last query only.
    fn logits(&self, tokens: &[usize], last_alone: bool) -> Result<Tensor> {
        let t = tokens.len();
        let mut chosen = vec![0u8; t * VOCABULARY];
        tokens.iter().enumerate().for_each(|(at, token)| chosen[at * VOCABULARY + token] = 1);
        let chosen = Tensor::from_slice(&chosen, [t, VOCABULARY], &self.target.0)?.to_dtype(self.target.1)?;
        let mut x = chosen.matmul(&self.embedding)?;
        for (number, layer) in self.layers.iter().enumerate() {
            let normal = rms_norm(&x, &layer.attention_norm)?;
            let heads = |weights: &Tensor, count: usize| normal.matmul(weights)?.reshape([1, t, count, HEAD]);
            // Queries stay as [b, t, h, d] until they are turned, keys are turned as a view.
            let mut q = heads(&layer.q, HEADS)?.rope_thd(&self.cos, &self.sin)?.transpose(1, 2)?;
            let k = heads(&layer.k, KV_HEADS)?.transpose(1, 2)?.rope(&self.cos, &self.sin)?;
            let v = heads(&layer.v, KV_HEADS)?.transpose(1, 2)?;
            let alone = last_alone && number + 1 == LAYERS;
            if alone {
                (q, x) = (q.narrow(2, t - 1, 1)?, x.narrow(0, t - 1, 1)?);
            }
            let seen = q.scaled_dot_product_attention(&k, &v, None, !alone, None)?;
            let rows = x.dims()[0];
            x = (&x + seen.transpose(1, 2)?.reshape([rows, WIDTH])?.matmul(&layer.out)?)?;
            let normal = rms_norm(&x, &layer.feed_norm)?;
            let gated = normal.matmul(&layer.gate)?.gelu()?.mul(&normal.matmul(&layer.up)?)?;
            x = (&x + gated.matmul(&layer.down)?)?;
        }
        let last = rms_norm(&x.narrow(0, x.dims()[0] - 1, 1)?, &self.norm)?;
        last.matmul(&self.embedding.t()?)?.flatten()
    }

    /// The tokens that follow, each the most likely one.
    fn greedy(&self, prompt: &[usize], count: usize) -> Result<Vec<usize>> {
        let mut tokens = prompt.to_vec();
        for _ in 0..count {
            let next = self.logits(&tokens, false)?.argmax(0)?.to_vec0::<u32>()?;
            tokens.push(next as usize);
        }
        Ok(tokens[prompt.len()..].to_vec())
    }
}

fn rms_norm(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let factor = x.sqr()?.mean_keepdim(1)?.affine(1.0, 1e-6)?.rsqrt()?;
    x.mul(&factor)?.mul(weight)
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn prompt(length: usize) -> Vec<usize> {
    (0..length).map(|i| (i * i + 7 * i + 3) % VOCABULARY).collect()
}

#[test]
fn every_device_gives_the_same_logits_and_tokens() {
    let judge = Decoder::new(&Device::Cpu, DType::F64).expect("the CPU has f64");
    // One query, a few, more than a tile.
    let expected: Vec<(Vec<usize>, Vec<f64>)> = [1, 5, 70]
        .map(|length| {
            let logits = judge.logits(&prompt(length), false).expect("f64 on the CPU");
            (prompt(length), values(&logits).expect("on the CPU"))
        })
        .into();
    let tokens = judge.greedy(&prompt(9), 12).expect("f64 on the CPU");
    assert!(tokens.iter().any(|token| *token != tokens[0]), "a model that says one thing only: {tokens:?}");
    on_devices(|device| {
        for (dtype, least) in
            [(DType::F64, 1.0 - 1e-14), (DType::F32, 0.9999999), (DType::F16, 0.999), (DType::BF16, 0.97)]
        {
            let decoder = Decoder::new(device, dtype)?;
            for (prompt, expected) in &expected {
                let logits = values(&decoder.logits(prompt, false)?)?;
                let got = cosine(&logits, expected);
                assert!(got > least, "{dtype}, {} tokens, on {device}: cosine {got}", prompt.len());
            }
            if matches!(dtype, DType::F64 | DType::F32) {
                assert_eq!(decoder.greedy(&prompt(9), 12)?, tokens, "{dtype} on {device}");
            }
        }
        Ok(())
    });
}

#[test]
fn the_last_query_alone_gives_the_same() {
    on_devices(|device| {
        let decoder = Decoder::new(device, DType::F32)?;
        for length in [1, 9, 66] {
            let all = values(&decoder.logits(&prompt(length), false)?)?;
            let alone = values(&decoder.logits(&prompt(length), true)?)?;
            let got = cosine(&all, &alone);
            assert!(got > 0.9999999, "{length} tokens on {device}: cosine {got}");
        }
        Ok(())
    });
}
