//! Fusion plans: several operations in one kernel.

use crate::convert::{self, host, out};
use crate::handle::Shared;
use crate::owner::{ArgsObject, FusionObject, Owner};
use crate::raw::fusion as raw;
use crate::tensor::{has_dims, is_packed};
use crate::work::Work;
use crate::{
    Activation, Algorithm, BatchNormMode, ConvolutionDesc, DataType, Element, Error, Handle, Result, Tensor,
    TensorDesc, TensorMut,
};
use hip_sys::miopen::{
    miopenConvFwdAlgorithm_t, miopenFusionDirection_t, miopenFusionOpDescriptor_t,
    miopenFusionPlanDescriptor_t,
};
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;

const DOING: &str = "a fusion plan";

/// An operation of a plan.
#[derive(Debug, Clone)]
pub enum FusionOp {
    /// A convolution with weights of this layout.
    Convolution(ConvolutionDesc, TensorDesc),
    /// The addition of a bias `[1, c, 1, …]`.
    Bias(TensorDesc),
    /// Batch normalisation of `f32` or `f16` with given statistics and `f32` parameters of this layout. Input and parameters
    /// are contiguous and have four dimensions.
    BatchNormInference(BatchNormMode, TensorDesc),
    /// An activation.
    Activation(Activation),
}

/// The arguments of an operation of a plan.
#[derive(Debug, Clone, Copy)]
pub enum FusionArg<'a, T: Element> {
    /// The weights of a convolution.
    Convolution(Tensor<'a, T>),
    /// A bias.
    Bias(Tensor<'a, T>),
    /// The arguments of a batch normalisation: the library's kernels read them as `f32`, for inputs of any type.
    BatchNormInference {
        /// Factors.
        scale: Tensor<'a, f32>,
        /// The summands.
        bias: Tensor<'a, f32>,
        /// Means.
        mean: Tensor<'a, f32>,
        /// Variances.
        variance: Tensor<'a, f32>,
        /// The number that is added to the variances.
        epsilon: f64,
    },
    /// An activation has no arguments.
    Activation,
}

/// Operations that run as one; the output of each is the input of the next. The library decides what can be fused:
/// [`Error::Unsupported`] or [`Error::Miopen`] otherwise.
///
/// # Limits
/// The library stores the addresses of memory one argument at a time, so executing borrows the plan exclusively. Its
/// kernels belong to the handle that created it. The library's handle lives as long as the plan, and only that handle executes it.
#[doc(alias = "miopenFusionPlanDescriptor_t")]
pub struct FusionPlan {
    // Dropped first, since it refers to the other fields.
    object: Owner<FusionObject>,
    args: Owner<ArgsObject>,
    ops: Vec<FusionOp>,
    raw_ops: Vec<RawOp>,
    x: TensorDesc,
    y_dims: Vec<usize>,
    /// The handle that compiled the plan and has its kernels. Dropped last.
    shared: Arc<Shared>,
}

/// The library's operation, which lives as long as its plan.
struct RawOp(miopenFusionOpDescriptor_t);

// SAFETY: S24: an operation belongs to its plan and to no thread.
unsafe impl Send for RawOp {}
// SAFETY: S24: a shared reference only reads the address.
unsafe impl Sync for RawOp {}

impl FusionPlan {
    /// Creates and compiles the plan, for inputs of this layout.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if shapes and types do not match, [`Error::Unsupported`] if the library has no such kernel; otherwise the library's
    /// error.
    #[doc(alias = "miopenCreateFusionPlan")]
    #[doc(alias = "miopenCompileFusionPlan")]
    #[doc(alias = "miopenCreateOpConvForward")]
    #[doc(alias = "miopenCreateOpBiasForward")]
    #[doc(alias = "miopenCreateOpActivationForward")]
    #[doc(alias = "miopenCreateOpBatchNormInference")]
    pub fn new(handle: &Handle, x: &TensorDesc, ops: &[FusionOp]) -> Result<Self> {
        Self::make(handle, x, ops)?.compile(handle)
    }

    /// As [`FusionPlan::new`], if the library will compute the plan's convolution with one of these algorithms. It is asked
    /// before it compiles anything.
    ///
    /// # Errors
    /// As [`FusionPlan::new`]; [`Error::Unsupported`] if the library may use another algorithm, or returns none.
    #[doc(alias = "miopenFusionPlanConvolutionGetAlgo")]
    pub fn held_to(
        handle: &Handle,
        x: &TensorDesc,
        ops: &[FusionOp],
        algorithms: &[Algorithm],
    ) -> Result<Self> {
        let mut plan = Self::make(handle, x, ops)?;
        let named = plan.algorithms()?;
        if named.is_empty() || !named.iter().all(|name| algorithms.contains(name)) {
            let reason = format!("it may take any of {named:?}, and {algorithms:?} are allowed");
            let call = "miopenFusionPlanConvolutionGetAlgo";
            return Err(Error::Unsupported { call, doing: DOING, reason });
        }
        plan.compile(handle)
    }

    /// A plan that is not compiled.
    fn make(handle: &Handle, x: &TensorDesc, ops: &[FusionOp]) -> Result<Self> {
        let y_dims = output_dims(x, ops)?;
        let platform = handle.platform();
        let x_desc = x.on(handle)?;
        let plan = handle.call(DOING, |m, _| {
            let (mut plan, vertical) = (null_mut(), miopenFusionDirection_t::miopenVerticalFusion);
            // SAFETY: S1: descriptor and out-pointer are live.
            unsafe { raw::create_fusion_plan(m, &mut plan, vertical, x_desc) }?;
            Ok(plan)
        })?;
        let object: Owner<FusionObject> = Owner::of(platform, plan);
        let mut raw_ops = Vec::new();
        for op in ops {
            raw_ops.push(RawOp(add(handle, &object, op)?));
        }
        let args = Owner::new(platform, |_, _| Ok(()))?;
        let shared = Arc::clone(handle.shared());
        Ok(Self { object, args, ops: ops.to_vec(), raw_ops, x: x.clone(), y_dims, shared })
    }

    fn compile(self, handle: &Handle) -> Result<Self> {
        let plan = self.object.raw();
        // SAFETY: S1, S3: handle and plan are live.
        handle.call(DOING, |m, h| unsafe { raw::compile_fusion_plan(m, h, plan) })?;
        Ok(self)
    }

    /// A convolution, then an optional bias and an optional activation.
    ///
    /// # Errors
    /// As [`FusionPlan::new`].
    pub fn convolution(
        handle: &Handle,
        x: &TensorDesc,
        convolution: &ConvolutionDesc,
        w: &TensorDesc,
        bias: Option<&TensorDesc>,
        activation: Option<Activation>,
    ) -> Result<Self> {
        let mut ops = vec![FusionOp::Convolution(convolution.clone(), w.clone())];
        ops.extend(bias.map(|bias| FusionOp::Bias(bias.clone())));
        ops.extend(activation.map(FusionOp::Activation));
        Self::new(handle, x, &ops)
    }

    /// The shape of the output.
    pub fn output_dims(&self) -> &[usize] {
        &self.y_dims
    }

    /// The algorithms that may compute the plan's convolution.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenFusionPlanConvolutionGetAlgo")]
    pub fn algorithms(&mut self) -> Result<Vec<Algorithm>> {
        const CAPACITY: usize = 8;
        let capacity = convert::int("the number of algorithms", CAPACITY)?;
        let mut found = [miopenConvFwdAlgorithm_t(0); CAPACITY];
        let count = self.object.ask(|m, plan| {
            // SAFETY: S1: the array has room for as many as are asked for.
            out(|count| unsafe {
                raw::fusion_plan_convolution_get_algo(m, plan, capacity, count, found.as_mut_ptr())
            })
        })?;
        let count = usize::try_from(count).unwrap_or(0).min(CAPACITY);
        Ok(found[..count].iter().map(|algorithm| Algorithm(algorithm.0)).collect())
    }

    /// `y ←` the operations on `x`, each with its arguments, in order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if layouts are not the plan's or another handle created it; the error of memory, stream or library.
    #[doc(alias = "miopenExecuteFusionPlan")]
    #[doc(alias = "miopenSetOpArgsConvForward")]
    #[doc(alias = "miopenSetOpArgsBiasForward")]
    #[doc(alias = "miopenSetOpArgsActivForward")]
    #[doc(alias = "miopenSetOpArgsBatchNormInference")]
    pub fn execute<T: Element>(
        &mut self,
        handle: &Handle,
        x: &Tensor<'_, T>,
        args: &[FusionArg<'_, T>],
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        if !Arc::ptr_eq(handle.shared(), &self.shared) {
            let (wanted, found) = ("the one that compiled it, which has its kernels", "another");
            return Err(Error::mismatch("the handle of a plan", wanted, found));
        }
        if *x.desc() != self.x {
            return Err(Error::mismatch("the layout of a plan's input", &self.x, x.desc()));
        }
        has_dims("the shape of a plan's output", &self.y_dims, y.desc())?;
        is_packed("a plan's output", y.desc())?;
        self.check(args)?;
        let (plan, list) = (self.object.on(handle)?, self.args.on(handle)?);
        let (x_desc, y_desc) = (x.desc().on(handle)?, y.desc().on(handle)?);
        let mut work = Work::new(handle, DOING);
        let (x, y) = (work.read(x), work.write(y));
        let mut addresses = Vec::new();
        for arg in args {
            addresses.push(match arg {
                FusionArg::Convolution(w) => vec![work.read(w)],
                FusionArg::Bias(b) => vec![work.read(b)],
                FusionArg::Activation => Vec::new(),
                FusionArg::BatchNormInference { scale, bias, mean, variance, .. } => {
                    vec![work.read(scale), work.read(bias), work.read(mean), work.read(variance)]
                }
            });
        }
        let (ops, raw_ops) = (&self.ops, &self.raw_ops);
        let (one, zero) = (1.0_f32, 0.0_f32);
        let (alpha, beta) = (host(&one), host(&zero));
        work.run(|m, h| {
            for (at, arg) in args.iter().enumerate() {
                let (op, addresses) = (raw_ops[at].0, &addresses[at]);
                // SAFETY: S1, S2: plan, operation and arguments are live; the memory is named, and lies as the plan was told.
                unsafe {
                    match arg {
                        FusionArg::Convolution(_) => {
                            raw::set_op_args_conv_forward(m, list, op, alpha, beta, addresses[0])
                        }
                        FusionArg::Bias(_) => {
                            raw::set_op_args_bias_forward(m, list, op, alpha, beta, addresses[0])
                        }
                        FusionArg::Activation => {
                            let FusionOp::Activation(activation) = &ops[at] else { continue };
                            let (_, [a, b, c]) = activation.raw();
                            raw::set_op_args_activ_forward(m, list, op, alpha, beta, a, b, c)
                        }
                        FusionArg::BatchNormInference { epsilon, .. } => {
                            raw::set_op_args_batch_norm_inference(
                                m,
                                list,
                                op,
                                alpha,
                                beta,
                                addresses[0],
                                addresses[1],
                                addresses[2],
                                addresses[3],
                                *epsilon,
                            )
                        }
                    }
                }?;
            }
            // SAFETY: S1, S2: as above.
            unsafe { raw::execute_fusion_plan(m, h, plan, x_desc, x, y_desc, y, list) }
        })
    }

    /// Destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyFusionPlan")]
    #[doc(alias = "miopenDestroyOperatorArgs")]
    pub fn close(self) -> Result<()> {
        let closed = self.object.close();
        closed.and(self.args.close())
    }

    fn check<T: Element>(&self, args: &[FusionArg<'_, T>]) -> Result<()> {
        if args.len() != self.ops.len() {
            return Err(Error::mismatch(
                "an argument for each operation of a plan",
                self.ops.len(),
                args.len(),
            ));
        }
        for (op, arg) in self.ops.iter().zip(args) {
            let fits = match (op, arg) {
                (FusionOp::Convolution(_, desc), FusionArg::Convolution(w)) => desc == w.desc(),
                (FusionOp::Bias(desc), FusionArg::Bias(b)) => desc == b.desc(),
                (FusionOp::Activation(_), FusionArg::Activation) => true,
                (
                    FusionOp::BatchNormInference(_, desc),
                    FusionArg::BatchNormInference { scale, bias, mean, variance, .. },
                ) => [scale, bias, mean, variance].iter().all(|param| desc == param.desc()),
                _ => false,
            };
            if !fits {
                return Err(Error::mismatch(
                    "the argument of a plan's operation, in kind and layout",
                    op,
                    arg,
                ));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for FusionPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FusionPlan of {:?} on {:?}", self.ops, self.x)
    }
}

/// The shape after all operations.
fn output_dims(x: &TensorDesc, ops: &[FusionOp]) -> Result<Vec<usize>> {
    let mut dims = x.dims().to_vec();
    for op in ops {
        match op {
            FusionOp::Convolution(convolution, w) => {
                dims = convolution.convolution().output_dims(&dims, w.dims())?
            }
            FusionOp::Bias(desc) => {
                let wanted = BatchNormMode::Spatial.param_dims(&dims);
                has_dims("the shape of a bias", &wanted, desc)?;
                is_packed("a plan's bias", desc)?;
            }
            FusionOp::BatchNormInference(mode, desc) => {
                has_dims("the shape of a normalisation's parameters", &mode.param_dims(&dims), desc)?;
                is_packed("a normalisation's parameters", desc)?;
                // The library's kernels use four lengths and ignore strides.
                is_packed("the input of a plan with a normalisation", x)?;
                if dims.len() != 4 {
                    let what = "the dimensions of a plan's input that is normalised";
                    return Err(Error::invalid(what, dims.len(), "it has to be 4"));
                }
                let (wanted, found) = ([DataType::F32, DataType::F16], (x.data_type(), desc.data_type()));
                if !wanted.contains(&found.0) || found.1 != DataType::F32 {
                    let what = "the types of a plan's input and of its normalisation's parameters";
                    return Err(Error::mismatch(what, wanted.map(|of| (of, DataType::F32)), found));
                }
            }
            FusionOp::Activation(_) => {}
        }
    }
    Ok(dims)
}

/// Adds an operation to a plan.
fn add(handle: &Handle, plan: &Owner<FusionObject>, op: &FusionOp) -> Result<miopenFusionOpDescriptor_t> {
    let raw_plan: miopenFusionPlanDescriptor_t = plan.raw();
    let mut made = null_mut();
    let convolution = match op {
        FusionOp::Convolution(convolution, w) => Some((convolution.on(handle)?, w.on(handle)?)),
        _ => None,
    };
    let desc = match op {
        FusionOp::Bias(desc) | FusionOp::BatchNormInference(_, desc) => desc.on(handle)?,
        _ => null_mut(),
    };
    handle.call(DOING, |m, _| {
        // SAFETY: S1: plan, descriptors and out-pointer are live.
        unsafe {
            match (op, convolution) {
                (FusionOp::Convolution(..), Some((convolution, w))) => {
                    raw::create_op_conv_forward(m, raw_plan, &mut made, convolution, w)
                }
                (FusionOp::Bias(_), _) => raw::create_op_bias_forward(m, raw_plan, &mut made, desc),
                (FusionOp::BatchNormInference(mode, _), _) => {
                    raw::create_op_batch_norm_inference(m, raw_plan, &mut made, mode.raw(), desc)
                }
                (FusionOp::Activation(activation), _) => {
                    raw::create_op_activation_forward(m, raw_plan, &mut made, activation.raw().0)
                }
                (FusionOp::Convolution(..), None) => Ok(()),
            }
        }
    })?;
    Ok(made)
}
