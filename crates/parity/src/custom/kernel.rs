//! A user's kernel: HIP source, the arguments in their order, and the geometry of a launch.

use std::fmt;
use std::sync::Arc;

use hip_safe::{DeviceRepr, DeviceView, Launch, LaunchConfig};
use tensor_core::{ErrorKind, HipStorage, InplaceOp1, Layout, Storage, Tensor};
use xxhash_rust::xxh3::xxh3_128;

use crate::execute;
use crate::record::Form;

type Geometry = dyn Fn(&Form) -> LaunchConfig + Send + Sync;
type Check = dyn Fn(&[Form], &Form) -> bool + Send + Sync;
type Pass = dyn Fn(&mut Launch<'_>, &[Form], &Form) + Send + Sync;

/// The operation's name in errors.
const NAME: &str = "a kernel of one's own";

/// An argument of a kernel.
#[derive(Clone)]
enum Argument {
    Input(usize),
    Output,
    Value(Arc<Pass>),
}

/// HIP source with a kernel, its arguments in order, and the geometry of its launch.
///
/// The kernel gets dense row-major arrays: an operand that is a view is copied first. Before the launch every byte of
/// the result is 0xff, so that an element that is not written shows.
///
/// ```
/// use parity::case::{Case, Layout, Op, Operand};
/// use parity::custom::{CustomOperation, Kernel, LaunchConfig};
/// use parity::inputs::Contents;
/// use parity::record::Form;
/// use parity::{devices, run_cases, table};
/// use reference::{DType, Judge};
///
/// # fn main() -> Result<(), parity::Error> {
/// const SOURCE: &str = r#"extern "C" __global__ void halve(const float* x, float* y, unsigned n) {
///     const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) y[i] = 0.5f * x[i];
/// }"#;
/// let count = |_: &[Form], result: &Form| result.shape.iter().product::<usize>() as u32;
/// let geometry = |result: &Form| LaunchConfig::linear(result.shape.iter().product::<usize>() as u64, 256);
/// let plain = |x: &[Form], result: &Form| x == [result.clone()] && result.dtype == DType::F32;
/// let kernel = Kernel::new(SOURCE, "halve", geometry);
/// let kernel = kernel.requires("one array in f32", plain).input(0).output().computed(count);
/// let halve = CustomOperation::elementwise("halve", |_| Judge::Within { ulps: 0.5, t: 0.0 }, |x| 0.5 * x[0]);
/// // SAFETY: there is a thread for each element, which reads x[i] and writes y[i] only for i < n, the length of both.
/// let halve = unsafe { halve.kernel(kernel) };
///
/// let x = Operand::dense(DType::F32, &[37, 129], Contents::Mixed);
/// let case = Case::new(Op::named(halve), vec![x], Layout::Contiguous, "matrix");
/// let devices = devices::open(&["host:0".into(), "host:1".into()])?;
/// let report = run_cases(&[case], &devices, 7, &mut || ());
/// assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Kernel {
    source: Arc<str>,
    function: Arc<str>,
    requirements: Vec<(&'static str, Arc<Check>)>,
    arguments: Vec<Argument>,
    geometry: Arc<Geometry>,
}

impl Kernel {
    /// The kernel `function` of `source`, which declares it `extern "C"`. `geometry` gives grid, block and dynamic shared
    /// memory for a result of this form; nothing is launched for a result without elements. The arguments follow in the order in
    /// which the kernel declares them. Source is compiled once for each device.
    pub fn new(
        source: impl Into<Arc<str>>,
        function: impl Into<Arc<str>>,
        geometry: impl Fn(&Form) -> LaunchConfig + Send + Sync + 'static,
    ) -> Kernel {
        let (source, function) = (source.into(), function.into());
        let (requirements, arguments) = (Vec::new(), Vec::new());
        Kernel { source, function, requirements, arguments, geometry: Arc::new(geometry) }
    }

    /// What the operands and the result have to be for the kernel to be sound, in words and as a check of their forms.
    /// Other operands are an error, and nothing is launched.
    pub fn requires(
        mut self,
        what: &'static str,
        check: impl Fn(&[Form], &Form) -> bool + Send + Sync + 'static,
    ) -> Kernel {
        self.requirements.push((what, Arc::new(check)));
        self
    }

    /// A pointer to the elements of the operand with this index.
    pub fn input(self, operand: usize) -> Kernel {
        self.then(Argument::Input(operand))
    }

    /// A pointer to the result's elements. A kernel has exactly one.
    pub fn output(self) -> Kernel {
        self.then(Argument::Output)
    }

    /// A number, or a `#[repr(C)]` struct of numbers, passed by value.
    pub fn value<T: DeviceRepr>(self, value: T) -> Kernel {
        self.computed(move |_, _| value)
    }

    /// A value that depends on the case: on the forms of the operands and of the result. For sizes.
    pub fn computed<T: DeviceRepr>(
        self,
        value: impl Fn(&[Form], &Form) -> T + Send + Sync + 'static,
    ) -> Kernel {
        self.then(Argument::Value(Arc::new(move |launch, operands, result| {
            launch.value(&value(operands, result));
        })))
    }

    fn then(mut self, argument: Argument) -> Kernel {
        self.arguments.push(argument);
        self
    }

    fn error(&self, what: &str) -> tensor_core::Error {
        let what = format!("{} {what}", self.function);
        tensor_core::Error::new(NAME, ErrorKind::Argument { what })
    }

    /// The result of the kernel on these operands, which lie on a HIP device.
    ///
    /// # Errors
    /// The device's; a compiler's; an argument that does not exist.
    pub(super) fn run(
        &self,
        operands: &[Tensor],
        forms: &[Form],
        result: &Form,
    ) -> tensor_core::Result<Tensor> {
        if let Some((what, _)) = self.requirements.iter().find(|(_, check)| !check(forms, result)) {
            return Err(self.error(&format!("needs {what}")));
        }
        let operands = operands.iter().map(Tensor::contiguous).collect::<Result<Vec<_>, _>>()?;
        let bytes = vec![0xff; result.elements().unwrap_or(usize::MAX).saturating_mul(result.dtype.size())];
        let dtype = execute::dtype(result.dtype);
        let mut output = Tensor::from_bytes(&bytes, dtype, result.shape.as_slice(), &operands[0].device())?;
        if !bytes.is_empty() {
            output.inplace_op1(&Launching { kernel: self, operands, forms, result })?;
        }
        Ok(output)
    }
}

/// A launch that writes to a tensor.
struct Launching<'a> {
    kernel: &'a Kernel,
    operands: Vec<Tensor>,
    forms: &'a [Form],
    result: &'a Form,
}

impl Launching<'_> {
    /// The elements of an operand.
    fn view<'t>(&self, tensor: &'t Tensor) -> tensor_core::Result<DeviceView<'t, u8>> {
        match tensor.storage() {
            Storage::Hip(storage) => storage.view_from(tensor.layout().offset()),
            _ => Err(self.kernel.error("has an operand on the CPU: it needs a HIP device")),
        }
    }
}

impl InplaceOp1 for Launching<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hip_fwd(&self, storage: &mut HipStorage, layout: &Layout) -> tensor_core::Result<()> {
        let Kernel { source, function, arguments, geometry, .. } = self.kernel;
        let outputs = arguments.iter().filter(|argument| matches!(argument, Argument::Output)).count();
        if outputs != 1 {
            return Err(self.kernel.error(&format!("has {outputs} times output(), not once")));
        }
        let device = storage.device().clone();
        // A device keeps modules by name, and refuses another source under it.
        let module = device.compile(source, &format!("{function}-{:032x}", xxh3_128(source.as_bytes())))?;
        let function = module.function(function)?;
        let views = self.operands.iter().map(|operand| self.view(operand));
        let views = views.collect::<tensor_core::Result<Vec<_>>>()?;
        let mut target = storage.view_from_mut(layout.offset())?;
        let mut target = Some(&mut target);

        let mut launch = device.stream().launch(&function, geometry(self.result));
        for argument in arguments {
            match argument {
                Argument::Input(operand) => {
                    let view = views.get(*operand).ok_or_else(|| {
                        self.kernel.error(&format!("has input({operand}), but {} operands", views.len()))
                    })?;
                    launch.arg(view);
                }
                Argument::Output => {
                    launch.arg_mut(target.take().expect("there is one output"));
                }
                Argument::Value(pass) => pass(&mut launch, self.forms, self.result),
            }
        }
        // SAFETY: S9: who made the kernel promised it for dense arrays of forms that meet the requirements, which were
        // checked. The views begin at the first element of such arrays.
        unsafe { launch.submit() }?;
        Ok(())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("function", &self.function).finish_non_exhaustive()
    }
}
