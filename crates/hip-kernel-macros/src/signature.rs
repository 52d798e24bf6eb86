//! A kernel as it is declared.

use crate::parameter::{Kind, Parameter};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Error, ItemFn, Result, ReturnType, Safety, Visibility};

/// What is made of a kernel's declaration.
pub(crate) struct Signature {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
}

impl Signature {
    pub(crate) fn of(function: &ItemFn) -> Result<Self> {
        let declared = &function.sig;
        if let Safety::Unsafe(word) = &declared.safety {
            return Err(Error::new_spanned(
                word,
                "a kernel is a safe function, so that its launch is safe: write the `unsafe` block inside the function, with the reason \
                 why it holds for every launch",
            ));
        }
        if let Some(word) = &declared.asyncness {
            return Err(Error::new_spanned(word, "a kernel is not async"));
        }
        if !declared.generics.params.is_empty() {
            return Err(Error::new_spanned(
                &declared.generics,
                "a kernel has no type parameters or lifetimes: write one kernel for each type, which may share a generic function",
            ));
        }
        if let ReturnType::Type(..) = declared.output {
            return Err(Error::new_spanned(&declared.output, "a kernel returns nothing"));
        }
        Ok(Self {
            docs: function.attrs.iter().filter(|one| one.path().is_ident("doc")).cloned().collect(),
            visibility: function.vis.clone(),
            name: declared.ident.clone(),
            parameters: declared.inputs.iter().map(Parameter::of).collect::<Result<_>>()?,
        })
    }

    /// The name of the type that launches it: `block_sum` is `BlockSum`.
    pub(crate) fn launcher(&self) -> Ident {
        let words = self.name.to_string();
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_uppercase().chain(letters).collect::<String>())
                .unwrap_or_default()
        };
        format_ident!("{}", words.split('_').map(capital).collect::<String>())
    }

    /// The arguments of the entry.
    pub(crate) fn arguments(&self) -> Vec<(Ident, TokenStream)> {
        self.parameters.iter().flat_map(Parameter::arguments).collect()
    }

    /// The call of the function with the entry's arguments.
    pub(crate) fn call(&self) -> TokenStream {
        let name = &self.name;
        let mut offset = quote!(0);
        let values = self.parameters.iter().map(|parameter| {
            let value = parameter.value(&offset);
            if let Some(bytes) = parameter.shared() {
                offset = quote!(#offset + #bytes);
            }
            value
        });
        let values: Vec<TokenStream> = values.collect();
        quote!(#name(#(#values),*))
    }

    /// The bytes of shared memory of a block, if the kernel has any.
    pub(crate) fn shared(&self) -> Option<TokenStream> {
        let bytes: Vec<TokenStream> = self.parameters.iter().filter_map(Parameter::shared).collect();
        (!bytes.is_empty()).then(|| quote!(#(#bytes)+*))
    }

    /// Whether its views say by the number along x which elements belong to a thread.
    pub(crate) fn is_linear(&self) -> bool {
        self.parameters.iter().any(|parameter| match &parameter.kind {
            Kind::Write { view, .. } => view != "Scatter",
            Kind::Rows(_) => true,
            _ => false,
        })
    }
}
