//! Poolings against the definition.

use crate::numbers::{Real, check, noise};
use crate::under_test::{Machine, offered};
use half::f16;
use miopen_safe::{Blend, IndexMode, IndexType, Pooling, PoolingDesc, PoolingMode};
use reference::network::pooling::{How, Windows, backward, forward};

fn run<T: Real>(machine: &Machine, dims: &[usize], pooling: &Pooling) {
    let Machine { handle, .. } = machine;
    let how = match pooling.mode {
        PoolingMode::Max => How::Max,
        PoolingMode::Average => How::Average,
        PoolingMode::AverageInclusive => How::AverageInclusive,
    };
    let windows = Windows {
        window: pooling.window.clone(),
        padding: pooling.padding.clone(),
        stride: pooling.stride.clone(),
    };
    let name = |step: &str| format!("{step} {:?} {:?} {dims:?}", pooling.mode, T::DTYPE);
    let desc = PoolingDesc::new(handle, pooling.clone()).unwrap();
    let x_desc = machine.desc::<T>(dims);
    let y_dims = desc.output_dims(&x_desc, handle).unwrap();
    let y_desc = machine.desc::<T>(&y_dims);
    let (x, dy) = (noise::<T>(5, x_desc.elements()), noise::<T>(6, y_desc.elements()));
    let wanted = forward(&x, dims, &y_dims, &windows, how);
    let (dev_x, dev_dy) = (machine.up::<T>(&x), machine.up::<T>(&dy));
    let (tx, tdy) = (x_desc.view(&dev_x).unwrap(), y_desc.view(&dev_dy).unwrap());

    let mut y = machine.scratch::<T>(y_desc.elements());
    let done = handle.pooling_forward(&desc, Blend::SET, &tx, &mut y_desc.view_mut(&mut y).unwrap());
    if offered(done).is_some() {
        check::<T>(&name("inference"), &machine.down(&y), &wanted);
    }
    let mut y = machine.scratch::<T>(y_desc.elements());
    let done = handle.pooling_forward_training(&desc, &tx, &mut y_desc.view_mut(&mut y).unwrap());
    let Some(mut kept) = offered(done) else { return };
    check::<T>(&name("training"), &machine.down(&y), &wanted);
    let mut dx = machine.scratch::<T>(x_desc.elements());
    let ty = y_desc.view(&y).unwrap();
    let done =
        handle.pooling_backward(&desc, &ty, &tdy, &tx, &mut x_desc.view_mut(&mut dx).unwrap(), &mut kept);
    if offered(done).is_some() {
        let wanted = backward(&x, dims, &dy, &y_dims, &windows, how);
        check::<T>(&name("backward"), &machine.down(&dx), &wanted);
    }
}

fn modes() -> [PoolingMode; 3] {
    [PoolingMode::Max, PoolingMode::Average, PoolingMode::AverageInclusive]
}

#[test]
fn planes() {
    let machine = Machine::new();
    for mode in modes() {
        let mut pooling = Pooling::new(mode, &[2, 3]);
        run::<f32>(&machine, &[2, 3, 6, 9], &pooling);
        (pooling.padding, pooling.stride) = (vec![1, 1], vec![2, 1]);
        run::<f32>(&machine, &[2, 3, 7, 5], &pooling);
        run::<f16>(&machine, &[2, 3, 7, 5], &pooling);
    }
}

#[test]
fn spaces() {
    let machine = Machine::new();
    for mode in modes() {
        let mut pooling = Pooling::new(mode, &[2, 2, 2]);
        run::<f32>(&machine, &[2, 2, 4, 6, 4], &pooling);
        (pooling.padding, pooling.stride) = (vec![1, 0, 1], vec![1, 2, 2]);
        run::<f32>(&machine, &[1, 2, 3, 5, 4], &pooling);
    }
}

#[test]
fn every_kind_of_index() {
    let machine = Machine::new();
    for index_type in [IndexType::U8, IndexType::U16, IndexType::U32, IndexType::U64] {
        for index_mode in [IndexMode::Mask, IndexMode::Image] {
            let pooling = Pooling { index_type, index_mode, ..Pooling::new(PoolingMode::Max, &[2, 2]) };
            run::<f32>(&machine, &[2, 2, 6, 4], &pooling);
        }
    }
}
