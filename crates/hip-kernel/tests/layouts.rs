//! `load` tells code for a GPU by its layout, which counts what the name of a kernel does not tell: how large an element of a buffer is.

use hip_kernel::host::Signature;

/// The same kernels, whose elements are of the type `Particle` that is given.
macro_rules! kernels {
    ($module:ident, $(#[$attribute:meta])* struct $fields:tt) => {
        mod $module {
            use hip_kernel::{Out, kernel};
            use hip_safe::bytemuck::{Pod, Zeroable};

            #[derive(Clone, Copy, Pod, Zeroable)]
            #[bytemuck(crate = "hip_safe::bytemuck")]
            #[repr(C)]
            $(#[$attribute])*
            pub(crate) struct Particle $fields

            #[kernel]
            pub(crate) fn read(_x: &[Particle]) {}

            #[kernel]
            pub(crate) fn own(_y: Out<Particle>) {}

            #[kernel]
            pub(crate) fn of_blocks(_y: hip_kernel::PerBlock<Particle>) {}

            #[kernel]
            pub(crate) fn of_rows(_y: hip_kernel::Rows<Particle>) {}

            #[kernel]
            pub(crate) fn anywhere(_y: hip_kernel::Scatter<Particle>) {}
        }
    };
}

kernels!(small, struct { _words: [u32; 2] });
kernels!(alike, struct { _words: [u32; 2] });
kernels!(large, struct { _words: [u32; 4] });
kernels!(aligned, #[repr(align(8))] struct { _words: [u32; 2] });

/// What `load` compares, of a kernel in each of the modules.
macro_rules! compared {
    ($launcher:ident) => {
        [
            of::<small::$launcher>(),
            of::<alike::$launcher>(),
            of::<large::$launcher>(),
            of::<aligned::$launcher>(),
        ]
    };
}

fn of<K: Signature>() -> (&'static str, &'static [(usize, usize)], [u8; 16]) {
    (K::NAME, K::ARGUMENTS, K::LAYOUT)
}

#[test]
fn an_element_of_another_size_or_alignment_is_another_layout() {
    for of_modules in
        [compared!(Read), compared!(Own), compared!(OfBlocks), compared!(OfRows), compared!(Anywhere)]
    {
        let [small, alike, large, aligned] = of_modules;
        assert_eq!(small, alike);
        for other in [large, aligned] {
            assert_eq!((small.0, small.1), (other.0, other.1), "neither the name nor the arguments tell");
            assert_ne!(small.2, other.2, "{}", small.0);
        }
    }
}
