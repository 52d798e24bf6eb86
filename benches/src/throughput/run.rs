//! One run: inputs, checks, times, the table.

use super::host_time::{self, host_times};
use super::measure::{Effort, kernel, wall};
use super::products::PRODUCTS;
use super::records::{Figure, Record, Records};
use super::replay::{Replay, describe};
use super::rows::{Inputs, Row, Sizes, Work};
use tensor_core::{DType, Device};

/// What a run is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Where the operations run.
    pub device: Device,
    /// The dtypes: f32, f16, bf16.
    pub dtypes: Vec<DType>,
    /// The sizes of the inputs.
    pub sizes: Sizes,
    /// Matrix products and convolutions at the sizes of networks instead.
    pub products: bool,
    /// Lets convolutions use Winograd's and Fourier's transforms.
    pub winograd: bool,
    /// Only rows whose name contains this.
    pub filter: String,
    /// How often each thing is done.
    pub effort: Effort,
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The figures.
    pub records: Records,
    /// What is wrong, a line each. A row whose result is wrong was not timed.
    pub wrong: Vec<String>,
}

/// Measures all rows that are asked for. `progress` gets a line before each.
///
/// # Errors
/// An error of the device while the inputs are made.
pub fn run(request: &Request, mut progress: impl FnMut(&str)) -> tensor_core::Result<Findings> {
    let Request { device, sizes, filter, effort, .. } = request;
    if let Some(device) = device.as_hip() {
        device.allow_winograd(request.winograd);
    }
    let mut findings = Findings::default();
    findings.records.notes = notes(request);
    for &dtype in &request.dtypes {
        if request.products {
            let wanted = PRODUCTS.iter().filter(|product| product.name().contains(filter.as_str()));
            for product in wanted {
                findings.add(request, &product.row(dtype, device)?, dtype, &mut progress);
            }
        } else {
            let inputs = Inputs::new(dtype, *sizes, device)?;
            for row in inputs.rows(filter) {
                findings.add(request, &row, dtype, &mut progress);
            }
        }
    }
    if request.products {
        return Ok(findings);
    }
    let host = host_time::NAMES.iter().any(|name| name.contains(filter.as_str()));
    if let (Some(device), true) = (device.as_hip(), host) {
        progress("host time of one small addition");
        match host_times(device, *effort) {
            Ok(times) => {
                let kept = times.into_iter().filter(|(name, _)| name.contains(filter.as_str()));
                findings.records.records.extend(kept.map(|(name, seconds)| Record {
                    name: name.into(),
                    dtype: "f32".into(),
                    call: figure(Work::Nothing, seconds),
                    kernel: None,
                }));
            }
            Err(error) => findings.wrong.push(format!("host time: {error}")),
        }
    }
    Ok(findings)
}

impl Findings {
    /// Measures a row.
    fn add(&mut self, request: &Request, row: &Row<'_>, dtype: DType, progress: &mut impl FnMut(&str)) {
        progress(&format!("{} {dtype}", row.name));
        let mut kernel_error = None;
        match measure(&request.device, row, request.effort, &mut kernel_error) {
            Ok((call, kernel)) => {
                let record = Record { name: row.name.clone(), dtype: dtype.to_string(), call, kernel };
                self.records.records.push(record);
            }
            Err(error) => self.wrong.push(format!("{} {dtype}: {error}", row.name)),
        }
        let untimed = |error| format!("{} {dtype}, its kernels alone: {error}", row.name);
        self.wrong.extend(kernel_error.map(untimed));
    }
}

/// Checks a row, then times it: a call, and its kernels alone on a HIP device. That the kernels could not be timed is told apart.
fn measure(
    device: &Device,
    row: &Row<'_>,
    effort: Effort,
    kernel_error: &mut Option<String>,
) -> Result<(Figure, Option<Figure>), String> {
    let result = (row.run)().map_err(|error| error.to_string())?;
    (row.check)(&result).map_err(|why| format!("the result is wrong: {why}"))?;
    drop(result);
    let seconds = wall(effort, || (row.run)().map(drop), || device.synchronize());
    let call = figure(row.work, seconds.map_err(|error| error.to_string())?);
    // The kernels of a row without work take less time than a launch: nothing would be told.
    let Some(device) = device.as_hip().filter(|_| row.work != Work::Nothing) else { return Ok((call, None)) };
    let replayed = || -> Result<f64, String> {
        let replay = Replay::record(device, row)?;
        // A replay, not the launch that recording ends with.
        replay.launch()?;
        (row.check)(replay.result()).map_err(|why| format!("the result is wrong: {why}"))?;
        kernel(effort, device, &replay)
    };
    match replayed() {
        Ok(seconds) => Ok((call, Some(figure(row.work, seconds)))),
        Err(error) => {
            *kernel_error = Some(error);
            Ok((call, None))
        }
    }
}

fn figure(work: Work, seconds: f64) -> Figure {
    Figure { us: seconds * 1e6, rate: work.rate(seconds) }
}

/// What the figures were measured on, and how.
fn notes(request: &Request) -> Vec<String> {
    let Request { device, sizes, effort, .. } = request;
    let Effort { repeats, calls, .. } = effort;
    let device = device.as_hip().map_or_else(|| device.to_string(), describe);
    let what =
        if request.products { "products".into() } else { format!("{} x {}", sizes.rows, sizes.columns) };
    let winograd = if request.winograd { ", Winograd allowed" } else { "" };
    vec![
        format!("ours: {device}, tensor-core {}{winograd}", env!("CARGO_PKG_VERSION")),
        format!("{what}, median of {repeats} x {calls} calls"),
    ]
}
