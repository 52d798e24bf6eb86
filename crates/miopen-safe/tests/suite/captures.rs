//! Graphs of a handle's work.

use crate::numbers::{check, noise};
use crate::under_test::{Machine, offered};
use miopen_safe::{
    Activation, ActivationDesc, Blend, Convolution, ConvolutionDesc, ConvolutionOptions, Error, SearchMode,
};
use reference::network::convolution::{Shapes, Walk, forward};

/// A convolution and an activation, captured; then everything but the buffers is dropped.
#[test]
fn a_graph_keeps_what_its_work_needs() {
    let Machine { stream, handle, .. } = Machine::new();
    let machine = Machine::new();
    let desc = ConvolutionDesc::new(&handle, Convolution::new(2)).unwrap();
    let relu = ActivationDesc::new(&handle, Activation::Relu).unwrap();
    let x_desc = machine.desc::<f32>(&[1, 2, 5, 5]);
    let (w_desc, y_desc) = (machine.desc::<f32>(&[3, 2, 3, 3]), machine.desc::<f32>(&[1, 3, 3, 3]));
    let (x, w) = (noise::<f32>(1, 50), noise::<f32>(2, 54));
    let (mut dev_x, dev_w) = (machine.up::<f32>(&x), machine.up::<f32>(&w));
    let (mut middle, mut dev_y) = (machine.scratch::<f32>(27), machine.scratch::<f32>(27));
    machine.stream.synchronize().unwrap();
    let mut work = |stream: &hip_safe::Stream| {
        assert_eq!(stream, handle.stream());
        let (tx, tw) = (x_desc.view(&dev_x).unwrap(), w_desc.view(&dev_w).unwrap());
        let mut tm = y_desc.view_mut(&mut middle).unwrap();
        let options = ConvolutionOptions::default();
        let done = handle.convolution_forward(&desc, &tx, &tw, &mut tm, options).and_then(|()| {
            let mut ty = y_desc.view_mut(&mut dev_y).unwrap();
            handle.activation_forward(&relu, Blend::SET, &tm.as_tensor(), &mut ty)
        });
        done.map_err(|error| match error {
            Error::Hip(error) => error,
            other => panic!("{other}"),
        })
    };
    // Once before, so that the solution is known and compiled.
    work(&stream).unwrap();
    let exec = stream.capture(work).unwrap().instantiate().unwrap();
    drop((handle, desc, relu));

    let walk =
        Walk { padding: vec![0, 0], stride: vec![1, 1], dilation: vec![1, 1], groups: 1, transposed: false };
    let shapes = Shapes { x: x_desc.dims(), w: w_desc.dims(), y: y_desc.dims() };
    for seed in [1, 7] {
        let x = noise::<f32>(seed, 50);
        let values: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        stream.copy_from_host(&values, &mut dev_x).unwrap();
        exec.launch(&stream).unwrap();
        let mut wanted = forward(&x, &w, shapes, &walk);
        wanted.iter_mut().for_each(|sum| sum.value = sum.value.max(0.0));
        check::<f32>("a launch", &machine.down(&dev_y), &wanted);
    }
    exec.close().unwrap();
}

/// The library has memory of its own, which a graph's launch on another stream must not use beside the handle's work.
#[test]
fn launches_are_ordered_with_the_handles_other_work() {
    Machine::alone(order);
}

fn order(machine: &Machine) {
    let Machine { stream, handle, .. } = machine;
    let other = stream.device().new_stream().unwrap();
    let relu = ActivationDesc::new(handle, Activation::Relu).unwrap();
    let desc = machine.desc::<f32>(&[4]);
    let x = machine.up::<f32>(&[-1.0, 1.0, -2.0, 2.0]);
    let (mut in_graph, mut beside) = (machine.scratch::<f32>(4), machine.scratch::<f32>(4));
    let exec = stream
        .capture(|_| {
            let mut ty = desc.view_mut(&mut in_graph).unwrap();
            handle.activation_forward(&relu, Blend::SET, &desc.view(&x).unwrap(), &mut ty).unwrap();
            Ok(())
        })
        .unwrap()
        .instantiate()
        .unwrap();
    stream.synchronize().unwrap();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let hold = move || {
        let _ = wait.recv();
    };
    other.launch_host(hold).unwrap();
    exec.launch(&other).unwrap();
    let mut ty = desc.view_mut(&mut beside).unwrap();
    handle.activation_forward(&relu, Blend::SET, &desc.view(&x).unwrap(), &mut ty).unwrap();
    assert!(!stream.is_done().unwrap(), "it comes after the launch, which waits");
    go.send(()).unwrap();
    assert_eq!(machine.down(&beside), [0.0, 1.0, 0.0, 2.0]);
    assert_eq!(machine.down(&in_graph), [0.0, 1.0, 0.0, 2.0]);
}

#[test]
fn a_search_is_no_part_of_a_graph() {
    let machine = Machine::new();
    let Machine { stream, handle, .. } = &machine;
    let desc = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let one = machine.desc::<f32>(&[1, 1, 1, 1]);
    let (x, w, mut y) = (machine.up::<f32>(&[2.0]), machine.up::<f32>(&[3.0]), machine.up::<f32>(&[5.0]));
    let mut call = || {
        let options = ConvolutionOptions { search: SearchMode::Find, ..ConvolutionOptions::default() };
        let (tx, tw) = (one.view(&x).unwrap(), one.view(&w).unwrap());
        handle.convolution_forward(&desc, &tx, &tw, &mut one.view_mut(&mut y).unwrap(), options)
    };
    stream
        .capture(|_| {
            let refused = call();
            assert!(matches!(refused, Err(Error::Hip(hip_safe::Error::Capturing { .. }))), "{refused:?}");
            Ok(())
        })
        .unwrap();
    // Found before, it can be.
    if offered(call()).is_none() {
        return;
    }
    let captured = stream.capture(|_| {
        call().unwrap();
        Ok(())
    });
    let exec = captured.unwrap().instantiate().unwrap();
    exec.launch(stream).unwrap();
    assert_eq!(machine.down(&y), [6.0]);
}
