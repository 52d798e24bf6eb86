//! `cases.json`: a description of each case, for a program that does not know this crate.
//!
//! ```json
//! {"format": "parity-cases/1", "seed": 7, "filter": "", "cases": [{
//!   "id": "clamp/f16/transposed/matrix/[37,129]/-0.7,3.3",
//!   "hash": "75ff2c8bf33ffbab255e62df9d77b74d",
//!   "operation": "clamp",
//!   "parameters": {"low": {"float": "-0.7"}, "high": {"float": "3.3"}},
//!   "operands": [{"file": "inputs-000.safetensors", "tensor": "f16-0d4c…", "dtype": "f16", "stored": [129, 37],
//!                 "steps": [{"step": "transpose", "axes": [0, 1]}]}],
//!   "result": {"dtype": "f16", "shape": [37, 129]}
//! }]}
//! ```
//!
//! The hash identifies the case in results. Numbers in parameters are text: an integer in decimal, or the shortest
//! decimal fraction that reads back as the same f64 (also "NaN", "inf", "-inf"). Round a number to the operand's dtype
//! before using it.

use reference::Value;
use serde::Serialize;
use serde_json::{Map, json};

use crate::case::{Case, Op, Operand};
use crate::view::Step;

/// The format version of `cases.json`, which changes whenever a change could break a reader.
pub const FORMAT: &str = "parity-cases/1";

/// The whole file.
#[derive(Debug, Serialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Seed of the inputs.
    pub seed: u64,
    /// The filter that selected the cases from the registry, see [`crate::filter`]; empty for all.
    pub filter: String,
    /// The cases, in the order of the registry.
    pub cases: Vec<CaseEntry>,
}

/// One case.
#[derive(Debug, Serialize)]
pub struct CaseEntry {
    /// Its id.
    pub id: String,
    /// Its hash, 32 hexadecimal digits.
    pub hash: String,
    /// Name of the operation.
    pub operation: &'static str,
    /// The operation's parameters by name; see [`parameters`].
    pub parameters: Map<String, serde_json::Value>,
    /// Its arguments.
    pub operands: Vec<OperandEntry>,
    /// Form of the result.
    pub result: ResultEntry,
}

/// An argument: a stored array, and the steps from it to the view that the operation gets.
#[derive(Debug, Serialize)]
pub struct OperandEntry {
    /// The file with the stored array, in the folder of `cases.json`.
    pub file: String,
    /// The array's name in the file.
    pub tensor: String,
    /// Element type.
    pub dtype: &'static str,
    /// Shape of the stored array.
    pub stored: Vec<usize>,
    /// The steps, first to last.
    pub steps: Vec<serde_json::Value>,
}

/// Form of a result.
#[derive(Debug, Serialize)]
pub struct ResultEntry {
    /// Element type.
    pub dtype: &'static str,
    /// Shape.
    pub shape: Vec<usize>,
}

impl CaseEntry {
    /// The entry of a case. `locations` has the file and name of each operand's array.
    pub fn new(case: &Case, hash: u128, locations: Vec<(String, String)>, result: ResultEntry) -> CaseEntry {
        let operand = |(operand, (file, tensor)): (&Operand, (String, String))| OperandEntry {
            file,
            tensor,
            dtype: operand.dtype.name(),
            stored: operand.stored.clone(),
            steps: operand.steps.iter().map(step).collect(),
        };
        CaseEntry {
            id: case.id(),
            hash: format!("{hash:032x}"),
            operation: case.op.name(),
            parameters: parameters(&case.op),
            operands: case.operands.iter().zip(locations).map(operand).collect(),
            result,
        }
    }
}

/// The parameters of an operation by name: `scalar`; `mul` and `add`; `low` and `high`; `to`; `value`; `axes` and
/// `keep`.
pub fn parameters(op: &Op) -> Map<String, serde_json::Value> {
    let named = match op {
        Op::Named(operation) => return operation.manifest(),
        Op::Scalar(_, scalar) => json!({"scalar": number(Value::Float(*scalar))}),
        Op::Affine { mul, add } => json!({"mul": number(*mul), "add": number(*add)}),
        Op::Clamp { low, high } => json!({"low": number(*low), "high": number(*high)}),
        Op::Cast(to) => json!({"to": to.name()}),
        Op::Fill(value) | Op::ConstSet(value) => json!({"value": number(*value)}),
        Op::Reduce { axes, keep, .. } => json!({"axes": axes, "keep": keep}),
        Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Copy | Op::CopyInto | Op::Matmul => json!({}),
    };
    match named {
        serde_json::Value::Object(map) => map,
        _ => unreachable!("every arm is an object"),
    }
}

fn number(value: Value) -> serde_json::Value {
    match value {
        Value::Int(i) => json!({"int": i.to_string()}),
        Value::Float(x) => json!({"float": format!("{x:?}")}),
    }
}

fn step(step: &Step) -> serde_json::Value {
    match step {
        Step::Transpose(a, b) => json!({"step": "transpose", "axes": [a, b]}),
        Step::Permute(axes) => json!({"step": "permute", "axes": axes}),
        Step::Narrow { axis, start, len } => {
            json!({"step": "narrow", "axis": axis, "start": start, "length": len})
        }
        Step::Broadcast(shape) => json!({"step": "broadcast", "shape": shape}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses the text of a number as another program would.
    fn read(value: Value) -> f64 {
        let entry = number(value);
        entry["float"].as_str().expect("a float").parse().expect("a number")
    }

    #[test]
    fn floats_lose_nothing() {
        for x in [0.1, -0.0, 1.0 / 3.0, 5e-324, f64::MAX, f64::INFINITY, -f64::INFINITY] {
            assert_eq!(read(Value::Float(x)).to_bits(), x.to_bits());
        }
        assert!(read(Value::Float(f64::NAN)).is_nan());
        assert_eq!(number(Value::Int(-1)), json!({"int": "-1"}));
    }

    #[test]
    fn parameters_and_steps_have_names() {
        let clamp = Op::Clamp { low: Value::Int(2), high: Value::Float(3.5) };
        assert_eq!(json!(parameters(&clamp)), json!({"low": {"int": "2"}, "high": {"float": "3.5"}}));
        let sum = Op::Reduce { op: reference::ReduceOp::Sum, axes: vec![0, 2], keep: true };
        assert_eq!(json!(parameters(&sum)), json!({"axes": [0, 2], "keep": true}));
        assert!(parameters(&Op::Matmul).is_empty());
        let narrow = Step::Narrow { axis: 1, start: 2, len: 3 };
        assert_eq!(step(&narrow), json!({"step": "narrow", "axis": 1, "start": 2, "length": 3}));
    }
}
