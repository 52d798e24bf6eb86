//! The type that launches a kernel, and the kernel for hip-host.

use crate::parameter::{Kind, Parameter};
use crate::signature::Signature;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

const AUDIT: &str = "the kernel is a safe function: it reads its slices within their lengths, and writes elements of its views that no other \
                     thread uses, but for what its own unsafe blocks vouch for";

pub(crate) fn items(signature: &Signature) -> TokenStream {
    let (raw, launcher, on_host) = (raw(signature), launcher(signature), on_host(signature));
    quote! {
        #raw
        #launcher
        #on_host
    }
}

fn raw_name(signature: &Signature) -> Ident {
    format_ident!("__{}OfHipSafe", signature.launcher())
}

/// hip-safe's launch function, which takes each length as an argument.
fn raw(signature: &Signature) -> TokenStream {
    let (raw, name) = (raw_name(signature), signature.symbol());
    let arguments = signature.parameters.iter().flat_map(|parameter| {
        let (name, len, width) = (&parameter.name, parameter.len(), parameter.width());
        match &parameter.kind {
            Kind::Read(element) => vec![quote!(#name: &[#element]), quote!(#len: usize)],
            Kind::Atomics { plain, .. } => vec![quote!(#name: &mut [#plain]), quote!(#len: usize)],
            Kind::Write { element, .. } => vec![quote!(#name: &mut [#element]), quote!(#len: usize)],
            Kind::Rows(element) => {
                vec![quote!(#name: &mut [#element]), quote!(#len: usize), quote!(#width: usize)]
            }
            Kind::Shared(_) => Vec::new(),
            Kind::Value(value) => vec![quote!(#name: #value)],
        }
    });
    let mut conditions = Vec::new();
    if signature.is_linear() {
        conditions.push(quote!(config.is_linear()));
    }
    if let Some(bytes) = signature.shared() {
        conditions.push(quote!(config.shared_bytes >= #bytes));
    }
    for parameter in signature.parameters.iter().filter(|parameter| parameter.element().is_some()) {
        let (name, len) = (&parameter.name, parameter.len());
        conditions.push(quote!(#len <= #name.len()));
    }
    let require = (!conditions.is_empty()).then(|| quote!(require |config| { #(#conditions),* }));
    quote! {
        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        ::hip_kernel::host::hip_safe::kernel! {
            #[doc(hidden)]
            #[allow(unused_variables)]
            kernel #raw = #name(#(#arguments),*)
            audit unsafe { #AUDIT }
            #require
        }
    }
}

fn launcher(signature: &Signature) -> TokenStream {
    let Signature { docs, visibility, name, parameters, .. } = signature;
    let (launcher, raw) = (signature.launcher(), raw_name(signature));
    let about = format!("Launches the kernel [`{name}`](fn@{name}).");
    let elements: Vec<TokenStream> = parameters.iter().filter_map(Parameter::element).collect();
    let taken = parameters.iter().flat_map(|parameter| {
        let (name, width) = (&parameter.name, parameter.width());
        match &parameter.kind {
            Kind::Read(element) => {
                vec![quote!(#name: &(impl ::hip_kernel::host::hip_safe::DeviceSlice<Item = #element> + ?Sized))]
            }
            Kind::Value(value) => vec![quote!(#name: #value)],
            Kind::Shared(_) => Vec::new(),
            written => {
                let element = parameter.element();
                let view = quote!(&mut (impl ::hip_kernel::host::hip_safe::DeviceSliceMut<Item = #element> + ?Sized));
                let width = matches!(written, Kind::Rows(_)).then(|| quote!(#width: usize));
                [quote!(#name: #view)].into_iter().chain(width).collect()
            }
        }
    });
    let lengths = parameters.iter().filter(|parameter| parameter.element().is_some()).map(|parameter| {
        let (name, len) = (&parameter.name, parameter.len());
        quote!(let #len = ::hip_kernel::host::hip_safe::DeviceSlice::as_view(&*#name).len();)
    });
    let given =
        parameters.iter().flat_map(|parameter| parameter.arguments().into_iter().map(|(name, _)| name));
    let shared = signature.shared_bytes();
    quote! {
        #(#docs)*
        ///
        #[doc = #about]
        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        #[derive(Clone, Debug)]
        #visibility struct #launcher(#raw);

        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        #[allow(clippy::undocumented_unsafe_blocks, clippy::too_many_arguments, dead_code)]
        impl #launcher {
            /// Bytes of shared memory that the kernel's parameters take of each block. `launch` adds them.
            #visibility const SHARED_BYTES: u32 = #shared;

            /// The kernel for a device: on hip-host the function itself, on a GPU the code that `cargo xtask build-rust-kernels` built.
            ///
            /// # Errors
            /// `InvalidImage` if there is no code for the device's architecture, or its parameters or their elements had other sizes when it
            /// was built; those of `Device::load_module`; `KernelNotFound` if the code is of a kernel that was written otherwise.
            ///
            /// A change of what the kernel calls, or of a constant that its body names, is not noticed: build the code again after each
            /// change of the crate.
            #visibility fn load(
                device: &::hip_kernel::host::hip_safe::Device,
            ) -> ::hip_kernel::host::hip_safe::Result<Self> {
                let module = ::hip_kernel::host::load::<Self>(device)?;
                // The function, or what was built of its crate: see `hip_kernel`'s rule S25.
                Ok(Self(unsafe { #raw::load(&module) }?))
            }

            /// The kernel in a module that was built otherwise.
            ///
            /// # Errors
            /// As `load`.
            ///
            /// # Safety
            /// The module was built of this version of the crate.
            #visibility unsafe fn from_module(
                module: &::hip_kernel::host::hip_safe::Module,
            ) -> ::hip_kernel::host::hip_safe::Result<Self> {
                Ok(Self(unsafe { #raw::load(module) }?))
            }

            /// Submits a launch to the stream; it returns before the kernel has run.
            ///
            /// # Errors
            /// `LaunchRefused` if the views need a launch of one dimension and this one is not; those of `Launch::submit`.
            #visibility fn launch(
                &self,
                stream: &::hip_kernel::host::hip_safe::Stream,
                mut config: ::hip_kernel::host::hip_safe::LaunchConfig,
                #(#taken),*
            ) -> ::hip_kernel::host::hip_safe::Result<()> {
                config.shared_bytes = ::core::primitive::u32::saturating_add(config.shared_bytes, Self::SHARED_BYTES);
                #(#lengths)*
                self.0.launch(stream, config, #(#given),*)
            }
        }

        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        const _: () = {
            fn any_bits<T: ::hip_kernel::host::hip_safe::AnyBits>() {}
            // A kernel reads whatever the buffers hold.
            let _ = [any_bits::<u8> as fn(), #(any_bits::<#elements>),*];
            #(::core::assert!(
                ::core::mem::align_of::<#elements>() <= 256,
                "device memory is aligned to 256 bytes: give the element a smaller alignment"
            );)*
            // Memory without bytes has no address, whatever its length.
            #(::core::assert!(
                ::core::mem::size_of::<#elements>() > 0,
                "a buffer's element has at least one byte: take the number of elements as a value"
            );)*
        };
    }
}

fn on_host(signature: &Signature) -> TokenStream {
    let (launcher, name) = (signature.launcher(), signature.symbol());
    let arguments = signature.arguments();
    let (sizes, layout) = (signature.sizes(), signature.layout());
    let reads = arguments.iter().enumerate().map(
        |(index, (name, kind))| quote!(let #name = arguments.add(#index).read().cast::<#kind>().read();),
    );
    let call = signature.call();
    quote! {
        #[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
        const _: () = {
            static REGISTRATION: ::hip_kernel::host::Registration = ::hip_kernel::host::Registration::new();

            #[allow(clippy::undocumented_unsafe_blocks)]
            unsafe impl ::hip_kernel::host::Signature for #launcher {
                const PATH: &'static str = ::core::concat!(::core::module_path!(), "::", #name);
                const NAME: &'static str = #name;
                const LIBRARY: &'static str = ::core::env!("CARGO_CRATE_NAME");
                const ARGUMENTS: &'static [(usize, usize)] = #sizes;
                const LAYOUT: [u8; 16] = #layout;

                fn registration() -> &'static ::hip_kernel::host::Registration {
                    &REGISTRATION
                }

                unsafe fn call(arguments: *const *mut ::core::ffi::c_void) {
                    let _ = arguments;
                    unsafe {
                        #(#reads)*
                        #call
                    }
                }
            }
        };
    }
}
