//! An execution plan: an engine that is ready for a graph.

use super::descriptor::{Descriptor, Memory};
use super::engine::Engine;
use super::graph::IDS;
use crate::convolution::Buffers;
use crate::library::{Out, check, cudnn};
use crate::{Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use sys::cudnnBackendAttributeName_t as Name;
use sys::cudnnBackendDescriptorType_t as Kind;

pub(super) struct Plan {
    plan: Descriptor,
    /// Bytes of workspace.
    pub(super) memory: usize,
    /// The addresses of the last run, which many programs use again.
    last: Option<(Addresses, Descriptor)>,
}

/// The addresses of `x`, the weights, `y` and the workspace.
type Addresses = ([Memory; 3], Memory);

impl Plan {
    /// Loads or compiles the engine's code. Submits nothing.
    pub(super) fn new(handle: sys::cudnnHandle_t, engine: &Engine) -> Outcome<Self> {
        let plan = Descriptor::new(Kind::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?
            .with(Name::CUDNN_ATTR_EXECUTION_PLAN_HANDLE, &[handle])?
            .with(Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &[engine.config.reference()])?
            .finalized()?;
        let mut size = [0_i64];
        plan.read(Name::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, &mut size)?;
        let memory = usize::try_from(size[0]).map_err(|_| UNSUPPORTED)?;
        Ok(Self { plan, memory, last: None })
    }

    /// Submits it to the handle's stream.
    ///
    /// # Safety
    /// The buffers fit the graph's tensors and have its alignment, and the workspace has the plan's size.
    pub(super) unsafe fn run(
        &mut self,
        handle: sys::cudnnHandle_t,
        buffers: Buffers,
        workspace: Out,
    ) -> Outcome {
        let Buffers { x, w, y } = buffers;
        let addresses: Addresses = ([x, w, y].map(Memory), Memory(workspace));
        let pack = match self.last.take() {
            Some((known, pack)) if known == addresses => pack,
            _ => pack(&addresses)?,
        };
        // SAFETY: S11: live descriptors; the memory is the caller's word.
        let outcome = check(unsafe { (cudnn()?.cudnnBackendExecute)(handle, self.plan.raw(), pack.raw()) });
        self.last = Some((addresses, pack));
        outcome
    }
}

fn pack((tensors, workspace): &Addresses) -> Outcome<Descriptor> {
    Descriptor::new(Kind::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?
        .with(Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &IDS)?
        .with(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, tensors)?
        .with(Name::CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &[*workspace])?
        .finalized()
}
