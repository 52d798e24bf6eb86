//! Steps in which every sequence gets a token: a graph, on devices that have graphs.

use std::fmt;

use hip_safe::{GraphExec, Stream};
use tensor_core::{DType, Device, ErrorKind, HipDevice, Tensor};

use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::step::{KeyRanges, Positions};

/// The fewest keys that a graph reads.
const LEAST_KEYS: usize = 256;

/// The tensors that steps of a cache read, and the graph of a step.
///
/// All that differs between steps is in these tensors. A launch moves all sequences one token on by itself, so that the host
/// writes only the tokens, without a copy that it would wait for.
pub(crate) struct Steps {
    /// One token of each sequence, `[1]` each.
    tokens: Vec<Tensor>,
    /// Where the next step puts the tokens, `[sequences]`.
    positions: Tensor,
    /// What `positions` has, as far as the host knows.
    expected: Vec<usize>,
    /// The first row of each sequence, `[sequences]`.
    first_rows: Tensor,
    /// Rows of a sequence.
    stride: usize,
    ranges: KeyRanges,
    /// Whether the device's memory has all that a step reads, each time at the same address.
    graphs: bool,
    graph: Option<Captured>,
}

struct Captured {
    exec: GraphExec,
    logits: Tensor,
    /// The keys that it reads.
    keys: usize,
}

/// What computes the logits `[sequences, vocabulary]` of ids `[sequences]` at positions, by the first `keys` keys of each.
pub(crate) type Compute<'a> = dyn FnMut(&Tensor, &Positions, &KeyRanges, usize) -> Result<Tensor> + 'a;

impl Steps {
    /// Steps of a cache. Without `graphs` each is submitted by itself.
    pub(crate) fn new(cache: &Cache, device: &Device, graphs: bool) -> Result<Steps> {
        let sequences = cache.sequences();
        let token = |_| Tensor::zeros(1, DType::U32, device);
        Ok(Steps {
            tokens: (0..sequences).map(token).collect::<tensor_core::Result<_>>()?,
            positions: Tensor::zeros(sequences, DType::U32, device)?,
            expected: vec![0; sequences],
            first_rows: numbers((0..sequences).map(|sequence| cache.row(sequence)), device)?,
            stride: cache.stride(),
            ranges: KeyRanges::new(cache, device)?,
            graphs,
            graph: None,
        })
    }

    /// Gives back the graph and its memory. While there is a graph, reading the cache outside of it makes copies.
    pub(crate) fn forget_graph(&mut self) {
        self.graph = None;
    }

    /// The logits `[sequences, vocabulary]` after a token of each sequence at these positions.
    pub(crate) fn run(
        &mut self,
        tokens: &[u32],
        positions: &[usize],
        device: &Device,
        compute: &mut Compute<'_>,
    ) -> Result<Tensor> {
        let logits = self.launch(tokens, positions, device, compute);
        match &logits {
            Ok(_) => self.expected.iter_mut().for_each(|position| *position += 1),
            // How far the device came is not known.
            Err(_) => self.expected.fill(usize::MAX),
        }
        logits
    }

    fn launch(
        &mut self,
        tokens: &[u32],
        positions: &[usize],
        device: &Device,
        compute: &mut Compute<'_>,
    ) -> Result<Tensor> {
        for (tensor, token) in self.tokens.iter_mut().zip(tokens) {
            tensor.fill_(i64::from(*token))?;
        }
        if self.expected != positions {
            self.positions.copy_from_(&numbers(positions.iter().copied(), device)?)?;
            self.expected.copy_from_slice(positions);
        }
        let needed = positions.iter().max().map_or(0, |last| last + 1);
        let stream = device.as_hip().map(HipDevice::stream).filter(|_| self.graphs);
        let Some(stream) = stream else {
            return self.step(needed, compute);
        };
        if let Some(graph) = self.graph.as_ref().filter(|graph| graph.keys >= needed) {
            graph.exec.launch(stream).map_err(failed)?;
            // A copy: the next launch writes the graph's own.
            return Ok(graph.logits.clone());
        }
        self.graph = None;
        let keys = keys_of_a_graph(needed).min(self.stride);
        // Code that a step needs for the first time is loaded here: a capture cannot do that.
        let logits = self.step(keys, compute)?;
        self.graph = Some(self.captured(keys, stream, compute)?);
        Ok(logits)
    }

    fn captured(&mut self, keys: usize, stream: &Stream, compute: &mut Compute<'_>) -> Result<Captured> {
        let mut step = None;
        let graph = stream.capture(|_| {
            step = Some(self.step(keys, compute));
            Ok(())
        });
        let logits = step.transpose()?;
        let exec = graph.and_then(|graph| graph.instantiate()).map_err(failed)?;
        let logits = logits.expect("a capture without an error has called the closure");
        Ok(Captured { exec, logits, keys })
    }

    /// Computes a step, and moves all positions one token on.
    fn step(&mut self, keys: usize, compute: &mut Compute<'_>) -> Result<Tensor> {
        let logits = {
            let tokens: Vec<&Tensor> = self.tokens.iter().collect();
            let ids = if let [only] = *tokens { only.clone() } else { Tensor::cat(&tokens, 0)? };
            let rows = self.positions.add(&self.first_rows)?;
            // Dropped before the positions are written in place.
            let positions = Positions { positions: self.positions.clone(), rows };
            compute(&ids, &positions, &self.ranges, keys)?
        };
        self.positions.affine_(1i64, 1i64)?;
        Ok(logits)
    }
}

/// A tensor of rows or positions, all of which `KeyRanges::new` has counted in 32 bits.
fn numbers(numbers: impl Iterator<Item = usize>, device: &Device) -> tensor_core::Result<Tensor> {
    let numbers: Vec<u32> = numbers.map(|number| number as u32).collect();
    let count = numbers.len();
    Tensor::from_vec(numbers, count, device)
}

/// The keys that a graph reads if this many are needed. A graph that reads more takes longer for each token. One that reads too
/// few is soon replaced by another: while a text doubles there are up to five.
fn keys_of_a_graph(needed: usize) -> usize {
    needed.next_multiple_of((needed.next_power_of_two() / 4).max(LEAST_KEYS))
}

fn failed(error: hip_safe::Error) -> Error {
    tensor_core::Error::new("step", ErrorKind::Hip(error)).into()
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let graph = self.graph.as_ref().map(|graph| graph.exec.node_count());
        write!(f, "Steps({} sequences, graph nodes {graph:?})", self.tokens.len())
    }
}
