//! Strides and distances.

use crate::judge::{self, C64, check, complex_numbers, narrow};
use crate::under_test;
use rocfft_safe::{Complex, Direction, Layout, Plan, Spec};

/// The columns of a matrix, each transformed into a row of another.
#[test]
fn columns_into_rows() {
    let (rows, columns) = (12, 5);
    let stream = under_test::stream();
    let given = complex_numbers(rows * columns);
    let x = stream.upload(&narrow::<f64>(&given)).unwrap();
    let mut y = stream.alloc_zeros::<Complex<f64>>(rows * columns).unwrap();
    let spec = Spec::complex(Direction::Forward, &[rows])
        .batch(columns)
        .input(Layout { strides: vec![columns], distance: 1 });
    Plan::<f64>::new(stream.device(), &spec).unwrap().complex(&stream, &x, &mut y).unwrap();
    let expected: Vec<_> = (0..columns)
        .flat_map(|column| {
            let one: Vec<_> = (0..rows).map(|row| given[row * columns + column]).collect();
            judge::transform(&one, &[rows], Direction::Forward)
        })
        .collect();
    check("columns", &stream.download(&y).unwrap(), &expected, rows);
}

/// As above, of real numbers, and back.
#[test]
fn real_columns_into_rows() {
    let (rows, columns) = (10, 3);
    let halved = rows / 2 + 1;
    let stream = under_test::stream();
    let given = judge::numbers(rows * columns);
    let mut x = stream.upload(&given).unwrap();
    // One element is left free behind each row.
    let mut y = stream.alloc_zeros::<Complex<f64>>((halved + 1) * columns).unwrap();
    let (in_columns, in_rows) =
        (Layout { strides: vec![columns], distance: 1 }, Layout { strides: vec![1], distance: halved + 1 });
    let spec = Spec::real_forward(&[rows]).batch(columns).input(in_columns.clone()).output(in_rows.clone());
    let plan = Plan::<f64>::new(stream.device(), &spec).unwrap();
    plan.real_forward(&stream, &mut x, &mut y).unwrap();
    let expected: Vec<_> = (0..columns)
        .flat_map(|column| {
            let one: Vec<_> = (0..rows).map(|row| C64::new(given[row * columns + column], 0.0)).collect();
            judge::half(&judge::transform(&one, &[rows], Direction::Forward), rows)
        })
        .collect();
    let found = stream.download(&y).unwrap();
    let found: Vec<_> = found.chunks(halved + 1).flat_map(|row| row[..halved].to_vec()).collect();
    check("columns", &found, &expected, rows);

    let spec = Spec::real_inverse(&[rows]).batch(columns).input(in_rows).output(in_columns);
    let plan = Plan::<f64>::new(stream.device(), &spec).unwrap();
    plan.real_inverse(&stream, &mut y, &mut x).unwrap();
    let times: Vec<_> = given.iter().map(|x| x * rows as f64).collect();
    judge::check_real("back", &stream.download(&x).unwrap(), &times, rows);
}

/// A part of a larger image, into a part of another: the strides are longer than the rows.
#[test]
fn a_part_of_an_image() {
    let stream = under_test::stream();
    let image = complex_numbers(6 * 10);
    let x = stream.upload(&narrow::<f32>(&image)).unwrap();
    let mut y = stream.alloc_zeros::<Complex<f32>>(4 * 7).unwrap();
    let spec = Spec::complex(Direction::Inverse, &[4, 5])
        .input(Layout { strides: vec![10, 1], distance: 60 })
        .output(Layout { strides: vec![7, 1], distance: 28 });
    let plan = Plan::<f32>::new(stream.device(), &spec).unwrap();
    assert_eq!(plan.reach(), [35, 26]);
    plan.complex(&stream, &x, &mut y).unwrap();
    let part: Vec<C64> = (0..4).flat_map(|row| image[row * 10..row * 10 + 5].to_vec()).collect();
    let expected = judge::transform(&part, &[4, 5], Direction::Inverse);
    let found: Vec<_> = stream.download(&y).unwrap().chunks(7).flat_map(|row| row[..5].to_vec()).collect();
    check("part", &found, &expected, 20);
}
