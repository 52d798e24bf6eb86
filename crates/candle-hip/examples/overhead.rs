//! What a call through candle's trait costs more than the same call of tensor-core, on host:0. Both submit the same work, in short rounds that
//! take turns. Times are those of the calling thread on a processor, so that the device's own threads do not count, nor the time that other
//! programs have the processor. `more` is the median difference of two rounds in a row.
//!
//! `cargo run --release --example overhead`

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::{op, Layout, Result};
use candle_hip::{converted, HipDevice, HipStorage};
use tensor_core::Tensor;

const ROUNDS: usize = 2001;
const CALLS: usize = 100;

fn main() -> Result<()> {
    let device = HipDevice::open("host:0")?;
    println!("{:<34} {:>10} {:>10} {:>10}", "µs a call on host:0", "ours", "trait", "more");
    for dims in [vec![16], vec![4, 4], vec![2, 2, 2, 2]] {
        let strided = dims.len() == 4;
        let data: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let x = device.storage_from_slice(&data)?;
        let mut l = Layout::contiguous(dims.clone());
        if strided {
            l = l.transpose(1, 2)?;
        }
        let tensor = x.tensor(&l)?;
        let batch = if strided { 4 } else { 1 };
        let edge = if strided { 2 } else { 4 };
        let sizes = (batch, edge, edge, edge);
        let cases: [Case; 4] = [
            ("affine", &|t| t.affine(2.0, 1.0), &|x, l| x.affine(l, 2.0, 1.0)),
            ("add", &|t| t.add(t), &|x, l| x.binary_impl::<op::Add>(x, l, l)),
            ("exp", &|t| t.exp(), &|x, l| x.unary_impl::<op::Exp>(l)),
            ("matmul", &|t| t.matmul(t), &|x, l| x.matmul(x, sizes, l, l)),
        ];
        for (name, ours, candles) in cases.into_iter().filter(|case| case.0 != "matmul" || dims.len() > 1) {
            let layout = if strided { "strided" } else { "contiguous" };
            let what = format!("{name}, {layout}, rank {}", dims.len());
            let (ours, candles, more) =
                measure(&device, &|| ours(&tensor).map(drop).map_err(converted), &|| {
                    candles(&x, &l).map(drop)
                })?;
            println!("{what:<34} {ours:>10.3} {candles:>10.3} {more:>10.3}");
        }
    }
    Ok(())
}

/// A name, a call of tensor-core, and the same through the trait.
type Case<'a> = (
    &'a str,
    &'a dyn Fn(&Tensor) -> tensor_core::Result<Tensor>,
    &'a dyn Fn(&HipStorage, &Layout) -> Result<HipStorage>,
);

/// The medians of both and of the difference, in microseconds a call.
fn measure(
    device: &HipDevice,
    ours: &dyn Fn() -> Result<()>,
    candles: &dyn Fn() -> Result<()>,
) -> Result<(f64, f64, f64)> {
    let round = |work: &dyn Fn() -> Result<()>| -> Result<f64> {
        device.synchronize()?;
        let start = thread_time();
        for _ in 0..CALLS {
            work()?;
        }
        Ok((thread_time() - start) * 1e6 / CALLS as f64)
    };
    let mut rounds = [(); 3].map(|()| Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        let (ours, candles) = (round(ours)?, round(candles)?);
        for (rounds, time) in rounds.iter_mut().zip([ours, candles, candles - ours]) {
            rounds.push(time);
        }
    }
    let [ours, candles, more] = rounds.map(|mut rounds| {
        rounds.sort_by(f64::total_cmp);
        rounds[ROUNDS / 2]
    });
    Ok((ours, candles, more))
}

/// The seconds that this thread has run.
fn thread_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: S1: the call writes the structure, which lives until it returns.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
