//! The `kernel!` macro: typed, checked launch functions for audited kernels.

use crate::{Error, Function, Module, Result};

/// Makes a type whose `launch` is a safe, checked function for one kernel.
///
/// A person audits the kernel's body once, and states its name, its arguments, why its accesses stay inside them, and the conditions for that:
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
/// - Optionally `of { code }`: the audited code, as [`ModuleCode`](crate::ModuleCode). Then there is a safe `load(&Device)`, which loads this code.
///   Without it there is `unsafe fn load(&Module)`, whose caller promises that the module has the audited kernel.
/// - `audit unsafe { … }` with a string literal that explains why every thread of every launch stays inside the arguments. It is part of the type's
///   documentation. The block is the promise that all of this is true. It is an ordinary `unsafe` block, so it is refused where the lint
///   `unsafe_code` is denied or forbidden.
/// - Optionally `require { condition, … }`: conditions that are checked before each launch. In them a buffer's name is a view of the buffer, and a
///   value's name is the value. With `require |config| { … }` they can use the [`LaunchConfig`](crate::LaunchConfig) too. If a condition is
///   false, `launch` returns [`Error::LaunchRefused`] with the first one.
///
/// `load` compares number and sizes of the arguments with the kernel's parameters. It fails if they differ or are not known, so `launch` cannot fail
/// because of that. `launch` returns the errors of [`Launch::submit`](crate::Launch::submit).
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
/// The only `unsafe` in the expansion is the caller's own token. The audit's block is matched twice: once to read the text, and once to emit it
/// unchanged. The emitted block has the caller's source spans, so the compiler's lint applies to it; the lint ignores code from another crate's
/// macro.
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
                // SAFETY: S9: the author of the audit promises that the kernel stays inside arguments of these types if the conditions
                // hold; number and sizes were compared when it was loaded.
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
            // SAFETY: S9: the caller's promise.
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
            // SAFETY: S9: it is the audited code.
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

    /// An audited kernel. Only unsafe code creates one.
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
