//! What is refused before any call, with words that say what to do.

use crate::under_test::{Machine, platform};
use hip_safe::Device;
use miopen_safe::{
    Activation, ActivationDesc, Blend, Convolution, ConvolutionDesc, ConvolutionOptions, Error, Handle,
    Pooling, PoolingDesc, PoolingMode, TensorDesc,
};

const TOO_LONG: usize = 1 << 31;

#[test]
fn sizes_beyond_32_bits() {
    let machine = Machine::new();
    let refused = |result: Result<TensorDesc, Error>| assert!(matches!(result, Err(Error::TooLarge { .. })));
    refused(TensorDesc::packed::<f32>(&machine.handle, &[TOO_LONG]));
    refused(TensorDesc::packed::<f32>(&machine.handle, &[1 << 16, 1 << 15]));
    refused(TensorDesc::packed::<f32>(&machine.handle, &[usize::MAX, usize::MAX]));
    refused(TensorDesc::strided::<f32>(&machine.handle, &[2, 2], &[TOO_LONG, 1]));
    refused(TensorDesc::strided::<f32>(&machine.handle, &[usize::MAX, 2], &[usize::MAX, 1]));
    let mut convolution = Convolution::new(2);
    convolution.padding = vec![TOO_LONG, 0];
    let made = ConvolutionDesc::new(&machine.handle, convolution);
    assert!(matches!(made, Err(Error::TooLarge { what: "a padding", .. })), "{made:?}");
    let mut pooling = Pooling::new(PoolingMode::Max, &[2, 2]);
    pooling.stride = vec![TOO_LONG, 1];
    assert!(matches!(PoolingDesc::new(&machine.handle, pooling), Err(Error::TooLarge { .. })));
}

#[test]
fn descriptors_that_say_nothing() {
    let Machine { handle, .. } = &Machine::new();
    assert!(matches!(TensorDesc::packed::<f32>(handle, &[]), Err(Error::Invalid { .. })));
    assert!(matches!(TensorDesc::packed::<f32>(handle, &[1; 6]), Err(Error::Invalid { .. })));
    assert!(matches!(TensorDesc::packed::<f32>(handle, &[2, 0, 3]), Err(Error::Invalid { .. })));
    assert!(matches!(TensorDesc::strided::<f32>(handle, &[2, 3], &[3]), Err(Error::Mismatch { .. })));
    assert!(matches!(TensorDesc::strided::<f32>(handle, &[2, 3], &[3, 0]), Err(Error::Invalid { .. })));
}

/// Their fields are public: nobody has looked at them before.
#[test]
fn shapes_of_outputs_need_a_sound_description() {
    let (x, w) = ([1, 1, 4, 4], [1, 1, 2, 2]);
    let one = Convolution::new(2);
    assert_eq!(one.output_dims(&x, &w).unwrap(), [1, 1, 3, 3]);
    for wrong in [
        Convolution { stride: vec![0, 1], ..one.clone() },
        Convolution { stride: vec![1], ..one.clone() },
        Convolution { dilation: vec![], ..one.clone() },
        Convolution { groups: 0, ..one.clone() },
    ] {
        let refused = wrong.output_dims(&x, &w);
        assert!(matches!(refused, Err(Error::Invalid { .. } | Error::Mismatch { .. })), "{refused:?}");
    }
    let one = Pooling::new(PoolingMode::Max, &[2, 2]);
    assert_eq!(one.output_dims(&x).unwrap(), [1, 1, 2, 2]);
    for wrong in [
        Pooling { stride: vec![0, 1], ..one.clone() },
        Pooling { stride: vec![1], ..one.clone() },
        Pooling { padding: vec![], ..one.clone() },
        Pooling { window: vec![], ..one.clone() },
    ] {
        let refused = wrong.output_dims(&x);
        assert!(matches!(refused, Err(Error::Invalid { .. } | Error::Mismatch { .. })), "{refused:?}");
    }
}

#[test]
fn memory_that_does_not_fit() {
    let machine = Machine::new();
    let desc = machine.desc::<f32>(&[2, 3]);
    let mut short = machine.scratch::<f32>(5);
    let error = desc.view(&short).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tensor of [2, 3] with strides [3, 1] reaches over 6 elements, and the memory has 5"
    );
    assert!(matches!(desc.view_mut(&mut short), Err(Error::OutOfView { needed: 6, len: 5, .. })));
    let mut others = machine.scratch::<f64>(6);
    assert!(matches!(desc.view(&others), Err(Error::Mismatch { .. })));
    assert!(matches!(desc.view_mut(&mut others), Err(Error::Mismatch { .. })));
    let gaps = TensorDesc::strided::<f32>(&machine.handle, &[2, 3], &[4, 1]).unwrap();
    assert!(gaps.view(&machine.scratch::<f32>(7)).is_ok());
    assert!(gaps.view(&machine.scratch::<f32>(6)).is_err());
}

#[test]
fn tensors_that_overlap_themselves() {
    let machine = Machine::new();
    let mut memory = machine.scratch::<f32>(16);
    for (dims, strides) in [([2, 3], [2, 1]), ([2, 3], [1, 1]), ([3, 2], [1, 2])] {
        let desc = TensorDesc::strided::<f32>(&machine.handle, &dims, &strides).unwrap();
        // Functions that look at no strides would read past its end: it reaches over fewer elements than it has.
        let refused = desc.view(&memory);
        assert!(matches!(refused, Err(Error::SelfOverlap { .. })), "{dims:?} {strides:?}");
        let refused = desc.view_mut(&mut memory);
        assert!(matches!(refused, Err(Error::SelfOverlap { .. })), "{dims:?} {strides:?}");
    }
    let apart = TensorDesc::strided::<f32>(&machine.handle, &[2, 1, 3], &[3, 1, 1]).unwrap();
    assert!(apart.view_mut(&mut memory).is_ok(), "a length of 1 has no stride");
    assert!(apart.is_packed());
    for (strides, packed) in [([4, 2, 1], true), ([5, 1, 1], false), ([1, 2, 4], false), ([8, 2, 1], false)] {
        let desc = TensorDesc::strided::<f32>(&machine.handle, &[2, 2, 2], &strides).unwrap();
        assert_eq!(desc.is_packed(), packed, "{strides:?}");
    }
    let many = TensorDesc::strided::<f32>(&machine.handle, &[1 << 16, 1 << 16], &[1, 1]);
    assert!(matches!(many, Err(Error::TooLarge { what: "the number of elements", .. })), "{many:?}");
}

/// Every small layout: no two elements of what may be written share an offset, and it reaches exactly as far as it says.
#[test]
fn layouts_that_may_be_written_do_not_overlap() {
    let machine = Machine::new();
    let mut memory = machine.scratch::<f32>(64);
    let (mut written, mut refused) = (0, 0);
    for code in 0..3 * 3 * 3 * 5 * 5 * 5 {
        let dims = [code % 3 + 1, code / 3 % 3 + 1, code / 9 % 3 + 1];
        let strides = [code / 27 % 5 + 1, code / 135 % 5 + 1, code / 675 % 5 + 1];
        let desc = TensorDesc::strided::<f32>(&machine.handle, &dims, &strides).unwrap();
        let mut offsets = Vec::new();
        reference::network::each(&dims, |index| {
            offsets.push(index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<usize>());
        });
        offsets.sort_unstable();
        assert_eq!(desc.span(), offsets[offsets.len() - 1] + 1, "{dims:?} {strides:?}");
        let overlaps = offsets.windows(2).any(|pair| pair[0] == pair[1]);
        match desc.view_mut(&mut memory) {
            Ok(_) => {
                assert!(!overlaps, "{dims:?} {strides:?}");
                written += 1;
            }
            Err(error) => {
                assert!(matches!(error, Error::SelfOverlap { .. }), "{error}");
                refused += usize::from(overlaps);
            }
        }
    }
    assert!(written > 1000 && refused > 100, "{written} {refused}");
}

#[test]
fn shapes_that_do_not_fit() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let desc = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[1, 2, 5, 5]), machine.desc::<f32>(&[3, 2, 3, 3]));
    let (x, w) = (machine.scratch::<f32>(50), machine.scratch::<f32>(54));
    let call = |dims: &[usize], x_desc: &TensorDesc| {
        let y_desc = machine.desc::<f32>(dims);
        let mut y = machine.scratch::<f32>(y_desc.elements());
        let (tx, tw) = (x_desc.view(&x).unwrap(), w_desc.view(&w).unwrap());
        let mut ty = y_desc.view_mut(&mut y).unwrap();
        handle.convolution_forward(&desc, &tx, &tw, &mut ty, ConvolutionOptions::default())
    };
    assert!(call(&[1, 3, 3, 3], &x_desc).is_ok());
    let error = call(&[1, 3, 3, 4], &x_desc).unwrap_err().to_string();
    assert_eq!(error, "the shape of a convolution's output: [1, 3, 3, 3] is needed, [1, 3, 3, 4] was given");
    assert!(matches!(call(&[1, 3, 3, 3], &machine.desc::<f32>(&[1, 1, 5, 5])), Err(Error::Mismatch { .. })));
    assert!(matches!(call(&[1, 3, 3], &machine.desc::<f32>(&[1, 2, 5])), Err(Error::Mismatch { .. })));

    let relu = ActivationDesc::new(handle, Activation::Relu).unwrap();
    let (a, b) = (machine.desc::<f32>(&[4, 5]), machine.desc::<f32>(&[5, 4]));
    let (x, mut y) = (machine.scratch::<f32>(20), machine.scratch::<f32>(20));
    let done =
        handle.activation_forward(&relu, Blend::SET, &a.view(&x).unwrap(), &mut b.view_mut(&mut y).unwrap());
    assert!(matches!(done, Err(Error::Mismatch { .. })));
}

/// The first two devices; none, with a word, where there is one.
fn two() -> Option<(Machine, Machine)> {
    if Device::count(&platform()).unwrap() < 2 {
        println!("skipped: needs two devices");
        return None;
    }
    Some((Machine::on(0), Machine::on(1)))
}

#[test]
fn memory_of_another_device() {
    let Some((machine, other)) = two() else { return };
    let relu = ActivationDesc::new(&machine.handle, Activation::Relu).unwrap();
    let desc = machine.desc::<f32>(&[4]);
    let (mut own, mut theirs) = (machine.scratch::<f32>(4), other.scratch::<f32>(4));
    let is_refused = |done: Result<(), Error>| {
        assert!(matches!(done, Err(Error::Hip(hip_safe::Error::WrongDevice { .. }))), "{done:?}");
    };
    is_refused(machine.handle.activation_forward(
        &relu,
        Blend::SET,
        &desc.view(&theirs).unwrap(),
        &mut desc.view_mut(&mut own).unwrap(),
    ));
    is_refused(machine.handle.activation_forward(
        &relu,
        Blend::SET,
        &desc.view(&own).unwrap(),
        &mut desc.view_mut(&mut theirs).unwrap(),
    ));
}

#[test]
fn a_stream_of_another_device() {
    let Some((mut machine, other)) = two() else { return };
    let refused = machine.handle.set_stream(&other.stream);
    assert!(
        matches!(refused, Err(Error::Hip(hip_safe::Error::WrongDevice { what: "the stream", .. }))),
        "{refused:?}"
    );
    let second = machine.stream.device().new_stream().unwrap();
    machine.handle.set_stream(&second).unwrap();
    assert_eq!(*machine.handle.stream(), second);
    assert!(Handle::new(&other.stream).is_ok());
}
