//! The kernel's entry in code for a GPU.

use crate::signature::Signature;
use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn entry(signature: &Signature) -> TokenStream {
    let name = signature.symbol();
    let call = signature.call();
    let arguments = signature.arguments().into_iter().map(|(name, kind)| quote!(#name: #kind));
    let (layout, layout_name) = (signature.layout(), format!("{name}__layout"));
    quote! {
        #[cfg(any(target_arch = "amdgpu", target_arch = "nvptx64"))]
        const _: () = {
            #[unsafe(export_name = #layout_name)]
            static LAYOUT: [u8; 16] = #layout;

            #[unsafe(export_name = #name)]
            #[allow(clippy::undocumented_unsafe_blocks, clippy::too_many_arguments)]
            unsafe extern "gpu-kernel" fn entry(#(#arguments),*) {
                // The launch has checked the arguments: see `hip_kernel`'s rule S25.
                unsafe { #call }
            }
        };
    }
}
