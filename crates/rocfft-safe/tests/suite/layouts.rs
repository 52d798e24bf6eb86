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
