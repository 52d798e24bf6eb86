//! Convolutions of small floats by `conv_wide`, at both wave sizes and against exact results; tensors on the host never select these
//! kernels.

mod common;

use common::convolution::{Problem, forward, problem, transposed};
use common::device::{BOTH, input, launch as run, output, value};
use common::formats::{Number, small};
use kernels_hip::launch::LaunchShape;

const DTYPES: [&str; 2] = ["bf16", "f16"];
/// Output channels of a block.
const OPS: [u64; 2] = [64, 128];

/// Compares bits, with fewer blocks than tiles and with more.
fn agrees(problem: &Problem, what: &str) {
    let expected = problem.expected();
    assert!(expected.iter().any(|sum| *sum != 0));
    for (dtype, op) in DTYPES.into_iter().flat_map(|dtype| OPS.map(|op| (dtype, op))) {
        let encode = |list: &[i64]| -> Vec<u16> {
            list.iter().map(|x| small(dtype).encode(Number::Float(*x as f64)) as u16).collect()
        };
        let (x, f, bias, expected) =
            (encode(&problem.x), encode(&problem.f), encode(&problem.bias), encode(&expected));
        for (device, grid) in BOTH.into_iter().zip([2, 64]) {
            let mut out = vec![0xffffu16; expected.len()];
            let mut list = [input(&x), input(&f), input(&bias), output(&mut out), value(&problem.args)];
            let name = format!("conv_wide_{op}_{dtype}");
            // SAFETY: S9: the strides stay inside the arrays.
            unsafe { run(device, &name, LaunchShape { grid, block: 128 }, &mut list) };
            let wrong = out.iter().zip(&expected).position(|(got, expected)| got != expected);
            assert_eq!(wrong, None, "{what}: {name} on device {device}, the first wrong index");
        }
    }
}

#[test]
fn forward_convolutions_are_exact() {
    let (h, w) = (forward(11, 3, 1, 1, 1), forward(7, 3, 1, 1, 1));
    // The number of taps is a multiple of four in some cases, which allows packed loads.
    agrees(&problem([2, 1, 8, 130], h, w, 1), "3x3");
    agrees(&problem([1, 2, 5, 70], h, w, 2), "two groups");
    agrees(&problem([3, 1, 3, 64], forward(15, 5, 2, 2, 1), forward(13, 4, 3, 1, 1), 3), "strides");
    agrees(&problem([1, 1, 7, 33], forward(12, 3, 1, 2, 2), forward(12, 2, 1, 0, 3), 4), "dilations");
    agrees(&problem([1, 1, 40, 17], forward(9, 1, 1, 0, 1), forward(9, 1, 1, 0, 1), 5), "1x1");
}

#[test]
fn transposed_convolutions_are_exact() {
    agrees(
        &problem([2, 1, 6, 70], transposed(6, 4, 2, 1), transposed(5, 3, 2, 0), 6),
        "every second row and column",
    );
    agrees(
        &problem([1, 2, 4, 130], transposed(4, 2, 3, 0), transposed(4, 3, 1, 1), 7),
        "fewer taps than phases",
    );
}

#[test]
fn strides_are_followed() {
    // The image is transposed, and there is no bias.
    let mut turned = problem([1, 1, 6, 66], forward(8, 3, 1, 1, 1), forward(8, 3, 1, 1, 1), 8);
    turned.args.x.swap(2, 3);
    turned.args.f.swap(3, 4);
    agrees(&turned, "turned");
    turned.args.has_bias = 0;
    agrees(&turned, "turned, without a bias");
}
