//! Owners: closing, dropping, sharing between threads.

use crate::numbers::noise;
use crate::under_test::Machine;
use hip_safe::drop_errors;
use miopen_safe::{
    Activation, ActivationDesc, Blend, Convolution, ConvolutionDesc, ConvolutionOptions, CtcLoss,
    CtcLossDesc, Error, Handle, Lrn, LrnDesc, LrnMode, Pooling, PoolingDesc, PoolingMode, ReduceOp,
    Reduction, ReductionDesc, Tensor, TensorDesc, TensorMut,
};
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn handles_and_descriptors_are_shareable() {
    fn shared<T: Send + Sync>() {}
    shared::<Handle>();
    shared::<TensorDesc>();
    shared::<ConvolutionDesc>();
    shared::<PoolingDesc>();
    shared::<ActivationDesc>();
    shared::<miopen_safe::RnnDesc>();
    shared::<miopen_safe::DropoutDesc>();
    shared::<Tensor<'_, f32>>();
    shared::<TensorMut<'_, f32>>();
}

#[test]
fn owners_close_and_drop() {
    let before = drop_errors();
    let Machine { handle, .. } = Machine::new();
    let tensor = TensorDesc::packed::<f32>(&handle, &[2, 3]).unwrap();
    let other = tensor.clone();
    assert_eq!(tensor, other);
    assert_eq!(tensor.byte_len().unwrap(), 24);
    assert_eq!(tensor.read_back().unwrap(), (vec![2, 3], vec![3, 1]));
    tensor.close().unwrap();
    assert_eq!(other.byte_len().unwrap(), 24, "a clone keeps it");
    other.close().unwrap();
    ConvolutionDesc::new(&handle, Convolution::new(2)).unwrap().close().unwrap();
    PoolingDesc::new(&handle, Pooling::new(PoolingMode::Max, &[2, 2])).unwrap().close().unwrap();
    ActivationDesc::new(&handle, Activation::Relu).unwrap().close().unwrap();
    drop(ConvolutionDesc::new(&handle, Convolution::new(3)).unwrap());
    handle.close().unwrap();
    assert_eq!(drop_errors(), before);
}

/// The memory that a handle orders its work by is on its stream: with a second one the pool would cut and join for each allocation.
#[test]
fn a_handle_does_not_slow_the_pool_down() {
    Machine::alone(|Machine { stream, .. }| {
        let allocate = || drop(stream.alloc_zeros::<u8>(1000).unwrap());
        // What streams of other tests left behind is looked at after some frees.
        (0..1000).for_each(|_| allocate());
        let before = stream.device().memory_statistics();
        (0..10).for_each(|_| allocate());
        let after = stream.device().memory_statistics();
        assert_eq!((after.hits - before.hits, after.splits - before.splits), (10, 0));
    });
}

#[test]
fn the_other_descriptors_close() {
    let Machine { handle, .. } = Machine::new();
    let lrn = Lrn { mode: LrnMode::CrossChannel, n: 5, alpha: 1e-4, beta: 0.75, k: 2.0 };
    if let Some(desc) = crate::under_test::offered(LrnDesc::new(&handle, lrn)) {
        desc.close().unwrap();
    }
    if let Some(desc) = crate::under_test::offered(CtcLossDesc::new(&handle, CtcLoss::default())) {
        desc.close().unwrap();
    }
    if let Some(desc) = crate::under_test::offered(ReductionDesc::new(&handle, Reduction::new(ReduceOp::Add)))
    {
        desc.close().unwrap();
    }
}

/// The handle ends before its work is read, and descriptors outlive it.
#[test]
fn a_handle_waits_for_its_work() {
    let Machine { stream, handle, .. } = Machine::new();
    let machine = Machine::new();
    let (desc, relu) = (machine.desc::<f32>(&[1000]), ActivationDesc::new(&handle, Activation::Abs).unwrap());
    let x = noise::<f32>(3, 1000);
    let (dev_x, mut dev_y) = (machine.up::<f32>(&x), machine.scratch::<f32>(1000));
    let (tx, mut ty) = (desc.view(&dev_x).unwrap(), desc.view_mut(&mut dev_y).unwrap());
    handle.activation_forward(&relu, Blend::SET, &tx, &mut ty).unwrap();
    drop(handle);
    assert!(stream.is_done().unwrap());
    let wanted: Vec<f64> = x.iter().map(|x| x.abs()).collect();
    assert_eq!(machine.down(&dev_y), wanted);
    relu.close().unwrap();
}

/// There its work cannot be waited for: another thread does that, and ends it.
#[test]
fn a_handle_may_end_in_a_host_function_and_in_a_capture() {
    let machine = Machine::new();
    let before = drop_errors();
    for closes in [true, false] {
        let [in_function, in_capture] = [(); 2].map(|()| Handle::new(&machine.stream).unwrap());
        let (say, said) = channel();
        let end = move |handle: Handle| {
            if closes {
                return handle.close();
            }
            drop(handle);
            Ok(())
        };
        let function = move || say.send(end(in_function)).unwrap();
        machine.stream.launch_host(function).unwrap();
        let ended = said.recv().unwrap();
        if closes {
            assert!(matches!(ended, Err(Error::Hip(hip_safe::Error::InHostFunction))), "{ended:?}");
        }
        let captured = machine.stream.capture(|_| {
            let ended = end(in_capture);
            if closes {
                assert!(matches!(ended, Err(Error::Hip(hip_safe::Error::Capturing { .. }))), "{ended:?}");
            }
            Ok(())
        });
        drop(captured.unwrap());
    }
    machine.stream.synchronize().unwrap();
    assert_eq!(drop_errors(), before);
}

#[test]
fn threads_share_a_handle() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let desc = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[1, 1, 3, 3]), machine.desc::<f32>(&[1, 1, 2, 2]));
    let y_desc = machine.desc::<f32>(&[1, 1, 2, 2]);
    let w = machine.up::<f32>(&[1.0, 0.0, 0.0, 2.0]);
    thread::scope(|scope| {
        for thread in 0..4_u32 {
            let (machine, desc, w) = (&machine, &desc, &w);
            let (x_desc, w_desc, y_desc) = (&x_desc, &w_desc, &y_desc);
            scope.spawn(move || {
                for round in 0..8 {
                    let base = f64::from(thread * 100 + round);
                    let x: Vec<f64> = (0..9).map(|at| base + f64::from(at)).collect();
                    let (dev_x, mut dev_y) = (machine.up::<f32>(&x), machine.scratch::<f32>(4));
                    let (tx, tw) = (x_desc.view(&dev_x).unwrap(), w_desc.view(w).unwrap());
                    let mut ty = y_desc.view_mut(&mut dev_y).unwrap();
                    let options = ConvolutionOptions::default();
                    machine.handle.convolution_forward(desc, &tx, &tw, &mut ty, options).unwrap();
                    let wanted: Vec<f64> = [0, 1, 3, 4].map(|at| x[at] + 2.0 * x[at + 4]).to_vec();
                    assert_eq!(machine.down(&dev_y), wanted);
                }
            });
        }
    });
}

/// MIOpen's descriptors of tensors are not made for two threads: each handle has its own behind one of ours.
#[test]
fn handles_of_two_threads_share_descriptors() {
    let (first, second) = (Machine::new(), Machine::new());
    let desc = first.desc::<f32>(&[3, 4]);
    let relu = ActivationDesc::new(&first.handle, Activation::Relu).unwrap();
    let run = |machine: &Machine, sign: f64| {
        for round in 0..16 {
            let x: Vec<f64> = (0..12).map(|at| sign * f64::from(at + round)).collect();
            let (dev_x, mut dev_y) = (machine.up::<f32>(&x), machine.scratch::<f32>(12));
            let (tx, mut ty) = (desc.view(&dev_x).unwrap(), desc.view_mut(&mut dev_y).unwrap());
            machine.handle.activation_forward(&relu, Blend::SET, &tx, &mut ty).unwrap();
            let wanted: Vec<f64> = x.iter().map(|x| x.max(0.0)).collect();
            assert_eq!(machine.down(&dev_y), wanted);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run(&first, 1.0));
        scope.spawn(|| run(&second, -1.0));
    });
    drop((first, second));
    desc.close().unwrap();
}
