//! Operations that files of the registry define.

use std::fmt::Debug;

use reference::{Array, DType, Error, Outcome};
use serde_json::{Map, Value};
use tensor_core::{Device, Tensor};

/// An operation of a case: its name, its implementation on a device, and its reference.
///
/// Files of [`crate::registry`] implement this trait for their operations, and make cases of them with
/// [`Op::named`](crate::case::Op::named). [`CustomOperation`](crate::custom::CustomOperation) implements it for users. Two operations are equal if their names and parameters are.
pub trait Operation: Debug + Send + Sync {
    /// The operation's name in the table of results.
    fn name(&self) -> &'static str;

    /// The dtype that the operation converts to, if it is a conversion. It is no parameter.
    fn converts_to(&self) -> Option<DType> {
        None
    }

    /// The parameters as text, empty if there are none. Texts are equal if and only if the parameters are.
    fn parameters(&self) -> String {
        String::new()
    }

    /// The parameters by name, for programs that do not know this crate.
    fn manifest(&self) -> Map<String, Value> {
        Map::new()
    }

    /// Whether there is an implementation for a device.
    fn runs_on(&self, _device: &Device) -> bool {
        true
    }

    /// Runs the operation on a device, through tensor-core's public interface. The operands are the views of the case.
    ///
    /// # Errors
    /// The device's error.
    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor>;

    /// The expected result. The arrays are dense and have the views' elements.
    ///
    /// # Errors
    /// The reference's, if the case is invalid.
    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error>;
}
