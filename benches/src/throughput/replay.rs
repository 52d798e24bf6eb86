//! The kernels of an operation alone: its launches are recorded once, then replayed onto the same result.
//!
//! A call of an operation does more than run kernels: it allocates the result, and builds and checks
//! arguments. So the operation is called once while its stream is captured into a graph: the launches are
//! tensor-core's own, with its arguments.

use hip_safe::GraphExec;
use hip_sys::PlatformKind;
use std::marker::PhantomData;
use tensor_core::{HipDevice, Tensor};

/// A recorded operation. The inputs stay borrowed, so that nothing changes what the result is checked
/// against.
pub struct Replay<'a> {
    device: HipDevice,
    exec: GraphExec,
    result: Tensor,
    inputs: PhantomData<&'a ()>,
}

impl<'a> Replay<'a> {
    /// Records what `run` submits, such as the operation of a row, and launches it once. It must have run before, since
    /// loading code at first use cannot be captured.
    ///
    /// # Errors
    /// A description of what failed. An operation that reads results back cannot be captured.
    pub fn record(
        device: &HipDevice,
        run: &(dyn Fn() -> tensor_core::Result<Tensor> + 'a),
    ) -> Result<Self, String> {
        let mut result = Ok(None);
        let graph = device.stream().capture(|_| {
            result = run().map(Some);
            Ok(())
        });
        let result = result.map_err(|error| error.to_string())?.expect("the closure ran");
        let graph = graph.map_err(|error| error.to_string())?;
        if graph.node_count() == 0 {
            return Err("the operation launches nothing".into());
        }
        let exec = graph.instantiate().map_err(|error| error.to_string())?;
        let replay = Self { device: device.clone(), exec, result, inputs: PhantomData };
        // The capture ran nothing, so the result is still all zeros.
        replay.launch()?;
        Ok(replay)
    }

    /// Launches it once more without waiting.
    ///
    /// # Errors
    /// The driver's error.
    pub fn launch(&self) -> Result<(), String> {
        self.exec.launch(self.device.stream()).map_err(|error| error.to_string())
    }

    /// The result of the kernels. Recording launches them once, so it is never uninitialised.
    pub fn result(&self) -> &Tensor {
        &self.result
    }
}

/// Name, size and versions of a device, in one line.
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
