//! Dispatch from a run-time dtype to a compile-time Rust type.

/// Evaluates the body with `$elements` bound to the storage's vector and `$T` to its element type.
macro_rules! dispatch {
    ($storage:expr, $elements:ident : $T:ident => $body:expr) => {
        $crate::cpu::dispatch::dispatch!(@arms $storage, $elements, $T, $body;
            (U8, u8) (U32, u32) (I16, i16) (I32, i32) (I64, i64)
            (F8E4M3, $crate::float8::F8E4M3) (BF16, half::bf16) (F16, half::f16) (F32, f32) (F64, f64))
    };
    (@arms $storage:expr, $elements:ident, $T:ident, $body:expr; $(($variant:ident, $type:ty))+) => {
        match $storage {
            $($crate::cpu::CpuStorage::$variant($elements) => {
                #[allow(dead_code)]
                type $T = $type;
                $body
            })+
        }
    };
}

/// As [`dispatch`], for the five float types. Other types evaluate the second body.
macro_rules! dispatch_float {
    ($storage:expr, $elements:ident : $T:ident => $body:expr, else $other:expr) => {
        $crate::cpu::dispatch::dispatch_float!(@arms $storage, $elements, $T, $body, $other;
            (F8E4M3, $crate::float8::F8E4M3) (BF16, half::bf16) (F16, half::f16) (F32, f32) (F64, f64))
    };
    (@arms $storage:expr, $elements:ident, $T:ident, $body:expr, $other:expr; $(($variant:ident, $type:ty))+) => {
        match $storage {
            $($crate::cpu::CpuStorage::$variant($elements) => {
                #[allow(dead_code)]
                type $T = $type;
                $body
            })+
            _ => $other,
        }
    };
}

/// Evaluates the body with `$T` bound to the element type of a [`crate::DType`].
macro_rules! dispatch_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::cpu::dispatch::dispatch_dtype!(@arms $dtype, $T, $body;
            (U8, u8) (U32, u32) (I16, i16) (I32, i32) (I64, i64)
            (F8E4M3, $crate::float8::F8E4M3) (BF16, half::bf16) (F16, half::f16) (F32, f32) (F64, f64))
    };
    (@arms $dtype:expr, $T:ident, $body:expr; $(($variant:ident, $type:ty))+) => {
        match $dtype {
            $($crate::dtype::DType::$variant => {
                type $T = $type;
                $body
            })+
        }
    };
}

/// As [`dispatch`], for the types that ids may have. Other types evaluate the second body.
macro_rules! dispatch_ids {
    ($storage:expr, $ids:ident => $body:expr, else $other:expr) => {
        match $storage {
            $crate::cpu::CpuStorage::U8($ids) => $body,
            $crate::cpu::CpuStorage::U32($ids) => $body,
            $crate::cpu::CpuStorage::I32($ids) => $body,
            $crate::cpu::CpuStorage::I64($ids) => $body,
            _ => $other,
        }
    };
}

pub(crate) use {dispatch, dispatch_dtype, dispatch_float, dispatch_ids};
