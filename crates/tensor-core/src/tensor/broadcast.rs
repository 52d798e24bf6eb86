//! Candle's names of operations that broadcast. Here those without the prefix do, too.

use super::Tensor;
use crate::error::Result;

macro_rules! broadcasts {
    ($($name:ident = $method:ident, $documented:literal;)+) => {
        /// Candle's names of operations that broadcast; those without the prefix do as well.
        impl Tensor {
            $(
                #[doc = $documented]
                ///
                /// # Errors
                /// As that method.
                pub fn $name(&self, other: &Tensor) -> Result<Tensor> {
                    self.$method(other)
                }
            )+
        }
    };
}

broadcasts! {
    broadcast_add = add, "The same as [`Tensor::add`].";
    broadcast_sub = sub, "The same as [`Tensor::sub`].";
    broadcast_mul = mul, "The same as [`Tensor::mul`].";
    broadcast_div = div, "The same as [`Tensor::div`].";
    broadcast_pow = pow, "The same as [`Tensor::pow`].";
    broadcast_maximum = maximum, "The same as [`Tensor::maximum`].";
    broadcast_minimum = minimum, "The same as [`Tensor::minimum`].";
    broadcast_eq = eq, "The same as [`Tensor::eq`].";
    broadcast_ne = ne, "The same as [`Tensor::ne`].";
    broadcast_lt = lt, "The same as [`Tensor::lt`].";
    broadcast_le = le, "The same as [`Tensor::le`].";
    broadcast_gt = gt, "The same as [`Tensor::gt`].";
    broadcast_ge = ge, "The same as [`Tensor::ge`].";
    broadcast_matmul = matmul, "The same as [`Tensor::matmul`].";
}
