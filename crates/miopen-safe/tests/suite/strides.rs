//! Types and strides that MIOpen's functions do not look at, and which are refused for that.

use crate::numbers::Real;
use crate::under_test::Machine;
use half::{bf16, f16};
use miopen_safe::{
    BatchNormMode, CtcLabels, CtcLoss, CtcLossDesc, Error, NormStatistics, Result, ScaleBias,
    ScaleBiasGradients, TensorDesc, TrainingStatistics,
};

const EPSILON: f64 = 1e-3;
const MODE: BatchNormMode = BatchNormMode::Spatial;

/// Room for 4 x 5 x 6 elements and gaps between the rows.
const ROOM: usize = 200;

fn refused(what: &str, done: Result<()>) {
    assert!(matches!(done, Err(Error::Mismatch { .. })), "{what}: {done:?}");
}

/// Packed, and with rows of 8 for 6.
fn layouts(machine: &Machine) -> [TensorDesc; 2] {
    let gaps = TensorDesc::strided::<f32>(&machine.handle, &[1, 4, 5, 6], &[160, 40, 8, 1]).unwrap();
    [machine.desc::<f32>(&[1, 4, 5, 6]), gaps]
}

fn batch_norm<T: Real, P: Real>(machine: &Machine) -> Result<()> {
    let (x_desc, p_desc) = (machine.desc::<T>(&[1, 4, 5, 6]), machine.desc::<P>(&[1, 4, 1, 1]));
    let (x, p) = (machine.up::<T>(&[1.0; 120]), machine.up::<P>(&[1.0; 4]));
    let (mut y, mut mean, mut rstd) = (machine.room::<T>(120), machine.room::<P>(4), machine.room::<P>(4));
    let params = ScaleBias { scale: p_desc.view(&p)?, bias: p_desc.view(&p)? };
    let tx = x_desc.view(&x)?;
    let inference = machine.handle.batch_norm_inference(
        MODE,
        &tx,
        &params,
        &params.scale,
        &params.bias,
        EPSILON,
        &mut x_desc.view_mut(&mut y)?,
    );
    let mut gradients =
        ScaleBiasGradients { scale: p_desc.view_mut(&mut mean)?, bias: p_desc.view_mut(&mut rstd)? };
    let backward = machine.handle.batch_norm_backward(
        MODE,
        &tx,
        &tx,
        &params.scale,
        None,
        EPSILON,
        &mut x_desc.view_mut(&mut y)?,
        &mut gradients,
    );
    let mut statistics = TrainingStatistics { running: None, saved: Some((gradients.scale, gradients.bias)) };
    let training = machine.handle.batch_norm_training(
        MODE,
        &tx,
        &params,
        EPSILON,
        &mut x_desc.view_mut(&mut y)?,
        &mut statistics,
    );
    let what = "the types of a batch normalisation's tensors and parameters";
    let types =
        |done: &Result<()>| matches!(done, Err(Error::Mismatch { what: found, .. }) if *found == what);
    assert_eq!(types(&inference), types(&training));
    assert_eq!(types(&backward), types(&training));
    training
}

/// The library takes parameters for 32 bits wide where they are not, and reads past them.
#[test]
fn parameters_of_batches_have_the_types_that_are_read() {
    let machine = Machine::new();
    refused("f32 and f16", batch_norm::<f32, f16>(&machine));
    refused("f32 and bf16", batch_norm::<f32, bf16>(&machine));
    refused("bf16 and bf16", batch_norm::<bf16, bf16>(&machine));
    refused("f16 and bf16", batch_norm::<f16, bf16>(&machine));
    refused("f64 and f32", batch_norm::<f64, f32>(&machine));
    refused("f64 and f64", batch_norm::<f64, f64>(&machine));
    let taken = batch_norm::<f16, f32>(&machine);
    assert!(!matches!(taken, Err(Error::Mismatch { .. })), "{taken:?}");
}
