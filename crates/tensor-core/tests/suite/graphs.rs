//! Tensors and graphs: a launch writes what its capture wrote or made, and no other tensor.

use hip_safe::{GraphExec, Stream};
use tensor_core::{
    DType, Device, ErrorKind, IndexOp, QActivations, QTensor, QuantFormat, Result, Storage, Tensor, dlpack,
};

use crate::common::{devices, same, vector};

/// Runs a test on every HIP device, whose stream is the test's alone: other tests use those of the shared devices meanwhile.
fn on_own_devices(test: impl Fn(&Device, &Stream) -> Result<()>) {
    for device in devices() {
        let device = Device::parse(&device.name()).unwrap();
        let Some(hip) = device.as_hip() else { continue };
        if let Err(error) = test(&device, hip.stream()) {
            panic!("on {device}: {error}");
        }
    }
}

/// What the stream is given by `work`, as a graph. What `work` does was done before: code that is loaded on first use cannot be captured.
fn capture<T>(stream: &Stream, work: impl FnOnce() -> Result<T>) -> (GraphExec, T) {
    let mut made = None;
    let graph = stream.capture(|_| {
        made = Some(work());
        Ok(())
    });
    let made = made.expect("the closure ran").unwrap();
    (graph.unwrap().instantiate().unwrap(), made)
}

fn is_capturing<T: std::fmt::Debug>(result: &Result<T>) -> bool {
    let kind = result.as_ref().map_err(tensor_core::Error::kind);
    matches!(kind, Err(ErrorKind::Hip(hip_safe::Error::Capturing { .. })))
}

#[test]
fn clones_and_views_of_what_a_graph_writes_are_copies() {
    on_own_devices(|device, stream| {
        let mut x = vector(&[1f32, 2.0, 3.0, 4.0], device)?;
        x.affine_(1.0, 0.0)?;
        let (exec, ()) = capture(stream, || x.affine_(2.0, 1.0));
        same(&x, &[1.0, 2.0, 3.0, 4.0])?;
        let whole: [(&str, Tensor); 10] = [
            ("clone", x.clone()),
            ("contiguous", x.contiguous()?),
            ("to_dtype", x.to_dtype(DType::F32)?),
            ("to_device", x.to_device(device)?),
            ("reshape", x.reshape([2, 2])?),
            ("transpose", x.view([2, 2])?.t()?.t()?),
            ("unsqueeze", x.unsqueeze(0)?.squeeze(0)?),
            ("cat", Tensor::cat(&[&x], 0)?),
            ("roll", x.roll(4, 0)?),
            ("i", x.i(..)?),
        ];
        let parts = [x.narrow(0, 2, 2)?, x.i(2..)?, x.chunk(2, 0)?.remove(1)];
        let repeated = x.expand([2, 4])?;
        let selected = x.get(3)?;
        assert_eq!(x.storage_references(), 1);
        // A copy has what the view reaches, and no more.
        assert_eq!([parts[0].storage().len(), repeated.storage().len(), selected.storage().len()], [2, 4, 1]);
        for expected in [[3.0, 5.0, 7.0, 9.0], [7.0, 11.0, 15.0, 19.0]] {
            exec.launch(stream).unwrap();
            same(&x, &expected)?;
            for (name, tensor) in &whole {
                assert_eq!(tensor.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0], "{name}");
            }
            parts.iter().try_for_each(|part| same(part, &[3.0, 4.0]))?;
            same(&repeated, &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0])?;
            same(&selected, &[4.0])?;
        }
        // No other memory is written instead of the graph's, and without the graph there is nothing to guard against.
        x.fill_(1.0)?;
        exec.launch(stream).unwrap();
        same(&x, &[3.0; 4])?;
        drop(exec);
        assert!(x.clone().shares_storage(&x) && x.reshape([2, 2])?.shares_storage(&x));
        Ok(())
    });
}

#[test]
fn results_are_zero_until_the_launch_and_inputs_are_read_in_place() {
    on_own_devices(|device, stream| {
        let (mut a, b) = (vector(&[1f32, 2.0], device)?, vector(&[10f32, 20.0], device)?);
        let _loaded = (&a + &b)?;
        let (exec, (sum, twin)) = capture(stream, || {
            let sum = (&a + &b)?;
            let twin = sum.clone();
            Ok((sum, twin))
        });
        // Clones that the capture made are the graph's as well.
        assert!(twin.shares_storage(&sum));
        same(&sum, &[0.0, 0.0])?;
        exec.launch(stream).unwrap();
        let kept = sum.clone();
        // Alone, an input is written in place, and the next launch reads that.
        a.copy_from_(&vector(&[5f32, 6.0], device)?)?;
        exec.launch(stream).unwrap();
        same(&sum, &[15.0, 26.0])?;
        same(&twin, &[15.0, 26.0])?;
        same(&kept, &[11.0, 22.0])?;
        // Shared, it moves away: the graph reads the memory that it was captured with.
        let former = a.clone();
        a.fill_(0.0)?;
        exec.launch(stream).unwrap();
        same(&sum, &[15.0, 26.0])?;
        same(&former, &[5.0, 6.0])?;
        Ok(())
    });
}

#[test]
fn numbers_that_a_capture_draws_are_drawn_once() {
    on_own_devices(|device, stream| {
        let draw = || Tensor::rand(0f32, 1.0, 8, device);
        let before = draw()?.to_vec::<f32>()?;
        let (exec, numbers) = capture(stream, draw);
        exec.launch(stream).unwrap();
        let first = numbers.to_vec::<f32>()?;
        exec.launch(stream).unwrap();
        assert_eq!(numbers.to_vec::<f32>()?, first);
        let after = draw()?.to_vec::<f32>()?;
        assert!(first != before && after != first && after != before);
        Ok(())
    });
}

#[test]
fn a_capture_copies_nothing_of_its_own() {
    on_own_devices(|device, stream| {
        let mut x = vector(&[1f32, 2.0, 3.0], device)?;
        let work = |x: &mut Tensor| -> Result<(Tensor, Tensor)> {
            x.affine_(1.0, 1.0)?;
            let head = x.narrow(0, 0, 2)?;
            let sum = (&head + &head.clone())?;
            Ok((head, (&sum.reshape([1, 2])? + &sum.unsqueeze(0)?)?))
        };
        work(&mut x)?;
        same(&x, &[2.0, 3.0, 4.0])?;
        let (first, (view, four)) = capture(stream, || work(&mut x));
        assert_eq!(first.node_count(), 3);
        first.launch(stream).unwrap();
        same(&view, &[3.0, 4.0])?;
        same(&four, &[12.0, 16.0])?;
        drop(view);
        // What another graph writes is copied by this one: its view has the value of its own launch.
        let (second, (view, four)) = capture(stream, || work(&mut x));
        assert_eq!(second.node_count(), 4);
        second.launch(stream).unwrap();
        first.launch(stream).unwrap();
        same(&x, &[5.0, 6.0, 7.0])?;
        same(&view, &[4.0, 5.0])?;
        same(&four, &[16.0, 20.0])?;
        Ok(())
    });
}

#[test]
fn operations_of_other_threads_on_a_captured_stream_are_errors() {
    on_own_devices(|device, stream| {
        let (a, b) = (vector(&[1f32, 2.0], device)?, vector(&[10f32, 20.0], device)?);
        let mut x = (&a + &b)?;
        x.affine_(1.0, 0.0)?;
        let refused = |x: &mut Tensor| {
            let add = &a + &b;
            assert!(is_capturing(&add), "{add:?}");
            let message = add.unwrap_err().to_string();
            assert!(message.contains("another thread") && message.contains("capture is over"), "{message}");
            assert!(is_capturing(&a.copy()));
            assert!(is_capturing(&Tensor::zeros(2, DType::F32, device)));
            assert!(is_capturing(&vector(&[1f32], device)));
            assert!(is_capturing(&a.to_vec::<f32>()));
            assert!(is_capturing(&x.affine_(2.0, 0.0)));
            assert!(is_capturing(&x.copy_from_(&b)));
        };
        let (exec, sum) = capture(stream, || {
            let sum = &a + &b;
            std::thread::scope(|scope| scope.spawn(|| refused(&mut x)).join().unwrap());
            sum
        });
        assert_eq!(exec.node_count(), 1);
        let added = std::thread::scope(|scope| scope.spawn(|| &a + &b).join().unwrap())?;
        same(&added, &[11.0, 22.0])?;
        same(&x, &[11.0, 22.0])?;
        same(&sum, &[0.0, 0.0])?;
        exec.launch(stream).unwrap();
        same(&sum, &[11.0, 22.0])?;
        Ok(())
    });
}

#[test]
fn a_clone_that_could_not_be_copied_says_so() {
    on_own_devices(|device, stream| {
        let mut x = vector(&[1f32, 2.0], device)?;
        x.affine_(1.0, 0.0)?;
        let (exec, ()) = capture(stream, || x.affine_(2.0, 0.0));
        let (_other, (clone, view)) = capture(stream, || {
            let others = || (x.clone(), x.narrow(0, 0, 1));
            Ok(std::thread::scope(|scope| scope.spawn(others).join().unwrap()))
        });
        assert!(is_capturing(&view), "{view:?}");
        assert_eq!(clone.dims(), [2]);
        let failed = |result: Result<Tensor>| {
            let error = result.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::CloneFailed(_)), "{error:?}");
            let message = error.to_string();
            assert!(message.contains("copying it failed") && message.ends_with("answers that error itself"));
        };
        failed(&clone + &x);
        failed(&x + &clone);
        failed(clone.copy());
        failed(clone.unsqueeze(0)?.t()?.copy());
        failed(clone.to_vec::<f32>().map(|_| x.clone()));
        let mut written = clone.clone();
        failed(written.affine_(1.0, 1.0).map(|()| x.clone()));
        assert!(clone.reshape([1, 2])?.matmul(&x.reshape([2, 1])?).is_err());
        exec.launch(stream).unwrap();
        same(&x.clone(), &[2.0, 4.0])?;
        Ok(())
    });
}

/// Code that other libraries run is not ordered with launches.
#[test]
fn memory_of_graphs_is_not_exported() {
    on_own_devices(|device, stream| {
        let address = |tensor: &Tensor| match tensor.storage() {
            Storage::Hip(storage) => storage.view_from(0).unwrap().device_ptr().addr(),
            _ => unreachable!("it is on a HIP device"),
        };
        let [mut written, read] = [[1f32, 2.0], [3.0, 4.0]].map(|x| vector(&x, device).unwrap());
        written.add_assign_(&read)?;
        let (exec, ()) = capture(stream, || written.add_assign_(&read));
        let addresses = [&written, &read].map(address);
        let exported = [dlpack::export(written)?, dlpack::export(read)?];
        for (exported, address) in exported.iter().zip(addresses) {
            assert_ne!(exported.tensor().data.addr(), address);
        }
        exec.launch(stream).unwrap();
        let [written, read] = exported.map(|exported| {
            // SAFETY: S4: the structs describe the memory of the tensors above, and no work uses it.
            unsafe { dlpack::import(exported.into_raw(), device) }.unwrap()
        });
        same(&written, &[4.0, 6.0])?;
        same(&read, &[3.0, 4.0])?;
        Ok(())
    });
}

/// Activations are rounded once, but not for longer than their numbers and the rounded form are of one launch.
#[test]
fn rounded_activations_of_graphs_are_not_kept() {
    on_own_devices(|device, stream| {
        let numbers: Vec<f32> = (0..64).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
        let matrix = vector(&numbers, device)?.reshape([2, 32])?;
        let matrix = QTensor::quantize_onto(&matrix.to_device(&Device::Cpu)?, QuantFormat::Q8_0, device)?;
        let x = vector(&numbers[7..39], device)?.reshape([1, 32])?;
        let expected = matrix.forward(&x)?.to_bytes()?;

        // Rounded by a graph that was not launched yet.
        let mut activations = QActivations::new(x.clone());
        let (_exec, _) = capture(stream, || activations.products(&[&matrix]));
        assert_eq!(activations.products(&[&matrix])?[0].to_bytes()?, expected);

        // Numbers that a graph writes again.
        let mut input = x.copy()?;
        let (exec, doubled) = capture(stream, || input.affine(2.0, 0.0));
        let mut activations = QActivations::new(doubled);
        for _ in 0..2 {
            exec.launch(stream).unwrap();
            let now = activations.products(&[&matrix])?;
            assert_eq!(now[0].to_bytes()?, matrix.forward(activations.tensor())?.to_bytes()?);
            input.affine_(3.0, 1.0)?;
        }
        Ok(())
    });
}
