//! Time, memory, and text without an end of line.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rhai::{Dynamic, EvalAltResult, Map, Position};
use tensor_core::{Device, copies_on_write};

use crate::error::{Returned, failed};
use crate::interpreter::Context;
use crate::registry::{IntoValue, Registry, finish, functions};

/// Blocks and bytes of a device's pool in use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InUse {
    buffers: u64,
    bytes: usize,
}

impl InUse {
    pub(crate) fn now(device: &Device) -> InUse {
        device.as_hip().map_or_else(InUse::default, |hip| {
            let statistics = hip.device().memory_statistics();
            InUse { buffers: statistics.allocations - statistics.frees, bytes: statistics.allocated }
        })
    }
}

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    let start = context.start;
    functions! { registry;
        "time"() => Ok::<_, String>(start.elapsed().as_secs_f64());
    }
    let here = Rc::clone(context);
    registry.named("memory").register_fn("memory", move || memory(&here));
    let here = Rc::clone(context);
    registry.named("write").register_fn("write", move |text: &str| (here.print)(text));
    let interrupted = context.interrupted;
    registry
        .named("sleep")
        .register_fn("sleep", move |seconds: i64| sleep(seconds as f64, interrupted))
        .register_fn("sleep", move |seconds: f64| sleep(seconds, interrupted));
    let here = Rc::clone(context);
    registry.named("synchronize").register_fn("synchronize", move || finish(here.device.synchronize()));
}

/// How long a sleep does not ask whether it was interrupted.
const NAP: Duration = Duration::from_millis(10);

/// In place of the language's own, which nothing interrupts and which panics at numbers out of range.
fn sleep(seconds: f64, interrupted: fn() -> bool) -> Returned {
    let start = Instant::now();
    let whole = Duration::try_from_secs_f64(seconds)
        .map_err(|error| failed(format!("sleep: {seconds} seconds: {error}")))?;
    while let Some(rest) = whole.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero()) {
        if interrupted() {
            return Err(Box::new(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE)));
        }
        std::thread::sleep(rest.min(NAP));
    }
    Ok(Dynamic::UNIT)
}

/// What the script holds of its device, and what the device's pool has. The CPU counts nothing: its figures are `()`.
fn memory(context: &Context) -> Map {
    let mut map = Map::new();
    let mut put = |name: &str, value: Option<usize>| {
        map.insert(name.into(), value.map_or(Dynamic::UNIT, IntoValue::into_value));
    };
    let statistics = context.device.as_hip().map(|hip| hip.device().memory_statistics());
    let (now, before) = (InUse::now(&context.device), context.before);
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    put("live_bytes", statistics.map(|_| now.bytes.saturating_sub(before.bytes)));
    put("live_buffers", statistics.map(|_| count(now.buffers.saturating_sub(before.buffers))));
    put("peak_bytes", statistics.map(|found| found.peak_allocated.saturating_sub(before.bytes)));
    put("reserved_bytes", statistics.map(|found| found.reserved));
    put("allocations", statistics.map(|found| count(found.allocations)));
    put("copies_on_write", Some(count(copies_on_write())));
    map
}
