//! A kernel with a type parameter: one for each of the types that the attribute names, which calls the function.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, FnArg, GenericParam, ItemFn, Meta, Pat, Result, Token, Type, parse_quote};

/// The types between the parentheses of `#[kernel(f32, f64)]`.
pub(crate) fn types(arguments: TokenStream) -> Result<Vec<Type>> {
    let parser = Punctuated::<Type, Token![,]>::parse_terminated;
    Ok(syn::parse::Parser::parse2(parser, arguments)?.into_iter().collect())
}

/// A function without parameters of types for each of the types.
pub(crate) fn of(function: &ItemFn, types: &[Type]) -> Result<Vec<ItemFn>> {
    let declared = &function.sig;
    let Some(parameter) = only_parameter(declared.generics.params.iter()) else {
        return Err(Error::new_spanned(
            declared,
            "a kernel for several types has one type parameter, and no other parameter or lifetime",
        ));
    };
    types.iter().map(|one| instance(function, parameter, one)).collect()
}

fn only_parameter<'a>(mut parameters: impl Iterator<Item = &'a GenericParam>) -> Option<&'a Ident> {
    match (parameters.next(), parameters.next()) {
        (Some(GenericParam::Type(parameter)), None) => Some(&parameter.ident),
        _ => None,
    }
}

fn instance(function: &ItemFn, parameter: &Ident, of: &Type) -> Result<ItemFn> {
    let Type::Path(path) = of else {
        return Err(Error::new_spanned(of, "a kernel is named after its type: give one that is a word"));
    };
    let word = path.path.require_ident().map_err(|_| {
        Error::new_spanned(
            of,
            "a kernel is named after its type: give one that is a single word, such as f32",
        )
    })?;
    let generic = &function.sig.ident;
    let name = format_ident!("{generic}_{}", word.to_string().to_lowercase(), span = generic.span());
    let (mut names, mut kinds) = (Vec::new(), Vec::new());
    for input in &function.sig.inputs {
        let FnArg::Typed(input) = input else {
            return Err(Error::new_spanned(input, "a kernel is a function without `self`"));
        };
        let Pat::Ident(pattern) = &*input.pat else {
            return Err(Error::new_spanned(&input.pat, "a kernel's parameter is a name"));
        };
        names.push(pattern.ident.clone());
        kinds.push(replace(input.ty.to_token_stream(), parameter, of));
    }
    let visibility = &function.vis;
    let attributes = function.attrs.iter().filter_map(of_instance);
    Ok(parse_quote! {
        #(#attributes)*
        #visibility fn #name(#(#names: #kinds),*) {
            #generic::<#of>(#(#names),*)
        }
    })
}

/// The function's attribute on an instance. Each instance is inlined by an attribute of its own, and what is expected of the function's body may
/// not be so of a call.
fn of_instance(attribute: &Attribute) -> Option<Attribute> {
    let path = attribute.path();
    match &attribute.meta {
        _ if path.is_ident("inline") => None,
        Meta::List(list) if path.is_ident("expect") => {
            let lints = &list.tokens;
            Some(parse_quote!(#[allow(#lints)]))
        }
        _ => Some(attribute.clone()),
    }
}

/// The tokens with the type in place of the parameter. Behind `::` and `'` the word is another's name.
fn replace(tokens: TokenStream, parameter: &Ident, of: &Type) -> TokenStream {
    // The two marks before the token.
    let mut before = [' '; 2];
    tokens
        .into_iter()
        .map(|token| {
            let mark = if let TokenTree::Punct(mark) = &token { mark.as_char() } else { ' ' };
            let is_own = before != [':'; 2] && before[1] != '\'';
            before = [before[1], mark];
            match token {
                TokenTree::Ident(word) if is_own && word == *parameter => quote!(#of),
                TokenTree::Group(group) => {
                    let inside = replace(group.stream(), parameter, of);
                    TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inside)).into()
                }
                other => other.into(),
            }
        })
        .collect()
}
