//! A short list of copies kept in place: a submission does not allocate. With a `SmallVec` in it, a submission would borrow its memory until
//! it is dropped, not only until it is last used.

use std::mem::MaybeUninit;

/// Up to `N` elements in place; more of them move to the heap, all together.
pub(crate) struct InlineVec<T, const N: usize> {
    /// Up to `N` elements are these: the first `len` places are written. With more, they say nothing.
    inline: [MaybeUninit<T>; N],
    /// It only grows.
    len: usize,
    /// More than `N` elements are these.
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
            Some(place) => {
                place.write(value);
                self.len += 1;
            }
            None => self.spill(&[value]),
        }
    }

    /// Puts a value before the element of that index, or at the end.
    #[inline]
    pub(crate) fn insert(&mut self, index: usize, value: T) {
        self.push(value);
        if index + 1 < self.len {
            let list = self.as_mut_slice();
            for place in (index + 1..list.len()).rev() {
                list[place] = list[place - 1];
            }
            list[index] = value;
        }
    }

    /// Appends the values.
    #[inline]
    pub(crate) fn extend(&mut self, values: &[T]) {
        match self.inline.get_mut(self.len..self.len + values.len()) {
            Some(places) => {
                for (place, &value) in places.iter_mut().zip(values) {
                    place.write(value);
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
        let Some(places) = self.inline.get(..self.len) else { return &self.spilled };
        // SAFETY: S12: as many places as there are elements, each written when the element came.
        unsafe { std::slice::from_raw_parts(places.as_ptr().cast(), places.len()) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        let Some(places) = self.inline.get_mut(..self.len) else { return &mut self.spilled };
        // SAFETY: S12: as above; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast(), places.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_any_number_in_order() {
        for count in 0..20_u32 {
            let mut list = InlineVec::<u32, 8>::new();
            (0..count).for_each(|i| list.push(i));
            assert_eq!(list.as_slice(), (0..count).collect::<Vec<_>>());
            list.as_mut_slice().fill(7);
            assert_eq!(list.as_slice(), vec![7; count as usize]);
        }
    }

    #[test]
    fn values_go_where_they_are_told() {
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
