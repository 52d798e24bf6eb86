//! hip-host's speed: a vector addition compared with a plain Rust loop, barriers, shuffles, launches.
//!
//! `cargo bench -p benches` runs everything, `cargo bench -p benches -- barrier` the benchmarks with that in
//! their name. The table at the end shows the results and their targets.

use benches::clock::processor_time;
use benches::hip::{Argument, Floats, Hip};
use benches::table::{Figure, Quantity, table};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use rayon::prelude::*;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Elements of the vectors: three of the smallest size fit in a core's cache, three of the largest in no
/// cache.
const SIZES: [usize; 3] = [1 << 15, 1 << 18, 1 << 26];
/// Block sizes that barriers and shuffles are measured with.
const BLOCKS: [usize; 5] = [32, 64, 256, 512, 1024];
/// Number of threads of a launch that measures barriers, and of barriers that each thread passes.
const THREADS: usize = 1 << 15;
const ROUNDS: usize = 64;
/// Launches in a queue.
const QUEUE: usize = 1000;
/// The two forms of the vector addition. The target is for the form that the shipped kernels have.
const ADDITIONS: [(&str, &str, Option<Quantity>); 2] = [
    ("vector_add_each", "HIPHOST_FOR_EACH", Some(Quantity::Times(1.5))),
    ("vector_add", "as on a GPU", None),
];

fn vector_add(criterion: &mut Criterion, figures: &mut Vec<Figure>) {
    let hip = Hip::on(0);
    let mut group = criterion.benchmark_group("vector_add");
    group.sampling_mode(SamplingMode::Flat).sample_size(50);
    for count in SIZES {
        group.throughput(Throughput::Bytes(12 * count as u64));
        // Both sides use the same memory. It is not zero: zero pages would share one physical page.
        let (a, b, mut c) = (hip.floats(count, 1.0), hip.floats(count, 2.0), hip.floats(count, 0.0));
        for (kernel, form, bar) in ADDITIONS {
            let function = hip.kernel("bench_plain", kernel);
            let add = |c: &Floats| {
                let arguments = &mut [
                    Argument::Floats(&a),
                    Argument::Floats(&b),
                    Argument::Floats(c),
                    Argument::U64(count as u64),
                ];
                // SAFETY: S9: three vectors of `count` floats.
                unsafe { hip.launch(function, (count / 256) as u32, 256, arguments) };
                hip.wait();
            };
            adds(kernel, &mut c, |c| add(c));
            group.bench_function(BenchmarkId::new(kernel, count), |bencher| bencher.iter(|| add(&c)));
            figures.push(Figure {
                name: format!("vector add of {count}, {form} / plain Rust loop"),
                of: format!("vector_add/{kernel}/{count}"),
                against: Some(format!("vector_add/rust/{count}")),
                count: 1.0,
                bar,
            });
        }
        adds("the loop in Rust", &mut c, |c| rust_loop(&a, &b, c));
        group.bench_function(BenchmarkId::new("rust", count), |bencher| {
            bencher.iter(|| rust_loop(&a, &b, &mut c));
        });
    }
    group.finish();
}

/// Checks, whatever is measured afterwards, that an addition of ones and twos writes every sum.
fn adds(what: &str, c: &mut Floats, add: impl FnOnce(&mut Floats)) {
    c.as_mut_slice().fill(0.0);
    add(c);
    assert!(c.as_slice().iter().all(|sum| *sum == 3.0), "{what} adds wrongly");
}

/// The same addition in Rust, in one piece per thread of the pool.
fn rust_loop(a: &Floats, b: &Floats, c: &mut Floats) {
    let (a, b) = (a.as_slice(), b.as_slice());
    let each = a.len().div_ceil(rayon::current_num_threads());
    c.as_mut_slice().par_chunks_mut(each).zip(a.par_chunks(each)).zip(b.par_chunks(each)).for_each(
        |((c, a), b)| {
            for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
                *c = *a + *b;
            }
        },
    );
}

/// CPU time of kernels that wait, over all threads of the process, so that it does not depend on the number
/// of cores.
fn waits(criterion: &mut Criterion, figures: &mut Vec<Figure>) {
    for (kernel, what) in [("barriers", "barrier"), ("shuffles", "shuffle")] {
        let mut group = criterion.benchmark_group(what);
        group.sampling_mode(SamplingMode::Flat).sample_size(20);
        group.throughput(Throughput::Elements((THREADS * ROUNDS) as u64));
        for (device, wave) in [(0, 32), (1, 64)] {
            let hip = Hip::on(device);
            let (function, out) = (hip.kernel("bench_threads", kernel), hip.floats(THREADS, 0.0));
            for block in BLOCKS {
                let id = BenchmarkId::new(format!("wave_{wave}"), block);
                group.bench_function(id, |bencher| {
                    bencher.iter_custom(|count| {
                        let start = processor_time();
                        for _ in 0..count {
                            let arguments = &mut [Argument::Floats(&out), Argument::Int(ROUNDS as i32)];
                            // SAFETY: S9: memory for one float per thread.
                            unsafe {
                                hip.launch(function, (THREADS / block) as u32, block as u32, arguments)
                            };
                            hip.wait();
                        }
                        (processor_time() - start).max(Duration::from_nanos(1))
                    });
                });
                figures.push(Figure {
                    name: format!("{what}, wave {wave}, block of {block}, a thread"),
                    of: format!("{what}/wave_{wave}/{block}"),
                    against: None,
                    count: (THREADS * ROUNDS) as f64,
                    bar: (what == "barrier").then_some(Quantity::Nanoseconds(40.0)),
                });
            }
        }
        group.finish();
    }
}

fn launches(criterion: &mut Criterion, figures: &mut Vec<Figure>) {
    let hip = Hip::on(0);
    let mut group = criterion.benchmark_group("launch");
    for (module, kind) in [("bench_plain", "plain"), ("bench_threads", "fibers")] {
        let function = hip.kernel(module, "nothing");
        // SAFETY: S9: a kernel without arguments.
        let launch = || unsafe { hip.launch(function, 1, 64, &mut []) };
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("one_and_wait", kind), |bencher| {
            bencher.iter(|| {
                launch();
                hip.wait();
            });
        });
        group.throughput(Throughput::Elements(QUEUE as u64));
        group.bench_function(BenchmarkId::new("queue_and_wait", kind), |bencher| {
            bencher.iter(|| {
                (0..QUEUE).for_each(|_| launch());
                hip.wait();
            });
        });
        let mut push = |name, of: &str, count| {
            let (of, bar) = (format!("launch/{of}/{kind}"), Some(Quantity::Microseconds(20.0)));
            figures.push(Figure { name, of, against: None, count, bar });
        };
        push(format!("empty launch and wait, {kind}"), "one_and_wait", 1.0);
        push(format!("empty launch, one of a queue of {QUEUE}, {kind}"), "queue_and_wait", QUEUE as f64);
    }
    group.finish();
}

/// The number of threads that hip-host uses.
fn threads() -> usize {
    let asked = std::env::var("HIPSTACK_HOST_THREADS").ok().and_then(|text| text.trim().parse().ok());
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from).max(2))
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(threads()).build_global().expect("no pool was made before");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/criterion");
    let start = SystemTime::now();
    let mut figures = Vec::new();
    let mut criterion = Criterion::default()
        .output_directory(&folder)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    vector_add(&mut criterion, &mut figures);
    waits(&mut criterion, &mut figures);
    launches(&mut criterion, &mut figures);
    criterion.final_summary();
    println!("\n{} threads\n{}", threads(), table(&figures, &folder, start));
}
