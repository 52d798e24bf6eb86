//! Complex transforms.

use crate::judge::{self, Judged, check, complex_numbers, narrow};
use crate::under_test;
use hip_safe::{AnyBits, DeviceRepr};
use rocfft_safe::{Complex, Direction, Plan, Spec};

/// Powers of two, other products of small primes, primes, and large primes.
const LENGTHS: &[&[usize]] = &[
    &[1],
    &[2],
    &[60],
    &[64],
    &[97],
    &[1009],
    &[4096],
    &[3, 4],
    &[16, 15],
    &[7, 11],
    &[2, 3, 4],
    &[8, 4, 6],
];

fn transforms<T: Judged>()
where
    Complex<T>: DeviceRepr + AnyBits,
{
    let stream = under_test::stream();
    for &lengths in LENGTHS {
        let size: usize = lengths.iter().product();
        for (batch, direction) in [(1, Direction::Forward), (3, Direction::Inverse)] {
            let what = format!("{lengths:?} x {batch}, {direction:?}");
            let given = complex_numbers(size * batch);
            let expected: Vec<_> =
                given.chunks(size).flat_map(|grid| judge::transform(grid, lengths, direction)).collect();
            let mut x = stream.upload(&narrow::<T>(&given)).unwrap();
            let mut y = stream.alloc_zeros::<Complex<T>>(size * batch).unwrap();

            let spec = Spec::complex(direction, lengths).batch(batch);
            let plan =
                Plan::<T>::new(stream.device(), &spec).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(plan.reach(), [size * batch; 2]);
            plan.complex(&stream, &x, &mut y).unwrap();
            check(&what, &stream.download(&y).unwrap(), &expected, size);
            assert_eq!(stream.download(&x).unwrap(), narrow::<T>(&given), "{what}: the input stays");

            let plan = Plan::<T>::new(stream.device(), &spec.in_place()).unwrap();
            plan.in_place(&stream, &mut x).unwrap();
            check(&what, &stream.download(&x).unwrap(), &expected, size);
        }
    }
}

#[test]
fn of_f32() {
    transforms::<f32>();
}

#[test]
fn of_f64() {
    transforms::<f64>();
}

/// cuFFT has no factor.
#[test]
fn results_are_scaled() {
    if under_test::name() == "nvidia" {
        println!("skipped: cuFFT has no factor");
        return;
    }
    let stream = under_test::stream();
    let given = complex_numbers(40);
    let x = stream.upload(&narrow::<f32>(&given)).unwrap();
    let mut y = stream.alloc_zeros::<Complex<f32>>(40).unwrap();
    let spec = Spec::complex(Direction::Forward, &[40]).scale(-0.025);
    Plan::<f32>::new(stream.device(), &spec).unwrap().complex(&stream, &x, &mut y).unwrap();
    let expected: Vec<_> =
        judge::transform(&given, &[40], Direction::Forward).iter().map(|z| z * -0.025).collect();
    check("scaled", &stream.download(&y).unwrap(), &expected, 40);
}
