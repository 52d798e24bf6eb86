//! One call of a library: what it is called, the memory that it uses, and what it does when its turn comes.

use super::pool;
use crate::failure::{Failure, LAUNCH_FAILURE, words_of};
use crate::memory::{self, Range};
use crate::table::{stream_of, tell_other_devices};
use crate::work::Work;
use hip_sys::hip::{hipError_t, hipStream_t};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A call that waits for its turn. In a node of a graph it runs as often as the graph.
pub(crate) struct Call {
    pub(crate) job: Job,
    pub(crate) uses: Vec<Use>,
    body: Box<dyn Fn() + Send + Sync>,
}

/// What a call is, beside the memory that it uses.
#[derive(Clone, Copy)]
pub struct Job {
    /// The C function, for messages.
    pub name: &'static str,
    /// Whether the body uses rayon. It then runs on the libraries' threads from its start; another one goes there itself where that
    /// pays.
    pub spreads: bool,
    /// Whether the calling thread can run the body: one that is ending may have lost what the body keeps for each thread. Where it
    /// cannot, and on rayon's threads, calls run on a thread of the stream's alone.
    pub fits: fn() -> bool,
}

/// Memory that a call uses.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    /// The range that it lies in.
    pub(crate) range: Range,
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) writes: bool,
}

/// The memory of a call, looked up as it is prepared.
#[derive(Default)]
pub struct Uses(Vec<Use>);

impl Uses {
    /// The call reads `count` values from there. None of them is no use, wherever it points.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` if that is not inside one allocation that HIP knows, or is not aligned.
    pub fn read<T>(&mut self, pointer: *const T, count: usize) -> Result<(), hipError_t> {
        self.add(pointer as usize, align_of::<T>(), count.checked_mul(size_of::<T>()), false)
    }

    /// The call writes, and perhaps reads, `count` values there.
    ///
    /// # Errors
    /// As [`Uses::read`].
    pub fn write<T>(&mut self, pointer: *mut T, count: usize) -> Result<(), hipError_t> {
        self.add(pointer as usize, align_of::<T>(), count.checked_mul(size_of::<T>()), true)
    }

    fn add(
        &mut self,
        address: usize,
        align: usize,
        bytes: Option<usize>,
        writes: bool,
    ) -> Result<(), hipError_t> {
        let bytes = bytes.ok_or(hipError_t::hipErrorInvalidValue)?;
        if bytes == 0 {
            return Ok(());
        }
        match memory::resolve(address, bytes)? {
            Some(range) if address.is_multiple_of(align) => {
                self.0.push(Use { range, address, bytes, writes });
                Ok(())
            }
            _ => Err(hipError_t::hipErrorInvalidValue),
        }
    }

    /// Submits the call to the stream, or makes it a node of the graph that the stream captures. Returns at once. A body that panics
    /// breaks the device, as a kernel's fault does.
    ///
    /// # Errors
    /// What HIP answers: the stream was destroyed, or its device is broken.
    ///
    /// # Safety
    /// The body uses no memory of HIP's but what was named here or what it finds to be known as it runs, and writes only what was named
    /// to be written or found so.
    pub unsafe fn submit(
        self,
        stream: hipStream_t,
        job: Job,
        body: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), hipError_t> {
        let stream = stream_of(stream)?;
        stream.device().healthy()?;
        let call = Arc::new(Call { job, uses: self.0, body: Box::new(body) });
        if let Some(point) = stream.submit(Work::Call(Arc::clone(&call)), Vec::new())? {
            tell_other_devices(&point, call.uses.iter().map(|used| &used.range));
        }
        Ok(())
    }
}

impl Call {
    /// Does it.
    ///
    /// # Errors
    /// A panic in it, which is a fault of ours and breaks the device as a kernel's fault does.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let run = || if self.job.spreads { pool::install(&self.body) } else { (self.body)() };
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| Failure {
            code: LAUNCH_FAILURE,
            message: format!("{}: {}", self.job.name, words_of(panic)),
        })
    }
}
