//! The C functions: those of handles, and the whole table.

pub(super) mod forms;
mod handle;
mod table1;
mod table2;
mod table3;

use hip_sys::RocblasTable;

/// Puts all functions into the table.
pub(super) fn fill(table: &mut RocblasTable) {
    handle::fill(table);
    table1::fill(table);
    table2::fill(table);
    table3::fill(table);
}

/// Stores an operation's functions for some types in the table: the three forms with 32-bit sizes, then the same with 64-bit sizes, which
/// ROCm has since that version.
macro_rules! functions {
    ($table:ident, $since:literal $($op:ident [$($given:tt)*] $p:ident $b:ident $s:ident $p64:ident $b64:ident $s64:ident)*) => {
        $(
            $table.$p = $op::plain::<i32, $($given)*>;
            $table.$b = $op::batched::<i32, $($given)*>;
            $table.$s = $op::strided::<i32, $($given)*>;
            $table.$p64 = hip_sys::Optional::present($op::plain::<i64, $($given)*>, stringify!($p64), $since);
            $table.$b64 = hip_sys::Optional::present($op::batched::<i64, $($given)*>, stringify!($b64), $since);
            $table.$s64 = hip_sys::Optional::present($op::strided::<i64, $($given)*>, stringify!($s64), $since);
        )*
    };
}

use functions;
