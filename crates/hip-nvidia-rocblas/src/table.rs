//! Macros that fill the table of rocBLAS's functions: each operation becomes a function for every width and type.

use hip_sys::{Optional, Unsupported};

/// Stores a function in a field that only later versions of rocBLAS have.
pub(super) fn present<F: Copy>(field: &mut Optional<F>, function: F) {
    if let Err(Unsupported { symbol, since }) = field.get() {
        *field = Optional::present(function, symbol, since);
    }
}

/// `function form… <types>: names…;` where each form's names come as one with 32-bit sizes and one with 64-bit ones.
macro_rules! put {
    ($table:ident; $($($function:ident)+ $(<$($T:ty),+>)?: $($narrow:ident $wide:ident),+;)*) => {$(
        put!(@each $table; [$($function)+] [$($($T),+)?] [$($narrow $wide,)+]);
    )*};
    (@each $table:ident; [$function:ident $($more:ident)*] $types:tt [$narrow:ident $wide:ident, $($names:tt)*]) => {
        put!(@one $table; $function $types $narrow $wide);
        put!(@each $table; [$($more)*] $types [$($names)*]);
    };
    (@each $table:ident; [] $types:tt []) => {};
    (@one $table:ident; $function:ident [$($T:ty),*] $narrow:ident $wide:ident) => {
        $table.$narrow = $function::<i32, $($T),*>;
        $crate::table::present(&mut $table.$wide, $function::<i64, $($T),*>);
    };
}

pub(super) use put;
