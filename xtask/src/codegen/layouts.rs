//! Generates the list of structures and constants in the bindings, to compare with headers.
//!
//! It is generated from the committed files, so it needs no header. The compiler fills in sizes and offsets.

use quote::{format_ident, quote};
use std::collections::BTreeMap;

/// The generated file, from the modules' names and texts.
pub(super) fn render(stamp: &str, modules: &[(String, String)]) -> Result<String, String> {
    let mut lists = Vec::new();
    for (name, text) in modules {
        let file = syn::parse_file(text).map_err(|e| format!("codegen: {name}.rs: {e}"))?;
        let module = format_ident!("{name}");
        let list = format_ident!("{}", name.to_uppercase());
        // "… from the headers of HIP 6.3; …"
        let version = text.lines().next().and_then(|line| line.split(';').next()?.rsplit(' ').next());
        let version = version.filter(|v| v.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default();
        let inner = inner_names(&file);
        let structures = file.items.iter().filter_map(|item| structure(&module, &inner, item));
        let constants = file.items.iter().flat_map(|item| constants(&module, item));
        lists.push(quote! {
            pub const #list: Bindings = Bindings {
                version: #version,
                structures: &[#(#structures),*],
                constants: &[#(#constants),*],
            };
        });
    }
    let file = syn::parse2(quote! {
        use super::*;
        use crate::layout::{Bindings, Constant, Structure};
        use core::mem::{align_of, offset_of, size_of};
        #(#lists)*
    })
    .map_err(|e| format!("codegen: the list of layouts does not parse: {e}"))?;
    Ok(format!("{stamp}\n\n{}", prettyplease::unparse(&file)))
}

/// A structure or a union, and its fields.
fn fields(item: &syn::Item) -> Option<(&syn::Ident, &[syn::Attribute], &syn::Generics, &syn::FieldsNamed)> {
    match item {
        syn::Item::Struct(item) => match &item.fields {
            syn::Fields::Named(fields) => Some((&item.ident, &item.attrs, &item.generics, fields)),
            _ => None,
        },
        syn::Item::Union(item) => Some((&item.ident, &item.attrs, &item.generics, &item.fields)),
        _ => None,
    }
}

/// The names in C++ of the structures that are declared inside another one: bindgen calls `a::b` `a_b`.
fn inner_names(file: &syn::File) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (outer, _, _, fields) in file.items.iter().filter_map(fields) {
        for field in &fields.named {
            let mut ty = &field.ty;
            while let syn::Type::Array(array) = ty {
                ty = &array.elem;
            }
            let syn::Type::Path(path) = ty else { continue };
            let Some(inner) = path.path.get_ident().map(ToString::to_string) else { continue };
            if let Some(own) = inner.strip_prefix(&format!("{outer}_")) {
                names.insert(inner.clone(), format!("{outer}::{own}"));
            }
        }
    }
    names
}

/// A structure that C declares with fields; the function tables are declared only in Rust.
fn structure(
    module: &syn::Ident,
    inner: &BTreeMap<String, String>,
    item: &syn::Item,
) -> Option<impl quote::ToTokens> {
    let (ident, attributes, generics, fields) = fields(item)?;
    let names: Vec<&syn::Ident> = fields.named.iter().filter_map(|field| field.ident.as_ref()).collect();
    let of_c = attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("repr") && list.tokens.to_string() == "C",
        _ => false,
    });
    let opaque = names.iter().any(|name| *name == "_unused");
    let name = ident.to_string();
    // What has no name in C cannot be asked for.
    if !of_c || opaque || !generics.params.is_empty() || name.contains("__bindgen") {
        return None;
    }
    let name = inner.get(&name).unwrap_or(&name);
    // C has no offsets of bit fields, and no names for bindgen's replacements.
    let fields = names.iter().filter(|field| !field.to_string().starts_with('_')).map(|field| {
        let name = field.to_string();
        // bindgen appends an underscore to Rust keywords.
        let name = name.strip_suffix('_').unwrap_or(&name);
        quote! { (#name, offset_of!(#module::#ident, #field)) }
    });
    Some(quote! {
        Structure {
            name: #name,
            size: size_of::<#module::#ident>(),
            align: align_of::<#module::#ident>(),
            fields: &[#(#fields),*],
        }
    })
}

/// The values of an enumeration, or a flag that C defines.
fn constants(module: &syn::Ident, item: &syn::Item) -> Vec<impl quote::ToTokens> {
    match item {
        syn::Item::Const(item) if item.ident != "_" => {
            let (ident, name) = (&item.ident, item.ident.to_string());
            vec![quote! { Constant { name: #name, of: "", value: #module::#ident as i64 } }]
        }
        syn::Item::Impl(block) if block.trait_.is_none() && block.generics.params.is_empty() => {
            let syn::Type::Path(of) = &*block.self_ty else { return Vec::new() };
            let Some(of) = of.path.get_ident() else { return Vec::new() };
            let of_name = of.to_string();
            let value = |item: &syn::ImplItem| {
                let syn::ImplItem::Const(item) = item else { return None };
                if !matches!(&item.ty, syn::Type::Path(ty) if ty.path.is_ident(of)) {
                    return None;
                }
                let (ident, name) = (&item.ident, item.ident.to_string());
                Some(quote! {
                    Constant { name: #name, of: #of_name, value: #module::#of::#ident.0 as i64 }
                })
            };
            block.items.iter().filter_map(value).collect()
        }
        _ => Vec::new(),
    }
}
