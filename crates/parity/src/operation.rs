//! What the registry's files say of operations that they define themselves.

use std::fmt::Debug;

use reference::{Array, Error, Outcome};
use serde_json::{Map, Value};
use tensor_core::Tensor;

/// An operation as cases see it: what it is called, how a device does it, and what the reference says about it.
///
/// A file of [`crate::registry`] defines its operations by this trait and makes cases of them with
/// [`Op::named`](crate::case::Op::named). Two operations are the same if name and parameters are.
pub trait Operation: Debug + Send + Sync {
    /// The operation's name, as in the table of results.
    fn name(&self) -> &'static str;

    /// The parameters as text; empty if there are none. Equal texts mean equal parameters.
    fn parameters(&self) -> String {
        String::new()
    }

    /// The parameters by name, for programs that know nothing of this one.
    fn manifest(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The operation on a device, through tensor-core's public interface. The operands are the views of the case.
    ///
    /// # Errors
    /// The device's.
    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor>;

    /// What the result must be. The arrays are the views' elements, dense.
    ///
    /// # Errors
    /// The reference's, if the case asks for what does not exist.
    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error>;
}
