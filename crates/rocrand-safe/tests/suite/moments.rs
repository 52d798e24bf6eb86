//! What is known of each distribution's numbers, whatever the generator: averages within six of their standard deviations, which a right
//! generator misses once in five hundred million times.

use crate::kinds::here;
use crate::under_test;
use half::f16;
use hip_safe::{AnyBits, DeviceBuffer, DeviceRepr};
use rocrand_safe::{Generator, Kind};

/// Numbers a test: a power of two, so that Sobol points fill their cells evenly.
const N: usize = 1 << 14;
/// How many standard deviations an average may be off.
const SIGMAS: f64 = 6.0;

fn drawn<T: DeviceRepr + AnyBits + Into<f64>>(
    kind: Kind,
    draw: impl FnOnce(&mut Generator, &mut DeviceBuffer<T>) -> rocrand_safe::Result<()>,
) -> Vec<f64> {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, kind);
    if !kind.is_quasi() {
        generator.set_seed(0x5eed_0001).unwrap();
    }
    let mut numbers = stream.alloc_zeros::<T>(N).unwrap();
    draw(&mut generator, &mut numbers).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    stream.download(&numbers).unwrap().into_iter().map(Into::into).collect()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Compares mean and variance. `fourth` is the distribution's fourth central moment; `slack` is how far an approximation of the distribution
/// may be off, relative to the variance.
#[track_caller]
fn check(what: &str, numbers: &[f64], expected: f64, variance: f64, fourth: f64, slack: f64) {
    let n = numbers.len() as f64;
    let found = mean(numbers);
    let bound = SIGMAS * (variance / n).sqrt() + slack * variance.sqrt();
    assert!((found - expected).abs() <= bound, "{what}: mean {found}, not {expected} within {bound}");
    let found = mean(&numbers.iter().map(|x| (x - expected).powi(2)).collect::<Vec<_>>());
    let bound = SIGMAS * ((fourth - variance * variance) / n).sqrt() + slack * variance;
    assert!((found - variance).abs() <= bound, "{what}: variance {found}, not {variance} within {bound}");
}

/// Neighbours of independent numbers have no correlation.
#[track_caller]
fn check_neighbours(what: &str, numbers: &[f64], expected: f64, variance: f64) {
    let products: Vec<_> =
        numbers.windows(2).map(|pair| (pair[0] - expected) * (pair[1] - expected)).collect();
    let (found, bound) = (mean(&products) / variance, SIGMAS / (products.len() as f64).sqrt());
    assert!(found.abs() <= bound, "{what}: correlation {found}, not 0 within {bound}");
}

fn check_uniform(kind: Kind, what: &str, numbers: &[f64]) {
    let what = format!("{kind:?}, {what}");
    assert!(numbers.iter().all(|&x| 0.0 < x && x <= 1.0), "{what}: out of (0, 1]");
    check(&what, numbers, 0.5, 1.0 / 12.0, 1.0 / 80.0, 0.0);
    if !kind.is_quasi() {
        check_neighbours(&what, numbers, 0.5, 1.0 / 12.0);
    }
}

#[test]
fn uniform_numbers() {
    for kind in here() {
        check_uniform(kind, "f32", &drawn::<f32>(kind, |g, out| g.fill_uniform(out)));
        check_uniform(kind, "f64", &drawn::<f64>(kind, |g, out| g.fill_uniform(out)));
        if under_test::name() != "nvidia" {
            check_uniform(kind, "f16", &drawn::<f16>(kind, |g, out| g.fill_uniform(out)));
        }
    }
}

/// The first four central moments of a normal distribution are 0, v, 0 and 3 v^2.
fn check_normal(kind: Kind, what: &str, numbers: &[f64], expected: f64, deviation: f64, approximate: bool) {
    let what = format!("{kind:?}, {what}");
    let variance = deviation * deviation;
    // Winitzki's formula is off by up to 0.2 percent of a number, which is twice that of its square.
    let slack = if approximate { 0.01 } else { 0.0 };
    check(&what, numbers, expected, variance, 3.0 * variance * variance, slack);
    if !kind.is_quasi() {
        check_neighbours(&what, numbers, expected, variance);
    }
}

#[test]
fn normal_numbers() {
    for kind in here() {
        let quasi = kind.is_quasi();
        let numbers = drawn::<f32>(kind, |g, out| g.fill_normal(out, -3.0, 2.0));
        check_normal(kind, "f32", &numbers, -3.0, 2.0, quasi);
        let numbers = drawn::<f64>(kind, |g, out| g.fill_normal(out, 100.0, 0.5));
        check_normal(kind, "f64", &numbers, 100.0, 0.5, quasi || kind == Kind::Threefry2x32x20);
    }
}

#[test]
fn exponentials_of_normal_numbers() {
    for kind in here() {
        let quasi = kind.is_quasi();
        let numbers = drawn::<f32>(kind, |g, out| g.fill_log_normal(out, 1.0, 0.25));
        let logs: Vec<_> = numbers.iter().map(|x| x.ln()).collect();
        check_normal(kind, "logarithms of f32", &logs, 1.0, 0.25, quasi);
        let numbers = drawn::<f64>(kind, |g, out| g.fill_log_normal(out, -2.0, 3.0));
        let logs: Vec<_> = numbers.iter().map(|x| x.ln()).collect();
        check_normal(kind, "logarithms of f64", &logs, -2.0, 3.0, quasi || kind == Kind::Threefry2x32x20);
    }
}

/// The fourth central moment of Poisson's distribution is m + 3 m^2. The means are those of a short table, of a long one, and of normal numbers.
#[test]
fn counts() {
    for kind in here() {
        for m in [0.3, 12.5, 5000.0] {
            let numbers = drawn::<u32>(kind, |g, out| g.fill_poisson(out, m));
            let what = format!("{kind:?}, counts around {m}");
            let slack = if m > 4000.0 { 0.01 } else { 0.0 };
            check(&what, &numbers, m, m, m + 3.0 * m * m, slack);
            if !kind.is_quasi() {
                check_neighbours(&what, &numbers, m, m);
            }
        }
    }
}

/// In which share of the numbers a bit is set: half of them. rocRAND stretches the 31 bits of Mrg31k3p to 32 by a factor, which sets the
/// lowest in a third; shorter numbers are parts of those of 32 bits.
fn share_of(kind: Kind, bit: u32, width: u32) -> f64 {
    let parts = f64::from(32 / width);
    if kind == Kind::Mrg31k3p && bit == 0 { (1.0 / 3.0 + (parts - 1.0) / 2.0) / parts } else { 0.5 }
}

/// The highest eight bits; lower ones of so few Sobol points are all 0.
#[test]
fn bits() {
    for kind in here() {
        let check_bits = |what: &str, width: u32, numbers: &[f64]| {
            let lowest = if kind.is_quasi() { width - 8 } else { 0 };
            for bit in lowest..width {
                let set: Vec<_> = numbers.iter().map(|&x| f64::from(x as u64 >> bit & 1 == 1)).collect();
                let share = share_of(kind, bit, width);
                let (variance, fourth) =
                    (share * (1.0 - share), share * (1.0 - share).powi(4) + (1.0 - share) * share.powi(4));
                check(&format!("{kind:?}, bit {bit} of {what}"), &set, share, variance, fourth, 0.0);
            }
        };
        if under_test::name() != "nvidia" || !kind.is_quasi() {
            check_bits("u8", 8, &drawn::<u8>(kind, |g, out| g.fill_bits(out)));
            check_bits("u16", 16, &drawn::<u16>(kind, |g, out| g.fill_bits(out)));
        }
        if under_test::name() != "nvidia" || kind.word_bits() == 32 {
            check_bits("u32", 32, &drawn::<u32>(kind, |g, out| g.fill_bits(out)));
        }
    }
}
