//! What a parameter of a kernel is, by its type as it is written.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Error, FnArg, GenericArgument, Pat, PathArguments, Result, Type};

/// A parameter of a kernel.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) kind: Kind,
}

/// How a parameter is passed.
pub(crate) enum Kind {
    /// `&[T]`: elements that are read.
    Read(TokenStream),
    /// `&[AtomicU32]` and its kin: elements, by the plain type, that all threads change.
    Atomics { atomic: TokenStream, plain: TokenStream },
    /// `Out<T>`, `PerBlock<T>` or `Scatter<T>`: elements that are written.
    Write { view: Ident, element: TokenStream },
    /// `Rows<T>`: elements that are written, and the width of a row.
    Rows(TokenStream),
    /// `Shared<T, N>`: no argument, but memory of each block.
    Shared(TokenStream),
    /// Anything else: a value.
    Value(TokenStream),
}

const ATOMICS: [(&str, &str); 4] =
    [("AtomicU32", "u32"), ("AtomicI32", "i32"), ("AtomicU64", "u64"), ("AtomicI64", "i64")];

/// Names that the generated functions use.
const OURS: [&str; 5] = ["stream", "config", "arguments", "scope", "hip_kernel"];

/// Refuses lifetimes but `'_`: what a kernel gets lives as long as the launch.
fn only_elided(tokens: TokenStream) -> Result<()> {
    let mut after_tick = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => only_elided(group.stream())?,
            TokenTree::Ident(name) if after_tick && name != "_" => {
                return Err(Error::new_spanned(
                    name,
                    format!(
                        "what a kernel gets lives as long as the launch: leave out the lifetime `'{name}`"
                    ),
                ));
            }
            _ => {}
        }
        after_tick = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '\'');
    }
    Ok(())
}

impl Parameter {
    pub(crate) fn of(argument: &FnArg) -> Result<Self> {
        let FnArg::Typed(argument) = argument else {
            return Err(Error::new_spanned(argument, "a kernel is a function without `self`"));
        };
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(Error::new_spanned(&argument.pat, "a kernel's parameter is a name"));
        };
        only_elided(argument.ty.to_token_stream())?;
        let name = pattern.ident.clone();
        if OURS.iter().any(|ours| name == ours) {
            return Err(Error::new_spanned(
                &name,
                format!("`{name}` is a name of the launch function's own; rename the parameter"),
            ));
        }
        Ok(Self { name, kind: Kind::of(&argument.ty)? })
    }

    /// The name of the argument with the number of elements.
    pub(crate) fn len(&self) -> Ident {
        format_ident!("{}_len", self.name)
    }

    /// The name of the argument with the width of a row.
    pub(crate) fn width(&self) -> Ident {
        format_ident!("{}_width", self.name)
    }

    /// The arguments of the kernel's entry, with their types.
    pub(crate) fn arguments(&self) -> Vec<(Ident, TokenStream)> {
        let (name, len) = (self.name.clone(), self.len());
        match &self.kind {
            Kind::Read(element) => vec![(name, quote!(*const #element)), (len, quote!(usize))],
            Kind::Atomics { plain, .. } => vec![(name, quote!(*mut #plain)), (len, quote!(usize))],
            Kind::Write { element, .. } => vec![(name, quote!(*mut #element)), (len, quote!(usize))],
            Kind::Rows(element) => {
                vec![(name, quote!(*mut #element)), (len, quote!(usize)), (self.width(), quote!(usize))]
            }
            Kind::Shared(_) => Vec::new(),
            Kind::Value(value) => vec![(name, value.clone())],
        }
    }

    /// The type of its elements, if it is a buffer.
    pub(crate) fn element(&self) -> Option<TokenStream> {
        match &self.kind {
            Kind::Read(element) | Kind::Write { element, .. } | Kind::Rows(element) => Some(element.clone()),
            Kind::Atomics { plain, .. } => Some(plain.clone()),
            Kind::Shared(_) | Kind::Value(_) => None,
        }
    }

    /// What the function gets, made of the entry's arguments; shared memory begins at `offset`.
    pub(crate) fn value(&self, offset: &TokenStream) -> TokenStream {
        let (name, len, width) = (&self.name, self.len(), self.width());
        match &self.kind {
            Kind::Read(_) => quote!(::hip_kernel::slice(&scope, #name, #len)),
            Kind::Atomics { atomic, .. } => {
                quote!(::hip_kernel::slice(&scope, #name.cast::<#atomic>().cast_const(), #len))
            }
            Kind::Write { view, .. } => quote!(::hip_kernel::#view::from_raw(&scope, #name, #len)),
            Kind::Rows(_) => quote!(::hip_kernel::Rows::from_raw(&scope, #name, #len, #width)),
            Kind::Shared(arguments) => quote!(::hip_kernel::Shared::<#arguments>::at(&scope, #offset)),
            Kind::Value(_) => quote!(#name),
        }
    }

    /// The bytes of shared memory that it takes.
    pub(crate) fn shared(&self) -> Option<TokenStream> {
        let Kind::Shared(arguments) = &self.kind else { return None };
        Some(quote!(::hip_kernel::Shared::<#arguments>::BYTES))
    }
}

impl Kind {
    fn of(written: &Type) -> Result<Self> {
        match written {
            Type::Reference(reference) => match &*reference.elem {
                Type::Slice(_) if reference.mutability.is_some() => Err(Error::new_spanned(
                    written,
                    "no two threads may have `&mut` of the same elements: take Out<T> (each thread its own), PerBlock<T>, Rows<T>, \
                     or Scatter<T>, whose use is unsafe",
                )),
                Type::Slice(slice) => Ok(Self::slice(&slice.elem)),
                _ => Err(Error::new_spanned(
                    written,
                    "a kernel takes a slice `&[T]` or a value, and no other reference",
                )),
            },
            Type::Ptr(_) => Err(Error::new_spanned(
                written,
                "take a slice `&[T]` to read, and Out<T>, PerBlock<T>, Rows<T> or Scatter<T> to write: they know their length",
            )),
            Type::Path(path) => Self::path(written, path),
            _ => Ok(Self::Value(quote!(#written))),
        }
    }

    fn slice(element: &Type) -> Self {
        let known = match element {
            Type::Path(path) => path
                .path
                .segments
                .last()
                .and_then(|last| ATOMICS.into_iter().find(|(atomic, _)| last.ident == *atomic)),
            _ => None,
        };
        let Some((atomic, plain)) = known else { return Self::Read(quote!(#element)) };
        // Core's own types, whatever the kernel's module calls by these names.
        let (atomic, plain) = (format_ident!("{atomic}"), format_ident!("{plain}"));
        Self::Atomics {
            atomic: quote!(::core::sync::atomic::#atomic),
            plain: quote!(::core::primitive::#plain),
        }
    }

    fn path(written: &Type, path: &syn::TypePath) -> Result<Self> {
        let Some(last) = path.path.segments.last() else { return Ok(Self::Value(quote!(#written))) };
        let name = last.ident.to_string();
        let arguments: Vec<&GenericArgument> = match &last.arguments {
            PathArguments::AngleBracketed(list) => {
                list.args.iter().filter(|one| !matches!(one, GenericArgument::Lifetime(_))).collect()
            }
            _ => Vec::new(),
        };
        let wrong = |form: &str| Error::new_spanned(written, format!("write it as {form}"));
        match (name.as_str(), arguments.as_slice()) {
            ("Out" | "PerBlock" | "Scatter", [element]) => {
                Ok(Self::Write { view: last.ident.clone(), element: quote!(#element) })
            }
            ("Rows", [element]) => Ok(Self::Rows(quote!(#element))),
            ("Shared", [element, count]) => Ok(Self::Shared(quote!(#element, #count))),
            ("Out" | "PerBlock" | "Scatter" | "Rows", _) => Err(wrong(&format!("{name}<T>"))),
            ("Shared", _) => Err(wrong("Shared<T, N>")),
            _ => Ok(Self::Value(quote!(#written))),
        }
    }
}
