//! Types and strides that MIOpen's functions do not look at, and which are refused for that.

use crate::numbers::Real;
use crate::under_test::{Machine, offered};
use half::{bf16, f16};
use miopen_safe::{
    BatchNormMode, CtcLabels, CtcLoss, CtcLossDesc, Error, NormStatistics, Result, ScaleBias,
    ScaleBiasGradients, TensorDesc, TrainingStatistics,
};

const EPSILON: f64 = 1e-3;
const MODE: BatchNormMode = BatchNormMode::Spatial;

fn refused(what: &str, done: Result<()>) {
    assert!(matches!(done, Err(Error::Mismatch { .. })), "{what}: {done:?}");
}

/// A packed layout, and one with gaps, of the same shape. Both reach over fewer than 200 elements.
fn layouts(machine: &Machine, dims: &[usize], gaps: &[usize]) -> [TensorDesc; 2] {
    let gaps = TensorDesc::strided::<f32>(&machine.handle, dims, gaps).unwrap();
    assert!(!gaps.is_packed());
    [machine.desc::<f32>(dims), gaps]
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

/// Calls with packed layouts, and then with gaps in one after the other.
fn each_gap<const N: usize>(
    what: &str,
    layouts: [&[TensorDesc; 2]; N],
    call: impl Fn([&TensorDesc; N]) -> Result<()>,
) {
    let packed = call(layouts.map(|[packed, _]| packed));
    assert!(matches!(packed, Ok(()) | Err(Error::Unsupported { .. })), "{what}: {packed:?}");
    for with_gaps in 0..N {
        let mut at = 0;
        let descs = layouts.map(|of| {
            at += 1;
            &of[usize::from(at == with_gaps + 1)]
        });
        refused(&format!("{what} {with_gaps}"), call(descs));
    }
}

#[test]
fn batches_are_packed() {
    let machine = Machine::new();
    let x = layouts(&machine, &[1, 4, 5, 6], &[160, 40, 8, 1]);
    let p_desc = machine.desc::<f32>(&[1, 4, 1, 1]);
    let (memory, p) = (machine.up::<f32>(&[1.0; 200]), machine.up::<f32>(&[1.0; 4]));
    let params = ScaleBias { scale: p_desc.view(&p).unwrap(), bias: p_desc.view(&p).unwrap() };
    each_gap("training", [&x, &x], |[x, y]| {
        let mut out = machine.room::<f32>(200);
        let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
        let mut statistics = TrainingStatistics::default();
        machine.handle.batch_norm_training(MODE, &x, &params, EPSILON, &mut y, &mut statistics)
    });
    each_gap("inference", [&x, &x], |[x, y]| {
        let mut out = machine.room::<f32>(200);
        let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
        let (mean, variance) = (params.scale, params.bias);
        machine.handle.batch_norm_inference(MODE, &x, &params, &mean, &variance, EPSILON, &mut y)
    });
    each_gap("backward", [&x, &x, &x], |[x, dy, dx]| {
        let (mut out, mut scale, mut bias) =
            (machine.room::<f32>(200), machine.room::<f32>(4), machine.room::<f32>(4));
        let (x, dy, mut dx) = (x.view(&memory)?, dy.view(&memory)?, dx.view_mut(&mut out)?);
        let mut gradients =
            ScaleBiasGradients { scale: p_desc.view_mut(&mut scale)?, bias: p_desc.view_mut(&mut bias)? };
        machine.handle.batch_norm_backward(
            MODE,
            &x,
            &dy,
            &params.scale,
            None,
            EPSILON,
            &mut dx,
            &mut gradients,
        )
    });
}

#[test]
fn layers_and_groups_are_packed() {
    let machine = Machine::new();
    let x = layouts(&machine, &[1, 4, 5, 6], &[160, 40, 8, 1]);
    let inner = layouts(&machine, &[5, 6], &[8, 1]);
    let outer = layouts(&machine, &[1, 4], &[8, 2]);
    let (channels, groups) = (layouts(&machine, &[4], &[2]), layouts(&machine, &[1, 2], &[4, 2]));
    let memory = machine.up::<f32>(&[1.0; 200]);
    for with in [true, false] {
        each_gap("layer", [&x, &x, &outer, &outer], |[x, y, mean, rstd]| {
            let [mut out, mut first, mut second] = [200, 20, 20].map(|len| machine.room::<f32>(len));
            let mut statistics =
                NormStatistics { mean: mean.view_mut(&mut first)?, rstd: rstd.view_mut(&mut second)? };
            let w = inner[0].view(&memory)?;
            let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
            machine.handle.layer_norm_forward(2, &x, with.then_some((&w, &w)), 1.0, &mut y, &mut statistics)
        });
        each_gap("group", [&x, &x, &groups, &groups], |[x, y, mean, rstd]| {
            let [mut out, mut first, mut second] = [200, 20, 20].map(|len| machine.room::<f32>(len));
            let mut statistics =
                NormStatistics { mean: mean.view_mut(&mut first)?, rstd: rstd.view_mut(&mut second)? };
            let w = channels[0].view(&memory)?;
            let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
            machine.handle.group_norm_forward(2, &x, with.then_some((&w, &w)), 1.0, &mut y, &mut statistics)
        });
    }
    each_gap("sum", [&x, &inner, &inner], |[other, w, b]| {
        let [mut out, mut first, mut second] = [200, 20, 20].map(|len| machine.room::<f32>(len));
        let mut statistics =
            NormStatistics { mean: outer[0].view_mut(&mut first)?, rstd: outer[0].view_mut(&mut second)? };
        let (w, b, other) = (w.view(&memory)?, b.view(&memory)?, other.view(&memory)?);
        let (tx, mut y) = (x[0].view(&memory)?, x[0].view_mut(&mut out)?);
        machine.handle.add_layer_norm_forward(2, &tx, &other, Some((&w, &b)), 1.0, &mut y, &mut statistics)
    });
}

#[test]
fn root_mean_squares_are_packed() {
    let machine = Machine::new();
    let x = layouts(&machine, &[3, 4, 8], &[40, 10, 1]);
    let (weights, roots) = (layouts(&machine, &[8], &[2]), layouts(&machine, &[3, 4], &[5, 1]));
    let memory = machine.up::<f32>(&[1.0; 200]);
    each_gap("forward", [&x, &weights, &x, &roots], |[x, w, y, rstd]| {
        let [mut out, mut first] = [200, 20].map(|len| machine.room::<f32>(len));
        let (x, w) = (x.view(&memory)?, w.view(&memory)?);
        let (mut y, mut rstd) = (y.view_mut(&mut out)?, rstd.view_mut(&mut first)?);
        machine.handle.rms_norm_forward(&x, &w, 1.0, &mut y, &mut rstd)
    });
    each_gap("backward", [&x, &x, &weights, &roots, &x, &weights], |[dy, x, w, rstd, dx, dw]| {
        let [mut out, mut first] = [200, 20].map(|len| machine.room::<f32>(len));
        let (dy, x, w, rstd) = (dy.view(&memory)?, x.view(&memory)?, w.view(&memory)?, rstd.view(&memory)?);
        let (mut dx, mut dw) = (dx.view_mut(&mut out)?, dw.view_mut(&mut first)?);
        machine.handle.rms_norm_backward(&dy, &x, &w, &rstd, &mut dx, &mut dw)
    });
}

/// The library has no descriptor of the losses at all.
#[test]
fn losses_are_packed() {
    let machine = Machine::new();
    let Some(desc) = offered(CtcLossDesc::new(&machine.handle, CtcLoss::default())) else { return };
    let (inputs, losses) = (layouts(&machine, &[2, 2, 3], &[8, 4, 1]), layouts(&machine, &[2], &[3]));
    let memory = machine.up::<f32>(&[0.0; 20]);
    let labels = CtcLabels { labels: &[1, 2], label_lengths: &[1, 1], input_lengths: &[2, 2] };
    each_gap("a loss", [&inputs, &losses, &inputs], |[inputs, losses, gradients]| {
        let [mut first, mut second] = [20, 20].map(|len| machine.room::<f32>(len));
        let (mut losses, mut gradients) = (losses.view_mut(&mut first)?, gradients.view_mut(&mut second)?);
        machine.handle.ctc_loss(&desc, labels, &inputs.view(&memory)?, &mut losses, &mut gradients)
    });
}
