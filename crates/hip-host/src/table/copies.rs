//! Copies and fills. Asynchronous ones are queued. Memory that HIP does not know (pageable memory) is read
//! and written before the call returns.
#![allow(non_snake_case, reason = "HIP's names")]

use super::streams::stream_of;
use crate::adversary;
use crate::check;
use crate::context::{Outcome, current, status};
use crate::device;
use crate::graph::capture;
use crate::memory::{self, Kind, Range};
use crate::stream::{Point, Stream};
use crate::work::{Copy, Fill, Source, Work};
use hip_sys::hip::{hipDeviceptr_t, hipError_t, hipMemcpyKind, hipStream_t};
use std::ffi::{c_int, c_uchar, c_ushort, c_void};
use std::sync::Arc;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// Pageable memory of up to this many bytes is copied to a staging buffer; for more, the caller waits.
const STAGED_LIMIT: usize = 16 << 20;

/// The rows to copy, as passed by a caller.
struct Rows {
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
}

impl Rows {
    fn tight(to: *mut c_void, from: *const c_void, size: usize) -> Self {
        Self { to, to_pitch: size, from, from_pitch: size, width: size, height: 1 }
    }

    /// The ranges of both sides, `None` for pageable memory, checked against the direction.
    fn sides(&self, kind: hipMemcpyKind) -> Result<(Option<Range>, Option<Range>), hipError_t> {
        if self.to.is_null() || self.from.is_null() {
            return Err(VALUE);
        }
        let directions = [(false, false), (false, true), (true, false), (true, true)];
        let direction = match kind {
            hipMemcpyKind::hipMemcpyDefault => None,
            hipMemcpyKind::hipMemcpyDeviceToDeviceNoCU => Some((true, true)),
            hipMemcpyKind(n) => {
                let known = directions.get(n as usize);
                Some(*known.ok_or(hipError_t::hipErrorInvalidMemcpyDirection)?)
            }
        };
        let extent = |pitch: usize| {
            let rows = (self.height - 1).checked_mul(pitch).ok_or(VALUE)?;
            rows.checked_add(self.width).ok_or(VALUE)
        };
        let to = memory::resolve(self.to as usize, extent(self.to_pitch)?)?;
        let from = memory::resolve(self.from as usize, extent(self.from_pitch)?)?;
        if let Some((from_device, to_device)) = direction {
            fits(from, from_device)?;
            fits(to, to_device)?;
        }
        Ok((to, from))
    }
}

/// Checks one side: a side declared as a device's must be memory that devices can access; a side declared as
/// the host's must not be device-only memory.
fn fits(side: Option<Range>, said_device: bool) -> Outcome {
    let of_device = side.is_some_and(|range| matches!(range.kind, Kind::Device | Kind::Variable));
    let bad = if said_device { side.is_none() } else { of_device };
    if bad { Err(VALUE) } else { Ok(()) }
}

/// For a caller that waits for a copy between devices: the pending work of the device that the stream does
/// not belong to.
fn other_device(stream: &Stream, sides: [Option<Range>; 2]) -> Vec<Point> {
    let mut pending = Vec::new();
    for range in sides.iter().flatten().filter(|range| range.device != stream.device) {
        let null = &device::all()[range.device].null;
        // The caller returns after the copy has run, so it learns that the copy came after this work.
        check::learn(check::of_stream(null));
        pending.extend(null.pending());
    }
    pending
}

/// Queues the copy, and waits if necessary. A captured copy uses its memory when the graph runs, so then
/// nothing is staged and nobody waits.
fn enqueue(stream: &Arc<Stream>, rows: &Rows, kind: hipMemcpyKind, wait: bool) -> Outcome {
    let (to_range, from_range) = rows.sides(kind)?;
    let device = stream.device();
    device.healthy()?;
    let size = rows.width.checked_mul(rows.height).ok_or(VALUE)?;
    let tight = rows.height == 1;
    let captured = capture::captured(stream);
    let stage =
        !captured && !wait && from_range.is_none() && to_range.is_some() && tight && size <= STAGED_LIMIT;
    if stage {
        stage_late(stream);
    }
    let from = if stage {
        // SAFETY: S7: the caller's memory, readable for the whole copy.
        let bytes = unsafe { std::slice::from_raw_parts(rows.from.cast::<u8>(), size) };
        Source::Staged(bytes.into())
    } else {
        Source::Memory(rows.from.cast())
    };
    let wait = wait || to_range.is_none() || (from_range.is_none() && !stage);
    let &Rows { to, to_pitch, from_pitch, width, height, .. } = rows;
    let sides = [to_range, from_range];
    let copy = Copy { to: to.cast(), to_pitch, from, from_pitch, width, height, sides };
    let after = if wait && !captured { other_device(stream, sides) } else { Vec::new() };
    match stream.submit(Work::Copy(copy), after)? {
        Some(point) if wait => {
            point.wait();
            device.healthy()
        }
        Some(point) => {
            tell_other_devices(&point, sides.iter().flatten());
            Ok(())
        }
        None => Ok(()),
    }
}

/// Notes the operation on the other devices whose memory it uses, so that they do not count as idle.
pub(crate) fn tell_other_devices<'a>(point: &Point, ranges: impl Iterator<Item = &'a Range>) {
    let known = ranges.filter(|range| range.is_of_device());
    for range in known.filter(|range| range.device != point.stream.device) {
        device::all()[range.device].add_foreign_work(point);
    }
}

/// HIP may read pageable memory before or after the stream's earlier operations have run: an adversary
/// chooses.
fn stage_late(stream: &Arc<Stream>) {
    if let Some(adversary) = adversary::get().filter(|adversary| !adversary.stages_early()) {
        adversary.drive_if_possible(&stream.pending());
    }
}

/// A copy of `size` bytes. With size 0 nothing is checked.
fn copy(
    stream: Result<Arc<Stream>, hipError_t>,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    wait: bool,
) -> hipError_t {
    status(stream.and_then(|stream| {
        if size == 0 { Ok(()) } else { enqueue(&stream, &Rows::tight(to, from, size), kind, wait) }
    }))
}

pub(super) unsafe extern "C" fn hipMemcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let stream = capture::forbid_blocking_copy().map(|()| Arc::clone(&current().null));
    copy(stream, to, from, size, kind, true)
}

pub(super) unsafe extern "C" fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy(stream_of(stream), to, from, size, kind, false)
}

pub(super) unsafe extern "C" fn hipMemcpyWithStream(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy(stream_of(stream), to, from, size, kind, true)
}

pub(super) unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: hipDeviceptr_t,
    from: *const c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy(stream_of(stream), to, from, size, hipMemcpyKind::hipMemcpyHostToDevice, false)
}

pub(super) unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: *mut c_void,
    from: hipDeviceptr_t,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy(stream_of(stream), to, from, size, hipMemcpyKind::hipMemcpyDeviceToHost, false)
}

pub(super) unsafe extern "C" fn hipMemcpyDtoDAsync(
    to: hipDeviceptr_t,
    from: hipDeviceptr_t,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy(stream_of(stream), to, from, size, hipMemcpyKind::hipMemcpyDeviceToDevice, false)
}

pub(super) unsafe extern "C" fn hipMemcpyPeerAsync(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    let stream = device::get(to_device).and(device::get(from_device)).and_then(|_| stream_of(stream));
    copy(stream, to, from, size, hipMemcpyKind::hipMemcpyDeviceToDevice, false)
}

pub(super) unsafe extern "C" fn hipMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if to_pitch < width || from_pitch < width {
            return Err(hipError_t::hipErrorInvalidPitchValue);
        }
        let rows = Rows { to, to_pitch, from, from_pitch, width, height };
        enqueue(&stream, &rows, kind, false)
    }))
}

/// Queues a fill with `count` values of `size` bytes. Only known memory can be filled.
fn fill(
    stream: &Arc<Stream>,
    to: *mut c_void,
    value: u32,
    size: usize,
    count: usize,
) -> Result<Option<(Range, Point)>, hipError_t> {
    if count == 0 {
        return Ok(None);
    }
    let bytes = count.checked_mul(size).ok_or(VALUE)?;
    if to.is_null() || !(to as usize).is_multiple_of(size) {
        return Err(VALUE);
    }
    let range = memory::resolve(to as usize, bytes)?.ok_or(VALUE)?;
    stream.device().healthy()?;
    let point =
        stream.submit(Work::Fill(Fill { to: to.cast(), value, size, count, side: range }), Vec::new())?;
    Ok(point.map(|point| {
        tell_other_devices(&point, std::iter::once(&range));
        (range, point)
    }))
}

fn fill_async(stream: hipStream_t, to: *mut c_void, value: u32, size: usize, count: usize) -> hipError_t {
    status(stream_of(stream).and_then(|stream| fill(&stream, to, value, size, count).map(drop)))
}

/// Returns when the fill is queued, or, if the host can access the memory, when the fill has ended.
pub(super) unsafe extern "C" fn hipMemset(to: *mut c_void, value: c_int, size: usize) -> hipError_t {
    let stream = &current().null;
    let queued = capture::forbid_blocking_copy().and_then(|()| fill(stream, to, value as u32, 1, size));
    status(queued.and_then(|queued| match queued {
        Some((range, point)) if range.kind != Kind::Device => {
            point.wait();
            stream.device().healthy()
        }
        _ => Ok(()),
    }))
}

pub(super) unsafe extern "C" fn hipMemsetAsync(
    to: *mut c_void,
    value: c_int,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_async(stream, to, value as u32, 1, size)
}

pub(super) unsafe extern "C" fn hipMemsetD8Async(
    to: hipDeviceptr_t,
    value: c_uchar,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_async(stream, to, value.into(), 1, count)
}

pub(super) unsafe extern "C" fn hipMemsetD16Async(
    to: hipDeviceptr_t,
    value: c_ushort,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_async(stream, to, value.into(), 2, count)
}

pub(super) unsafe extern "C" fn hipMemsetD32Async(
    to: hipDeviceptr_t,
    value: c_int,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_async(stream, to, value as u32, 4, count)
}
