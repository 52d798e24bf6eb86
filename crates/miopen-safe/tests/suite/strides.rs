//! Types and strides that MIOpen's functions do not look at, and which are refused for that.

use crate::numbers::Real;
use crate::under_test::{Machine, offered};
use half::{bf16, f16};
use miopen_safe::{
    Activation, ActivationDesc, BatchNormMode, Blend, CtcLabels, CtcLoss, CtcLossDesc, DropoutDesc, Error,
    Lrn, LrnDesc, LrnMode, NormStatistics, Pooling, PoolingDesc, PoolingMode, ReduceOp, Reduction,
    ReductionDesc, Result, ScaleBias, ScaleBiasGradients, SoftmaxAlgorithm, SoftmaxMode, TensorDesc,
    TrainingStatistics,
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
    let (mut y, mut mean, mut rstd) =
        (machine.scratch::<T>(120), machine.scratch::<P>(4), machine.scratch::<P>(4));
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
        let mut out = machine.scratch::<f32>(200);
        let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
        let mut statistics = TrainingStatistics::default();
        machine.handle.batch_norm_training(MODE, &x, &params, EPSILON, &mut y, &mut statistics)
    });
    each_gap("inference", [&x, &x], |[x, y]| {
        let mut out = machine.scratch::<f32>(200);
        let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
        let (mean, variance) = (params.scale, params.bias);
        machine.handle.batch_norm_inference(MODE, &x, &params, &mean, &variance, EPSILON, &mut y)
    });
    each_gap("backward", [&x, &x, &x], |[x, dy, dx]| {
        let (mut out, mut scale, mut bias) =
            (machine.scratch::<f32>(200), machine.scratch::<f32>(4), machine.scratch::<f32>(4));
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
            let [mut out, mut first, mut second] = [200, 20, 20].map(|len| machine.scratch::<f32>(len));
            let mut statistics =
                NormStatistics { mean: mean.view_mut(&mut first)?, rstd: rstd.view_mut(&mut second)? };
            let w = inner[0].view(&memory)?;
            let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
            machine.handle.layer_norm_forward(2, &x, with.then_some((&w, &w)), 1.0, &mut y, &mut statistics)
        });
        each_gap("group", [&x, &x, &groups, &groups], |[x, y, mean, rstd]| {
            let [mut out, mut first, mut second] = [200, 20, 20].map(|len| machine.scratch::<f32>(len));
            let mut statistics =
                NormStatistics { mean: mean.view_mut(&mut first)?, rstd: rstd.view_mut(&mut second)? };
            let w = channels[0].view(&memory)?;
            let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
            machine.handle.group_norm_forward(2, &x, with.then_some((&w, &w)), 1.0, &mut y, &mut statistics)
        });
    }
    each_gap("sum", [&x, &inner, &inner], |[other, w, b]| {
        let [mut out, mut first, mut second] = [200, 20, 20].map(|len| machine.scratch::<f32>(len));
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
        let [mut out, mut first] = [200, 20].map(|len| machine.scratch::<f32>(len));
        let (x, w) = (x.view(&memory)?, w.view(&memory)?);
        let (mut y, mut rstd) = (y.view_mut(&mut out)?, rstd.view_mut(&mut first)?);
        machine.handle.rms_norm_forward(&x, &w, 1.0, &mut y, &mut rstd)
    });
    each_gap("backward", [&x, &x, &weights, &roots, &x, &weights], |[dy, x, w, rstd, dx, dw]| {
        let [mut out, mut first] = [200, 20].map(|len| machine.scratch::<f32>(len));
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
        let [mut first, mut second] = [20, 20].map(|len| machine.scratch::<f32>(len));
        let (mut losses, mut gradients) = (losses.view_mut(&mut first)?, gradients.view_mut(&mut second)?);
        machine.handle.ctc_loss(&desc, labels, &inputs.view(&memory)?, &mut losses, &mut gradients)
    });
}

/// What differs from a packed layout of `[1, 4, 5, 6]`: gaps between rows, between elements, another order, and a stride that no element
/// needs, but which a kernel takes for the length of an image.
const ODD: [[usize; 4]; 4] = [[160, 40, 8, 1], [240, 60, 12, 2], [120, 1, 24, 4], [121, 30, 6, 1]];

/// [`each_gap`] for all of [`ODD`].
fn each_odd<const N: usize>(machine: &Machine, what: &str, call: impl Fn([&TensorDesc; N]) -> Result<()>) {
    for strides in ODD {
        let desc = TensorDesc::strided::<f32>(&machine.handle, &[1, 4, 5, 6], &strides).unwrap();
        let both = [machine.desc::<f32>(&[1, 4, 5, 6]), desc];
        each_gap(&format!("{what} {strides:?}"), [&both; N], &call);
    }
}

#[test]
fn elementwise_tensors_are_packed() {
    let machine = Machine::new();
    let handle = &machine.handle;
    let memory = machine.up::<f32>(&[1.0; 240]);
    let relu = ActivationDesc::new(handle, Activation::Relu).unwrap();
    each_odd(&machine, "activation", |[x, y]| {
        let mut out = machine.scratch::<f32>(240);
        handle.activation_forward(&relu, Blend::SET, &x.view(&memory)?, &mut y.view_mut(&mut out)?)
    });
    each_odd(&machine, "activation's gradient", |[y, dy, x, dx]| {
        let mut out = machine.scratch::<f32>(240);
        let (y, dy, x) = (y.view(&memory)?, dy.view(&memory)?, x.view(&memory)?);
        handle.activation_backward(&relu, Blend::SET, &y, &dy, &x, &mut dx.view_mut(&mut out)?)
    });
    let algorithm = SoftmaxAlgorithm::Accurate;
    for mode in [SoftmaxMode::Instance, SoftmaxMode::Channel] {
        each_odd(&machine, "softmax", |[x, y]| {
            let mut out = machine.scratch::<f32>(240);
            let (x, mut y) = (x.view(&memory)?, y.view_mut(&mut out)?);
            handle.softmax_forward(algorithm, mode, Blend::SET, &x, &mut y)
        });
        each_odd(&machine, "softmax' gradient", |[y, dy, dx]| {
            let mut out = machine.scratch::<f32>(240);
            let (y, dy, mut dx) = (y.view(&memory)?, dy.view(&memory)?, dx.view_mut(&mut out)?);
            handle.softmax_backward(algorithm, mode, Blend::SET, &y, &dy, &mut dx)
        });
    }
    let lrn = Lrn { mode: LrnMode::CrossChannel, n: 3, alpha: 0.5, beta: 0.75, k: 2.0 };
    if let Some(lrn) = offered(LrnDesc::new(handle, lrn)) {
        each_odd(&machine, "response", |[x, y]| {
            let mut out = machine.scratch::<f32>(240);
            handle.lrn_forward_training(&lrn, &x.view(&memory)?, &mut y.view_mut(&mut out)?).map(drop)
        });
    }
}

/// The library reads past the end of an array for the lengths that are missing.
#[test]
fn a_softmax_has_four_dimensions() {
    let machine = Machine::new();
    let (memory, mut out) = (machine.up::<f32>(&[1.0; 12]), machine.scratch::<f32>(12));
    for dims in [&[12][..], &[3, 4], &[1, 3, 4], &[1, 3, 2, 2, 1]] {
        let desc = machine.desc::<f32>(dims);
        let (x, mut y) = (desc.view(&memory).unwrap(), desc.view_mut(&mut out).unwrap());
        let (algorithm, mode) = (SoftmaxAlgorithm::Log, SoftmaxMode::Channel);
        refused("forward", machine.handle.softmax_forward(algorithm, mode, Blend::SET, &x, &mut y));
        refused("backward", machine.handle.softmax_backward(algorithm, mode, Blend::SET, &x, &x, &mut y));
    }
}

#[test]
fn dropouts_are_packed() {
    let machine = Machine::new();
    let handle = &machine.handle;
    let memory = machine.up::<f32>(&[1.0; 240]);
    if offered(DropoutDesc::new(handle, 0.5, 1)).is_none() {
        return;
    }
    each_odd(&machine, "dropout", |[x, y]| {
        let (mut dropout, mut out) = (DropoutDesc::new(handle, 0.5, 1)?, machine.scratch::<f32>(240));
        handle.dropout_forward(&mut dropout, &x.view(&memory)?, &mut y.view_mut(&mut out)?).map(drop)
    });
    each_odd(&machine, "dropout's gradient", |[dy, dx]| {
        let (mut dropout, mut out) = (DropoutDesc::new(handle, 0.5, 1)?, machine.scratch::<f32>(240));
        let packed = machine.desc::<f32>(&[1, 4, 5, 6]);
        let (x, mut y) = (packed.view(&memory)?, packed.view_mut(&mut out)?);
        let mut mask = handle.dropout_forward(&mut dropout, &x, &mut y)?;
        let (dy, mut dx) = (dy.view(&memory)?, dx.view_mut(&mut out)?);
        handle.dropout_backward(&mut dropout, &dy, &mut dx, &mut mask)
    });
}

#[test]
fn poolings_are_packed() {
    let machine = Machine::new();
    let handle = &machine.handle;
    let memory = machine.up::<f32>(&[1.0; 240]);
    // The output is as large as the input.
    let pooling = |mode| Pooling { padding: vec![1, 1], stride: vec![1, 1], ..Pooling::new(mode, &[3, 3]) };
    for mode in [PoolingMode::Max, PoolingMode::Average] {
        let desc = PoolingDesc::new(handle, pooling(mode)).unwrap();
        each_odd(&machine, "pooling", |[x, y]| {
            let mut out = machine.scratch::<f32>(240);
            handle.pooling_forward(&desc, Blend::SET, &x.view(&memory)?, &mut y.view_mut(&mut out)?)
        });
        each_odd(&machine, "training", |[x, y]| {
            let mut out = machine.scratch::<f32>(240);
            handle.pooling_forward_training(&desc, &x.view(&memory)?, &mut y.view_mut(&mut out)?).map(drop)
        });
        let packed = machine.desc::<f32>(&[1, 4, 5, 6]);
        each_odd(&machine, "pooling's gradient", |[y, dy, x, dx]| {
            let (mut out, mut dout) = (machine.scratch::<f32>(240), machine.scratch::<f32>(240));
            let mut kept = handle.pooling_forward_training(
                &desc,
                &packed.view(&memory)?,
                &mut packed.view_mut(&mut out)?,
            )?;
            let (y, dy, x) = (y.view(&out)?, dy.view(&memory)?, x.view(&memory)?);
            handle.pooling_backward(&desc, &y, &dy, &x, &mut dx.view_mut(&mut dout)?, &mut kept)
        });
    }
}

/// The library writes them by the output's strides, and asks for memory for its elements alone.
#[test]
fn a_reduction_with_indices_has_a_packed_output() {
    let machine = Machine::new();
    let handle = &machine.handle;
    let a_desc = machine.desc::<f32>(&[3, 4, 5]);
    let a = machine.up::<f32>(&[1.0; 60]);
    for indices in [true, false] {
        let desc = ReductionDesc::new(handle, Reduction { indices, ..Reduction::new(ReduceOp::Max) });
        let Some(desc) = offered(desc) else { continue };
        let call = |strides: &[usize]| {
            let c_desc = TensorDesc::strided::<f32>(handle, &[3, 4, 1], strides).unwrap();
            let (mut c, mut positions) = (machine.scratch::<f32>(40), machine.stream.alloc_zeros::<u32>(12)?);
            let (a, mut c) = (a_desc.view(&a)?, c_desc.view_mut(&mut c)?);
            handle.reduce(&desc, Blend::SET, &a, &mut c, indices.then(|| positions.view_mut()))
        };
        let done = call(&[4, 1, 1]);
        assert!(matches!(done, Ok(()) | Err(Error::Unsupported { .. })), "{done:?}");
        for strides in [[8, 1, 1], [8, 2, 1], [1, 3, 1]] {
            let done = call(&strides);
            if indices {
                refused("with indices", done);
            } else {
                assert!(matches!(done, Ok(()) | Err(Error::Unsupported { .. })), "{strides:?}: {done:?}");
            }
        }
    }
}
