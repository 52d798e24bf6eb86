//! The steps from a convolution's values to the output, for one channel of an image.

use crate::convolution::{Geometry, Side, forward};
use crate::tensor::Array;
use rayon::prelude::*;

/// One step. All steps compute in floats.
pub(super) enum Step {
    Scale(f32),
    /// Adds a tensor of the output's shape, times a factor.
    Add(Side, f32),
    /// Adds a value for each channel.
    Bias(Array),
    /// Normalises by scale, bias, mean and variance: one set per channel, or one per position.
    Normalise {
        parameters: [Array; 4],
        epsilon: f64,
        each: bool,
    },
    Function(Box<dyn Fn(f32) -> f32 + Send + Sync>),
}

/// Applies a step to the values of an image's channel from a position on.
type Ready<'a> = Box<dyn Fn(usize, usize, usize, &mut [f32]) + Send + Sync + 'a>;

impl Step {
    fn ready(&self, positions: usize) -> Ready<'_> {
        match self {
            Self::Scale(by) => {
                Box::new(move |_, _, _, values| values.iter_mut().for_each(|value| *value *= by))
            }
            Self::Add(side, by) => Box::new(move |image, channel, first, values| {
                let mut more = vec![0.0; values.len()];
                side.positions.load(&side.view, side.start(image, channel), first, &mut more);
                values.iter_mut().zip(more).for_each(|(value, more)| *value += by * more);
            }),
            Self::Bias(bias) => {
                let bias = bias.read::<f32>();
                Box::new(move |_, channel, _, values| {
                    values.iter_mut().for_each(|value| *value += bias[channel]);
                })
            }
            Self::Normalise { parameters, epsilon, each } => {
                let [scale, bias, mean, variance] = parameters.each_ref().map(Array::read::<f64>);
                let by: Vec<f32> = scale
                    .iter()
                    .zip(variance)
                    .map(|(scale, it)| (scale / (it + epsilon).sqrt()) as f32)
                    .collect();
                let (mean, bias) =
                    (mean.into_iter().map(|it| it as f32), bias.into_iter().map(|it| it as f32));
                let (mean, bias): (Vec<f32>, Vec<f32>) = (mean.collect(), bias.collect());
                Box::new(move |_, channel, first, values| {
                    for (at, value) in values.iter_mut().enumerate() {
                        let which = if *each { channel * positions + first + at } else { channel };
                        *value = (*value - mean[which]) * by[which] + bias[which];
                    }
                })
            }
            Self::Function(function) => {
                Box::new(move |_, _, _, values| values.iter_mut().for_each(|value| *value = function(*value)))
            }
        }
    }
}

/// The source of the values.
pub(super) enum Source {
    Convolution(Box<Geometry>, Side, Side),
    /// Images and channels.
    Tensor(Side, usize, usize),
}

/// Runs the steps on all values.
pub(super) fn run(source: &Source, steps: &[Step], to: &Side) {
    let positions = to.positions.count();
    let steps: Vec<Ready<'_>> = steps.iter().map(|step| step.ready(positions)).collect();
    let finish = |image: usize, channel: usize, first: usize, values: &mut [f32]| {
        steps.iter().for_each(|step| step(image, channel, first, values));
        to.positions.store(&to.view, to.start(image, channel), first, values);
    };
    match source {
        Source::Convolution(geometry, x, w) => forward(geometry, x, w, &finish),
        Source::Tensor(x, images, channels) => {
            (0..images * channels).into_par_iter().for_each_init(Vec::new, |values, index| {
                let (image, channel) = (index / channels, index % channels);
                values.resize(positions, 0.0);
                x.positions.load(&x.view, x.start(image, channel), 0, values);
                finish(image, channel, 0, values);
            });
        }
    }
}
