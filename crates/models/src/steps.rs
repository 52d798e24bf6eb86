//! Steps in which every sequence gets a token: a graph, on devices that have graphs.

use std::fmt;

use hip_safe::{GraphExec, Stream};
use tensor_core::{DType, Device, ErrorKind, HipDevice, Tensor};

use crate::cache::{Cache, PAGE};
use crate::error::{Error, Result};
use crate::step::{KeyRanges, Positions};

/// Numbers that are written one by one at most.
const MANY: usize = 16;

/// The fewest keys that a graph reads: whole pages.
const LEAST_KEYS: usize = 256;

/// The tensors that steps of a cache read, and the graph of a step.
///
/// All that differs between steps is in these tensors. A launch moves all sequences one token on by itself, so that the host
/// writes only the tokens; where pages change or a sequence rests also positions, offsets and the table. It waits for none of this, but
/// for one copy where many pages change, such as behind a prompt.
pub(crate) struct Steps {
    /// One token of each sequence, `[1]` each.
    tokens: Vec<Tensor>,
    /// Where the next step puts the tokens, `[sequences]`.
    positions: Numbers,
    /// Row of the cache minus position, modulo 2^32: `[sequences]`.
    offsets: Numbers,
    /// The pages of each sequence, one sequence after another: of several sequences.
    table: Option<Numbers>,
    /// The most keys of a sequence.
    most_keys: usize,
    /// Unless attention finds the keys by pages.
    ranges: Option<KeyRanges>,
    /// Whether the device's memory has all that a step reads, each time at the same address.
    graphs: bool,
    graph: Option<Captured>,
}

/// Numbers on the device, and what the host knows of them.
struct Numbers {
    tensor: Tensor,
    known: Vec<u32>,
}

struct Captured {
    exec: GraphExec,
    logits: Tensor,
    /// The keys that it reads.
    keys: usize,
}

/// What computes the logits `[sequences, vocabulary]` of ids `[sequences]` at positions, by the first keys of each.
pub(crate) type Compute<'a> =
    dyn FnMut(&Tensor, &Positions, Option<&KeyRanges>, usize) -> Result<Tensor> + 'a;

impl Numbers {
    fn new(count: usize, device: &Device) -> Result<Numbers> {
        Ok(Numbers { tensor: Tensor::zeros(count, DType::U32, device)?, known: vec![0; count] })
    }

    /// Writes these numbers from number `first` on, where they differ: equal ones together, without a copy from the host, which would wait.
    /// Where many differ, such as behind a prompt, one copy of all takes less time than a launch for each.
    fn set(&mut self, first: usize, wanted: &[u32]) -> Result<()> {
        let differ = self.known[first..].iter().zip(wanted).filter(|(known, wanted)| known != wanted);
        if differ.count() > MANY {
            let numbers = Tensor::from_slice(wanted, wanted.len(), &self.tensor.device())?;
            self.tensor.slice_set_(&numbers, 0, first)?;
            self.known[first..][..wanted.len()].copy_from_slice(wanted);
            return Ok(());
        }
        let mut at = 0;
        while let Some(&number) = wanted.get(at) {
            if self.known[first + at] == number {
                at += 1;
                continue;
            }
            let count = wanted[at..].iter().take_while(|other| **other == number).count();
            let device = self.tensor.device();
            let numbers = Tensor::full(i64::from(number), count, DType::U32, &device)?;
            self.tensor.slice_set_(&numbers, 0, first + at)?;
            self.known[first + at..][..count].fill(number);
            at += count;
        }
        Ok(())
    }
}

impl Steps {
    /// Steps of a cache. Without `graphs` each is submitted by itself.
    pub(crate) fn new(cache: &Cache, device: &Device, graphs: bool) -> Result<Steps> {
        let (sequences, most_keys) = (cache.sequences(), cache.most_keys());
        let token = |_| Tensor::zeros(1, DType::U32, device);
        let table = (sequences > 1).then(|| Numbers::new(sequences * (most_keys / PAGE), device));
        let ranges = (!cache.attends_by_pages()).then(|| KeyRanges::new(cache, device));
        Ok(Steps {
            tokens: (0..sequences).map(token).collect::<tensor_core::Result<_>>()?,
            positions: Numbers::new(sequences, device)?,
            offsets: Numbers::new(sequences, device)?,
            table: table.transpose()?,
            most_keys,
            ranges: ranges.transpose()?,
            graphs,
            graph: None,
        })
    }

    /// Gives back the graph and its memory. While there is a graph, reading the cache outside of it makes copies.
    pub(crate) fn forget_graph(&mut self) {
        self.graph = None;
    }

    /// Writes the tokens of a step and where they are to the device. A sequence without one computes at position 0, for nothing. Gives how
    /// many keys the step needs.
    pub(crate) fn place(&mut self, tokens: &[Option<u32>], cache: &Cache) -> Result<usize> {
        for (tensor, token) in self.tokens.iter_mut().zip(tokens) {
            tensor.fill_(i64::from(token.unwrap_or(0)))?;
        }
        let given = || tokens.iter().enumerate().map(|(sequence, token)| (sequence, token.is_some()));
        let position = |(sequence, given): (usize, bool)| given.then(|| cache.lengths[sequence]);
        let positions: Vec<usize> = given().map(|one| position(one).unwrap_or(0)).collect();
        // The cache has counted rows and positions in 32 bits.
        let narrow = |numbers: &[usize]| numbers.iter().map(|number| *number as u32).collect::<Vec<_>>();
        let rows: Vec<usize> = given().map(|one| cache.row(one.0, position(one))).collect();
        let offset = |(row, position): (&usize, &usize)| row.wrapping_sub(*position);
        self.offsets.set(0, &narrow(&rows.iter().zip(&positions).map(offset).collect::<Vec<_>>()))?;
        self.positions.set(0, &narrow(&positions))?;
        if let Some(table) = &mut self.table {
            let width = self.most_keys / PAGE;
            for sequence in 0..positions.len() {
                let mut pages = narrow(cache.pages.of(sequence));
                // No query sees keys behind its pages: any page will do.
                pages.resize(width, pages.last().copied().unwrap_or(0));
                table.set(sequence * width, &pages)?;
            }
        }
        Ok(positions.iter().max().map_or(0, |last| last + 1))
    }

    /// The logits `[sequences, vocabulary]` after the tokens that were placed, which need so many keys.
    pub(crate) fn run(
        &mut self,
        needed: usize,
        device: &Device,
        compute: &mut Compute<'_>,
    ) -> Result<Tensor> {
        let logits = self.launch(needed, device, compute);
        match &logits {
            Ok(_) => self.positions.known.iter_mut().for_each(|position| *position += 1),
            // How far the device came is not known.
            Err(_) => self.positions.known.fill(u32::MAX),
        }
        logits
    }

    fn launch(&mut self, needed: usize, device: &Device, compute: &mut Compute<'_>) -> Result<Tensor> {
        let stream = device.as_hip().map(HipDevice::stream).filter(|_| self.graphs);
        let Some(stream) = stream else {
            let keys = if self.table.is_some() { needed.next_multiple_of(PAGE) } else { needed };
            return self.step(keys, compute);
        };
        if let Some(graph) = self.graph.as_ref().filter(|graph| graph.keys >= needed) {
            graph.exec.launch(stream).map_err(failed)?;
            // A copy: the next launch writes the graph's own.
            return Ok(graph.logits.clone());
        }
        self.graph = None;
        let keys = keys_of_a_graph(needed).min(self.most_keys);
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
            let (positions, offsets) = (&self.positions.tensor, &self.offsets.tensor);
            let shape = [self.tokens.len(), self.most_keys / PAGE];
            let table = self.table.as_ref().map(|table| table.tensor.view(shape)).transpose()?;
            let rows = positions.add(offsets)?;
            // Dropped before the positions are written in place.
            let positions = Positions { positions: positions.clone(), rows, table };
            compute(&ids, &positions, self.ranges.as_ref(), keys)?
        };
        self.positions.tensor.affine_(1i64, 1i64)?;
        Ok(logits)
    }
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
