//! Normalisations against the definition.

use crate::numbers::{Real, check, noise};
use crate::under_test::{Machine, offered, offered_case};
use half::f16;
use miopen_safe::{
    BatchNormMode, Error, Lrn, LrnDesc, LrnMode, NormStatistics, ScaleBias, ScaleBiasGradients,
    TrainingStatistics,
};
use reference::network::Sum;
use reference::network::norm::{
    Moments, groups, moments, normalise, normalise_backward, response_across, response_across_backward,
    response_within, response_within_backward,
};

const EPSILON: f64 = 1e-3;
const PART: f64 = 0.25;

fn plain(found: &[Moments]) -> Vec<(f64, f64)> {
    found.iter().map(|m| (m.mean.value, m.rstd)).collect()
}

/// How far an inverse deviation may be off.
fn deviation(m: &Moments) -> Sum {
    let relative = 0.5 * m.variance.scale / (m.variance.value + EPSILON) + 1.0;
    Sum { value: m.rstd, scale: m.rstd * relative, count: m.variance.count }
}

fn batch_norm<T: Real>(mode: BatchNormMode, dims: &[usize]) {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let name = |what: &str| format!("{what} {mode:?} {dims:?} {:?}", T::DTYPE);
    let parts = groups(dims, |index| match mode {
        BatchNormMode::Spatial => vec![index[1]],
        BatchNormMode::PerActivation => index[1..].to_vec(),
    });
    let group: Vec<usize> = {
        let mut of = vec![0; dims.iter().product()];
        parts.iter().enumerate().for_each(|(part, positions)| positions.iter().for_each(|&at| of[at] = part));
        of
    };
    let x_desc = machine.desc::<T>(dims);
    let Some(p_desc) = offered(handle.batch_norm_params(mode, &x_desc)) else { return };
    let (len, count) = (x_desc.elements(), parts.len());
    assert_eq!(p_desc.elements(), count);
    let (x, dy) = (noise::<T>(1, len), noise::<T>(2, len));
    let (scale, bias) = (noise::<f32>(3, count), noise::<f32>(4, count));
    let (old_mean, old_variance) = (noise::<f32>(5, count), vec![2.0; count]);
    let found = moments(&x, &parts, EPSILON);
    let (dev_x, dev_dy, mut dev_y) = (machine.up::<T>(&x), machine.up::<T>(&dy), machine.scratch::<T>(len));
    let (dev_scale, dev_bias) = (machine.up::<f32>(&scale), machine.up::<f32>(&bias));
    let (mut run_mean, mut run_variance) = (machine.up::<f32>(&old_mean), machine.up::<f32>(&old_variance));
    let (mut save_mean, mut save_rstd) = (machine.scratch::<f32>(count), machine.scratch::<f32>(count));
    let params = ScaleBias { scale: p_desc.view(&dev_scale).unwrap(), bias: p_desc.view(&dev_bias).unwrap() };
    let tx = x_desc.view(&dev_x).unwrap();
    let mut statistics = TrainingStatistics {
        running: Some((
            p_desc.view_mut(&mut run_mean).unwrap(),
            p_desc.view_mut(&mut run_variance).unwrap(),
            PART,
        )),
        saved: Some((p_desc.view_mut(&mut save_mean).unwrap(), p_desc.view_mut(&mut save_rstd).unwrap())),
    };
    let mut ty = x_desc.view_mut(&mut dev_y).unwrap();
    let done = handle.batch_norm_training(mode, &tx, &params, EPSILON, &mut ty, &mut statistics);
    if offered(done).is_none() {
        return;
    }
    let affine = |at: usize| (scale[group[at]], bias[group[at]]);
    check::<T>(&name("training"), &machine.down(&dev_y), &normalise(&x, &parts, &plain(&found), affine));
    let means: Vec<Sum> = found.iter().map(|m| m.mean).collect();
    check::<f32>(&name("mean"), &machine.down(&save_mean), &means);
    let deviations: Vec<Sum> = found.iter().map(deviation).collect();
    check::<f32>(&name("deviation"), &machine.down(&save_rstd), &deviations);
    let size = (len / count) as f64;
    let mixed = |old: f64, new: Sum| {
        let value = (1.0 - PART) * old + PART * new.value;
        Sum { value, scale: 2.0 * old.abs() + 2.0 * new.scale, count: new.count }
    };
    let wanted: Vec<Sum> = (0..count).map(|at| mixed(old_mean[at], found[at].mean)).collect();
    check::<f32>(&name("running mean"), &machine.down(&run_mean), &wanted);
    let unbiased = |m: &Moments| m.variance.times(size / (size - 1.0));
    let wanted: Vec<Sum> = (0..count).map(|at| mixed(old_variance[at], unbiased(&found[at]))).collect();
    check::<f32>(&name("running variance"), &machine.down(&run_variance), &wanted);

    // Backward, with what was saved.
    let (mut dev_dx, mut d_scale, mut d_bias) =
        (machine.scratch::<T>(len), machine.scratch::<f32>(count), machine.scratch::<f32>(count));
    let saved = (p_desc.view(&save_mean).unwrap(), p_desc.view(&save_rstd).unwrap());
    let mut gradients = ScaleBiasGradients {
        scale: p_desc.view_mut(&mut d_scale).unwrap(),
        bias: p_desc.view_mut(&mut d_bias).unwrap(),
    };
    let done = handle.batch_norm_backward(
        mode,
        &tx,
        &x_desc.view(&dev_dy).unwrap(),
        &params.scale,
        Some((&saved.0, &saved.1)),
        EPSILON,
        &mut x_desc.view_mut(&mut dev_dx).unwrap(),
        &mut gradients,
    );
    if offered(done).is_some() {
        let (dx, params) = normalise_backward(&x, &dy, &parts, &plain(&found), &scale);
        check::<T>(&name("dx"), &machine.down(&dev_dx), &dx);
        let (scales, biases): (Vec<Sum>, Vec<Sum>) = params.into_iter().unzip();
        check::<f32>(&name("d scale"), &machine.down(&d_scale), &scales);
        check::<f32>(&name("d bias"), &machine.down(&d_bias), &biases);
    }

    // Inference, with statistics of another batch.
    let (mean, variance) = (noise::<f32>(6, count), vec![0.5; count]);
    let (dev_mean, dev_variance) = (machine.up::<f32>(&mean), machine.up::<f32>(&variance));
    let mut ty = x_desc.view_mut(&mut dev_y).unwrap();
    let (t_mean, t_variance) = (p_desc.view(&dev_mean).unwrap(), p_desc.view(&dev_variance).unwrap());
    let done = handle.batch_norm_inference(mode, &tx, &params, &t_mean, &t_variance, EPSILON, &mut ty);
    if offered(done).is_some() {
        let given: Vec<_> = mean.iter().map(|mean| (*mean, (0.5 + EPSILON).sqrt().recip())).collect();
        let mut wanted = normalise(&x, &parts, &given, affine);
        wanted.iter_mut().for_each(|sum| sum.scale += 8.0);
        check::<T>(&name("inference"), &machine.down(&dev_y), &wanted);
    }
}

#[test]
fn batches() {
    for mode in [BatchNormMode::Spatial, BatchNormMode::PerActivation] {
        batch_norm::<f32>(mode, &[4, 3, 3, 5]);
        batch_norm::<f32>(mode, &[3, 2, 2, 3, 4]);
    }
    batch_norm::<f16>(BatchNormMode::Spatial, &[4, 3, 3, 5]);
}

#[test]
fn layers_and_groups() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    // MIOpen normalises groups if there are 32 of them at least, and fewer than 64 channels in each.
    let (dims, plane) = ([8, 8, 2, 3], 6);
    let x_desc = machine.desc::<f32>(&dims);
    let len = x_desc.elements();
    let (x, other) = (noise::<f32>(1, len), noise::<f32>(2, len));
    let (dev_x, dev_other) = (machine.up::<f32>(&x), machine.up::<f32>(&other));
    let tx = x_desc.view(&dev_x).unwrap();
    // From the third dimension on, then groups of two channels.
    for (kind, outer, inner) in
        [("layer", [8, 8], vec![2, 3]), ("sum", [8, 8], vec![2, 3]), ("group", [8, 4], vec![8])]
    {
        for with in [true, false] {
            let s_desc = machine.desc::<f32>(&outer);
            let w_desc = machine.desc::<f32>(&inner);
            let (w, b) = (noise::<f32>(3, w_desc.elements()), noise::<f32>(4, w_desc.elements()));
            let (dev_w, dev_b) = (machine.up::<f32>(&w), machine.up::<f32>(&b));
            let (tw, tb) = (w_desc.view(&dev_w).unwrap(), w_desc.view(&dev_b).unwrap());
            let affine = with.then_some((&tw, &tb));
            let (mut y, mut mean, mut rstd) = (
                machine.scratch::<f32>(len),
                machine.scratch::<f32>(s_desc.elements()),
                machine.scratch::<f32>(s_desc.elements()),
            );
            let mut statistics = NormStatistics {
                mean: s_desc.view_mut(&mut mean).unwrap(),
                rstd: s_desc.view_mut(&mut rstd).unwrap(),
            };
            let mut ty = x_desc.view_mut(&mut y).unwrap();
            let epsilon = EPSILON as f32;
            let done = match kind {
                "layer" => handle.layer_norm_forward(2, &tx, affine, epsilon, &mut ty, &mut statistics),
                "sum" => {
                    let second = x_desc.view(&dev_other).unwrap();
                    handle.add_layer_norm_forward(2, &tx, &second, affine, epsilon, &mut ty, &mut statistics)
                }
                _ => handle.group_norm_forward(4, &tx, affine, epsilon, &mut ty, &mut statistics),
            };
            if offered(done).is_none() {
                continue;
            }
            let input: Vec<f64> = if kind == "sum" {
                x.iter().zip(&other).map(|(x, other)| x + other).collect()
            } else {
                x.clone()
            };
            let parts = groups(&dims, |index| match kind {
                "group" => vec![index[0], index[1] / 2],
                _ => index[..2].to_vec(),
            });
            let found = moments(&input, &parts, f64::from(epsilon));
            let parameter = |at: usize| if kind == "group" { at / plane % 8 } else { at % plane };
            let factors = |at: usize| if with { (w[parameter(at)], b[parameter(at)]) } else { (1.0, 0.0) };
            check::<f32>(
                &format!("{kind} {with}"),
                &machine.down(&y),
                &normalise(&input, &parts, &plain(&found), factors),
            );
            check::<f32>(kind, &machine.down(&mean), &found.iter().map(|m| m.mean).collect::<Vec<_>>());
            check::<f32>(kind, &machine.down(&rstd), &found.iter().map(deviation).collect::<Vec<_>>());
        }
    }
    let (mut y, mut mean, mut rstd) =
        (machine.scratch::<f32>(len), machine.scratch::<f32>(2), machine.scratch::<f32>(2));
    let s_desc = machine.desc::<f32>(&[2]);
    let mut statistics = NormStatistics {
        mean: s_desc.view_mut(&mut mean).unwrap(),
        rstd: s_desc.view_mut(&mut rstd).unwrap(),
    };
    let done =
        handle.layer_norm_forward(0, &tx, None, 1.0, &mut x_desc.view_mut(&mut y).unwrap(), &mut statistics);
    assert!(matches!(done, Err(Error::Invalid { .. })));
}

#[test]
fn root_mean_squares() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let (x_desc, w_desc, s_desc) =
        (machine.desc::<f32>(&[3, 4, 8]), machine.desc::<f32>(&[8]), machine.desc::<f32>(&[3, 4]));
    let (x, w) = (noise::<f32>(1, 96), noise::<f32>(2, 8));
    let (dev_x, dev_w) = (machine.up::<f32>(&x), machine.up::<f32>(&w));
    let (mut y, mut rstd) = (machine.scratch::<f32>(96), machine.scratch::<f32>(12));
    let (tx, tw) = (x_desc.view(&dev_x).unwrap(), w_desc.view(&dev_w).unwrap());
    let done = handle.rms_norm_forward(
        &tx,
        &tw,
        EPSILON as f32,
        &mut x_desc.view_mut(&mut y).unwrap(),
        &mut s_desc.view_mut(&mut rstd).unwrap(),
    );
    if offered(done).is_none() {
        return;
    }
    let of = |row: &[f64]| {
        let squares = row.iter().map(|x| x * x).sum::<f64>() / 8.0;
        (squares + EPSILON).sqrt().recip()
    };
    let inverse: Vec<f64> = x.chunks(8).map(of).collect();
    let roots: Vec<Sum> = inverse.iter().map(|r| Sum { value: *r, scale: 2.0 * r, count: 8 }).collect();
    check::<f32>("inverse roots", &machine.down(&rstd), &roots);
    let wanted: Vec<Sum> = (0..96)
        .map(|at| {
            let value = x[at] * inverse[at / 8] * w[at % 8];
            Sum { value, scale: 4.0 * value.abs(), count: 8 }
        })
        .collect();
    check::<f32>("by the root", &machine.down(&y), &wanted);
}

/// Results of a normalisation, and the gradient for an output's.
type Response = (Vec<Sum>, Vec<Sum>);

fn respond(lrn: Lrn, dims: [usize; 4], definition: impl Fn(&[f64], &[f64], usize, [f64; 3]) -> Response) {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let case = format!("{:?}", lrn.mode);
    let name = |step: &str| format!("{step} {case} {dims:?}");
    let Some(desc) = offered_case(&case, LrnDesc::new(handle, lrn)) else { return };
    let t_desc = machine.desc::<f32>(&dims);
    let len = t_desc.elements();
    let (x, dy) = (noise::<f32>(1, len), noise::<f32>(2, len));
    let (dev_x, dev_dy, mut dev_y) =
        (machine.up::<f32>(&x), machine.up::<f32>(&dy), machine.scratch::<f32>(len));
    let tx = t_desc.view(&dev_x).unwrap();
    let (wanted, gradient) = definition(&x, &dy, lrn.n as usize, [lrn.alpha, lrn.beta, lrn.k]);
    let done = handle.lrn_forward(&desc, &tx, &mut t_desc.view_mut(&mut dev_y).unwrap());
    if offered_case(&case, done).is_some() {
        check::<f32>(&name("inference"), &machine.down(&dev_y), &wanted);
    }
    let done = handle.lrn_forward_training(&desc, &tx, &mut t_desc.view_mut(&mut dev_y).unwrap());
    let Some(mut kept) = offered_case(&case, done) else { return };
    check::<f32>(&name("training"), &machine.down(&dev_y), &wanted);
    let mut dx = machine.scratch::<f32>(len);
    let (ty, tdy) = (t_desc.view(&dev_y).unwrap(), t_desc.view(&dev_dy).unwrap());
    let done = handle.lrn_backward(&desc, &ty, &tdy, &tx, &mut t_desc.view_mut(&mut dx).unwrap(), &mut kept);
    if offered_case(&case, done).is_some() {
        check::<f32>(&name("backward"), &machine.down(&dx), &gradient);
    }
}

#[test]
fn responses_of_channels_around() {
    let lrn = Lrn { mode: LrnMode::CrossChannel, n: 3, alpha: 0.5, beta: 0.75, k: 2.0 };
    let dims = [2, 6, 3, 4];
    respond(lrn, dims, |x, dy, n, factors| {
        (response_across(x, &dims, n, factors), response_across_backward(x, dy, &dims, n, factors))
    });
}

#[test]
fn responses_within_a_channel() {
    for (n, dims) in [(3, [2, 3, 5, 4]), (5, [1, 2, 9, 11]), (1, [1, 2, 3, 3])] {
        let lrn = Lrn { mode: LrnMode::WithinChannel, n, alpha: 0.5, beta: 0.75, k: 2.0 };
        respond(lrn, dims, |x, dy, n, factors| {
            (response_within(x, &dims, n, factors), response_within_backward(x, dy, &dims, n, factors))
        });
    }
}
