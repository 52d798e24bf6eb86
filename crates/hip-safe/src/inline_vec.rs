//! A short list of `Copy` values, stored inline, so that a submission does not allocate. `SmallVec` has a drop, so with it a submission would
//! borrow its memory until the end of the scope instead of its last use.

use std::mem::MaybeUninit;

/// A list that stores up to `N` elements inline, and all elements on the heap if there are more.
pub(crate) struct InlineVec<T, const N: usize> {
    /// The elements, if there are at most `N`: the first `len` are initialised. Unused otherwise.
    inline: [MaybeUninit<T>; N],
    /// It only grows.
    len: usize,
    /// The elements, if there are more than `N`.
    spilled: Vec<T>,
}

impl<T: Copy, const N: usize> InlineVec<T, N> {
    /// An empty list.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { inline: [const { MaybeUninit::uninit() }; N], len: 0, spilled: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        match self.inline.get_mut(self.len) {
            Some(slot) => {
                slot.write(value);
                self.len += 1;
            }
            None => self.spill(&[value]),
        }
    }

    /// Inserts a value before the element of that index, or at the end.
    #[inline]
    pub(crate) fn insert(&mut self, index: usize, value: T) {
        self.push(value);
        if index + 1 < self.len {
            let list = self.as_mut_slice();
            for to in (index + 1..list.len()).rev() {
                list[to] = list[to - 1];
            }
            list[index] = value;
        }
    }

    /// Appends the values.
    #[inline]
    pub(crate) fn extend(&mut self, values: &[T]) {
        match self.inline.get_mut(self.len..self.len + values.len()) {
            Some(slots) => {
                for (slot, &value) in slots.iter_mut().zip(values) {
                    slot.write(value);
                }
                self.len += values.len();
            }
            None => self.spill(values),
        }
    }

    #[cold]
    fn spill(&mut self, values: &[T]) {
        if self.len <= N {
            self.spilled = self.as_slice().to_vec();
        }
        self.spilled.extend_from_slice(values);
        self.len += values.len();
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        let Some(slots) = self.inline.get(..self.len) else { return &self.spilled };
        // SAFETY: S12: the first `len` slots are initialised.
        unsafe { std::slice::from_raw_parts(slots.as_ptr().cast(), slots.len()) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        let Some(slots) = self.inline.get_mut(..self.len) else { return &mut self.spilled };
        // SAFETY: S12: as above; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(slots.as_mut_ptr().cast(), slots.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_in_order_for_any_length() {
        for count in 0..20_u32 {
            let mut list = InlineVec::<u32, 8>::new();
            (0..count).for_each(|i| list.push(i));
            assert_eq!(list.as_slice(), (0..count).collect::<Vec<_>>());
            list.as_mut_slice().fill(7);
            assert_eq!(list.as_slice(), vec![7; count as usize]);
        }
    }

    #[test]
    fn insert_puts_a_value_at_its_index() {
        for count in 0..12_usize {
            for index in 0..=count {
                let mut list = InlineVec::<u32, 8>::new();
                (0..count as u32).for_each(|i| list.push(i));
                list.insert(index, 99);
                let mut expected: Vec<u32> = (0..count as u32).collect();
                expected.insert(index, 99);
                assert_eq!(list.as_slice(), expected);
            }
        }
    }

    #[test]
    fn any_number_of_values_is_appended() {
        for first in 0..10_usize {
            for second in 0..10_usize {
                let mut list = InlineVec::<u32, 8>::new();
                list.extend(&vec![1; first]);
                list.extend(&vec![2; second]);
                list.push(3);
                assert_eq!(list.as_slice(), [vec![1; first], vec![2; second], vec![3]].concat());
                list.as_mut_slice()[first + second] = 4;
                assert_eq!(list.as_slice().last(), Some(&4));
            }
        }
    }
}
