//! What is multiplied, as hipBLASLt's descriptors say it.

use crate::convert::{Outcome, VALUE, ensure};
use crate::product::Descriptors;
use hip_sys::hipblaslt::{
    hipDataType, hipblasLtMatmulDesc_t, hipblasLtMatrixLayout_t, hipblasOperation_t as operation,
};
use hip_sys::provider::hipblaslt::{self as descriptors, Layout, Product};

/// The descriptors' values: of the product, and of a, b, c and d.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Problem {
    pub(super) product: Product,
    layouts: [Layout; 4],
}

impl Problem {
    pub(super) fn of(product: hipblasLtMatmulDesc_t, layouts: [hipblasLtMatrixLayout_t; 4]) -> Outcome<Self> {
        let layout = |descriptor| descriptors::layout(descriptor).ok_or(VALUE);
        let [a, b, c, d] = layouts;
        Ok(Self {
            product: descriptors::product(product).ok_or(VALUE)?,
            layouts: [layout(a)?, layout(b)?, layout(c)?, layout(d)?],
        })
    }

    pub(super) fn descriptors(&self) -> Outcome<Descriptors> {
        Descriptors::new(&self.product, self.layouts.each_ref())
    }

    /// The problem with the alignments of its addresses in place of them: two that are equal then have the same algorithms.
    pub(super) fn without_addresses(&self) -> Self {
        let mut product = self.product;
        let addresses = [&mut product.bias, &mut product.aux, &mut product.amax];
        for address in addresses.into_iter().chain(&mut product.scales).filter(|address| **address != 0) {
            *address = 1 << address.trailing_zeros().min(8);
        }
        Self { product, layouts: self.layouts }
    }

    /// Cuts the inner size to 16 bytes, and makes a and b one matrix each for the whole batch: if both are zeros, the product is the same.
    /// Returns the bytes of the larger one.
    pub(super) fn shorten(&mut self) -> Outcome<usize> {
        let [first, second] = self.product.operations.map(|number| number == operation::HIPBLAS_OP_N.0);
        let [a, b, ..] = &mut self.layouts;
        let inner = |layout: &Layout, by_cols| if by_cols { layout.cols } else { layout.rows };
        // cuBLASLt does not see these any more.
        ensure(inner(a, first) == inner(b, !second), VALUE)?;
        ensure([&*a, &*b].iter().all(|layout| layout.ld >= contiguous(layout)), VALUE)?;
        let mut most = 0;
        for (layout, by_cols) in [(a, first), (b, !second)] {
            let short = 16 / element_bytes(layout);
            *(if by_cols { &mut layout.cols } else { &mut layout.rows }) = short;
            // What 8-bit types need.
            layout.ld = contiguous(layout).checked_next_multiple_of(16).ok_or(VALUE)?;
            layout.stride = 0;
            most = most.max(extent(layout).ok_or(VALUE)?);
        }
        Ok(most)
    }
}

fn element_bytes(layout: &Layout) -> u64 {
    match hipDataType(layout.data_type) {
        hipDataType::HIP_R_32F | hipDataType::HIP_R_32I => 4,
        hipDataType::HIP_R_16F | hipDataType::HIP_R_16BF => 2,
        _ => 1,
    }
}

/// How many elements lie side by side.
fn contiguous(layout: &Layout) -> u64 {
    if layout.order == 0 { layout.rows } else { layout.cols }
}

/// The bytes of one matrix, from its first element to its last one.
fn extent(layout: &Layout) -> Option<usize> {
    let lists = if layout.order == 0 { layout.cols } else { layout.rows };
    let elements = lists.checked_sub(1)?.checked_mul(layout.ld)?.checked_add(contiguous(layout))?;
    usize::try_from(elements.checked_mul(element_bytes(layout))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: Layout = Layout {
        data_type: hipDataType::HIP_R_32F.0,
        order: 0,
        rows: 5,
        cols: 7,
        ld: 5,
        batch: 2,
        stride: 35,
    };

    /// a of 5 x 1000 and b of 1000 x 7, in f32.
    fn problem(first: operation) -> Problem {
        let sums = Product::new(
            hip_sys::hipblaslt::hipblasComputeType_t::HIPBLAS_COMPUTE_32F,
            hipDataType::HIP_R_32F,
        );
        let product = Product { operations: [first.0, operation::HIPBLAS_OP_N.0], ..sums };
        let plain = first == operation::HIPBLAS_OP_N;
        let (rows, cols) = if plain { (5, 1000) } else { (1000, 5) };
        let a = Layout { rows, cols, ld: rows, stride: 5000, ..F32 };
        let b = Layout { rows: 1000, ld: 1000, stride: 7000, ..F32 };
        Problem { product, layouts: [a, b, F32, F32] }
    }

    #[test]
    fn a_product_of_zeros_is_short() {
        for (first, rows, cols) in [
            (operation::HIPBLAS_OP_N, 5, 4),
            (operation::HIPBLAS_OP_T, 4, 5),
            (operation::HIPBLAS_OP_C, 4, 5),
        ] {
            let mut problem = problem(first);
            // Seven columns of b, of which the last has four numbers.
            assert_eq!(problem.shorten(), Ok((6 * 16 + 4) * 4));
            let [a, b, c, d] = problem.layouts;
            assert_eq!((a.rows, a.cols, a.ld, a.stride, a.batch), (rows, cols, 16, 0, 2));
            assert_eq!((b.rows, b.cols, b.ld, b.stride, b.batch), (4, 7, 16, 0, 2));
            assert_eq!([c, d], [F32; 2]);
        }
    }

    #[test]
    fn addresses_of_one_alignment_are_one_problem() {
        let with = |bias: u64| {
            let mut problem = problem(operation::HIPBLAS_OP_N);
            problem.product.bias = bias;
            problem.without_addresses()
        };
        assert_eq!(with(0x1000), with(0xff00));
        assert_ne!(with(0x1000), with(0x1004));
        assert_ne!(with(0x1000), with(0));
        assert_eq!(with(0x1004), with(0x200c));
    }
}
