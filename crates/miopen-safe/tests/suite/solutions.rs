//! Choosing how a convolution is computed, and remembering it.

use crate::numbers::{check, noise};
use crate::under_test::{Machine, offered};
use miopen_safe::{
    Algorithm, Blend, Convolution, ConvolutionDesc, ConvolutionOptions, Direction, Error, SearchMode,
    SolutionStatistics,
};
use reference::network::Sum;
use reference::network::convolution::{Shapes, Walk, forward};

fn options(search: SearchMode) -> ConvolutionOptions {
    ConvolutionOptions { search, ..ConvolutionOptions::default() }
}

#[test]
fn the_second_call_finds_what_the_first_one_chose() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let desc = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[1, 2, 5, 5]), machine.desc::<f32>(&[3, 2, 3, 3]));
    let y_desc = machine.desc::<f32>(&[1, 3, 3, 3]);
    let (x, w, mut y) = (machine.scratch::<f32>(50), machine.scratch::<f32>(54), machine.scratch::<f32>(27));
    let mut call = |search| {
        let (tx, tw) = (x_desc.view(&x).unwrap(), w_desc.view(&w).unwrap());
        handle.convolution_forward(&desc, &tx, &tw, &mut y_desc.view_mut(&mut y).unwrap(), options(search))
    };
    for (round, search) in [SearchMode::Immediate, SearchMode::Find].into_iter().enumerate() {
        let before = handle.solution_statistics();
        if offered(call(search)).is_none() {
            return;
        }
        call(search).unwrap();
        call(search).unwrap();
        let SolutionStatistics { hits, misses, remembered } = handle.solution_statistics();
        assert_eq!((hits - before.hits, misses - before.misses, remembered), (2, 1, round + 1));
    }
    handle.forget_solutions();
    let before = handle.solution_statistics();
    assert_eq!(before.remembered, 0);
    call(SearchMode::Immediate).unwrap();
    assert_eq!(handle.solution_statistics().misses, before.misses + 1);
}

#[test]
fn equal_problems_share_a_solution() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let call = |dims: &[usize], padding: usize| {
        // Descriptors of its own each time.
        let mut convolution = Convolution::new(2);
        convolution.padding = vec![padding; 2];
        let desc = ConvolutionDesc::new(handle, convolution).unwrap();
        let (x_desc, w_desc) = (machine.desc::<f32>(dims), machine.desc::<f32>(&[1, 1, 1, 1]));
        let y_desc = machine.desc::<f32>(&desc.output_dims(&x_desc, &w_desc, handle).unwrap());
        let (x, w) = (machine.scratch::<f32>(x_desc.elements()), machine.scratch::<f32>(1));
        let mut y = machine.scratch::<f32>(y_desc.elements());
        let (tx, tw, mut ty) =
            (x_desc.view(&x).unwrap(), w_desc.view(&w).unwrap(), y_desc.view_mut(&mut y).unwrap());
        handle.convolution_forward(&desc, &tx, &tw, &mut ty, options(SearchMode::Immediate)).unwrap();
        handle.solution_statistics()
    };
    call(&[1, 1, 4, 4], 0);
    assert_eq!(call(&[1, 1, 4, 4], 0).hits, 1);
    assert_eq!(call(&[1, 1, 4, 5], 0).misses, 2, "another shape");
    assert_eq!(call(&[1, 1, 4, 4], 1).misses, 3, "another padding");
}

#[test]
fn every_solution_gives_the_result() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let convolution = Convolution { padding: vec![1, 1], ..Convolution::new(2) };
    let desc = ConvolutionDesc::new(handle, convolution).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[2, 4, 6, 6]), machine.desc::<f32>(&[3, 4, 3, 3]));
    let y_desc = machine.desc::<f32>(&[2, 3, 6, 6]);
    let found = handle.convolution_solutions(Direction::Forward, &desc, &x_desc, &w_desc, &y_desc);
    let Some(found) = offered(found) else { return };
    assert!(!found.is_empty());
    let (x, w) = (noise::<f32>(1, x_desc.elements()), noise::<f32>(2, w_desc.elements()));
    let walk =
        Walk { padding: vec![1, 1], stride: vec![1, 1], dilation: vec![1, 1], groups: 1, transposed: false };
    let shapes = Shapes { x: x_desc.dims(), w: w_desc.dims(), y: y_desc.dims() };
    let wanted = forward(&x, &w, shapes, &walk);
    let (dev_x, dev_w) = (machine.up::<f32>(&x), machine.up::<f32>(&w));
    let (tx, tw) = (x_desc.view(&dev_x).unwrap(), w_desc.view(&dev_w).unwrap());
    let transforms = [Algorithm::WINOGRAD, Algorithm::FFT];
    for solution in found {
        assert!(solution.id().is_some());
        let bytes = handle.convolution_workspace_bytes(
            Direction::Forward,
            &desc,
            &x_desc,
            &w_desc,
            &y_desc,
            &solution,
        );
        assert_eq!(bytes.unwrap(), solution.workspace_bytes());
        let options =
            ConvolutionOptions { solution: Some(solution.clone()), ..ConvolutionOptions::default() };
        let mut y = machine.scratch::<f32>(y_desc.elements());
        handle.convolution_forward(&desc, &tx, &tw, &mut y_desc.view_mut(&mut y).unwrap(), options).unwrap();
        // The sums of transforms have larger terms than those of the definition: Winograd's tiles of 4 by 4 have factors up to 8.
        let larger = if transforms.contains(&solution.algorithm()) { 8.0 } else { 1.0 };
        let wanted: Vec<Sum> = wanted.iter().map(|sum| Sum { scale: larger * sum.scale, ..*sum }).collect();
        check::<f32>(&format!("{solution:?}"), &machine.down(&y), &wanted);
    }
}

#[test]
fn a_solution_of_another_problem_is_refused() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let desc = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[1, 1, 4, 4]), machine.desc::<f32>(&[1, 1, 2, 2]));
    let y_desc = machine.desc::<f32>(&[1, 1, 3, 3]);
    let found = handle.convolution_solutions(Direction::Forward, &desc, &x_desc, &w_desc, &y_desc).unwrap();
    let solution = found.into_iter().next();
    let (x_desc, y_desc) = (machine.desc::<f32>(&[1, 1, 5, 4]), machine.desc::<f32>(&[1, 1, 4, 3]));
    let (x, w, mut y) = (machine.scratch::<f32>(20), machine.scratch::<f32>(4), machine.scratch::<f32>(12));
    let options = ConvolutionOptions { solution, ..ConvolutionOptions::default() };
    let done = handle.convolution_forward(
        &desc,
        &x_desc.view(&x).unwrap(),
        &w_desc.view(&w).unwrap(),
        &mut y_desc.view_mut(&mut y).unwrap(),
        options,
    );
    assert!(
        matches!(done, Err(Error::Mismatch { what: "the problem that a solution is for", .. })),
        "{done:?}"
    );
}

/// What is compiled for a solution is the handle's that gave it.
#[test]
fn a_solution_of_another_handle_is_refused() {
    let (machine, other) = (Machine::new(), Machine::new());
    let desc = ConvolutionDesc::new(&machine.handle, Convolution::new(2)).unwrap();
    let one = machine.desc::<f32>(&[1, 1, 1, 1]);
    let found = machine.handle.convolution_solutions(Direction::Forward, &desc, &one, &one, &one);
    let Some(solution) = offered(found).and_then(|found| found.into_iter().next()) else { return };
    let (x, w, mut y) = (machine.up::<f32>(&[2.0]), machine.up::<f32>(&[3.0]), machine.up::<f32>(&[5.0]));
    let mut call = |machine: &Machine| {
        let options =
            ConvolutionOptions { solution: Some(solution.clone()), ..ConvolutionOptions::default() };
        let (tx, tw) = (one.view(&x).unwrap(), one.view(&w).unwrap());
        machine.handle.convolution_forward(&desc, &tx, &tw, &mut one.view_mut(&mut y).unwrap(), options)
    };
    let refused = call(&other);
    assert!(
        matches!(refused, Err(Error::Mismatch { what: "the problem that a solution is for", .. })),
        "{refused:?}"
    );
    call(&machine).unwrap();
    assert_eq!(machine.down(&y), [6.0]);
}

#[test]
fn immediate_mode_only_sets() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let desc = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let one = machine.desc::<f32>(&[1, 1, 1, 1]);
    let (x, w, mut y) = (machine.up::<f32>(&[2.0]), machine.up::<f32>(&[3.0]), machine.up::<f32>(&[5.0]));
    let options = ConvolutionOptions { blend: Blend::ADD, ..ConvolutionOptions::default() };
    let done = handle.convolution_forward(
        &desc,
        &one.view(&x).unwrap(),
        &one.view(&w).unwrap(),
        &mut one.view_mut(&mut y).unwrap(),
        options,
    );
    assert!(matches!(done, Err(Error::Invalid { what: "the blend of a convolution", .. })), "{done:?}");
    assert_eq!(machine.down(&y), [5.0]);
}
