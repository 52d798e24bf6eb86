//! Typed, checked launch functions for kernels that somebody has audited.

use crate::{Error, Function, Module, Result};

/// Makes a type whose `launch` is a safe, checked function for one kernel.
///
/// The kernel's body is read once by a person, who then states its name, its arguments, why it stays inside them, and what has to
/// hold for that:
///
/// ```
/// use hip_safe::{Device, LaunchConfig, Source};
/// # use hip_safe::Error;
///
/// const SCALE: &str = "extern \"C\" __global__ void scale(const float* a, float* out, float by, unsigned count) {
///     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < count) out[i] = a[i] * by;
/// }";
///
/// hip_safe::kernel! {
///     /// Multiplies each of `count` floats.
///     pub kernel Scale = "scale"(a: &[f32], out: &mut [f32], by: f32, count: u32)
///     of { Source::new(SCALE) }
///     audit unsafe { "thread i reads a[i] and writes out[i], and only for i < count; no thread writes for another" }
///     require |config| { config.is_linear(), count as usize <= a.len(), count as usize <= out.len() }
/// }
///
/// # fn main() -> hip_safe::Result<()> {
/// let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
/// let scale = Scale::load(stream.device())?;
/// let a = stream.upload(&[1.0_f32, 2.0, 3.0])?;
/// let mut out = stream.alloc_zeros::<f32>(3)?;
/// scale.launch(&stream, LaunchConfig::linear(3, 64), &a, &mut out, 0.5, 3)?;
/// assert_eq!(stream.download(&out)?, [0.5, 1.0, 1.5]);
///
/// let error = scale.launch(&stream, LaunchConfig::linear(4, 64), &a, &mut out, 0.5, 4).unwrap_err();
/// assert_eq!(error.to_string(), "kernel scale is not launched: count as usize <= a.len() does not hold");
/// # assert!(matches!(error, Error::LaunchRefused { .. }));
/// # Ok(())
/// # }
/// ```
///
/// The parts, in this order:
/// - Attributes and documentation, the visibility, the word `kernel`, a name for the type, and the kernel's name.
/// - The arguments in the order in which the kernel declares them. `&[T]` is a pointer through which it only reads, given as any
///   [`DeviceSlice`](crate::DeviceSlice) of `T`; `&mut [T]` one through which it also writes, given as a [`DeviceSliceMut`](crate::DeviceSliceMut);
///   anything else is a value that is passed as it is, of a type that is [`DeviceRepr`](crate::DeviceRepr).
/// - Optionally `of { code }`: what was audited, as [`ModuleCode`](crate::ModuleCode). Then `load(&Device)` loads just that, and is safe. Without
///   it there is `unsafe fn load(&Module)`, whose caller vouches that the module has the kernel that was audited.
/// - `audit unsafe { … }` and in it why every thread of every launch stays inside the arguments, as a literal text. It is printed in the
///   type's documentation. The block is the promise that all of this is true, and an `unsafe` block as any other: where the lint `unsafe_code` is
///   denied or forbidden, it is refused.
/// - Optionally `require { condition, … }`: what has to hold before each launch. A buffer's name stands for a view of it there, a
///   value's name for the value. With `require |config| { … }` the conditions know the [`LaunchConfig`](crate::LaunchConfig) as well.
///   The first one that does not hold is named by [`Error::LaunchRefused`].
///
/// `load` compares number and sizes of the arguments with what the kernel declares and fails if they differ or nothing is known of
/// them, so `launch` cannot fail because of that. `launch` gives the errors of [`Launch::submit`](crate::Launch::submit).
#[macro_export]
macro_rules! kernel {
    (
        $(#[$attribute:meta])*
        $visibility:vis kernel $name:ident = $kernel:literal ( $($arguments:tt)* )
        $(of { $code:expr })?
        audit $promise:tt $audit:tt
        $(require $(|$config:ident|)? { $($condition:expr),+ $(,)? })?
    ) => {
        $crate::__kernel_arguments! {
            [
                [$(#[$attribute])*] [$visibility] $name $kernel [$($code)?]
                [$promise $audit] [$promise $audit]
                [$($($config)?)?] [$($($condition),+)?]
            ]
            []
            $($arguments)*
        }
    };
    ($(#[$attribute:meta])* $visibility:vis unsafe kernel $($rest:tt)*) => {
        ::core::compile_error!(
            "take `unsafe` away before `kernel` and write `audit unsafe { \"why it stays inside its arguments\" }`: that block is the promise"
        );
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "kernel! takes: kernel Type = \"name\"(a: &[f32], out: &mut [f32], count: u32) of { code }? \
             audit unsafe { \"why it stays inside its arguments\" } require { condition, ... }?; a kernel's body cannot be checked, \
             so somebody has to promise that it is as declared"
        );
    };
}

/// Sorts the arguments into buffers to read, buffers to write and values. No part of the interface.
///
/// What it expands to is unsafe by the caller's own word alone. The block of the audit comes twice: once to be read, once to be written
/// out as it is. Written out, it has the places of the caller's text, so the compiler's lint sees it, which passes over what a macro
/// of another crate wrote.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel_arguments {
    ($head:tt [$($done:tt)*] $argument:ident: &mut [$element:ty] $(, $($rest:tt)*)?) => {
        $crate::__kernel_arguments! { $head [$($done)* (write $argument [$element])] $($($rest)*)? }
    };
    ($head:tt [$($done:tt)*] $argument:ident: &[$element:ty] $(, $($rest:tt)*)?) => {
        $crate::__kernel_arguments! { $head [$($done)* (read $argument [$element])] $($($rest)*)? }
    };
    ($head:tt [$($done:tt)*] $argument:ident: $value:ty $(, $($rest:tt)*)?) => {
        $crate::__kernel_arguments! { $head [$($done)* (value $argument [$value])] $($($rest)*)? }
    };
    (
        [
            [$(#[$attribute:meta])*] [$visibility:vis] $name:ident $kernel:literal [$($code:expr)?]
            [unsafe { $audit:literal }] [$promise:tt $block:tt]
            [$($config:ident)?] [$($condition:expr),*]
        ]
        [$(($kind:ident $argument:ident [$type:ty]))*]
    ) => {
        $(#[$attribute])*
        ///
        #[doc = ::core::concat!("Launches the kernel `", $kernel, "`. Its audit: ", $audit)]
        #[derive(Clone, Debug)]
        $visibility struct $name {
            function: $crate::__kernel::Audited,
        }

        #[allow(unused_unsafe, clippy::undocumented_unsafe_blocks)]
        const _: &str = $promise $block;

        impl $name {
            $crate::__kernel_load! { [$promise $block] [$visibility] $kernel [$($code)?] [$($kind [$type])*] }

            /// Submits a launch to the stream; it returns before the kernel has run.
            ///
            /// # Errors
            /// `LaunchRefused` if a condition of the kernel does not hold, then those of `Launch::submit`.
            #[allow(clippy::too_many_arguments, dead_code)]
            $visibility fn launch(
                &self,
                stream: &$crate::Stream,
                config: $crate::LaunchConfig,
                $($argument: $crate::__kernel_one!(type $kind $type)),*
            ) -> $crate::Result<()> {
                {
                    $(let $config = &config;)?
                    $(
                        #[allow(unused_variables)]
                        let $argument = $crate::__kernel_one!(look $kind $argument);
                    )*
                    $($crate::__kernel_condition! { $kernel $condition })*
                }
                let mut launch = stream.launch(self.function.function(), config);
                $($crate::__kernel_one!(give $kind launch $argument);)*
                // SAFETY: S9: whoever wrote the audit promises that the kernel stays inside arguments of these types for which
                // the conditions hold; number and sizes were compared when it was loaded.
                $promise { launch.submit() }
            }

            /// The kernel.
            #[allow(dead_code)]
            $visibility fn function(&self) -> &$crate::Function {
                self.function.function()
            }
        }
    };
    ([$a:tt $b:tt $name:ident $kernel:literal $code:tt [unsafe { $audit:literal }] $($rest:tt)*] $($other:tt)*) => {
        ::core::compile_error!("an argument of kernel! is `name: &[T]`, `name: &mut [T]` or `name: T`");
    };
    ($($other:tt)*) => {
        ::core::compile_error!("write `audit unsafe { \"why it stays inside its arguments\" }`, with a literal text");
    };
}

/// The function that loads. No part of the interface.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel_load {
    ([$promise:tt $block:tt] [$visibility:vis] $kernel:literal [] [$($kind:ident [$type:ty])*]) => {
        /// Finds the kernel in a module.
        ///
        /// # Errors
        /// `KernelNotFound` if it is not there, `LaunchMismatch` if it takes other arguments, `InvalidImage` if nothing is known of them.
        ///
        /// # Safety
        /// The module's kernel of this name is the one that was audited.
        #[allow(dead_code)]
        $visibility unsafe fn load(module: &$crate::Module) -> $crate::Result<Self> {
            let sizes = [$($crate::__kernel_one!(size $kind $type)),*];
            // SAFETY: S9: the caller's word.
            Ok(Self { function: $promise { $crate::__kernel::Audited::find(module, $kernel, &sizes) }? })
        }
    };
    ([$promise:tt $block:tt] [$visibility:vis] $kernel:literal [$code:expr] [$($kind:ident [$type:ty])*]) => {
        /// Loads the code that was audited, or finds it where the device has it, and the kernel in it.
        ///
        /// # Errors
        /// Those of `Device::load_module`, `KernelNotFound` if the kernel is not there, `LaunchMismatch` if it takes other arguments,
        /// `InvalidImage` if nothing is known of them.
        #[allow(dead_code)]
        $visibility fn load(device: &$crate::Device) -> $crate::Result<Self> {
            #[allow(unused_unsafe, clippy::undocumented_unsafe_blocks)]
            const _: &str = $promise $block;
            let sizes = [$($crate::__kernel_one!(size $kind $type)),*];
            let module = device.load_module($code)?;
            // SAFETY: S9: it is the code that whoever wrote the audit has read.
            Ok(Self { function: $promise { $crate::__kernel::Audited::find(&module, $kernel, &sizes) }? })
        }
    };
}

/// What differs between the kinds of arguments. No part of the interface.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel_one {
    (type read $type:ty) => { &(impl $crate::DeviceSlice<Item = $type> + ?Sized) };
    (type write $type:ty) => { &mut (impl $crate::DeviceSliceMut<Item = $type> + ?Sized) };
    (type value $type:ty) => { $type };
    (size value $type:ty) => { ::core::mem::size_of::<$type>() };
    (size $pointer:ident $type:ty) => { ::core::mem::size_of::<*const $type>() };
    (look value $argument:ident) => { $argument };
    (look $buffer:ident $argument:ident) => { $crate::DeviceSlice::as_view(&*$argument) };
    (give read $launch:ident $argument:ident) => { $launch.arg($argument) };
    (give write $launch:ident $argument:ident) => { $launch.arg_mut($argument) };
    (give value $launch:ident $argument:ident) => { $launch.value(&$argument) };
}

/// Refuses the launch if a condition does not hold. No part of the interface.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel_condition {
    ($kernel:literal $condition:expr) => {
        if !$condition {
            return Err($crate::Error::LaunchRefused {
                kernel: $kernel,
                condition: ::core::stringify!($condition),
            });
        }
    };
}

/// What [`kernel!`](macro@crate::kernel) expands to calls this.
#[doc(hidden)]
pub mod support {
    use super::*;

    /// A kernel that somebody vouches for. Only what is unsafe makes one.
    #[derive(Clone, Debug)]
    pub struct Audited(Function);

    impl Audited {
        /// The kernel of that name, if it takes arguments of just these sizes.
        ///
        /// # Errors
        /// If it is not there, takes others, or nothing is known of them.
        ///
        /// # Safety
        /// The module's kernel of this name is the one that was audited.
        pub unsafe fn find(module: &Module, name: &str, sizes: &[usize]) -> Result<Self> {
            let function = module.function(name)?;
            if function.params().is_none() {
                return Err(Error::InvalidImage {
                    name: format!("kernel {name} of {module}"),
                    reason: "neither the platform nor the image says what arguments it takes, so no launch of it can be checked; \
                             NVIDIA's driver tells them since CUDA 12.4"
                        .into(),
                });
            }
            function.check_sizes(sizes)?;
            Ok(Self(function))
        }

        /// The kernel.
        pub fn function(&self) -> &Function {
            &self.0
        }
    }
}
