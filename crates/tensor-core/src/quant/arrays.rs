//! Arrays by loops that are always inlined. Those of the standard library are not inlined into large functions, and are
//! then compiled without the caller's vector instructions.

/// `f` of each index.
#[inline(always)]
pub(crate) fn array<const N: usize, T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut array = [T::default(); N];
    for (i, x) in array.iter_mut().enumerate() {
        *x = f(i);
    }
    array
}

/// As [`array`], of elements without a default: `any` is one.
#[inline(always)]
pub(crate) fn array_like<const N: usize, T: Copy>(any: T, f: impl Fn(usize) -> T) -> [T; N] {
    let mut array = [any; N];
    for (i, x) in array.iter_mut().enumerate() {
        *x = f(i);
    }
    array
}

/// `f` of each element.
#[inline(always)]
pub(crate) fn map<const N: usize, A: Copy, T: Copy + Default>(from: [A; N], f: impl Fn(A) -> T) -> [T; N] {
    array(|i| f(from[i]))
}
