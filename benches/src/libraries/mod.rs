//! The safe crates of ROCm's libraries on one device: calls of realistic sizes, timed by the device's clock, and their operands and results in
//! files. The program `libraries` runs them; `benches/peers/vendor_libraries.cu` times the same calls of CUDA's libraries, and
//! `benches/peers/torch_libraries.py` judges both.

mod dense;
mod fourier;
mod numbers;
mod products;
mod random;
mod report;
mod sparse;

pub use report::{Row, table, to_tsv};

use crate::throughput::measure::{DeviceClock, Effort, interleaved};
use hip_safe::{DeviceBuffer, DeviceSlice, Stream};
use numbers::Saved;
use safetensors::tensor::TensorView;
use std::fs;
use std::path::PathBuf;

/// What is run, and how.
pub struct Suite<'a> {
    /// Where calls are submitted.
    pub stream: &'a Stream,
    /// Divides sizes.
    pub shrink: usize,
    /// A part of the names of the calls that are run.
    pub filter: String,
    /// How often calls are repeated.
    pub effort: Effort,
    /// The folder for operands and results.
    pub data: Option<PathBuf>,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// A call of a library, by its name.
struct Call {
    name: &'static str,
    sizes: String,
    /// Bytes that have to be moved, or operations that have to be made.
    work: f64,
    unit: &'static str,
    /// How many calls have operands of their own, because a call replaces them; 0: any number of calls has the same.
    slots: u32,
}

/// What a measured closure is asked for.
enum Step {
    /// Put the operands of all slots back, outside of the measured time.
    Restore,
    /// Submit the call of this number.
    Call(u32),
}

/// An outcome, with the error as text.
type Outcome<T = ()> = Result<T, String>;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Suite<'_> {
    /// Runs all calls whose names the filter has. An error of one ends that one, and is in its row.
    pub fn run(&mut self) {
        fourier::run(self);
        random::run(self);
        dense::run(self);
        sparse::run(self);
        products::run(self);
    }

    /// A size, divided, but not below `least`.
    fn size(&self, size: usize, least: usize) -> usize {
        (size / self.shrink).max(least)
    }

    /// Runs the calls of some names, if the filter has one of them. `act` measures them; if it fails before it has measured all, the others get
    /// its error.
    fn group(&mut self, names: &[&'static str], act: impl FnOnce(&mut Self) -> Outcome) {
        if !names.iter().any(|name| name.contains(&self.filter)) {
            return;
        }
        let Err(error) = act(self) else { return };
        for &name in names {
            if self.rows.iter().all(|row| row.name != name) {
                self.rows.push(Row { name, sizes: String::new(), outcome: Err(error.clone()) });
            }
        }
    }

    /// Measures a call, and makes it once more, with restored operands.
    fn measure(&mut self, call: Call, mut act: impl FnMut(Step) -> Outcome) -> Outcome {
        let clock = DeviceClock::new(self.stream)?;
        let mut effort = self.effort;
        if call.slots > 0 {
            effort.calls = effort.calls.min(call.slots);
        }
        let mut side = |calls| {
            act(Step::Restore)?;
            clock.time(calls, |number| act(Step::Call(number)))
        };
        let seconds = interleaved(effort, &mut [&mut side])?[0];
        act(Step::Restore)?;
        act(Step::Call(0))?;
        let Call { name, sizes, work, unit, .. } = call;
        self.rows.push(Row { name, sizes, outcome: Ok((seconds, work / seconds, unit)) });
        Ok(())
    }

    /// Writes a call's operands and results, each by its name, with its sizes.
    fn save(&self, name: &str, tensors: &[(&str, &dyn Download, &[usize])]) -> Outcome {
        let Some(folder) = &self.data else { return Ok(()) };
        let mut all = Vec::new();
        for &(name, tensor, sizes) in tensors {
            let (dtype, pair, bytes) = tensor.download(self.stream)?;
            let sizes = sizes.iter().copied().chain(pair.then_some(2)).collect::<Vec<_>>();
            all.push((name, dtype, sizes, bytes));
        }
        let views = all.iter().map(|(name, dtype, sizes, bytes)| {
            Ok((*name, TensorView::new(*dtype, sizes.clone(), bytes).map_err(text)?))
        });
        let views = views.collect::<Outcome<Vec<_>>>()?;
        fs::create_dir_all(folder).map_err(text)?;
        let file = folder.join(format!("{name}.safetensors"));
        safetensors::serialize_to_file(views, None, &file)
            .map_err(|error| format!("{}: {error}", file.display()))
    }
}

/// Memory that a file gets.
trait Download {
    /// Its type, whether its numbers are pairs, and its bytes.
    fn download(&self, stream: &Stream) -> Outcome<(safetensors::Dtype, bool, Vec<u8>)>;
}

impl<T: Saved> Download for DeviceBuffer<T>
where
    DeviceBuffer<T>: DeviceSlice<Item = T>,
{
    fn download(&self, stream: &Stream) -> Outcome<(safetensors::Dtype, bool, Vec<u8>)> {
        let numbers = stream.download(self).map_err(text)?;
        Ok((T::DTYPE, T::PAIR, bytemuck::cast_slice(&numbers).to_vec()))
    }
}
