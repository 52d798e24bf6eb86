//! The forward functions of candle's own custom operations, beside plain loops over the same numbers.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::Layout;
use candle_hip::{nn, HipDevice, HipStorage};

use crate::compare::numbers;
use crate::devices;

const ROWS: usize = 3;
const WIDTH: usize = 8;

fn x(i: usize) -> f32 {
    ((i * 7 + 3) % 11) as f32 / 4.0 - 1.0
}

fn storage(device: &HipDevice, length: usize) -> HipStorage {
    let elements: Vec<f32> = (0..length).map(x).collect();
    device.storage_from_slice(&elements).unwrap()
}

/// The largest difference is a few units of `f32` for numbers of about 1.
fn assert_near(got: &HipStorage, expected: &[f64]) {
    let got = numbers(&got.to_cpu_storage().unwrap());
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 4e-6, "{got} and {expected}");
    }
}

fn row(row: usize) -> Vec<f64> {
    (0..WIDTH).map(|column| f64::from(x(row * WIDTH + column))).collect()
}

#[test]
fn rows() {
    let l = Layout::contiguous((ROWS, WIDTH));
    let parameters = Layout::contiguous(WIDTH);
    let each = |f: &dyn Fn(Vec<f64>) -> Vec<f64>| (0..ROWS).flat_map(|i| f(row(i))).collect::<Vec<f64>>();
    for device in devices() {
        let x = storage(&device, ROWS * WIDTH);
        let weight = storage(&device, WIDTH);
        let w = row(0);

        let (sigmoid, shape) = nn::sigmoid(&x, &l).unwrap();
        assert_near(&sigmoid, &each(&|row| row.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect()));
        assert_eq!(shape.dims(), [ROWS, WIDTH]);

        let (softmax, _) = nn::softmax_last_dim(&x, &l).unwrap();
        assert_near(
            &softmax,
            &each(&|row| {
                let sum: f64 = row.iter().map(|x| x.exp()).sum();
                row.iter().map(|x| x.exp() / sum).collect()
            }),
        );

        let (rms, _) = nn::rms_norm(&x, &l, &weight, &parameters, 1e-3).unwrap();
        assert_near(
            &rms,
            &each(&|row| {
                let mean = row.iter().map(|x| x * x).sum::<f64>() / WIDTH as f64;
                row.iter().zip(&w).map(|(x, w)| x / (mean + 1e-3).sqrt() * w).collect()
            }),
        );

        let of = (&weight, &parameters);
        let (norm, _) = nn::layer_norm((&x, &l), of, of, 1e-3).unwrap();
        assert_near(
            &norm,
            &each(&|row| {
                let mean = row.iter().sum::<f64>() / WIDTH as f64;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / WIDTH as f64;
                row.iter().zip(&w).map(|(x, w)| (x - mean) / (variance + 1e-3).sqrt() * w + w).collect()
            }),
        );

        for ascending in [true, false] {
            let (sorted, _) = nn::arg_sort_last_dim(&x, &l, ascending).unwrap();
            let expected = each(&|row| {
                let mut order: Vec<usize> = (0..WIDTH).collect();
                order.sort_by(|a, b| {
                    let by = row[*a].total_cmp(&row[*b]);
                    if ascending {
                        by
                    } else {
                        by.reverse()
                    }
                });
                order.into_iter().map(|i| i as f64).collect()
            });
            assert_eq!(numbers(&sorted.to_cpu_storage().unwrap()), expected);
        }
    }
}

#[test]
fn rotations() {
    // One batch, two heads, three times, width 4; angles of two pairs.
    let (heads, times, width) = (2, 3, 4);
    let l = Layout::contiguous((1, heads, times, width));
    let thd = Layout::contiguous((1, times, heads, width));
    let angles = Layout::contiguous((times, width / 2));
    for device in devices() {
        let x = storage(&device, heads * times * width);
        let all = numbers(&x.to_cpu_storage().unwrap());
        let cos = device.storage_from_slice(&(0..6).map(|i| (i as f32).cos()).collect::<Vec<_>>()).unwrap();
        let sin = device.storage_from_slice(&(0..6).map(|i| (i as f32).sin()).collect::<Vec<_>>()).unwrap();
        // The pair p of a row at `start` at time t: where its two numbers are.
        let turned = |pair: &dyn Fn(usize) -> (usize, usize), time_of: &dyn Fn(usize) -> usize| {
            let mut out = all.clone();
            for row in 0..heads * times {
                for p in 0..width / 2 {
                    let (a, b) = pair(p);
                    let (a, b) = (row * width + a, row * width + b);
                    let angle = (time_of(row) * 2 + p) as f64;
                    out[a] = all[a] * angle.cos() - all[b] * angle.sin();
                    out[b] = all[a] * angle.sin() + all[b] * angle.cos();
                }
            }
            out
        };
        let halves = |p: usize| (p, p + 2);
        let neighbours = |p: usize| (2 * p, 2 * p + 1);
        let (c, s) = ((&cos, &angles), (&sin, &angles));
        assert_near(&nn::rope((&x, &l), c, s).unwrap().0, &turned(&halves, &|row| row % times));
        assert_near(&nn::rope_i((&x, &l), c, s).unwrap().0, &turned(&neighbours, &|row| row % times));
        assert_near(&nn::rope_thd((&x, &thd), c, s).unwrap().0, &turned(&halves, &|row| row / heads));
    }
}

#[test]
fn attention() {
    let (time, width) = (3, 8);
    let l = Layout::contiguous((1, 1, time, width));
    for device in devices() {
        let x = storage(&device, time * width);
        let rows: Vec<Vec<f64>> = (0..time).map(row).collect();
        for causal in [false, true] {
            let (got, shape) = nn::sdpa((&x, &l), (&x, &l), (&x, &l), None, causal, 0.5).unwrap();
            assert_eq!(shape.dims(), [1, 1, time, width]);
            let mut expected = Vec::new();
            for (at, q) in rows.iter().enumerate() {
                let keys = &rows[..if causal { at + 1 } else { time }];
                let scores: Vec<f64> = keys
                    .iter()
                    .map(|k| (q.iter().zip(k).map(|(a, b)| a * b).sum::<f64>() * 0.5).exp())
                    .collect();
                let sum: f64 = scores.iter().sum();
                expected.extend((0..width).map(|column| {
                    scores.iter().zip(keys).map(|(score, k)| score * k[column]).sum::<f64>() / sum
                }));
            }
            assert_near(&got, &expected);
        }
    }
}
