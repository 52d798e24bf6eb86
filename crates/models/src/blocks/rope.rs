//! Rotary embeddings of positions, from tables that are computed once.

use std::f64::consts::TAU;

use tensor_core::{DType, Device, Error, ErrorKind, Result, Tensor, TokenRows};

use crate::config::{Rope, Scaling};

/// Which numbers of a head are turned together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Number i of the first half with number i of the second, as transformers has it for all models, and GGUF files have it
    /// for all but Llama's.
    Halves,
    /// Neighbours: llama.cpp's converter orders the rows of q and k of Llama models so.
    Neighbours,
}

/// The frequencies of the pairs of a head, in radians a position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frequencies(Vec<f64>);

impl Frequencies {
    /// Of heads of `head_size` numbers. `factors` divide them, where a file has such.
    pub(crate) fn new(rope: &Rope, head_size: usize, factors: Option<&[f64]>) -> Frequencies {
        let frequency = |pair: usize| {
            let plain = rope.base.powf(-2.0 * pair as f64 / head_size as f64);
            scaled(plain, rope.scaling) / factors.map_or(1.0, |factors| factors[pair])
        };
        Frequencies((0..head_size / 2).map(frequency).collect())
    }

    /// The table for the positions below `count`.
    pub(crate) fn table(&self, count: usize, dtype: DType, device: &Device) -> Result<Table> {
        let entries = count.saturating_mul(self.0.len());
        let of = |function: fn(f64) -> f64| {
            let angles = (0..count).flat_map(|position| self.0.iter().map(move |f| position as f64 * f));
            let mut numbers = Vec::new();
            let bytes = entries.saturating_mul(size_of::<f32>());
            let lack = |_| Error::new("rope", ErrorKind::OutOfMemory { bytes });
            numbers.try_reserve_exact(entries).map_err(lack)?;
            numbers.extend(angles.map(|angle| function(angle) as f32));
            Tensor::from_vec(numbers, [count, self.0.len()], device)?.to_dtype(dtype)
        };
        Ok(Table { cos: of(f64::cos)?, sin: of(f64::sin)? })
    }
}

/// A frequency, changed for a longer context.
fn scaled(frequency: f64, scaling: Scaling) -> f64 {
    match scaling {
        Scaling::None => frequency,
        Scaling::Linear(factor) => frequency / factor,
        Scaling::Llama3 { factor, low, high, original } => {
            // How many waves the context of the training holds.
            let waves = original * frequency / TAU;
            if waves > high {
                frequency
            } else if waves < low {
                frequency / factor
            } else {
                let share = (waves - low) / (high - low);
                (1.0 - share) * frequency / factor + share * frequency
            }
        }
    }
}

/// Cosines and sines of the positions, `[positions, head_size / 2]` each, or `[sequences, 1, head_size / 2]`.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    cos: Tensor,
    sin: Tensor,
}

impl Table {
    /// The rows of the positions `start..start + count`.
    pub(crate) fn rows(&self, start: usize, count: usize) -> Result<Table> {
        Ok(Table { cos: self.cos.narrow(0, start, count)?, sin: self.sin.narrow(0, start, count)? })
    }

    /// The rows of the positions `[sequences]`, one for each sequence.
    pub(crate) fn rows_at(&self, positions: &Tensor) -> Result<Table> {
        let rows = |table: &Tensor| table.embedding(positions)?.unsqueeze(1);
        Ok(Table { cos: rows(&self.cos)?, sin: rows(&self.sin)? })
    }

    /// Whether both are one table in memory.
    pub(crate) fn is(&self, other: &Table) -> bool {
        self.cos.shares_storage(&other.cos)
    }

    /// Turns queries and keys, `[sequences, heads, tokens, head_size]`, to the positions of this table's rows.
    pub(crate) fn turn(&self, query: &Tensor, key: &Tensor, form: Form) -> Result<(Tensor, Tensor)> {
        match form {
            Form::Halves => query.rope_pair(key, &self.cos, &self.sin),
            Form::Neighbours => query.rope_i_pair(key, &self.cos, &self.sin),
        }
    }

    /// The same of a token of each sequence, whose key and value are written to rows of caches: gives the query.
    pub(crate) fn turn_and_write(
        &self,
        vectors: [&Tensor; 3],
        rows: &Tensor,
        caches: [&mut Tensor; 2],
        form: Form,
    ) -> Result<Tensor> {
        let interleaved = form == Form::Neighbours;
        TokenRows { cos: &self.cos, sin: &self.sin, interleaved, rows }.turn_and_write(vectors, caches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Llama 3.1's settings: waves below 8192 / 4 tokens stay, those above 8192 / 1 are divided.
    #[test]
    fn llama3_divides_low_frequencies() {
        let scaling = Scaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8192.0 };
        let rope = Rope { base: 500_000.0, scaling };
        let plain = Rope { base: 500_000.0, scaling: Scaling::None };
        let (found, plain) = (Frequencies::new(&rope, 128, None), Frequencies::new(&plain, 128, None));
        let share = |pair: usize| found.0[pair] / plain.0[pair];
        assert_eq!((share(0), share(28)), (1.0, 1.0));
        assert!(share(32) < 1.0 && share(32) > 0.125);
        assert_eq!((share(40), share(63)), (0.125, 0.125));
        let halved = Frequencies::new(&Rope { base: 100.0, scaling: Scaling::Linear(2.0) }, 4, None);
        assert_eq!(halved, Frequencies(vec![0.5, 0.05]));
        let divided = Frequencies::new(&Rope { base: 100.0, scaling: Scaling::None }, 4, Some(&[1.0, 4.0]));
        assert_eq!(divided, Frequencies(vec![1.0, 0.025]));
    }
}
