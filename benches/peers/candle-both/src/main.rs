//! candle's tensors on `Device::Hip` of an NVIDIA GPU beside candle's own CUDA backend on the same card: the same calls on both.
//!
//!     candle-both [--accuracy] [FILTER] [--hip nvidia:0] [--track-events]

mod accuracy;
mod rows;
mod timing;

use std::process::ExitCode;

use candle_core::{DType, Device, Result, Tensor};

use rows::rows;

const USAGE: &str = "\
usage: candle-both [--accuracy] [FILTER] [--hip nvidia:0] [--track-events]

Times add, softmax, matmul and conv2d of candle on the HIP device and on CUDA's first device. FILTER is a part of a row's name.
candle's tracking of uses by events is off, since there is one stream; --track-events keeps it.
ratio: CUDA's time divided by ours; above 1 ours is quicker. differ: the largest difference of the first million numbers
of both results, divided by the largest of them.

--accuracy times nothing. It computes some elements of each matmul and conv2d exactly. All numbers are the largest difference from the
exact ones, divided by the largest of these: of ours and of CUDA; the bound that sums of f32 in any order keep; what sums of f32, sums of
f16 and exact sums of numbers rounded to tf32 give, computed on the CPU.";

struct Arguments {
    filter: String,
    accuracy: bool,
    hip: String,
    track_events: bool,
}

fn main() -> ExitCode {
    let mut given =
        Arguments { filter: String::new(), accuracy: false, hip: "nvidia:0".to_owned(), track_events: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            "--accuracy" => given.accuracy = true,
            "--track-events" => given.track_events = true,
            "--hip" => given.hip = arguments.next().unwrap_or_default(),
            text if text.starts_with('-') => {
                eprintln!("there is no option {text}\n{USAGE}");
                return ExitCode::FAILURE;
            }
            text => given.filter = text.to_owned(),
        }
    }
    match run(&given) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("candle-both: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(given: &Arguments) -> Result<()> {
    let (hip, cuda) = (Device::new_hip(&given.hip)?, Device::new_cuda(0)?);
    if !given.track_events {
        // SAFETY: S5: the program submits all work to the device's one stream, which keeps its order.
        unsafe { cuda.as_cuda_device()?.disable_event_tracking() };
    }
    let rows: Vec<_> = rows().into_iter().filter(|row| row.name().contains(&given.filter)).collect();
    if given.accuracy {
        return accuracies(&rows, &hip, &cuda);
    }
    println!(
        "{:<8} {:<5} {:<34} {:>10} {:>10} {:>6} {:>8}",
        "call", "dtype", "operands", "ours us", "cuda us", "ratio", "differ"
    );
    let mut ratios: Vec<(&str, f64, String)> = Vec::new();
    for row in &rows {
        let host = row.operands()?;
        let (ours, theirs) = (row.copies(&host, &hip)?, row.copies(&host, &cuda)?);
        let differ = difference(&row.call(&ours[0])?, &row.call(&theirs[0])?)?;
        let times = timing::in_turns(
            (&hip, &|i| row.call(&ours[i % ours.len()]).map(drop)),
            (&cuda, &|i| row.call(&theirs[i % theirs.len()]).map(drop)),
        )?;
        let ratio = times.1 / times.0;
        println!(
            "{:<8} {:<5} {:<34} {:>10.2} {:>10.2} {ratio:>6.2} {differ:>8.1e}",
            row.call.name(),
            row.dtype.as_str(),
            row.shapes(),
            times.0 * 1e6,
            times.1 * 1e6
        );
        ratios.push((row.call.name(), ratio, row.name()));
    }
    summary(&ratios);
    Ok(())
}

/// How far both are from the exact results of the rows that are sums of products.
fn accuracies(rows: &[rows::Row], hip: &Device, cuda: &Device) -> Result<()> {
    println!(
        "{:<8} {:<5} {:<34} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "call", "dtype", "operands", "ours", "cuda", "bound", "f32 sum", "tf32", "f16 sum"
    );
    for row in rows.iter().filter(|row| row.call.is_sum()) {
        let of = accuracy::of(row, hip, cuda)?;
        let some = |error: Option<f64>| error.map_or_else(String::new, |error| format!("{error:.1e}"));
        println!(
            "{:<8} {:<5} {:<34} {:>8.1e} {:>8.1e} {:>8.1e} {:>8.1e} {:>8} {:>8}",
            row.call.name(),
            row.dtype.as_str(),
            row.shapes(),
            of.ours,
            of.cuda,
            of.bound,
            of.single,
            some(of.tf32),
            some(of.half)
        );
    }
    Ok(())
}

/// Of each call: the geometric mean, and the row where ours is slowest.
fn summary(ratios: &[(&str, f64, String)]) {
    for call in rows::Call::ALL {
        let of_call: Vec<_> = ratios.iter().filter(|(name, ..)| *name == call.name()).collect();
        let Some(least) = of_call.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let mean = (of_call.iter().map(|row| row.1.ln()).sum::<f64>() / of_call.len() as f64).exp();
        println!(
            "{}: {} rows, mean ratio {mean:.2}, least {:.2} ({})",
            call.name(),
            of_call.len(),
            least.1,
            least.2
        );
    }
}

/// Elements that are compared, at most.
const COMPARED: usize = 1 << 20;

/// The largest difference, divided by the largest number.
fn difference(ours: &Tensor, theirs: &Tensor) -> Result<f64> {
    let [ours, theirs] = [ours, theirs].map(|x| {
        let x = x.flatten_all()?;
        let some = x.narrow(0, 0, x.elem_count().min(COMPARED))?;
        some.to_device(&Device::Cpu)?.to_dtype(DType::F64)?.to_vec1::<f64>()
    });
    let (ours, theirs) = (ours?, theirs?);
    let largest = theirs.iter().fold(0f64, |largest, x| largest.max(x.abs()));
    // NaN on one side alone is a difference that no number hides.
    let apart = ours
        .iter()
        .zip(&theirs)
        .map(|(a, b)| if a.is_nan() != b.is_nan() { f64::INFINITY } else { (a - b).abs() });
    Ok(apart.fold(0.0, f64::max) / largest)
}
