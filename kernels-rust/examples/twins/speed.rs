//! How long both twins take, by events of the device.

use crate::launches::{self, Dims, Load, Side};
use hip_kernel::hip_safe::{self, Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Event, Stream};
use kernels_rust::BLOCK;
use std::error::Error;
use std::time::Duration;

/// Launches of each twin that are timed; the median counts.
const ROUNDS: usize = 31;

/// Launches before the first one that is timed.
const WARM: usize = 3;

/// Sets of buffers, which the launches use in turn: together they are larger than a GPU's cache. An odd number, so that
/// both twins get each.
const SETS: usize = 5;

/// What one operation is timed on: bytes of what it reads and of the result.
struct Subject {
    name: &'static str,
    load: Load,
    dims: Dims,
    reads: Vec<usize>,
    writes: usize,
}

fn subjects() -> Vec<Subject> {
    let blocks = 132 * 8;
    let dims = |rows: usize, columns: usize| Dims { rows, columns, inner: 0, blocks };
    let (many, edge, width) = (1 << 26, 2048, 4096);
    let rows = many / width;
    let product = Dims { rows: edge, columns: edge, inner: edge, blocks };
    vec![
        Subject {
            name: "saxpy",
            load: launches::saxpy,
            dims: dims(many, 1),
            reads: vec![4 * many],
            writes: 4 * many,
        },
        Subject {
            name: "block_sum",
            load: launches::block_sum,
            dims: dims(many, 1),
            reads: vec![4 * many],
            writes: 4 * blocks as usize,
        },
        Subject {
            name: "matmul",
            load: launches::matmul,
            dims: product,
            reads: vec![4 * edge * edge; 2],
            writes: 4 * edge * edge,
        },
        Subject {
            name: "softmax",
            load: launches::softmax,
            dims: dims(rows, width),
            reads: vec![4 * many],
            writes: 4 * many,
        },
        Subject {
            name: "histogram",
            load: launches::histogram,
            dims: dims(many, 1),
            reads: vec![many],
            writes: 4 * BLOCK,
        },
        Subject {
            name: "sort_tiles",
            load: launches::sort_tiles,
            dims: dims(many, 1),
            reads: vec![4 * many],
            writes: 4 * many,
        },
    ]
}

/// Prints the medians and their ratio.
pub(crate) fn run(device: &Device) -> Result<(), Box<dyn Error>> {
    println!("{device}: median of {ROUNDS} launches of each, in turns, in microseconds (least to greatest)");
    println!("{:12} {:>32} {:>32} {:>12}", "kernel", "Rust", "HIP", "Rust / HIP");
    for subject in subjects() {
        let [rust, hip] = times(device, &subject)?;
        let ratio = rust[ROUNDS / 2].as_secs_f64() / hip[ROUNDS / 2].as_secs_f64();
        println!("{:12} {:>32} {:>32} {ratio:>12.3}", subject.name, text(&rust), text(&hip));
    }
    Ok(())
}

fn text(sorted: &[Duration]) -> String {
    let micros = |time: &Duration| time.as_secs_f64() * 1e6;
    let (least, median, greatest) = (&sorted[0], &sorted[sorted.len() / 2], &sorted[sorted.len() - 1]);
    format!("{:.1} ({:.1} to {:.1})", micros(median), micros(least), micros(greatest))
}

/// Buffers of one launch.
struct Set {
    reads: Vec<DeviceBuffer<u8>>,
    writes: DeviceBuffer<u8>,
}

/// The sorted times of both twins.
fn times(device: &Device, subject: &Subject) -> hip_safe::Result<[Vec<Duration>; 2]> {
    let stream = device.new_stream()?;
    let mut sets =
        (0..SETS).map(|set| buffers(&stream, subject, set)).collect::<hip_safe::Result<Vec<_>>>()?;
    let load = |side| (subject.load)(side, device, subject.dims);
    let runs = [load(Side::Rust)?, load(Side::Hip)?];
    let (begin, end) = (Event::new(device)?, Event::new(device)?);
    let mut times = [Vec::new(), Vec::new()];
    let mut turn = 0;
    for round in 0..WARM + ROUNDS {
        for (run, times) in runs.iter().zip(&mut times) {
            let set = &mut sets[turn % SETS];
            turn += 1;
            let reads: Vec<_> = set.reads.iter().map(DeviceSlice::as_view).collect();
            stream.record_event(&begin)?;
            run(&stream, &reads, set.writes.as_view_mut())?;
            stream.record_event(&end)?;
            stream.synchronize()?;
            if round >= WARM {
                times.push(end.elapsed_since(&begin)?);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    Ok(times)
}

/// Words that look random, of which the contents of buffers are repetitions.
const WORDS: usize = 1 << 20;

/// Buffers with contents that look random. As floats they are between 1 and 2 in size, so that no arithmetic is out of the ordinary.
fn buffers(stream: &Stream, subject: &Subject, set: usize) -> hip_safe::Result<Set> {
    let mut state = set as u64 + 1;
    let mut filled = |bytes: usize| {
        let word = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = (state >> 32) as u32;
            if subject.name == "histogram" { word } else { word & 0x807f_ffff | 0x3f80_0000 }
        };
        let words: Vec<u8> = (0..WORDS).map(word).flat_map(u32::to_le_bytes).collect();
        stream.upload(&words.repeat(bytes.div_ceil(words.len()))[..bytes])
    };
    let reads = subject.reads.iter().map(|bytes| filled(*bytes)).collect::<hip_safe::Result<Vec<_>>>()?;
    Ok(Set { reads, writes: stream.alloc_zeros(subject.writes)? })
}
