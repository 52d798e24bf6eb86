//! A convolution with its bias and activation in one call of MIOpen, or of the platform's equivalent.

use half::{bf16, f16};
use miopen_safe::{
    Activation, ConvolutionDesc, DataType, Element, Error as DnnError, FusionArg, FusionOp, FusionPlan,
    Handle, TensorDesc,
};
use parking_lot::Mutex;

use super::library::{SUMS, answered};
use super::{Fusable, Problem};
use crate::dtype::DType;
use crate::element::Element as _;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::choice::Attempt;
use crate::layout::Layout;

/// A plan that the library compiled for one problem.
pub(super) struct Fused {
    /// Running a plan needs exclusive access.
    plan: Mutex<FusionPlan>,
    /// Input, filter and output.
    descriptors: [TensorDesc; 3],
    bias: Option<TensorDesc>,
    activates: bool,
}

impl Fused {
    /// Asks the library; `None` if it has no such plan, or only with an algorithm that must not be used.
    ///
    /// # Errors
    /// Errors unrelated to the problem, such as a lack of memory.
    pub(super) fn new(
        dnn: &Handle,
        data_type: DataType,
        convolution: &ConvolutionDesc,
        descriptors: &[TensorDesc; 3],
        problem: &Problem,
    ) -> Result<Option<Self>, DnnError> {
        let Some(epilogue) = problem.epilogue else { return Ok(None) };
        let [x, w, _] = descriptors;
        let channels = problem.shape.groups * problem.shape.out_channels;
        let bias = || TensorDesc::packed_of(dnn, data_type, &[1, channels, 1, 1]);
        let bias = epilogue.bias.then(bias).transpose()?;
        let activation = epilogue.activation.map(|activation| match activation {
            Fusable::Relu => Activation::Relu,
            Fusable::LeakyRelu(bits) => {
                Activation::LeakyRelu { alpha: rounded(f64::from_bits(bits), problem.dtype) }
            }
        });
        let mut ops = vec![FusionOp::Convolution(convolution.clone(), w.clone())];
        ops.extend(bias.clone().map(FusionOp::Bias));
        ops.extend(activation.map(FusionOp::Activation));
        let plan = if problem.transforms {
            FusionPlan::new(dnn, x, &ops)
        } else {
            FusionPlan::held_to(dnn, x, &ops, &SUMS)
        };
        match plan {
            Ok(plan) => Ok(Some(Self {
                plan: Mutex::new(plan),
                descriptors: descriptors.clone(),
                bias,
                activates: activation.is_some(),
            })),
            Err(error) if error.is_passing() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Whether the plan includes the activation. Otherwise the caller applies it.
    pub(super) fn activates(&self) -> bool {
        self.activates
    }

    /// Writes the convolution with its bias, and its activation if included, to `out`, if the library supports it.
    pub(super) fn conv(
        &self,
        out: &mut HipStorage,
        operands: (&HipStorage, &HipStorage),
        starts: [usize; 2],
        bias: Option<(&HipStorage, &Layout)>,
    ) -> Result<Attempt<()>> {
        match out.dtype() {
            DType::F32 => self.run::<f32>(out, operands, starts, bias),
            DType::F16 => self.run::<f16>(out, operands, starts, bias),
            DType::BF16 => self.run::<bf16>(out, operands, starts, bias),
            _ => Ok(Attempt::Impossible),
        }
    }

    fn run<T: Element>(
        &self,
        out: &mut HipStorage,
        (x, filter): (&HipStorage, &HipStorage),
        [x_start, filter_start]: [usize; 2],
        bias: Option<(&HipStorage, &Layout)>,
    ) -> Result<Attempt<()>> {
        let device = x.device().clone();
        let Some(dnn) = device.libraries().dnn(device.stream()) else { return Ok(Attempt::NotNow) };
        let [input, weights, output] = &self.descriptors;
        let made = (|| {
            let (x, filter) = (x.tail_of::<T>(x_start)?, filter.tail_of::<T>(filter_start)?);
            let addends = bias.map(|(bias, layout)| bias.tail_of::<T>(layout.offset())).transpose()?;
            let mut args = vec![FusionArg::Convolution(weights.view(&filter)?)];
            if let (Some(desc), Some(addends)) = (&self.bias, &addends) {
                args.push(FusionArg::Bias(desc.view(addends)?));
            }
            if self.activates {
                args.push(FusionArg::Activation);
            }
            let mut target = out.tail_mut_of::<T>(0)?;
            let (x, mut y) = (input.view(&x)?, output.view_mut(&mut target)?);
            // A hook may want this plan.
            let _later = hip_safe::drop_errors_later();
            self.plan.lock().execute(dnn, &x, &args, &mut y)
        })();
        match made {
            // The library compiled the plan but refuses to run it. There are other ways.
            Err(error @ DnnError::Miopen { .. }) if !error.is_passing() => Ok(Attempt::Impossible),
            made => answered(made),
        }
    }
}

/// A scalar, rounded as our kernels take it.
fn rounded(scalar: f64, dtype: DType) -> f64 {
    let scalar = scalar.into();
    match dtype {
        DType::F16 => f16::from_scalar(scalar).to_f64(),
        DType::BF16 => bf16::from_scalar(scalar).to_f64(),
        _ => f32::from_scalar(scalar).into(),
    }
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;
    use crate::cpu::CpuStorage;
    use crate::device::Device;
    use crate::hip::ops::conv::Epilogue;
    use crate::window::{ConvAxis, Convolution};

    /// The host's library has plans, so that the first call of each problem uses one: 2 + 10·3 − 40, and with the other
    /// signs.
    #[test]
    fn the_hosts_library_has_plans() {
        let device = Device::parse("host:0").unwrap();
        let device = device.as_hip().unwrap();
        let axis = ConvAxis::forward(2, 2, [0, 1, 1]).unwrap();
        let one = ConvAxis::forward(1, 1, [0, 1, 1]).unwrap();
        let shape = Convolution {
            operation: "conv2d",
            transposed: false,
            batch: 2,
            groups: 1,
            in_channels: 1,
            out_channels: 1,
            h: one,
            w: axis,
        };
        let up = |numbers: &[f32]| {
            HipStorage::from_cpu(device, &CpuStorage::F32(numbers.to_vec()), "conv2d").unwrap()
        };
        let (x, filter, bias) = (up(&[2.0, 3.0, -2.0, 9.0]), up(&[1.0, 10.0]), up(&[-40.0]));
        let layout = Layout::contiguous(1, "conv2d").unwrap();
        for (activation, expected) in [
            (None, [-8.0, 48.0]),
            (Some(Fusable::Relu), [0.0, 48.0]),
            (Some(Fusable::LeakyRelu(0.5f64.to_bits())), [-4.0, 48.0]),
        ] {
            let epilogue = Some(Epilogue { bias: true, activation });
            let problem = Problem { dtype: DType::F32, shape, transforms: false, epilogue, aligned: true };
            let prepared = device.libraries().convolution(device.stream(), &problem).unwrap();
            let fused = prepared.fused().unwrap();
            assert_eq!(fused.activates(), activation.is_some());
            let mut out = up(&[0.0; 2]);
            let done = fused.conv(&mut out, (&x, &filter), [0, 0], Some((&bias, &layout))).unwrap();
            assert!(matches!(done, Attempt::Done(())));
            let CpuStorage::F32(got) = out.to_cpu(0, 2, "conv2d").unwrap() else { panic!("f32") };
            assert_eq!(got, expected);
        }
        let plain = Problem { dtype: DType::F32, shape, transforms: false, epilogue: None, aligned: true };
        let prepared = device.libraries().convolution(device.stream(), &plain).unwrap();
        assert!(prepared.fused().is_none());
    }
}
