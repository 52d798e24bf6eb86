//! Operations of one's own: a user's kernel or function, judged as the operations of this crate are.
//!
//! A [`CustomOperation`] has a name, an exact reference, a bound, and what to run on each device. [`Op::named`] makes a
//! case's operation of it, and everything in this crate takes such cases: [`run_cases`](crate::run_cases),
//! [`record_cases`](crate::record::record_cases), [`sabotage::run`](crate::sabotage::run). [`main`] is the command line
//! of `cargo xtask parity` with these cases in place of the registry's.
//!
//! ```
//! use parity::case::{Case, Layout, Op, Operand};
//! use parity::custom::CustomOperation;
//! use parity::inputs::Contents;
//! use parity::{devices, run_cases, sabotage, table};
//! use reference::{DType, Judge};
//! use tensor_core::Tensor;
//!
//! // |x − y| in f32. The difference is rounded once, so it is at most half an ulp off.
//! let bound = |_: DType| Judge::Within { ulps: 0.5, t: 0.0 };
//! let distance = CustomOperation::elementwise("distance", bound, |x: &[f64]| (x[0] - x[1]).abs())
//!     .run(|operands: &[Tensor]| (&operands[0] - &operands[1])?.abs());
//! let op = Op::named(distance);
//!
//! // Every layout that the registry tests operations with; the second operand broadcasts.
//! let mut cases = Vec::new();
//! for (layout, shape, x) in parity::custom::layouts(DType::F32, Contents::Mixed) {
//!     let y = Operand::dense(DType::F32, &[], Contents::Factors);
//!     cases.push(Case::new(op.clone(), vec![x, y], layout, shape));
//! }
//! let report = run_cases(&cases, &[devices::cpu()], 7, &mut || ());
//! assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
//!
//! // Errors planted in its results are noticed.
//! let planted = sabotage::run(&sabotage::benches(&cases), &[devices::cpu()], 7, &mut || ());
//! assert!(planted.is_complete());
//! ```
//!
//! # Parts
//! - [`CustomOperation`]: the operation. [`Kernel`]: HIP source, a kernel's arguments and the geometry of its launch.
//! - [`Answer`]: the exact value of an element, for the reference.
//! - Inputs: [`Operand::dense`](crate::case::Operand::dense) and [`layouts`] from the generator,
//!   [`Operand::from_file`](crate::case::Operand::from_file) and [`Operand::given`](crate::case::Operand::given) for
//!   arrays of one's own.

mod answer;
mod command;
mod given;
mod kernel;

use std::fmt;
use std::sync::Arc;

use reference::{Array, DType, Error, Judge, Outcome};
use tensor_core::{Device, ErrorKind, Tensor};

#[cfg(doc)]
use crate::case::Op;
use crate::case::{Layout, Operand};
use crate::execute;
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::record::Form;
use crate::registry::shapes;

pub use answer::Answer;
pub use command::{main, run};
pub use hip_safe::LaunchConfig;
pub use kernel::Kernel;

/// The views that operations on one argument are tested with: each has a layout, a shape class, and the operand, which
/// is a part, a transpose, a broadcast or the like of a stored array with these contents.
pub fn layouts(dtype: DType, contents: Contents) -> Vec<(Layout, &'static str, Operand)> {
    shapes::every(dtype, contents)
}

type FormOf = Arc<dyn Fn(&[Form]) -> Form + Send + Sync>;
type Run = Arc<dyn Fn(&[Tensor]) -> tensor_core::Result<Tensor> + Send + Sync>;
type Result<T> = std::result::Result<T, Error>;

/// An operation of a user: see [`crate::custom`] for an example.
#[derive(Clone)]
pub struct CustomOperation {
    name: &'static str,
    parameters: String,
    bound: Arc<dyn Fn(DType) -> Judge + Send + Sync>,
    reference: answer::Reference,
    form: Option<FormOf>,
    /// Implementations for a platform, by its name.
    platforms: Vec<(&'static str, Run)>,
    kernel: Option<Kernel>,
    anywhere: Option<Run>,
}

impl CustomOperation {
    /// An operation on each element. `reference` gets an element of each operand, in order, after broadcasting, and
    /// returns the exact result: an `f64`, or an [`Answer`]. `bound` says how far a result of a dtype may be off; derive
    /// it from what the operation computes, as [`reference::BOUNDS`] does.
    ///
    /// Elements are `f64`, so `i64` beyond 2^53 are rounded. Return a [`Dd`](reference::Dd) if the result is an `f64`
    /// that is judged in ulp, because the reference has to be more precise than the device.
    ///
    /// The name is for reports and ids. It should be a word, and not an operation of the registry.
    pub fn elementwise<A: Into<Answer>>(
        name: &'static str,
        bound: impl Fn(DType) -> Judge + Send + Sync + 'static,
        reference: impl Fn(&[f64]) -> A + Send + Sync + 'static,
    ) -> CustomOperation {
        let element = Arc::new(move |x: &[f64]| reference(x).into());
        CustomOperation::with(name, Arc::new(bound), answer::Reference::Element(element))
    }

    /// An operation on whole arrays, such as a reduction. `reference` gets the operands, dense and not broadcast, and the
    /// form of the result, and returns its exact elements in row-major order. `bound` as in
    /// [`CustomOperation::elementwise`].
    pub fn whole<A: Into<Answer>>(
        name: &'static str,
        bound: impl Fn(DType) -> Judge + Send + Sync + 'static,
        reference: impl Fn(&[&Array], &Form) -> Vec<A> + Send + Sync + 'static,
    ) -> CustomOperation {
        let whole = move |arrays: &[&Array], form: &Form| {
            reference(arrays, form).into_iter().map(Into::into).collect()
        };
        CustomOperation::with(name, Arc::new(bound), answer::Reference::Whole(Arc::new(whole)))
    }

    fn with(
        name: &'static str,
        bound: Arc<dyn Fn(DType) -> Judge + Send + Sync>,
        reference: answer::Reference,
    ) -> CustomOperation {
        let (platforms, parameters) = (Vec::new(), String::new());
        CustomOperation {
            name,
            parameters,
            bound,
            reference,
            form: None,
            platforms,
            kernel: None,
            anywhere: None,
        }
    }

    /// The operation's parameters as text, which becomes a part of ids. Operations of one name whose parameters differ
    /// need different texts.
    pub fn parameters(self, parameters: impl Into<String>) -> CustomOperation {
        CustomOperation { parameters: parameters.into(), ..self }
    }

    /// Dtype and shape of the result, from those of the operands. Without this it has the first operand's dtype, and the
    /// shape that the operands broadcast to.
    pub fn form(self, form: impl Fn(&[Form]) -> Form + Send + Sync + 'static) -> CustomOperation {
        CustomOperation { form: Some(Arc::new(form)), ..self }
    }

    /// What to run on every device that has nothing of its own: a function of the operands, which are the views of the
    /// case, on that device.
    pub fn run(
        self,
        run: impl Fn(&[Tensor]) -> tensor_core::Result<Tensor> + Send + Sync + 'static,
    ) -> CustomOperation {
        CustomOperation { anywhere: Some(Arc::new(run)), ..self }
    }

    /// What to run on devices of a platform: "cpu", "host", "amd" or "nvidia", the part of a device's name before its
    /// colon. It precedes [`CustomOperation::kernel`] and [`CustomOperation::run`].
    pub fn run_on(
        mut self,
        platform: &'static str,
        run: impl Fn(&[Tensor]) -> tensor_core::Result<Tensor> + Send + Sync + 'static,
    ) -> CustomOperation {
        self.platforms.push((platform, Arc::new(run)));
        self
    }

    /// The kernel to launch on every HIP device: AMD's GPUs, NVIDIA's, and the host platform. It precedes
    /// [`CustomOperation::run`].
    ///
    /// # Safety
    /// For all forms of operands and of a result that meet the kernel's requirements ([`Kernel::requires`]), a launch with its
    /// geometry and arguments is sound: the arguments are of the kinds that the kernel declares; it reads inside of its operands
    /// and the result, writes inside of the result alone, and has no race with itself.
    pub unsafe fn kernel(self, kernel: Kernel) -> CustomOperation {
        CustomOperation { kernel: Some(kernel), ..self }
    }

    fn form_of(&self, operands: &[Form]) -> Result<Form> {
        if let Some(form) = &self.form {
            return Ok(form(operands));
        }
        let Some(first) = operands.first() else { return Err(Error::Rank { op: self.name }) };
        let broadcast = |shape: Vec<usize>, operand: &Form| {
            reference::broadcast_shapes(self.name, &shape, &operand.shape)
        };
        let shape = operands.iter().try_fold(Vec::new(), broadcast)?;
        Ok(Form { dtype: first.dtype, shape })
    }

    /// The implementation for a device, if there is one.
    fn implementation(&self, device: &Device) -> Option<Implementation<'_>> {
        let name = device.name();
        let platform = name.split(':').next().unwrap_or_default();
        let own = self.platforms.iter().find(|(of, _)| *of == platform).map(|(_, run)| run);
        match (own, &self.kernel) {
            (Some(run), _) => Some(Implementation::Run(run)),
            (None, Some(kernel)) if !device.is_cpu() => Some(Implementation::Kernel(kernel)),
            _ => self.anywhere.as_ref().map(Implementation::Run),
        }
    }
}

enum Implementation<'a> {
    Run(&'a Run),
    Kernel(&'a Kernel),
}

impl Operation for CustomOperation {
    fn name(&self) -> &'static str {
        self.name
    }

    fn parameters(&self) -> String {
        self.parameters.clone()
    }

    fn runs_on(&self, device: &Device) -> bool {
        self.implementation(device).is_some()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let error = |what: String| tensor_core::Error::new(self.name, ErrorKind::Argument { what });
        let Some(first) = operands.first() else { return Err(error("give it an operand".into())) };
        match self.implementation(&first.device()) {
            Some(Implementation::Run(run)) => run(operands),
            Some(Implementation::Kernel(kernel)) => {
                let forms: Vec<Form> = operands.iter().map(form).collect();
                let result = self.form_of(&forms).map_err(|wrong| error(wrong.to_string()))?;
                kernel.run(operands, &forms, &result)
            }
            None => {
                Err(error("nothing runs there: add CustomOperation::run_on, or choose other devices".into()))
            }
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>> {
        let of = |array: &&Array| Form { dtype: array.dtype(), shape: array.shape().to_vec() };
        let form = self.form_of(&arrays.iter().map(of).collect::<Vec<_>>())?;
        let judge = (self.bound)(form.dtype);
        self.reference.outcome(arrays, form, judge)
    }
}

/// Dtype and shape of a tensor.
fn form(tensor: &Tensor) -> Form {
    Form { dtype: execute::known(tensor.dtype()), shape: tensor.dims().to_vec() }
}

impl fmt::Debug for CustomOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomOperation")
            .field("name", &self.name)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}
