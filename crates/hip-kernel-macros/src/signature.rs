//! A kernel as it is declared.

use crate::parameter::{Kind, Parameter};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Block, Error, FnArg, ItemFn, Result, ReturnType, Safety, Visibility};

/// What is made of a kernel's declaration.
pub(crate) struct Signature {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
    /// Of the parameters' types and the body, as they are written.
    hash: u32,
}

impl Signature {
    /// Of a function whose work this body does: its own, or that of the function that it calls.
    pub(crate) fn of(function: &ItemFn, body: &Block) -> Result<Self> {
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
                "a kernel has no lifetimes, and a type parameter only if the attribute names the types to make kernels for: \
                 #[kernel(f32, f64)]",
            ));
        }
        if let ReturnType::Type(..) = declared.output {
            return Err(Error::new_spanned(&declared.output, "a kernel returns nothing"));
        }
        let types = declared.inputs.iter().filter_map(|one| match one {
            FnArg::Typed(one) => Some(one.ty.to_token_stream()),
            FnArg::Receiver(_) => None,
        });
        let hash = types.fold(0x811c_9dc5, |hash, written| fnv(fnv_tokens(hash, written), ","));
        let hash = fnv_tokens(hash, body.to_token_stream());
        let signature = Self {
            docs: function.attrs.iter().filter(|one| one.path().is_ident("doc")).cloned().collect(),
            visibility: function.vis.clone(),
            name: declared.ident.clone(),
            parameters: declared.inputs.iter().map(Parameter::of).collect::<Result<_>>()?,
            hash,
        };
        signature.check_names()?;
        Ok(signature)
    }

    /// Refuses names that the generated code cannot have.
    fn check_names(&self) -> Result<()> {
        let name = &self.name;
        if name.to_string().starts_with("r#") || syn::parse_str::<Ident>(&self.launcher_text()).is_err() {
            return Err(Error::new_spanned(
                name,
                format!(
                    "no type can be named after `{name}`: name the kernel with a letter first, and not by a keyword"
                ),
            ));
        }
        let mut seen = vec![name.clone()];
        for (argument, _) in self.arguments() {
            if seen.contains(&argument) {
                return Err(Error::new_spanned(
                    &argument,
                    format!(
                        "the kernel has `{argument}` twice, one of which is a name or a length of its own: rename a parameter"
                    ),
                ));
            }
            seen.push(argument);
        }
        Ok(())
    }

    /// The name of the kernel in code: with a hash, so that code of a kernel that was written otherwise is not found.
    pub(crate) fn symbol(&self) -> String {
        format!("{}__{:08x}", self.name, self.hash)
    }

    /// The name of the type that launches it: `block_sum` is `BlockSum`.
    pub(crate) fn launcher(&self) -> Ident {
        format_ident!("{}", self.launcher_text())
    }

    fn launcher_text(&self) -> String {
        let words = self.name.to_string();
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_uppercase().chain(letters).collect::<String>())
                .unwrap_or_default()
        };
        words.split('_').map(capital).collect()
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
        // A local, so that no view outlives the call.
        quote!({
            let scope = ::hip_kernel::Scope;
            let _ = &scope;
            #name(#(#values),*)
        })
    }

    /// The bytes of shared memory of a block, if the kernel has any.
    pub(crate) fn shared(&self) -> Option<TokenStream> {
        let bytes: Vec<TokenStream> = self.parameters.iter().filter_map(Parameter::shared).collect();
        (!bytes.is_empty()).then(|| quote!(#(#bytes)+*))
    }

    /// The bytes of shared memory of a block.
    pub(crate) fn shared_bytes(&self) -> TokenStream {
        self.shared().unwrap_or_else(|| quote!(0))
    }

    /// Size and alignment of each argument.
    pub(crate) fn sizes(&self) -> TokenStream {
        sizes_of(self.arguments().into_iter().map(|(_, kind)| kind))
    }

    /// Size and alignment of an element of each buffer, of which the arguments are only a pointer and a length.
    fn element_sizes(&self) -> TokenStream {
        sizes_of(self.parameters.iter().filter_map(Parameter::element))
    }

    /// The bytes by which `load` knows code that was built for these sizes.
    pub(crate) fn layout(&self) -> TokenStream {
        let (name, sizes, shared) = (self.symbol(), self.sizes(), self.shared_bytes());
        let elements = self.element_sizes();
        quote!(::hip_kernel::layout(#name, #sizes, #elements, #shared))
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

/// Size and alignment of each of the types.
fn sizes_of(kinds: impl Iterator<Item = TokenStream>) -> TokenStream {
    quote!(&[#({
        type Kind = #kinds;
        (::core::mem::size_of::<Kind>(), ::core::mem::align_of::<Kind>())
    }),*])
}

/// FNV-1a of the tokens. Not of their text as a whole, whose spaces differ between versions of the compiler.
fn fnv_tokens(hash: u32, tokens: TokenStream) -> u32 {
    tokens.into_iter().fold(hash, |hash, token| match token {
        TokenTree::Group(group) => fnv(fnv_tokens(fnv(hash, "("), group.stream()), ")"),
        TokenTree::Punct(mark) => fnv(hash, mark.as_char().encode_utf8(&mut [0; 4])),
        word => fnv(fnv(hash, " "), &word.to_string()),
    })
}

fn fnv(hash: u32, text: &str) -> u32 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
