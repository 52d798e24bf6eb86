//! Further steps of the random program: host functions, managed memory, another device, and its graphs.

use super::{Modelled, Program};
use hip_safe::{Device, Error, GraphExec, ManagedBuffer, ManagedLocation, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const LEN: usize = 3000;

/// What only these steps use.
pub(super) struct Rest {
    /// None where the device has no managed memory.
    managed: Option<Modelled<ManagedBuffer<f32>>>,
    urgent: Stream,
    /// A stream of another device, where there is one.
    elsewhere: Option<Stream>,
    /// How many host functions saw other values than those before them wrote.
    wrong: Arc<AtomicU64>,
    pub(super) graphs: Vec<GraphExec>,
}

impl Rest {
    pub(super) fn new(device: &Device) -> Self {
        let first = *device.stream_priorities().unwrap().start();
        let urgent = device.new_stream_with_priority(first).unwrap();
        let managed = match urgent.alloc_managed(LEN) {
            Err(Error::NotOffered { .. }) => None,
            answer => Some(Modelled { memory: answer.unwrap(), model: vec![0.0; LEN] }),
        };
        let count = Device::count(device.platform()).unwrap();
        let other = (count > 1).then(|| Device::new(device.platform(), 1).unwrap());
        let elsewhere = other.map(|other| other.new_stream().unwrap());
        Self { managed, urgent, elsewhere, wrong: Arc::default(), graphs: Vec::new() }
    }

    pub(super) fn end(self) {
        if let Some(Modelled { memory, model }) = &self.managed {
            assert_eq!(memory.as_slice().unwrap(), model);
        }
        self.urgent.device().synchronize().unwrap();
        assert_eq!(self.wrong.load(Ordering::SeqCst), 0);
    }
}

impl Program {
    /// A function of the host reads or writes pinned memory.
    pub(super) fn host_function(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.pinned.len()));
        let target = &mut self.pinned[index];
        if self.random.below(2) == 0 {
            stream.launch_host_with_mut(&mut target.memory, <[f32]>::reverse).unwrap();
            target.model.reverse();
        } else {
            let (expected, wrong) = (target.model.clone(), Arc::clone(&self.rest.wrong));
            let compare =
                move |values: &[f32]| _ = wrong.fetch_add(u64::from(values != expected), Ordering::SeqCst);
            stream.launch_host_with(&target.memory, compare).unwrap();
        }
    }

    /// Host and device take turns with managed memory.
    pub(super) fn managed(&mut self) {
        let (stream, choice, index) =
            (self.stream(), self.random.below(5), self.random.below(self.buffers.len()));
        let at = self.random.below(LEN);
        let Some(Modelled { memory, model }) = &mut self.rest.managed else { return };
        let buffer = &self.buffers[index];
        match choice {
            0 => {
                memory.as_mut_slice().unwrap()[at] = 1.5;
                model[at] = 1.5;
            }
            1 => assert_eq!(memory.as_slice().unwrap(), model),
            2 => self.rest.urgent.prefetch(memory, ManagedLocation::Device(&self.device)).unwrap(),
            3 => {
                self.rest.urgent.memset(memory, 0).unwrap();
                model.fill(0.0);
            }
            _ => {
                let len = LEN.min(buffer.model.len());
                let mut target = memory.view_mut().into_slice(..len).unwrap();
                stream.copy(&buffer.memory.slice(..len).unwrap(), &mut target).unwrap();
                model[..len].copy_from_slice(&buffer.model[..len]);
            }
        }
    }

    /// A buffer goes to another device and back.
    pub(super) fn peer(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.buffers.len()));
        let Some(elsewhere) = &self.rest.elsewhere else { return };
        let Modelled { memory, model } = &mut self.buffers[index];
        // SAFETY: S15: the copies write all of both.
        let (mut there, mut back) = unsafe {
            (elsewhere.alloc_uninit(model.len()).unwrap(), stream.alloc_uninit(model.len()).unwrap())
        };
        elsewhere.copy_from_peer(&*memory, &mut there).unwrap();
        stream.copy_from_peer(&there, &mut back).unwrap();
        // Perhaps before the copies have read them.
        stream.memset(memory, 0).unwrap();
        elsewhere.memset(&mut there, 0).unwrap();
        *memory = back;
    }
}
