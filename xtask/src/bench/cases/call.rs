//! A call of tensor-core as an operation of a case.

use super::Measured;
use parity::case::{Op, Operand};
use parity::operation::Operation;
use reference::{Array, Error, Outcome};
use std::fmt;
use tensor_core::Tensor;

/// What is called with the operands.
type Called = dyn Fn(&[Tensor]) -> tensor_core::Result<Tensor> + Send + Sync;

/// The call, by the kernel that it is for.
struct Call {
    kernel: String,
    called: Box<Called>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("kernel", &self.kernel).finish_non_exhaustive()
    }
}

impl Operation for Call {
    fn name(&self) -> &'static str {
        "call"
    }

    fn parameters(&self) -> String {
        self.kernel.clone()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        (self.called)(operands)
    }

    fn outcome<'a>(&self, _: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        unreachable!("what is counted is not judged: that is parity's part")
    }
}

impl Measured {
    /// The case of a kernel that a call of tensor-core launches.
    pub(super) fn call(
        kernel: String,
        operands: Vec<Operand>,
        called: impl Fn(&[Tensor]) -> tensor_core::Result<Tensor> + Send + Sync + 'static,
    ) -> Measured {
        let call = Call { kernel: kernel.clone(), called: Box::new(called) };
        Measured::new(kernel, Op::named(call), operands)
    }
}
