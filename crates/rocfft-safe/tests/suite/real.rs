//! Real transforms.

use crate::judge::{self, C64, Judged, check, check_real, numbers};
use crate::under_test;
use hip_safe::{AnyBits, DeviceRepr};
use rocfft_safe::{Complex, Direction, Plan, Spec};

const LENGTHS: &[&[usize]] =
    &[&[1], &[2], &[9], &[64], &[101], &[500], &[3, 4], &[6, 7], &[2, 3, 5], &[4, 3, 8]];

const BATCH: usize = 2;

fn transforms<T: Judged>()
where
    Complex<T>: DeviceRepr + AnyBits,
{
    let stream = under_test::stream();
    for &lengths in LENGTHS {
        let (size, row) = (lengths.iter().product::<usize>(), lengths[lengths.len() - 1]);
        let (rows, halved) = (size / row * BATCH, row / 2 + 1);
        let what = format!("{lengths:?} x {BATCH}");
        let given = numbers(size * BATCH);
        let grid: Vec<_> = given.iter().map(|&x| C64::new(x, 0.0)).collect();
        let whole = grid.chunks(size).flat_map(|grid| judge::transform(grid, lengths, Direction::Forward));
        let expected = judge::half(&whole.collect::<Vec<_>>(), row);
        let real: Vec<_> = given.iter().map(|&x| T::of(x)).collect();

        let spec = Spec::real_forward(lengths).batch(BATCH);
        let plan = Plan::<T>::new(stream.device(), &spec).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(plan.reach(), [size * BATCH, rows * halved]);
        let mut x = stream.upload(&real).unwrap();
        let mut y = stream.alloc_zeros::<Complex<T>>(rows * halved).unwrap();
        plan.real_forward(&stream, &mut x, &mut y).unwrap();
        check(&format!("{what}, forward"), &stream.download(&y).unwrap(), &expected, size);

        // Back to where it came from, times the size.
        let back = Plan::<T>::new(stream.device(), &Spec::real_inverse(lengths).batch(BATCH)).unwrap();
        let mut z = stream.upload(&judge::narrow::<T>(&expected)).unwrap();
        back.real_inverse(&stream, &mut z, &mut x).unwrap();
        let times: Vec<_> = given.iter().map(|x| x * size as f64).collect();
        check_real(&format!("{what}, inverse"), &stream.download(&x).unwrap(), &times, size);

        // In place a row has room for its results.
        let zero = T::of(0.0);
        let padded: Vec<_> = real
            .chunks(row)
            .flat_map(|row_of| {
                let value = |index: usize| row_of.get(index).copied().unwrap_or(zero);
                (0..halved).map(move |pair| Complex::new(value(2 * pair), value(2 * pair + 1)))
            })
            .collect();
        let plan = Plan::<T>::new(stream.device(), &spec.in_place()).unwrap();
        let mut both = stream.upload(&padded).unwrap();
        plan.in_place(&stream, &mut both).unwrap();
        check(&format!("{what}, forward in place"), &stream.download(&both).unwrap(), &expected, size);
        let back = Spec::real_inverse(lengths).batch(BATCH).in_place();
        Plan::<T>::new(stream.device(), &back).unwrap().in_place(&stream, &mut both).unwrap();
        let rows: Vec<_> = stream
            .download(&both)
            .unwrap()
            .chunks(halved)
            .flat_map(|row_of| row_of.iter().flat_map(|z| [z.re, z.im]).take(row).collect::<Vec<_>>())
            .collect();
        // Twice transformed.
        check_real(&format!("{what}, inverse in place"), &rows, &times, size * size);
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
