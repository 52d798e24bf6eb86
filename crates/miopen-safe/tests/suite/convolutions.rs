//! Convolutions against the definition: directions, dimensions, groups, types, both ways of choosing.

use crate::numbers::{Real, check, noise};
use crate::under_test::{Machine, offered, offered_case};
use half::{bf16, f16};
use miopen_safe::{Convolution, ConvolutionDesc, ConvolutionMode, ConvolutionOptions, SearchMode};
use reference::network::Sum;
use reference::network::convolution::{Shapes, Walk, backward_data, backward_weights, forward};

/// One problem, by hand.
struct Case {
    name: &'static str,
    x: Vec<usize>,
    w: Vec<usize>,
    change: fn(&mut Convolution),
}

fn cases() -> Vec<Case> {
    let case = |name, x: &[usize], w: &[usize], change| Case { name, x: x.to_vec(), w: w.to_vec(), change };
    vec![
        case("plain", &[2, 3, 6, 7], &[4, 3, 3, 3], |_| ()),
        case("padded, strided, dilated", &[2, 3, 9, 8], &[4, 3, 3, 2], |c| {
            (c.padding, c.stride, c.dilation) = (vec![2, 1], vec![2, 1], vec![1, 2]);
        }),
        case("a product of matrices", &[2, 8, 5, 5], &[6, 8, 1, 1], |_| ()),
        case("groups", &[2, 6, 7, 5], &[4, 3, 3, 3], |c| (c.groups, c.padding) = (2, vec![1, 1])),
        case("depthwise", &[1, 5, 7, 7], &[5, 1, 3, 3], |c| (c.groups, c.padding) = (5, vec![1, 1])),
        case("transposed", &[2, 3, 4, 5], &[3, 4, 3, 3], |c| {
            (c.mode, c.stride) = (ConvolutionMode::Transpose, vec![2, 2]);
            (c.padding, c.output_padding) = (vec![1, 1], vec![1, 0]);
        }),
        case("three dimensions", &[2, 2, 4, 5, 4], &[3, 2, 2, 3, 2], |c| c.padding = vec![0, 1, 1]),
    ]
}

fn walk(case: &Case) -> (Convolution, Walk) {
    let mut convolution = Convolution::new(case.x.len() - 2);
    (case.change)(&mut convolution);
    let Convolution { padding, stride, dilation, groups, mode, .. } = convolution.clone();
    let transposed = mode == ConvolutionMode::Transpose;
    (convolution, Walk { padding, stride, dilation, groups, transposed })
}

/// All three directions of a problem.
fn run<T: Real>(machine: &Machine, case: &Case, search: SearchMode) {
    let Machine { handle, .. } = machine;
    let (convolution, walk) = walk(case);
    let desc = ConvolutionDesc::new(handle, convolution).unwrap();
    let (x_desc, w_desc) = (machine.desc::<T>(&case.x), machine.desc::<T>(&case.w));
    let dims = desc.output_dims(&x_desc, &w_desc, handle).unwrap();
    let y_desc = machine.desc::<T>(&dims);
    let shapes = Shapes { x: &case.x, w: &case.w, y: &dims };
    let (x, w) = (noise::<T>(1, x_desc.elements()), noise::<T>(2, w_desc.elements()));
    let dy = noise::<T>(3, y_desc.elements());
    let (dev_x, dev_w, dev_dy) = (machine.up::<T>(&x), machine.up::<T>(&w), machine.up::<T>(&dy));
    let (tx, tw) = (x_desc.view(&dev_x).unwrap(), w_desc.view(&dev_w).unwrap());
    let tdy = y_desc.view(&dev_dy).unwrap();
    let options = || ConvolutionOptions { search, ..ConvolutionOptions::default() };
    let name = |direction: &str| format!("{} {direction} {:?} {search:?}", case.name, T::DTYPE);

    let mut out = machine.scratch::<T>(y_desc.elements());
    let done =
        handle.convolution_forward(&desc, &tx, &tw, &mut y_desc.view_mut(&mut out).unwrap(), options());
    if offered(done).is_some() {
        check::<T>(&name("forward"), &machine.down(&out), &forward(&x, &w, shapes, &walk));
    }
    let mut out = machine.scratch::<T>(x_desc.elements());
    let done = handle.convolution_backward_data(
        &desc,
        &tdy,
        &tw,
        &mut x_desc.view_mut(&mut out).unwrap(),
        options(),
    );
    if offered_case(&format!("{:?}", T::DTYPE), done).is_some() {
        check::<T>(&name("data"), &machine.down(&out), &backward_data(&dy, &w, shapes, &walk));
    }
    let mut out = machine.scratch::<T>(w_desc.elements());
    let done = handle.convolution_backward_weights(
        &desc,
        &tdy,
        &tx,
        &mut w_desc.view_mut(&mut out).unwrap(),
        options(),
    );
    if offered(done).is_some() {
        check::<T>(&name("weights"), &machine.down(&out), &backward_weights(&dy, &x, shapes, &walk));
    }
}

#[test]
fn every_problem_in_every_direction() {
    let machine = Machine::new();
    for case in cases() {
        run::<f32>(&machine, &case, SearchMode::Immediate);
    }
}

#[test]
fn every_problem_by_measuring() {
    let machine = Machine::new();
    for case in cases() {
        run::<f32>(&machine, &case, SearchMode::Find);
    }
}

#[test]
fn types_of_sixteen_bits() {
    let machine = Machine::new();
    for case in cases().iter().take(4) {
        run::<f16>(&machine, case, SearchMode::Immediate);
        run::<bf16>(&machine, case, SearchMode::Immediate);
    }
}

#[test]
fn the_other_device() {
    let count = hip_safe::Device::count(&crate::under_test::platform()).unwrap();
    if count > 1 {
        run::<f32>(&Machine::on(1), &cases()[1], SearchMode::Immediate);
    }
}

#[test]
fn the_bias_and_its_gradient() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let dims = [2, 3, 4, 5];
    let (y_desc, b_desc) = (machine.desc::<f32>(&dims), machine.desc::<f32>(&[1, 3, 1, 1]));
    let (y, b) = (noise::<f32>(1, 120), noise::<f32>(2, 3));
    let (mut dev_y, dev_b) = (machine.up::<f32>(&y), machine.up::<f32>(&b));
    let done =
        handle.convolution_add_bias(&b_desc.view(&dev_b).unwrap(), &mut y_desc.view_mut(&mut dev_y).unwrap());
    let channel = |at: usize| at / 20 % 3;
    if offered(done).is_some() {
        let wanted: Vec<Sum> = (0..120).map(|at| [y[at], b[channel(at)]].into_iter().collect()).collect();
        check::<f32>("adding a bias", &machine.down(&dev_y), &wanted);
    }
    let (dev_dy, mut dev_db) = (machine.up::<f32>(&y), machine.scratch::<f32>(3));
    let done = handle.convolution_backward_bias(
        &y_desc.view(&dev_dy).unwrap(),
        &mut b_desc.view_mut(&mut dev_db).unwrap(),
    );
    if offered(done).is_some() {
        let of = |wanted| (0..120).filter(|at| channel(*at) == wanted).map(|at| y[at]).collect();
        let wanted: Vec<Sum> = (0..3).map(of).collect();
        check::<f32>("a bias' gradient", &machine.down(&dev_db), &wanted);
    }
}
