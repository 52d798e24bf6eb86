//! How long the operations of a pass take.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use hip_safe::Event;
use tensor_core::{Device, Error, ErrorKind, Result};

/// How long the operations of one kind took: see [`LanguageModel::profile`](crate::LanguageModel::profile).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationTime {
    /// The operation: "linear", "rms_norm", "rope", "add".
    pub operation: &'static str,
    /// How often.
    pub count: usize,
    /// All of them together.
    pub time: Duration,
}

/// Notes the moments between operations: on a HIP device by its own clock, without waiting for it.
#[derive(Debug)]
pub(crate) struct Profile {
    device: Device,
    start: Moment,
    ends: RefCell<Vec<(&'static str, Result<Moment>)>>,
}

#[derive(Debug)]
enum Moment {
    Device(Event),
    Host(Instant),
}

impl Profile {
    /// Begins now.
    pub(crate) fn start(device: &Device) -> Result<Profile> {
        device.synchronize()?;
        Ok(Profile { device: device.clone(), start: Moment::now(device)?, ends: RefCell::default() })
    }

    /// What was submitted since the last end is this operation.
    pub(crate) fn end(&self, operation: &'static str) {
        self.ends.borrow_mut().push((operation, Moment::now(&self.device)));
    }

    /// Waits for the device, and adds the times of each operation to `times`.
    pub(crate) fn add_to(self, times: &mut Vec<OperationTime>) -> Result<()> {
        self.device.synchronize()?;
        let mut last = self.start;
        for (operation, end) in self.ends.into_inner() {
            let end = end?;
            let took = end.since(&last)?;
            match times.iter_mut().find(|time| time.operation == operation) {
                Some(known) => (known.count, known.time) = (known.count + 1, known.time + took),
                None => times.push(OperationTime { operation, count: 1, time: took }),
            }
            last = end;
        }
        Ok(())
    }
}

impl Moment {
    fn now(device: &Device) -> Result<Moment> {
        let Some(hip) = device.as_hip() else { return Ok(Moment::Host(Instant::now())) };
        let event = Event::new(hip.device()).map_err(failed)?;
        hip.stream().record_event(&event).map_err(failed)?;
        Ok(Moment::Device(event))
    }

    fn since(&self, earlier: &Moment) -> Result<Duration> {
        match (self, earlier) {
            (Moment::Device(end), Moment::Device(start)) => end.elapsed_since(start).map_err(failed),
            (Moment::Host(end), Moment::Host(start)) => Ok(end.duration_since(*start)),
            _ => unreachable!("a pass is on one device"),
        }
    }
}

fn failed(error: hip_safe::Error) -> Error {
    Error::new("profile", ErrorKind::Hip(error))
}
