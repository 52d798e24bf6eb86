//! A convolution with a bias and an activation: fused if cuDNN can, else one call after the other.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::algorithm::{Algorithm, Wanted, choose, class};
use super::problem::{Buffers, Direction, Problem};
use super::run::{Blend, Workspace, run};
use crate::activation::{self, Activation, Way, activation_of};
use crate::entry::{all_there, entries};
use crate::factor::Factor;
use crate::handle::{Session, with};
use crate::library::{In, Out, check, cudnn};
use crate::ops::transform;
use crate::tensor::{Tensor, tensor_of};
use crate::{BAD, Outcome, Status, UNSUPPORTED};
use cudarc::cudnn::sys::{cudnnActivationMode_t as Native, cudnnConvolutionFwdAlgo_t as Forward};
use hip_sys::miopen::*;

/// `y = f(alpha * conv(x, w) + z_alpha * z + bias)`.
pub(crate) struct Fused<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) x: In,
    pub(crate) w: In,
    pub(crate) alpha: f64,
    /// `None` if the factor is zero.
    pub(crate) z: (&'a Tensor, In, f64),
    pub(crate) bias: (&'a Tensor, In),
    pub(crate) activation: &'a Activation,
    pub(crate) y: Out,
}

impl Fused<'_> {
    fn factor(&self, value: f64) -> Factor {
        Factor::new(value, self.problem.y.kind)
    }

    /// Whether cuDNN may fuse it. For the identity it supports only one algorithm.
    fn is_native(&self, algorithm: &Algorithm) -> bool {
        let precomputed = Forward::CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM as u32;
        self.problem.direction == Direction::Forward
            && match self.activation.way() {
                Ok(Way::Native(Native::CUDNN_ACTIVATION_RELU, _)) => true,
                Ok(Way::Identity) => algorithm.number == precomputed,
                _ => false,
            }
    }

    /// Submits it to the session's stream.
    ///
    /// # Safety
    /// The memory fits the tensors, and the workspace has its size.
    unsafe fn run(&self, session: &Session, algorithm: &Algorithm, workspace: Workspace) -> Outcome {
        all_there(&[self.x, self.w, self.bias.1, self.y.cast_const()])?;
        if self.z.2 != 0.0 {
            all_there(&[self.z.1])?;
        }
        if self.is_native(algorithm) {
            // SAFETY: S11: the caller's memory.
            match unsafe { self.native(session, algorithm, workspace) } {
                // cuDNN refuses what it cannot fuse before it submits anything.
                Err(Status::miopenStatusUnsupportedOp | Status::miopenStatusBadParm) => {}
                outcome => return outcome,
            }
        }
        // SAFETY: S11: as above.
        unsafe { self.composed(session, algorithm, workspace) }
    }

    unsafe fn native(&self, session: &Session, algorithm: &Algorithm, workspace: Workspace) -> Outcome {
        let problem = self.problem;
        let raw = problem.raw(algorithm.math)?;
        let (alpha, z_alpha) = (self.factor(self.alpha), self.factor(self.z.2));
        // Without a z, y is given instead and not read.
        let (z_raw, z) =
            if self.z.2 == 0.0 { (raw.y, self.y.cast_const()) } else { (self.z.0.raw()?, self.z.1) };
        let (bias_raw, activation) = (self.bias.0.raw()?, self.activation.raw()?);
        // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
        check(unsafe {
            (cudnn()?.cudnnConvolutionBiasActivationForward)(
                session.raw,
                alpha.get(),
                raw.x,
                self.x,
                raw.w,
                self.w,
                raw.conv,
                super::algorithm::forward(algorithm.number)?,
                workspace.memory,
                workspace.size,
                z_alpha.get(),
                z_raw,
                z,
                bias_raw,
                self.bias.1,
                activation,
                raw.y,
                self.y,
            )
        })
    }

    unsafe fn composed(&self, session: &Session, algorithm: &Algorithm, workspace: Workspace) -> Outcome {
        let problem = self.problem;
        let y_tensor = if problem.conv.transposed { &problem.x } else { &problem.y };
        let (one, none) = (self.factor(1.0), self.factor(0.0));
        let in_place = self.z.2 != 0.0 && self.z.1 == self.y.cast_const();
        let kept = if in_place { self.z.2 } else { 0.0 };
        let blend = Blend { alpha: self.factor(self.alpha), beta: self.factor(kept) };
        let buffers =
            problem.in_problem_order(Buffers { x: self.x.cast_mut(), w: self.w.cast_mut(), y: self.y });
        let bias_raw = self.bias.0.raw()?;
        // SAFETY: S11: live descriptors and factors; the memory is the caller's word. A stream runs the calls in
        // this order.
        unsafe {
            run(session, problem, (algorithm.number, algorithm.math), blend, buffers, workspace)?;
            if self.z.2 != 0.0 && !in_place {
                transform(session, (self.factor(self.z.2), one), (self.z.0, self.z.1), (y_tensor, self.y))?;
            }
            check((cudnn()?.cudnnAddTensor)(
                session.raw,
                one.get(),
                bias_raw,
                self.bias.1,
                one.get(),
                y_tensor.raw()?,
                self.y,
            ))?;
            if self.activation.way()? == Way::Identity {
                return Ok(());
            }
            let y = (&**y_tensor, self.y);
            activation::forward(session, self.activation, (one, none), (y_tensor, self.y.cast_const()), y)
        }
    }
}

/// Runs a fused convolution without a workspace.
///
/// # Safety
/// The memory fits the tensors.
pub(crate) unsafe fn run_fused(session: &mut Session, fused: &Fused<'_>) -> Outcome {
    let wanted = Wanted { problem: fused.problem.clone(), class: class::FREE };
    let algorithm = choose(session, wanted, 0)?;
    let none = Workspace::new(std::ptr::null_mut(), 0);
    // SAFETY: S11: the caller's memory.
    unsafe { fused.run(session, &algorithm, none) }
}

/// Runs an unfused convolution without a workspace.
///
/// # Safety
/// The memory fits the tensors.
pub(crate) unsafe fn run_free(session: &mut Session, problem: &Problem, x: In, w: In, y: Out) -> Outcome {
    let algorithm = choose(session, Wanted { problem: problem.clone(), class: class::FREE }, 0)?;
    let none = Workspace::new(std::ptr::null_mut(), 0);
    let buffers = problem.in_problem_order(Buffers { x: x.cast_mut(), w: w.cast_mut(), y });
    let way = (algorithm.number, algorithm.math);
    // SAFETY: S11: the caller's memory.
    unsafe { run(session, problem, way, Blend::replace(problem), buffers, none) }
}

/// The caller's factor; `missing` if there is none.
unsafe fn factor(pointer: In, missing: f64) -> f64 {
    // SAFETY: S11: the caller's factor.
    unsafe { Factor::read(pointer, miopenDataType_t::miopenFloat) }.map_or(missing, |factor| factor.value())
}

type T = miopenTensorDescriptor_t;

entries! {
    fn miopenConvolutionBiasActivationForward(
        handle: miopenHandle_t, alpha: In, xd: T, x: In, wd: T, w: In, conv: miopenConvolutionDescriptor_t,
        algorithm: miopenConvFwdAlgorithm_t, memory: Out, size: usize, z_alpha: In, zd: T, z: In, bd: T, bias: In,
        activation: miopenActivationDescriptor_t, yd: T, y: Out,
    ) {
        let problem = Problem::new(Direction::Forward, xd, wd, yd, conv)?;
        let (bd, activation) = (tensor_of(bd)?, activation_of(activation)?);
        // SAFETY: S11: the caller's factors.
        let (alpha, z_alpha) = unsafe { (factor(alpha, 1.0), if z.is_null() { 0.0 } else { factor(z_alpha, 1.0) }) };
        let zd = if z.is_null() { problem.y.clone() } else { tensor_of(zd)? };
        if z_alpha != 0.0 && zd.dims != tensor_of(yd)?.dims {
            return Err(BAD);
        }
        activation.way().map_err(|_| UNSUPPORTED)?;
        let workspace = Workspace::new(memory, size);
        let fused = Fused {
            problem: &problem, x, w, alpha, z: (&zd, z, z_alpha), bias: (&bd, bias), activation: &activation, y,
        };
        with(handle, |session| {
            let wanted = Wanted { problem: problem.clone(), class: algorithm.0 };
            let algorithm = choose(session, wanted, workspace.size)?;
            // SAFETY: S11: the caller's memory.
            unsafe { fused.run(session, &algorithm, workspace) }
        })
    }
}
