//! The Rust types of tensor elements.

use std::fmt::Debug;

use bytemuck::Pod;
use half::{bf16, f16};

use crate::dtype::DType;
use crate::float8::F8E4M3;
use crate::rounding;
use crate::scalar::Scalar;

/// A Rust type that tensors can have as elements: `u8 u32 i16 i32 i64 F8E4M3 bf16 f16 f32 f64`. The trait is sealed.
pub trait Element:
    sealed::Stored + Pod + Copy + Default + Debug + PartialEq + PartialOrd + Send + Sync + 'static
{
    /// The dtype of a tensor with these elements.
    const DTYPE: DType;

    /// Converts a number to this type, rounded once; see [`Scalar`].
    fn from_scalar(scalar: Scalar) -> Self;

    /// The exact value.
    fn to_scalar(self) -> Scalar;
}

pub(crate) mod sealed {
    //! Seals the trait: only this crate can implement or call it.

    use crate::cpu::CpuStorage;

    /// How an element type is stored in [`CpuStorage`].
    pub trait Stored: Sized {
        /// Wraps the elements in a storage.
        fn store(elements: Vec<Self>) -> CpuStorage;
        /// The elements, if the storage has this type.
        fn stored(storage: &CpuStorage) -> Option<&[Self]>;
        /// The elements to write, if the storage has this type.
        fn stored_mut(storage: &mut CpuStorage) -> Option<&mut [Self]>;
        /// The vector of elements, if the storage has this type.
        fn unstore(storage: CpuStorage) -> Option<Vec<Self>>;
    }
}

macro_rules! element {
    ($($type:ty, $variant:ident, $scalar:ident, $from_float:expr, $from_int:expr;)+) => {
        $(
            impl Element for $type {
                const DTYPE: DType = DType::$variant;

                fn from_scalar(scalar: Scalar) -> $type {
                    match scalar {
                        Scalar::Float(x) => $from_float(x),
                        Scalar::Int(i) => $from_int(i),
                    }
                }

                fn to_scalar(self) -> Scalar {
                    Scalar::$scalar(self.into())
                }
            }

            impl sealed::Stored for $type {
                fn store(elements: Vec<$type>) -> crate::cpu::CpuStorage {
                    crate::cpu::CpuStorage::$variant(elements)
                }

                fn stored(storage: &crate::cpu::CpuStorage) -> Option<&[$type]> {
                    match storage {
                        crate::cpu::CpuStorage::$variant(elements) => Some(elements),
                        _ => None,
                    }
                }

                fn stored_mut(storage: &mut crate::cpu::CpuStorage) -> Option<&mut [$type]> {
                    match storage {
                        crate::cpu::CpuStorage::$variant(elements) => Some(elements),
                        _ => None,
                    }
                }

                fn unstore(storage: crate::cpu::CpuStorage) -> Option<Vec<$type>> {
                    match storage {
                        crate::cpu::CpuStorage::$variant(elements) => Some(elements),
                        _ => None,
                    }
                }
            }
        )+
    };
}

element! {
    u8, U8, Int, |x| x as u8, |i| i as u8;
    u32, U32, Int, |x| x as u32, |i| i as u32;
    i16, I16, Int, |x| x as i16, |i| i as i16;
    i32, I32, Int, |x| x as i32, |i| i as i32;
    i64, I64, Int, |x| x as i64, |i| i;
    F8E4M3, F8E4M3, Float, F8E4M3::from_f64, |i| F8E4M3::from_f32(rounding::i64_to_odd_f32(i));
    bf16, BF16, Float, rounding::f64_to_bf16, |i| bf16::from_f32(rounding::i64_to_odd_f32(i));
    f16, F16, Float, rounding::f64_to_f16, |i| f16::from_f32(rounding::i64_to_odd_f32(i));
    f32, F32, Float, |x| x as f32, |i| i as f32;
    f64, F64, Float, |x| x, |i| i as f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_rounded_once_and_saturate_or_wrap() {
        assert_eq!(u8::from_scalar(300.7.into()), 255);
        assert_eq!(u8::from_scalar(f64::NAN.into()), 0);
        assert_eq!(u8::from_scalar(300.into()), 44);
        assert_eq!(i16::from_scalar((-40000.0).into()), i16::MIN);
        assert_eq!(i64::from_scalar(((1i64 << 53) + 1).into()), (1 << 53) + 1);
        assert_eq!(f16::from_scalar(1e9.into()), f16::INFINITY);
        assert_eq!(f16::from_scalar(100_000.into()), f16::INFINITY);
        assert_eq!(F8E4M3::from_scalar(1_000_000.into()).to_f32(), 448.0);
        assert_eq!(f32::from_scalar(0.1.into()), 0.1);
    }

    #[test]
    fn values_come_back_from_scalars() {
        assert_eq!(Scalar::from(f16::from_f32(0.5)), f16::from_f32(0.5).to_scalar());
        assert_eq!(u32::MAX.to_scalar(), Scalar::Int(4_294_967_295));
        assert_eq!(F8E4M3::MIN.to_scalar(), Scalar::Float(-448.0));
    }
}
