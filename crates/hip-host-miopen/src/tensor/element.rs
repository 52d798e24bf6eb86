//! The types of elements, and the types that they are computed in.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use hip_sys::miopen::miopenDataType_t;

/// Bytes of an element, for every type that a descriptor may have.
pub(super) fn bytes(dtype: miopenDataType_t) -> Option<usize> {
    match dtype {
        miopenDataType_t::miopenFloat8_fnuz | miopenDataType_t::miopenBFloat8_fnuz => Some(1),
        dtype => Kind::of(dtype).map(Kind::bytes),
    }
}

/// A type whose elements can be read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Half,
    Float,
    BFloat16,
    Double,
    Int8,
    Int32,
    Int64,
}

impl Kind {
    /// `None` for 8-bit types, which can only be described.
    pub(crate) fn of(dtype: miopenDataType_t) -> Option<Self> {
        match dtype {
            miopenDataType_t::miopenHalf => Some(Self::Half),
            miopenDataType_t::miopenFloat => Some(Self::Float),
            miopenDataType_t::miopenBFloat16 => Some(Self::BFloat16),
            miopenDataType_t::miopenDouble => Some(Self::Double),
            miopenDataType_t::miopenInt8 => Some(Self::Int8),
            miopenDataType_t::miopenInt32 => Some(Self::Int32),
            miopenDataType_t::miopenInt64 => Some(Self::Int64),
            _ => None,
        }
    }

    /// Bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::Half | Self::BFloat16 => 2,
            Self::Float | Self::Int32 => 4,
            Self::Double | Self::Int64 => 8,
        }
    }
}

/// Evaluates the expression with `$name` bound to the element type of the kind.
macro_rules! with_element {
    ($kind:expr, $E:ident => $body:expr) => {
        match $kind {
            Kind::Half => {
                type $E = half::f16;
                $body
            }
            Kind::Float => {
                type $E = f32;
                $body
            }
            Kind::BFloat16 => {
                type $E = half::bf16;
                $body
            }
            Kind::Double => {
                type $E = f64;
                $body
            }
            Kind::Int8 => {
                type $E = i8;
                $body
            }
            Kind::Int32 => {
                type $E = i32;
                $body
            }
            Kind::Int64 => {
                type $E = i64;
                $body
            }
        }
    };
}
pub(super) use with_element;

/// An element: each conversion rounds once.
pub(crate) trait Element: Copy {
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn of_f32(value: f32) -> Self;
    fn of_f64(value: f64) -> Self;

    fn widen(from: &[Self], to: &mut [f32]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f32());
    }

    fn narrow(from: &[f32], to: &mut [Self]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = Self::of_f32(*from));
    }
}

macro_rules! plain {
    ($($Type:ty),*) => {$(
        impl Element for $Type {
            fn to_f32(self) -> f32 {
                self as f32
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn of_f32(value: f32) -> Self {
                value as Self
            }

            fn of_f64(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}
plain!(f32, f64, i8, i32, i64);

macro_rules! half {
    ($($Type:ty),*) => {$(
        impl Element for $Type {
            fn to_f32(self) -> f32 {
                self.into()
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn of_f32(value: f32) -> Self {
                Self::from_f32(value)
            }

            fn of_f64(value: f64) -> Self {
                Self::from_f64(value)
            }

            fn widen(from: &[Self], to: &mut [f32]) {
                from.convert_to_f32_slice(to);
            }

            fn narrow(from: &[f32], to: &mut [Self]) {
                to.convert_from_f32_slice(from);
            }
        }
    )*};
}
half!(f16, bf16);

/// The types for arithmetic.
pub(crate) trait Real: Copy + Default + PartialEq {
    fn of<E: Element>(value: E) -> Self;
    fn to<E: Element>(self) -> E;
    fn widen<E: Element>(from: &[E], to: &mut [Self]);
    fn narrow<E: Element>(from: &[Self], to: &mut [E]);
}

impl Real for f32 {
    fn of<E: Element>(value: E) -> Self {
        value.to_f32()
    }

    fn to<E: Element>(self) -> E {
        E::of_f32(self)
    }

    fn widen<E: Element>(from: &[E], to: &mut [Self]) {
        E::widen(from, to);
    }

    fn narrow<E: Element>(from: &[Self], to: &mut [E]) {
        E::narrow(from, to);
    }
}

impl Real for f64 {
    fn of<E: Element>(value: E) -> Self {
        value.to_f64()
    }

    fn to<E: Element>(self) -> E {
        E::of_f64(self)
    }

    fn widen<E: Element>(from: &[E], to: &mut [Self]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f64());
    }

    fn narrow<E: Element>(from: &[Self], to: &mut [E]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = E::of_f64(*from));
    }
}
