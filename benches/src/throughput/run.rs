//! One run: inputs, checks and times, row by row, alternating between ours and the peer's.

use super::copy::Copy;
use super::host_time::{self, host_times};
use super::measure::{Effort, Kernels, Side, interleaved, wall};
use super::peer::{Clock, Peer};
use super::replay::{Replay, describe};
use super::results::Figures;
use super::rows::{Group, Row, SMALL, Set, Work, groups, joined};
use tensor_core::{DType, Device};

/// Calls between two waits if only host time is measured: fewer than a device's queue holds.
const HOST_CALLS: u32 = 500;

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Request {
    /// The device to measure.
    pub device: Device,
    /// The dtypes: f32, f16, bf16.
    pub dtypes: Vec<DType>,
    /// The rows.
    pub sets: Vec<Set>,
    /// The divisor of all sizes.
    pub shrink: usize,
    /// Lets convolutions use Winograd's and Fourier's transforms.
    pub winograd: bool,
    /// Lets attention use the kernels for matrix units, which is its default.
    pub matrix_attention: bool,
    /// Only rows whose operation, shape and dtype, separated by spaces, contain this.
    pub filter: String,
    /// How often everything is repeated.
    pub effort: Effort,
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Findings {
    /// What it ran on, one line each.
    pub notes: Vec<String>,
    /// The results, set by set.
    pub sets: Vec<(Set, Vec<Figures>)>,
    /// The errors, one line each. A row with a wrong result was not timed.
    pub wrong: Vec<String>,
}

/// Progress of a run: the number of rows done, the total, and the next row.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize, &str);

/// Measures all requested rows.
///
/// # Errors
/// Why the run is impossible, as text: an error of the device while inputs are created.
pub fn run(request: &Request, peer: Option<&mut Peer>, progress: Progress<'_>) -> Result<Findings, String> {
    if let Some(device) = request.device.as_hip()
        && request.matrix_attention
    {
        device.allow_matrix_attention(true);
    }
    let mut groups = groups(&request.sets, &request.dtypes, request.shrink);
    for group in &mut groups {
        let labels = group.clone();
        group.ops.retain(|op| labels.label(op).contains(request.filter.as_str()));
    }
    groups.retain(|group| !group.ops.is_empty());
    let total = groups.iter().map(|group| group.ops.len()).sum();
    let findings = Findings { notes: notes(request, peer.as_deref()), ..Findings::default() };
    let mut run = Run { request, peer, findings, progress, done: 0, total };
    for &set in &request.sets {
        let rows = run.set(set, &groups)?;
        if !rows.is_empty() {
            run.findings.sets.push((set, rows));
        }
    }
    Ok(run.findings)
}

struct Run<'a, 'b> {
    request: &'a Request,
    peer: Option<&'a mut Peer>,
    findings: Findings,
    progress: Progress<'b>,
    done: usize,
    total: usize,
}

impl Run<'_, '_> {
    /// The rows of a set. If they move bytes, the device's own copy comes first.
    fn set(&mut self, set: Set, groups: &[Group]) -> Result<Vec<Figures>, String> {
        let (mut rows, mut copy) = (Vec::new(), None);
        let groups: Vec<&Group> = groups.iter().filter(|group| group.set == set).collect();
        if let (Some(device), Set::Memory | Set::Select) = (self.request.device.as_hip(), set)
            && !groups.is_empty()
        {
            copy = Some(Copy::new(device, self.request.shrink)?);
        }
        let mut copies = Vec::new();
        for group in groups {
            if let Some(copy) = &mut copy {
                copies.extend(copy.times(self.request.effort)?);
            }
            if let Some(device) = self.request.device.as_hip() {
                device.allow_winograd(self.request.winograd || group.takes_transforms());
            }
            let inputs = group.inputs(&self.request.device).map_err(|error| error.to_string())?;
            for op in &group.ops {
                let row = inputs.row(op).ok_or_else(|| format!("there is no operation {op}"))?;
                rows.extend(self.row(group, &row));
            }
        }
        if let Some(copy) = &mut copy {
            copies.extend(copy.times(self.request.effort)?);
            let first = self.copied(copy, &mut copies);
            if let Some(gbps) = first.gbps {
                rows.insert(0, first);
                rows.iter_mut().for_each(|row| row.share_of(gbps));
            }
        }
        if set == Set::Host {
            rows.extend(self.host());
        }
        Ok(rows)
    }

    /// Measures a row. On an error, notes it and omits the row.
    fn row(&mut self, group: &Group, row: &Row<'_>) -> Option<Figures> {
        let label = group.label(row.op);
        (self.progress)(self.done, self.total, &label);
        self.done += 1;
        let prepared = self.peer.as_mut().map(|peer| peer.prepare(row.op, group.dtype.name(), &group.dims));
        let beside = match prepared {
            Some(Err(error)) => {
                self.findings.wrong.push(format!("{label}: {error}"));
                false
            }
            prepared => prepared.is_some(),
        };
        let peer = self.peer.as_deref_mut().filter(|_| beside);
        let mut untimed = None;
        let measured = measure(&self.request.device, row, self.request.effort, peer, &mut untimed);
        self.findings.wrong.extend(untimed.map(|error| format!("{label}, its kernels alone: {error}")));
        match measured {
            Ok([ours, torch, kernels, torch_kernels]) => {
                let us = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e6);
                let ours = us(ours).expect("a row that is measured has a time");
                let figures = Figures::new(row.op, group.dtype.name(), &group.shape(), ours);
                Some(figures.doing(row.work).beside(us(torch)).kernels(us(kernels), us(torch_kernels)))
            }
            Err(error) => {
                self.findings.wrong.push(format!("{label}: {error}"));
                None
            }
        }
    }

    /// The row of the device's own copy: the median of all copies made between the other rows.
    fn copied(&mut self, copy: &mut Copy, times: &mut [f64]) -> Figures {
        times.sort_by(f64::total_cmp);
        let us = times[times.len() / 2] * 1e6;
        let figures = Figures::new(Copy::OP, "u8", &copy.bytes().to_string(), us);
        let figures = figures.doing(Work::Bytes(2 * copy.bytes()));
        let effort = self.request.effort;
        let theirs = self.peer.as_deref_mut().map(|peer| {
            peer.prepare(Copy::OP, "u8", &[copy.bytes()])?;
            interleaved(effort, &mut [&mut |calls| peer.time(Clock::Wall, calls)])
        });
        match theirs {
            Some(Ok(seconds)) => figures.beside(Some(seconds[0] * 1e6)),
            Some(Err(error)) => {
                self.findings.wrong.push(format!("{}: {error}", Copy::OP));
                figures
            }
            None => figures,
        }
    }

    /// The host time of one small addition; the peer has some of these rows.
    fn host(&mut self) -> Vec<Figures> {
        let kept = |name: &str| name.contains(self.request.filter.as_str());
        let Some(device) = self.request.device.as_hip().filter(|_| host_time::NAMES.iter().any(|n| kept(n)))
        else {
            return Vec::new();
        };
        (self.progress)(self.done, self.total, "host time of one small addition");
        let effort = self.request.effort;
        let times = match host_times(device, effort).map(|times| times.rows) {
            Ok(times) => times,
            Err(error) => {
                self.findings.wrong.push(format!("host time: {error}"));
                return Vec::new();
            }
        };
        let mut rows = Vec::new();
        for (name, seconds) in times.into_iter().filter(|(name, _)| kept(name)) {
            let theirs = self.peer.as_deref_mut().and_then(|peer| {
                // The peer does not have the layers of most rows.
                peer.prepare(name, "f32", &[SMALL, SMALL]).ok()?;
                let batch = Effort { calls: HOST_CALLS, ..effort };
                interleaved(batch, &mut [&mut |calls| peer.time(Clock::Host, calls)]).ok()
            });
            let figures = Figures::new(name, "f32", &joined(&[SMALL, SMALL]), seconds * 1e6);
            rows.push(figures.beside(theirs.map(|seconds| seconds[0] * 1e6)));
        }
        rows
    }
}

/// Checks a row, then times it: seconds per call, ours and the peer's, and on a HIP device those of the
/// kernels alone. An error in timing only the kernels is reported separately.
fn measure(
    device: &Device,
    row: &Row<'_>,
    effort: Effort,
    mut peer: Option<&mut Peer>,
    untimed: &mut Option<String>,
) -> Result<[Option<f64>; 4], String> {
    let result = (row.run)().map_err(|error| error.to_string())?;
    (row.check)(&result).map_err(|why| format!("the result is wrong: {why}"))?;
    drop(result);
    let mut calls = |calls| wall(calls, || (row.run)().map(drop), || device.synchronize());
    let [ours, torch] = both(effort, &mut calls, peer.as_deref_mut(), Clock::Wall)?;
    // The kernels of a row without work take less time than a launch, so their time is meaningless.
    let Some(device) = device.as_hip().filter(|_| row.work != Work::Nothing) else {
        return Ok([ours, torch, None, None]);
    };
    let replayed = || -> Result<[Option<f64>; 2], String> {
        let replay = Replay::record(device, &*row.run)?;
        // Checks a replay, not the launch at the end of recording.
        replay.launch()?;
        (row.check)(replay.result()).map_err(|why| format!("the result is wrong: {why}"))?;
        let kernels = Kernels::new(device, &replay)?;
        both(effort, &mut |calls| kernels.time(calls), peer, Clock::Kernels)
    };
    let [kernels, torch_kernels] = replayed().unwrap_or_else(|error| {
        *untimed = Some(error);
        [None; 2]
    });
    Ok([ours, torch, kernels, torch_kernels])
}

/// Our times, and the peer's if there is a peer.
fn both(
    effort: Effort,
    ours: &mut Side<'_>,
    peer: Option<&mut Peer>,
    clock: Clock,
) -> Result<[Option<f64>; 2], String> {
    let times = match peer {
        None => interleaved(effort, &mut [ours])?,
        Some(peer) => interleaved(effort, &mut [ours, &mut |calls| peer.time(clock, calls)])?,
    };
    Ok([times.first().copied(), times.get(1).copied()])
}

/// What the results were measured on, and how.
fn notes(request: &Request, peer: Option<&Peer>) -> Vec<String> {
    let Request { device, effort, .. } = request;
    let device = device.as_hip().map_or_else(|| device.to_string(), describe);
    let winograd = if request.winograd { ", Winograd allowed" } else { "" };
    let mut notes = vec![format!("ours: {device}, tensor-core {}{winograd}", env!("CARGO_PKG_VERSION"))];
    notes.extend(peer.map(|peer| format!("torch: {}", peer.versions())));
    let shrunk =
        if request.shrink > 1 { format!("; sizes divided by {}", request.shrink) } else { String::new() };
    notes.push(format!(
        "median of {} repeats in turns, each of {} ms or {} calls, if these are fewer{shrunk}",
        effort.repeats,
        effort.repeat.as_millis(),
        effort.calls
    ));
    notes
}
