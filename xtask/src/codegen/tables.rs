//! The list of functions, and the function table generated from it.

use quote::{format_ident, quote};
use serde::Deserialize;
use std::path::Path;

/// `functions.toml`: libraries by the names of their modules.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct FunctionList(std::collections::BTreeMap<String, Library>);

/// The section of one library.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Library {
    /// The module's name.
    #[serde(skip)]
    pub name: String,
    /// The product that the headers' version belongs to.
    pub title: String,
    /// The headers that declare it.
    pub headers: Vec<String>,
    /// The language of the headers: `c`; any other value means C++.
    #[serde(default = "c")]
    pub language: String,
    /// Where the headers define their version; HIP's headers are handled separately.
    #[serde(default)]
    pub version: Option<VersionMacro>,
    /// Types that are declared in HIP's bindings.
    #[serde(default)]
    pub from_hip: Vec<String>,
    /// Types that are declared in rocBLAS's bindings.
    #[serde(default)]
    pub from_rocblas: Vec<String>,
    /// Types that are bytes to us.
    #[serde(default)]
    pub opaque: Vec<String>,
    /// Types that no function's declaration names.
    #[serde(default)]
    pub types: Vec<String>,
    required: Vec<String>,
    #[serde(default)]
    optional: Vec<OptionalFunctions>,
    #[serde(default)]
    symbols: std::collections::BTreeMap<String, Symbols>,
    /// Patterns of the `#define`d flags to generate.
    #[serde(default)]
    pub constants: Vec<String>,
    /// Macros to define before the headers are read.
    #[serde(default)]
    pub defines: Vec<String>,
    /// The status of a function that is not implemented. If set, the table has `not_implemented`.
    #[serde(default)]
    not_implemented: Option<String>,
}

/// Where headers define their version.
#[derive(Deserialize)]
pub(super) struct VersionMacro {
    /// The header that defines it.
    pub header: String,
    /// One macro with the value major × 100000 + minor × 100 + patch, or the macros for major and minor.
    pub macros: Vec<String>,
}

/// The exported name of a function, or several: the first that a library exports is used.
#[derive(Deserialize)]
#[serde(untagged)]
enum Symbols {
    One(String),
    FirstOf(Vec<String>),
}

#[derive(Deserialize)]
struct OptionalFunctions {
    since: String,
    functions: Vec<String>,
}

/// A function of a table.
pub(super) struct Function {
    /// Its name in the header, which is also the field's.
    pub declaration: String,
    /// The name under which it is exported.
    pub symbol: String,
    /// Names to look for first.
    pub before: Vec<String>,
    /// The ROCm version that introduced it; `None` for required functions.
    pub since: Option<String>,
}

fn c() -> String {
    "c".into()
}

impl FunctionList {
    /// Reads the list.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| format!("codegen: cannot read {}: {e}", path.display()))?;
        let mut list: Self =
            toml::from_str(&text).map_err(|e| format!("codegen: {}: {e}", path.display()))?;
        for (name, library) in &mut list.0 {
            library.name.clone_from(name);
        }
        Ok(list)
    }

    /// All libraries in the list, or those with these names.
    pub(super) fn libraries(&self, names: &[String]) -> Result<Vec<&Library>, String> {
        if names.is_empty() {
            return Ok(self.0.values().collect());
        }
        let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
        let find = |name: &String| {
            let unknown =
                || format!("codegen: no library is called {name:?}; there are {}", known.join(", "));
            self.0.get(name).ok_or_else(unknown)
        };
        names.iter().map(find).collect()
    }
}

impl Library {
    /// Every function, required ones first.
    pub(super) fn functions(&self) -> Vec<Function> {
        let symbols = self.symbols();
        let function = |name: String, since: Option<&String>| {
            let mut names = symbols.get(&name).cloned().unwrap_or_else(|| vec![name.clone()]);
            let symbol = names.pop().unwrap_or_default();
            Function { declaration: name, symbol, before: names, since: since.cloned() }
        };
        let mut functions = Vec::new();
        for pattern in &self.required {
            functions.extend(expand(pattern).into_iter().map(|name| function(name, None)));
        }
        for optional in &self.optional {
            for pattern in &optional.functions {
                functions
                    .extend(expand(pattern).into_iter().map(|name| function(name, Some(&optional.since))));
            }
        }
        functions
    }

    /// The names to look for, by declaration.
    fn symbols(&self) -> std::collections::BTreeMap<String, Vec<String>> {
        let mut all = std::collections::BTreeMap::<String, Vec<String>>::new();
        for (pattern, symbols) in &self.symbols {
            let patterns = match symbols {
                Symbols::One(pattern) => std::slice::from_ref(pattern),
                Symbols::FirstOf(patterns) => patterns,
            };
            for symbols in patterns {
                let (declarations, symbols) = (expand(pattern), expand(symbols));
                assert_eq!(declarations.len(), symbols.len(), "functions.toml: {pattern} and its symbols");
                for (declaration, symbol) in declarations.into_iter().zip(symbols) {
                    all.entry(declaration).or_default().push(symbol);
                }
            }
        }
        all
    }
}

/// Expands a pattern as a shell does: `{s,d}axpy{,_batched}` is `saxpy`, `saxpy_batched`, `daxpy` and
/// `daxpy_batched`.
fn expand(pattern: &str) -> Vec<String> {
    let braces = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = braces else { return vec![pattern.to_owned()] };
    let ends = expand(after);
    choices
        .split(',')
        .flat_map(|choice| ends.iter().map(move |end| format!("{before}{choice}{end}")))
        .collect()
}

/// The generated file: bindgen's types, then a type per function and the table.
pub(super) fn render(stamp: &str, library: &Library, mut items: syn::File) -> Result<String, String> {
    let mut declared = std::collections::BTreeMap::new();
    items.items.retain(|item| {
        let syn::Item::ForeignMod(block) = item else { return true };
        for function in &block.items {
            if let syn::ForeignItem::Fn(f) = function {
                declared.insert(f.sig.ident.to_string(), f.sig.clone());
            }
        }
        false
    });
    let names: Vec<String> = library.functions().into_iter().map(|function| function.declaration).collect();
    if let Some(unknown) = library.symbols().keys().find(|name| !names.contains(name)) {
        return Err(format!(
            "codegen: [{}.symbols] names {unknown}, which is no function of it",
            library.name
        ));
    }
    let (mut aliases, mut fields, mut loads, mut facts) = (vec![], vec![], vec![], vec![]);
    let mut stubs: Vec<syn::FieldValue> = vec![];
    for function in library.functions() {
        let signature = declared.get(&function.declaration).ok_or_else(|| {
            format!("codegen: {:?} do not declare {}", library.headers, function.declaration)
        })?;
        let (field, alias) =
            (format_ident!("{}", function.declaration), format_ident!("{}_fn", function.declaration));
        let (inputs, output) = (&signature.inputs, &signature.output);
        aliases.push(quote! { pub type #alias = unsafe extern "C" fn(#inputs) #output; });
        let symbol = &function.symbol;
        match &function.since {
            None => {
                fields.push(quote! { pub #field: #alias });
                let before = &function.before;
                stubs.extend(stub(&field, signature, library)?);
                loads.push(match before.is_empty() {
                    true => quote! { #field: source.required(#symbol)? },
                    false => quote! { #field: source.first_of(&[#(#before,)* #symbol])? },
                });
                facts.push(quote! { crate::Symbol { name: #symbol, since: None } });
            }
            Some(since) => {
                if !function.before.is_empty() {
                    return Err(format!("codegen: {symbol} is optional and has several names"));
                }
                fields.push(quote! { pub #field: crate::Optional<#alias> });
                stubs.push(syn::parse_quote! { #field: crate::Optional::absent(#symbol, #since) });
                loads.push(quote! { #field: source.optional(#symbol, #since) });
                facts.push(quote! { crate::Symbol { name: #symbol, since: Some(#since) } });
            }
        }
    }
    let (first, rest) = library.name.split_at(1);
    let table = format_ident!("{}{rest}Table", first.to_uppercase());
    let items = items.items;
    let idents = |names: &[String]| names.iter().map(|name| format_ident!("{name}")).collect::<Vec<_>>();
    let (from_hip, from_rocblas) = (idents(&library.from_hip), idents(&library.from_rocblas));
    let hip = (!from_hip.is_empty()).then(|| quote! { use super::hip::{#(#from_hip),*}; });
    let rocblas = (!from_rocblas.is_empty()).then(|| quote! { use super::rocblas::{#(#from_rocblas),*}; });
    let not_implemented = library.not_implemented.is_some().then(|| {
        quote! {
            pub const fn not_implemented() -> Self {
                Self { #(#stubs),* }
            }
        }
    });
    let file = syn::parse2(quote! {
        #hip
        #rocblas
        #(#items)*
        #(#aliases)*
        #[derive(Clone)]
        pub struct #table { #(#fields),* }
        impl #table {
            pub const SYMBOLS: &'static [crate::Symbol] = &[#(#facts),*];
            pub(crate) fn load(source: &crate::loader::Source) -> Result<Self, crate::LoadError> {
                Ok(Self { #(#loads),* })
            }
            #not_implemented
        }
    })
    .map_err(|e| format!("codegen: the table does not parse: {e}"))?;
    Ok(format!("{stamp}\n\n{}", prettyplease::unparse(&file)))
}

/// A field of `not_implemented`: a function that returns that status, or does nothing if its result is not a
/// status.
fn stub(
    field: &syn::Ident,
    signature: &syn::Signature,
    library: &Library,
) -> Result<Option<syn::FieldValue>, String> {
    let Some(status) = &library.not_implemented else { return Ok(None) };
    let status: syn::Path = syn::parse_str(status).map_err(|e| format!("codegen: {status}: {e}"))?;
    let types = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(input) => Some(&input.ty),
        syn::FnArg::Receiver(_) => None,
    });
    let output = &signature.output;
    let body = match output {
        syn::ReturnType::Default => quote! {},
        syn::ReturnType::Type(_, answer) => match &**answer {
            syn::Type::Ptr(pointer) if matches!(pointer.mutability, syn::PointerMutability::Const(_)) => {
                quote! { ::core::ptr::null() }
            }
            syn::Type::Path(path) if path.path.is_ident("bool") => quote! { false },
            syn::Type::Path(path) if path.path.segments.first() == status.segments.first() => {
                quote! { #status }
            }
            _ => return Err(format!("codegen: what {field} answers where it does nothing is not known")),
        },
    };
    Ok(Some(syn::parse_quote! {
        #field: { unsafe extern "C" fn stub(#(_: #types),*) #output { #body } stub }
    }))
}
