//! A short list of borrows kept in place: a submission does not allocate. With a `SmallVec` in it, a submission would borrow its memory until
//! it is dropped, not only until it is last used.

/// Up to `N` elements in place; more of them move to the heap.
pub(crate) struct InlineVec<T, const N: usize> {
    inline: [T; N],
    len: usize,
    spilled: Vec<T>,
}

impl<T: Copy, const N: usize> InlineVec<T, N> {
    /// An empty list. `filler` fills the places not in use.
    pub(crate) fn new(filler: T) -> Self {
        Self { inline: [filler; N], len: 0, spilled: Vec::new() }
    }

    pub(crate) fn push(&mut self, value: T) {
        match self.inline.get_mut(self.len) {
            Some(place) => *place = value,
            None => {
                if self.spilled.is_empty() {
                    self.spilled.extend_from_slice(&self.inline);
                }
                self.spilled.push(value);
            }
        }
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        if self.spilled.is_empty() { &self.inline[..self.len] } else { &self.spilled }
    }

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
            let mut list = InlineVec::<u32, 8>::new(u32::MAX);
            (0..count).for_each(|i| list.push(i));
            assert_eq!(list.as_slice(), (0..count).collect::<Vec<_>>());
            list.as_mut_slice().fill(7);
            assert_eq!(list.as_slice(), vec![7; count as usize]);
        }
    }
}
