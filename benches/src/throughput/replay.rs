//! The kernels of an operation alone: its launches recorded once, then replayed onto the same result.
//!
//! A call of an operation is more than its kernels: its result is allocated, arguments are put together and checked. So the operation
//! is called once while its stream is captured into a graph: the launches are tensor-core's own, with the arguments that it chose.

use super::rows::Row;
use hip_safe::GraphExec;
use hip_sys::PlatformKind;
use std::marker::PhantomData;
use tensor_core::{HipDevice, Tensor};

/// What an operation submitted, to be submitted again. The inputs stay borrowed, so that nobody changes what the result is checked by.
pub struct Replay<'a> {
    device: HipDevice,
    exec: GraphExec,
    result: Tensor,
    inputs: PhantomData<&'a ()>,
}

impl<'a> Replay<'a> {
    /// Records the operation of a row and launches it once. It must have run before: what is loaded on first use cannot be captured.
    ///
    /// # Errors
    /// What failed, in words: an operation that reads back cannot be captured.
    pub fn record(device: &HipDevice, row: &Row<'a>) -> Result<Self, String> {
        let mut result = Ok(None);
        let graph = device.stream().capture(|_| {
            result = (row.run)().map(Some);
            Ok(())
        });
        let result = result.map_err(|error| error.to_string())?.expect("the closure ran");
        let graph = graph.map_err(|error| error.to_string())?;
        if graph.node_count() == 0 {
            return Err("the operation launches nothing".into());
        }
        let exec = graph.instantiate().map_err(|error| error.to_string())?;
        let replay = Self { device: device.clone(), exec, result, inputs: PhantomData };
        // The capture ran nothing: until now the result is zeros.
        replay.launch()?;
        Ok(replay)
    }

    /// Submits it once more; does not wait.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn launch(&self) -> Result<(), String> {
        self.exec.launch(self.device.stream()).map_err(|error| error.to_string())
    }

    /// What the kernels write. They have been launched at least once: recording ends with that.
    pub fn result(&self) -> &Tensor {
        &self.result
    }
}

/// Name, size and versions of a device, in a line.
pub fn describe(device: &HipDevice) -> String {
    let (properties, platform) = (device.device().properties(), device.device().platform());
    let driver = match (device.device().driver_version(), platform.kind) {
        (Ok(driver), PlatformKind::Nvidia) => {
            format!(", driver for CUDA {}.{}", driver / 1000, driver % 1000 / 10)
        }
        (Ok(driver), _) => format!(", driver {driver}"),
        _ => String::new(),
    };
    format!(
        "{device}: {}, {} multiprocessors, {:.1} GiB, HIP {}{driver}",
        properties.name,
        properties.multiprocessors,
        properties.total_memory as f64 / (1u64 << 30) as f64,
        platform.version(),
    )
}
