//! A short list of copies kept in place: a submission does not allocate. With a `SmallVec` in it, a submission would borrow its memory until
//! it is dropped, not only until it is last used.

/// Up to `N` elements in place; more of them move to the heap.
pub(crate) struct InlineVec<T, const N: usize> {
    /// The default value in all places not in use.
    inline: [T; N],
    len: usize,
    spilled: Vec<T>,
}

impl<T: Copy + Default, const N: usize> InlineVec<T, N> {
    /// An empty list.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { inline: [T::default(); N], len: 0, spilled: Vec::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        self.grow(1)[0] = value;
    }

    /// Puts a value before the element of that index, or at the end.
    #[inline]
    pub(crate) fn insert(&mut self, index: usize, value: T) {
        self.grow(1);
        let list = self.as_mut_slice();
        for place in (index + 1..list.len()).rev() {
            list[place] = list[place - 1];
        }
        list[index] = value;
    }

    /// Appends `count` default values, and gives them.
    #[inline]
    pub(crate) fn grow(&mut self, count: usize) -> &mut [T] {
        let first = self.len;
        self.len += count;
        if self.spilled.is_empty() && self.len <= N {
            return &mut self.inline[first..self.len];
        }
        self.spill(first)
    }

    #[cold]
    fn spill(&mut self, first: usize) -> &mut [T] {
        if self.spilled.is_empty() {
            self.spilled.extend_from_slice(&self.inline[..first]);
        }
        self.spilled.resize(self.len, T::default());
        &mut self.spilled[first..]
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        if self.spilled.is_empty() { &self.inline[..self.len] } else { &self.spilled }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        if self.spilled.is_empty() { &mut self.inline[..self.len] } else { &mut self.spilled }
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
    fn grows_by_any_number_of_default_values() {
        for first in 0..10_usize {
            for second in 0..10_usize {
                let mut list = InlineVec::<u32, 8>::new();
                list.grow(first).fill(1);
                let places = list.grow(second);
                assert_eq!(places, vec![0; second]);
                places.fill(2);
                assert_eq!(list.len(), first + second);
                assert_eq!(list.as_slice(), [vec![1; first], vec![2; second]].concat());
            }
        }
    }
}
