//! Vectors of 16 bytes, which a GPU loads and stores by one instruction.

macro_rules! vectors {
    ($($(#[$attribute:meta])* $name:ident, $element:ty, $count:literal;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align(16))]
        pub struct $name(pub [$element; $count]);

        const _: () = assert!(size_of::<$name>() == 16);

        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        // SAFETY: S6: sixteen bytes of numbers, without padding; zero is a value.
        unsafe impl hip_safe::bytemuck::Zeroable for $name {}
        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        // SAFETY: S6: as above, and every pattern of bits is a value.
        unsafe impl hip_safe::bytemuck::Pod for $name {}
    )*};
}

vectors! {
    /// Four `f32`.
    F32x4, f32, 4;
    /// Two `f64`.
    F64x2, f64, 2;
    /// Four `u32`.
    U32x4, u32, 4;
    /// Eight `u16`, or eight 16-bit floats.
    U16x8, u16, 8;
}
