//! Uninitialised memory for new elements, written from front to back and not read before.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::operands::{Line, Operand};
use super::vector::vectorised;

/// Slots for elements, of which the first `written` are initialised.
pub(super) struct Output<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    /// The number of elements written.
    written: usize,
}

impl<'a, T: Copy + Default> Output<'a, T> {
    /// An output in uninitialised memory.
    pub(super) fn new(slots: &'a mut [MaybeUninit<T>]) -> Output<'a, T> {
        Output { slots, written: 0 }
    }

    /// An output over initialised elements.
    pub(super) fn over(elements: &'a mut [T]) -> Output<'a, T> {
        // SAFETY: S15: `MaybeUninit<T>` has the layout of `T`, and an output writes only elements into its slots.
        Output::new(unsafe { &mut *(elements as *mut [T] as *mut [MaybeUninit<T>]) })
    }

    /// The address range of all slots.
    pub(super) fn address_range(&self) -> Range<*const MaybeUninit<T>> {
        self.slots.as_ptr_range()
    }

    /// The number of elements that still fit.
    pub(super) fn left(&self) -> usize {
        self.slots.len() - self.written
    }

    /// Writes `f` of each element of `x`.
    #[inline(always)]
    pub(super) fn each<A: Copy>(&mut self, x: &[A], f: impl Fn(A) -> T) {
        let slots = &mut self.slots[self.written..][..x.len()];
        vectorised(
            #[inline(always)]
            move || write_each(slots, x, f),
        );
        self.written += x.len();
    }

    /// Writes `f` of each pair of elements of `x` and `y`, given the numbers of rows and of elements per row.
    #[inline(always)]
    pub(super) fn pairs<A: Copy>(
        &mut self,
        x: Operand<'_, A>,
        y: Operand<'_, A>,
        (rows, width): (usize, usize),
        f: impl Fn(A, A) -> T + Copy,
    ) {
        let count = rows.checked_mul(width).expect("as many elements as there are slots");
        let slots = &mut self.slots[self.written..][..count];
        vectorised(
            #[inline(always)]
            move || {
                for (row, slots) in slots.chunks_exact_mut(width).enumerate() {
                    // A separate loop for each form, so that none computes indices. Lines are as long as the row.
                    match (x.line(row, width), y.line(row, width)) {
                        (Line::Each(x), Line::Each(y)) => {
                            for (slot, (x, y)) in slots.iter_mut().zip(x.iter().zip(y)) {
                                slot.write(f(*x, *y));
                            }
                        }
                        (Line::Each(x), Line::All(y)) => write_each(slots, x, move |x| f(x, y)),
                        (Line::All(x), Line::Each(y)) => write_each(slots, y, move |y| f(x, y)),
                        (Line::All(x), Line::All(y)) => slots.fill(MaybeUninit::new(f(x, y))),
                    }
                }
            },
        );
        self.written += count;
    }

    /// Writes a copy of `x`.
    #[inline(always)]
    pub(super) fn copy(&mut self, x: &[T]) {
        // SAFETY: S15: `MaybeUninit<T>` has the layout of `T`, and only elements are read here.
        let elements = unsafe { &*(x as *const [T] as *const [MaybeUninit<T>]) };
        self.slots[self.written..][..x.len()].copy_from_slice(elements);
        self.written += x.len();
    }

    /// Writes `count` zeros, and returns them to be overwritten.
    pub(super) fn zeroed(&mut self, count: usize) -> &mut [T] {
        let zeros = &mut self.slots[self.written..][..count];
        zeros.fill(MaybeUninit::new(T::default()));
        self.written += count;
        // SAFETY: S15: every element was just written, and `MaybeUninit<T>` has the layout of `T`.
        unsafe { &mut *(zeros as *mut [MaybeUninit<T>] as *mut [T]) }
    }
}

/// Writes `f` of each element of `x`, which has as many elements as there are slots.
#[inline(always)]
fn write_each<A: Copy, T>(slots: &mut [MaybeUninit<T>], x: &[A], f: impl Fn(A) -> T) {
    for (slot, x) in slots.iter_mut().zip(x) {
        slot.write(f(*x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_in_order() {
        let mut memory = [MaybeUninit::<i32>::uninit(); 9];
        let mut output = Output::new(&mut memory);
        output.each(&[1, 2], |x: i32| x * 10);
        output.pairs(Operand::Each(&[1, 2, 3]), Operand::Each(&[4, 5, 6]), (1, 3), |x: i32, y: i32| x * y);
        output.copy(&[7, 8]);
        assert_eq!(output.left(), 2);
        assert_eq!(output.zeroed(2), [0, 0]);
        assert_eq!(output.left(), 0);
        // SAFETY: S15: all were written, the last two as zeros.
        let all = memory.map(|x| unsafe { x.assume_init() });
        assert_eq!(all, [10, 20, 4, 10, 18, 7, 8, 0, 0]);
    }

    #[test]
    fn operands_repeat_by_rows() {
        let forms = [
            (Operand::Each(&[1, 2, 3, 4, 5, 6][..]), [1, 2, 3, 4, 5, 6]),
            (Operand::Row(&[1, 2, 3]), [1, 2, 3, 1, 2, 3]),
            (Operand::Column(&[1, 2]), [1, 1, 1, 2, 2, 2]),
            (Operand::All(7), [7; 6]),
        ];
        for (x, all_x) in forms {
            for (y, all_y) in forms {
                let mut out = [0; 6];
                Output::over(&mut out).pairs(x, y, (2, 3), |x, y| x * 10 - y);
                assert_eq!(out, std::array::from_fn(|i| all_x[i] * 10 - all_y[i]));
            }
        }
    }

    #[test]
    fn initialised_elements_are_overwritten_only_where_written() {
        let mut elements = [1, 2, 3];
        Output::over(&mut elements).copy(&[5]);
        assert_eq!(elements, [5, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn writing_past_the_end_panics() {
        Output::over(&mut [0u8; 3]).zeroed(4);
    }
}
