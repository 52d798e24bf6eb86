//! A case: one operation on arrays of given dtypes, shapes, layouts and contents.

use std::fmt;
use std::sync::Arc;

use reference::{BinaryOp, CmpOp, DType, ReduceOp, ScalarOp, UnaryOp, Value};
use xxhash_rust::xxh3::Xxh3;

use crate::inputs::Contents;
use crate::operation::Operation;
use crate::random::Stream;
use crate::view::{Step, View, list};

/// The operation of a case, with its parameters.
#[derive(Debug, Clone)]
pub enum Op {
    /// One argument, element by element.
    Unary(UnaryOp),
    /// One argument and a scalar: powf, elu, leaky_relu.
    Scalar(ScalarOp, f64),
    /// `x · mul + add`.
    Affine {
        /// The factor.
        mul: Value,
        /// The summand.
        add: Value,
    },
    /// Clamping to `low..=high`.
    Clamp {
        /// Lower bound.
        low: Value,
        /// Upper bound.
        high: Value,
    },
    /// Two arguments that broadcast.
    Binary(BinaryOp),
    /// A comparison of two arguments that broadcast. The result is u8.
    Compare(CmpOp),
    /// A conversion to another dtype.
    Cast(DType),
    /// A contiguous copy of a view.
    Copy,
    /// A new array filled with one value. The operand gives the shape; its contents are not used.
    Fill(Value),
    /// One value written to every element of a view, in place.
    ConstSet(Value),
    /// The second argument's elements copied to the first, a view, in place.
    CopyInto,
    /// A reduction over some axes.
    Reduce {
        /// The reduction.
        op: ReduceOp,
        /// The reduced axes.
        axes: Vec<usize>,
        /// Whether they are kept with size 1.
        keep: bool,
    },
    /// A matrix product with broadcast batches.
    Matmul,
    /// An operation defined in a file of the registry.
    Named(Arc<dyn Operation>),
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        let parts = |op: &Op| (op.name(), op.converts_to(), op.parameters());
        parts(self) == parts(other)
    }
}

impl Op {
    /// An operation defined in a file of the registry.
    pub fn named(operation: impl Operation + 'static) -> Op {
        Op::Named(Arc::new(operation))
    }

    /// The operation's name in kernels and in the table of results.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Unary(op) => op.name(),
            Op::Scalar(op, _) => op.name(),
            Op::Affine { .. } => "affine",
            Op::Clamp { .. } => "clamp",
            Op::Binary(op) => op.name(),
            Op::Compare(op) => op.name(),
            Op::Cast(_) => "cast",
            Op::Copy => "copy",
            Op::Fill(_) => "fill",
            Op::ConstSet(_) => "const_set",
            Op::CopyInto => "copy_into",
            Op::Reduce { op, .. } => op.name(),
            Op::Matmul => "matmul",
            Op::Named(operation) => operation.name(),
        }
    }

    /// The dtype that a conversion converts to; `None` for other operations.
    pub fn converts_to(&self) -> Option<DType> {
        match self {
            Op::Cast(to) => Some(*to),
            Op::Named(operation) => operation.converts_to(),
            _ => None,
        }
    }

    /// Whether there is an implementation for a device.
    pub fn runs_on(&self, device: &tensor_core::Device) -> bool {
        match self {
            Op::Named(operation) => operation.runs_on(device),
            _ => true,
        }
    }

    /// The parameters as text, empty if there are none. Texts are equal if and only if the parameters are.
    pub fn parameters(&self) -> String {
        match self {
            Op::Named(operation) => operation.parameters(),
            Op::Scalar(_, scalar) => format!("{scalar:?}"),
            Op::Affine { mul, add } => format!("{},{}", Plain(*mul), Plain(*add)),
            Op::Clamp { low, high } => format!("{},{}", Plain(*low), Plain(*high)),
            Op::Fill(value) | Op::ConstSet(value) => Plain(*value).to_string(),
            Op::Reduce { axes, keep, .. } => {
                format!("axes={}{}", list(axes), if *keep { ",keep" } else { "" })
            }
            _ => String::new(),
        }
    }
}

/// Formats a number: integers without a decimal point, floats with one.
struct Plain(Value);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(x) => write!(f, "{x:?}"),
        }
    }
}

/// The operands' memory layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layout {
    /// Dense and row-major.
    Contiguous,
    /// Two axes swapped.
    Transposed,
    /// Three or more axes in another order.
    Permuted,
    /// A part of a larger array, with an offset.
    Narrowed,
    /// Narrowed, then transposed.
    NarrowedTransposed,
    /// One row repeated (stride 0), by a view or by the operation's broadcasting.
    BroadcastRow,
    /// One column repeated.
    BroadcastColumn,
    /// Both operands repeated, one along each axis.
    BroadcastBoth,
    /// One element repeated.
    BroadcastScalar,
    /// Leading (batch) axes repeated.
    BroadcastBatch,
    /// More than eight axes that do not merge.
    HighRank,
    /// No elements.
    Empty,
}

impl Layout {
    /// The name in case ids.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Contiguous => "contiguous",
            Layout::Transposed => "transposed",
            Layout::Permuted => "permuted",
            Layout::Narrowed => "narrowed",
            Layout::NarrowedTransposed => "narrowed-transposed",
            Layout::BroadcastRow => "broadcast-row",
            Layout::BroadcastColumn => "broadcast-column",
            Layout::BroadcastBoth => "broadcast-both",
            Layout::BroadcastScalar => "broadcast-scalar",
            Layout::BroadcastBatch => "broadcast-batch",
            Layout::HighRank => "high-rank",
            Layout::Empty => "empty",
        }
    }
}

/// An argument: a stored dense array, its contents, and the view of it that the operation gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// Element type.
    pub dtype: DType,
    /// Shape of the stored array.
    pub stored: Vec<usize>,
    /// Steps from the stored array to the view.
    pub steps: Vec<Step>,
    /// The contents of the stored array.
    pub contents: Contents,
    /// The bytes of the stored array, for [`Contents::Given`]: see [`Operand::given`].
    pub given: Option<Arc<[u8]>>,
}

impl Operand {
    /// A dense operand.
    pub fn dense(dtype: DType, shape: &[usize], contents: Contents) -> Operand {
        Operand { dtype, stored: shape.to_vec(), steps: Vec::new(), contents, given: None }
    }

    /// Adds a step.
    pub fn then(mut self, step: Step) -> Operand {
        self.steps.push(step);
        self
    }

    /// The view that the operation gets.
    pub fn view(&self) -> View {
        View::of(&self.stored, &self.steps)
    }
}

/// A comparison of one operation on a device with the reference.
///
/// Two cases are distinct if they differ in operation, dtypes, layout or shape class. Other parameters or seeds do not
/// count.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The operation and its parameters.
    pub op: Op,
    /// Its arguments.
    pub operands: Vec<Operand>,
    /// The operands' memory layout.
    pub layout: Layout,
    /// The shape class: "vector", "matrix", "row" (a reduction along the last axis), …
    pub shape: &'static str,
    /// Whether the result must have the reference's bits, although the operation in general may differ: these inputs'
    /// sums are exact in every order and grouping.
    pub exact: bool,
    /// Where the contents come from: the name of a checkpoint's tensor, or of a user's file.
    pub origin: Option<String>,
}

impl Case {
    /// A case with inputs from the seed.
    pub fn new(op: Op, operands: Vec<Operand>, layout: Layout, shape: &'static str) -> Case {
        Case { op, operands, layout, shape, exact: false, origin: None }
    }

    /// The same case, judged bit by bit.
    pub fn exactly(self) -> Case {
        Case { exact: true, ..self }
    }

    /// The same case, with a name for where its contents come from, which the id ends with.
    pub fn with_origin(self, origin: impl Into<String>) -> Case {
        Case { origin: Some(origin.into()), ..self }
    }

    /// The dtypes as text: "f32", or "f32>f16" for a conversion.
    pub fn dtypes(&self) -> String {
        let first = self.operands.first().map_or("", |operand| operand.dtype.name());
        match self.op.converts_to() {
            Some(to) => format!("{first}>{to}"),
            None => first.to_string(),
        }
    }

    /// The case's id, such as `add/f16/broadcast-row/matrix/[37,129]x[129]`: operation, dtypes, layout, shape class,
    /// shapes, and if needed parameters and unusual contents. Ids are unique in the registry.
    pub fn id(&self) -> String {
        let shapes: Vec<String> =
            self.operands.iter().map(|operand| shape_text(&operand.view().dims)).collect();
        let (op, dtypes, layout, shape) = self.class();
        let mut id = format!("{op}/{dtypes}/{}/{shape}/{}", layout.name(), shapes.join("x"));
        let parameters = self.op.parameters();
        if !parameters.is_empty() {
            id += "/";
            id += &parameters;
        }
        if let Some(contents) = self.remarkable_contents() {
            id += "/";
            id += &contents;
        }
        if let Some(origin) = &self.origin {
            id += "@";
            id += origin;
        }
        id
    }

    /// The contents, if they are unusual for the operation.
    fn remarkable_contents(&self) -> Option<String> {
        let usual = |operand: &Operand| {
            !matches!(
                operand.contents,
                Contents::EveryPattern
                    | Contents::Whole(_)
                    | Contents::Steps
                    | Contents::Ones
                    | Contents::SpecialTerms
            )
        };
        (!self.operands.iter().all(usual)).then(|| {
            self.operands.iter().map(|operand| operand.contents.name()).collect::<Vec<_>>().join("x")
        })
    }

    /// The properties that make the case distinct.
    pub fn class(&self) -> (&'static str, String, Layout, &'static str) {
        (self.op.name(), self.dtypes(), self.layout, self.shape)
    }

    /// The bytes of each stored array: given ones, or generated from the seed.
    pub fn inputs(&self, seed: u64) -> Vec<Vec<u8>> {
        let id = self.id();
        let one = |(number, operand): (usize, &Operand)| {
            if let Some(given) = &operand.given {
                return given.to_vec();
            }
            let len = operand.stored.iter().product();
            operand.contents.generate(operand.dtype, len, Stream::new(seed, &id, number))
        };
        self.operands.iter().enumerate().map(one).collect()
    }

    /// A stable 128-bit hash (XXH3) of operation, dtypes, shapes, layouts, parameters and the bytes of the inputs.
    ///
    /// It identifies the case in recorded results. It does not depend on kernels, the registry's order or the id. Other
    /// inputs give another hash, so that results recorded for other inputs are never compared.
    pub fn hash(&self, inputs: &[impl AsRef<[u8]>]) -> u128 {
        let mut hasher = Xxh3::new();
        let mut text = format!("{}({})", self.op.name(), self.op.parameters());
        if let Some(to) = self.op.converts_to() {
            text += &format!(">{to}");
        }
        for operand in &self.operands {
            text += &format!(";{}{}", operand.dtype, shape_text(&operand.stored));
            for step in &operand.steps {
                text += &format!(".{step}");
            }
        }
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
        for bytes in inputs.iter().map(AsRef::as_ref) {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        hasher.digest128()
    }
}

/// A shape as "[2,3]".
pub(crate) fn shape_text(dims: &[usize]) -> String {
    format!("[{}]", list(dims))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transposed() -> Case {
        let operand = Operand::dense(DType::F16, &[3, 2], Contents::Mixed).then(Step::Transpose(0, 1));
        Case::new(
            Op::Clamp { low: Value::Int(-1), high: Value::Float(0.5) },
            vec![operand],
            Layout::Transposed,
            "matrix",
        )
    }

    #[test]
    fn ids_say_everything() {
        assert_eq!(transposed().id(), "clamp/f16/transposed/matrix/[2,3]/-1,0.5");
        let ones = Operand::dense(DType::F32, &[4, 5], Contents::Ones);
        let op = Op::Reduce { op: ReduceOp::Sum, axes: vec![0, 1], keep: true };
        let mut case = Case::new(op, vec![ones.clone()], Layout::Contiguous, "all");
        assert_eq!(case.id(), "sum/f32/contiguous/all/[4,5]/axes=0,1,keep/ones");
        case.origin = Some("bias".into());
        assert_eq!(case.id(), "sum/f32/contiguous/all/[4,5]/axes=0,1,keep/ones@bias");
        let cast = Case::new(Op::Cast(DType::I64), vec![ones], Layout::Contiguous, "matrix");
        assert_eq!(cast.id(), "cast/f32>i64/contiguous/matrix/[4,5]/ones");
    }

    /// Recorded results are found by this hash. Changing either number below makes every record stale.
    #[test]
    fn the_hash_is_pinned() {
        let case = transposed();
        let given = case.hash(&[[0u8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]);
        assert_eq!(format!("{given:032x}"), "75ff2c8bf33ffbab255e62df9d77b74d");
        let generated = case.hash(&case.inputs(7));
        assert_eq!(format!("{generated:032x}"), "62ea2f44c034bd6b44dbb70c96a978e1");
    }

    #[test]
    fn the_hash_depends_on_everything_that_changes_the_result() {
        let bytes = [[0u8; 12]];
        let hash = transposed().hash(&bytes);
        let mut bounds = transposed();
        bounds.op = Op::Clamp { low: Value::Int(-2), high: Value::Float(0.5) };
        assert_ne!(bounds.hash(&bytes), hash);
        let mut layout = transposed();
        layout.operands[0].steps.clear();
        assert_ne!(layout.hash(&bytes), hash);
        let mut dtype = transposed();
        dtype.operands[0].dtype = DType::BF16;
        assert_ne!(dtype.hash(&bytes), hash);
        let mut other = [[0u8; 12]];
        other[0][11] = 1;
        assert_ne!(transposed().hash(&other), hash);
        // Names and classes of a case do not matter.
        let mut class = transposed();
        (class.shape, class.layout, class.origin) = ("other", Layout::Permuted, Some("file".into()));
        assert_eq!(class.hash(&bytes), hash);
    }

    #[test]
    fn inputs_depend_on_the_seed() {
        let case = transposed();
        assert_eq!(case.inputs(1), case.inputs(1));
        assert_ne!(case.inputs(1), case.inputs(2));
        assert_eq!(case.inputs(1)[0].len(), 12);
    }
}
