//! Numbers and vectors from tensors, by `TryFrom`.
//!
//! ```
//! use tensor_core::{Device, Tensor};
//!
//! # fn main() -> tensor_core::Result<()> {
//! let x = Tensor::new([1f32, 2.0], &Device::Cpu)?;
//! let numbers: Vec<f32> = (&x).try_into()?;
//! assert_eq!(numbers, [1.0, 2.0]);
//! assert_eq!(f32::try_from(&x.sum_all()?)?, 3.0);
//! # Ok(())
//! # }
//! ```

use half::{bf16, f16};

use super::Tensor;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::float8::F8E4M3;

/// What `$type` is made from: a tensor, borrowed or not, by a method that reads it back.
macro_rules! from_tensor {
    ($($type:ty, $method:ident $(, $element:ident)?;)+) => {
        $(
            impl$(<$element: Element>)? TryFrom<&Tensor> for $type {
                type Error = Error;

                fn try_from(tensor: &Tensor) -> Result<$type> {
                    tensor.$method()
                }
            }

            impl$(<$element: Element>)? TryFrom<Tensor> for $type {
                type Error = Error;

                fn try_from(tensor: Tensor) -> Result<$type> {
                    tensor.$method()
                }
            }
        )+
    };
}

from_tensor! {
    u8, to_vec0;
    u32, to_vec0;
    i16, to_vec0;
    i32, to_vec0;
    i64, to_vec0;
    F8E4M3, to_vec0;
    bf16, to_vec0;
    f16, to_vec0;
    f32, to_vec0;
    f64, to_vec0;
    Vec<T>, to_vec1, T;
    Vec<Vec<T>>, to_vec2, T;
    Vec<Vec<Vec<T>>>, to_vec3, T;
}
