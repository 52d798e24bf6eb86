//! From our values to C's and back.

use crate::{BlockLayout, DiagonalKind, Layout, Op, Triangle};
use hip_sys::rocsparse::{
    rocsparse_diag_type, rocsparse_direction, rocsparse_fill_mode, rocsparse_operation, rocsparse_order,
    rocsparse_status,
};

pub(crate) fn operation(op: Op) -> rocsparse_operation {
    match op {
        Op::None => rocsparse_operation::rocsparse_operation_none,
        Op::Transpose => rocsparse_operation::rocsparse_operation_transpose,
        Op::Adjoint => rocsparse_operation::rocsparse_operation_conjugate_transpose,
    }
}

pub(crate) fn order(layout: Layout) -> rocsparse_order {
    match layout {
        Layout::RowMajor => rocsparse_order::rocsparse_order_row,
        Layout::ColumnMajor => rocsparse_order::rocsparse_order_column,
    }
}

pub(crate) fn direction(layout: BlockLayout) -> rocsparse_direction {
    match layout {
        BlockLayout::RowMajor => rocsparse_direction::rocsparse_direction_row,
        BlockLayout::ColumnMajor => rocsparse_direction::rocsparse_direction_column,
    }
}

pub(crate) fn triangle(triangle: Triangle) -> rocsparse_fill_mode {
    match triangle {
        Triangle::Lower => rocsparse_fill_mode::rocsparse_fill_mode_lower,
        Triangle::Upper => rocsparse_fill_mode::rocsparse_fill_mode_upper,
    }
}

pub(crate) fn diagonal(kind: DiagonalKind) -> rocsparse_diag_type {
    match kind {
        DiagonalKind::Stored => rocsparse_diag_type::rocsparse_diag_type_non_unit,
        DiagonalKind::Unit => rocsparse_diag_type::rocsparse_diag_type_unit,
    }
}

/// The name of a status.
pub(crate) fn status_name(status: rocsparse_status) -> &'static str {
    hip_sys::layout::ROCSPARSE.status_name("rocsparse_status_", status.0)
}
