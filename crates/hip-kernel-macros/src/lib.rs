//! The attribute `#[kernel]` of the crate `hip_kernel`, which exports and describes it.

mod device;
mod host;
mod instances;
mod parameter;
mod signature;

use proc_macro::TokenStream;
use quote::quote;
use signature::Signature;

/// Makes a kernel of a safe function: see `hip_kernel`. With types in parentheses, as `#[kernel(f32, f64)]`, the function has a type parameter,
/// and there is a kernel for each of the types, which is named after it: `scale` gets `scale_f32`, whose launcher is `ScaleF32`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments.into(), item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expand(
    arguments: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> syn::Result<proc_macro2::TokenStream> {
    let function: syn::ItemFn = syn::parse2(item)?;
    let types = instances::types(arguments)?;
    if types.is_empty() {
        return one(&function, &function.block);
    }
    let instances = instances::of(&function, &types)?;
    let kernels =
        instances.iter().map(|instance| one(instance, &function.block)).collect::<syn::Result<Vec<_>>>()?;
    Ok(quote! {
        #[inline(always)]
        #function
        #(#kernels)*
    })
}

/// A kernel whose code is this body's.
fn one(function: &syn::ItemFn, body: &syn::Block) -> syn::Result<proc_macro2::TokenStream> {
    let signature = Signature::of(function, body)?;
    let (entry, host) = (device::entry(&signature), host::items(&signature));
    Ok(quote! {
        #[inline(always)]
        #function
        #entry
        #host
    })
}

#[cfg(test)]
mod tests {
    use super::expand;
    use quote::quote;

    fn refused(item: proc_macro2::TokenStream) -> String {
        expand(quote!(), item).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_not_a_kernel_is_refused_with_the_remedy() {
        assert!(
            refused(quote!(
                unsafe fn k() {}
            ))
            .contains("inside the function")
        );
        assert!(
            refused(quote!(
                fn k<T>(a: T) {}
            ))
            .contains("#[kernel(f32, f64)]")
        );
        assert!(
            refused(quote!(
                fn k() -> u32 {
                    1
                }
            ))
            .contains("returns nothing")
        );
        assert!(
            refused(quote!(
                fn k(a: &mut [f32]) {}
            ))
            .contains("Out")
        );
        assert!(
            refused(quote!(
                fn k(a: &f32) {}
            ))
            .contains("a value")
        );
        assert!(
            refused(quote!(
                fn k(a: *const f32) {}
            ))
            .contains("slice")
        );
        assert!(
            refused(quote!(
                fn k(a: Shared<f32>) {}
            ))
            .contains("Shared<T, N>")
        );
        assert!(
            refused(quote!(
                fn k((a, b): Out<f32>) {}
            ))
            .contains("a name")
        );
        for lifetime in [
            quote!(
                fn k(x: &'static [f32]) {}
            ),
            quote!(
                fn k(y: Out<'static, f32>) {}
            ),
            quote!(
                fn k(s: hip_kernel::Shared<'static, f32, 8>) {}
            ),
            quote!(
                fn k(x: Option<&'static u8>) {}
            ),
        ] {
            assert!(refused(lifetime).contains("leave out the lifetime `'static`"));
        }
        let several = |types, item| expand(types, item).expect_err("it is refused").to_string();
        for item in [
            quote!(
                fn k() {}
            ),
            quote!(
                fn k<T, U>(a: T, b: U) {}
            ),
            quote!(
                fn k<'a, T>(a: &'a [T]) {}
            ),
        ] {
            assert!(several(quote!(f32), item).contains("one type parameter"));
        }
        let item = quote!(
            fn k<T>(a: T) {}
        );
        assert!(several(quote!([f32; 4]), item).contains("named after its type"));
    }

    #[test]
    fn a_type_parameter_makes_a_kernel_for_each_type() {
        let item = quote!(
            fn scale<T: Copy>(by: T, x: &[T], mut y: Out<T>) {}
        );
        let text = expand(quote!(f32, u64), item).expect("kernels").to_string();
        for part in [
            "fn scale < T : Copy > (by : T , x : & [T] , mut y : Out < T >)",
            "fn scale_f32 (by : f32 , x : & [f32] , y : Out < f32 >) { scale :: < f32 > (by , x , y) }",
            "fn entry (by : u64 , x : * const u64 , x_len : usize , y : * mut u64 , y_len : usize)",
            "struct ScaleF32",
            "struct ScaleU64",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_type_parameter_is_no_other_name_of_the_same_letter() {
        let item = quote!(
            fn set<T: Copy>(a: T, b: own::T, c: Pair<T, ::T>) {}
        );
        let text = expand(quote!(f32), item).expect("kernels").to_string();
        let instance = "fn set_f32 (a : f32 , b : own :: T , c : Pair < f32 , :: T >)";
        assert!(text.contains(instance), "{text}");
    }

    #[test]
    fn attributes_are_those_of_each_instance() {
        let item = quote!(
            /// Said once.
            #[cfg(feature = "a")]
            #[allow(one)]
            #[expect(two, reason = "three")]
            #[inline(never)]
            fn set<T: Copy>(a: T) {}
        );
        let text = expand(quote!(f32), item).expect("kernels").to_string();
        let (_, instance) = text.split_once("{ }").or_else(|| text.split_once("{}")).expect("the function");
        let (attributes, _) = instance.split_once("fn set_f32").expect("an instance");
        for part in ["Said once.", "cfg (feature = \"a\")", "allow (one)", "allow (two , reason = \"three\")"]
        {
            assert!(attributes.contains(part), "{part}: {attributes}");
        }
        assert!(!attributes.contains("never"), "{attributes}");
    }

    #[test]
    fn names_that_generated_code_cannot_have_are_refused() {
        for name in [quote!(r#match), quote!(__), quote!(_1), quote!(self_)] {
            assert!(
                refused(quote!(
                    fn #name() {}
                ))
                .contains("no type can be named after"),
                "{name}"
            );
        }
        for name in [quote!(stream), quote!(config), quote!(arguments), quote!(scope)] {
            assert!(
                refused(quote!(
                    fn k(#name: u32) {}
                ))
                .contains("rename the parameter"),
                "{name}"
            );
        }
        assert!(
            refused(quote!(
                fn k(x: &[f32], x_len: u32) {}
            ))
            .contains("`x_len` twice")
        );
        assert!(
            refused(quote!(
                fn k(k: u32) {}
            ))
            .contains("`k` twice")
        );
    }

    #[test]
    fn atomics_are_cores_own() {
        let made = expand(
            quote!(),
            quote!(
                fn k(x: &[AtomicU32]) {}
            ),
        );
        let text = made.expect("a kernel").to_string();
        assert!(text.contains("cast :: < :: core :: sync :: atomic :: AtomicU32 > ()"), "{text}");
        assert!(text.contains("x : * mut :: core :: primitive :: u32"), "{text}");
        assert!(text.contains("align_of :: < :: core :: primitive :: u32 > () <= 256"), "{text}");
    }

    #[test]
    fn the_symbol_changes_with_types_and_body() {
        let symbol = |item| {
            let text = expand(quote!(), item).expect("a kernel").to_string();
            let (_, rest) = text.split_once("export_name = \"").expect("an entry");
            rest.split_once('"').expect("it ends").0.to_owned()
        };
        let one = symbol(quote!(
            fn k(s: Shared<f32, 256>) {}
        ));
        assert_ne!(
            one,
            symbol(quote!(
                fn k(s: Shared<f32, 64>) {}
            ))
        );
        assert_eq!(
            one,
            symbol(quote!(
                /// A comment.
                pub fn k(mut other: Shared<f32, 256>) {}
            ))
        );
        assert_ne!(
            one,
            symbol(quote!(
                fn k(s: Shared<f32, 256>) {
                    barrier();
                }
            ))
        );
        // What a compiler's version or a formatter changes must not count: a name is computed by two compilers.
        let spaced = "fn k(s : Shared < f32 , 256 >) {}".parse().expect("tokens");
        assert_eq!(one, symbol(spaced));
    }

    #[test]
    fn the_entry_has_a_pointer_and_a_length_for_each_slice() {
        let made = expand(
            quote!(),
            quote!(
                fn add(a: f32, x: &[f32], mut y: Out<'_, f32>, s: Shared<f32, 8>) {}
            ),
        );
        let text = made.expect("a kernel").to_string();
        let entry = "extern \"gpu-kernel\" fn entry (a : f32 , x : * const f32 , x_len : usize , y : * mut f32 , y_len : usize)";
        assert!(text.contains(entry), "{text}");
        assert!(text.contains("export_name = \"add__"), "{text}");
        assert!(text.contains("config . is_linear ()"), "{text}");
    }
}
