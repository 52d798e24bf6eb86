//! Runs bindgen: a header becomes Rust items, without comments.

use super::{headers::Headers, tables::Library};
use bindgen::EnumVariation;

/// The items that bindgen generates for the library's functions and all types that they need.
pub(super) fn generate(headers: &Headers, library: &Library) -> Result<syn::File, String> {
    let mut builder = bindgen::Builder::default()
        .header_contents(
            "wrapper.h",
            &["stdbool.h", "stdint.h", "stddef.h"]
                .into_iter()
                .chain(library.headers.iter().map(String::as_str))
                .map(|h| format!("#include <{h}>\n"))
                .collect::<String>(),
        )
        .clang_args(["-x", library.language.as_str(), "-D__HIP_PLATFORM_AMD__"])
        .clang_args(library.defines.iter().map(|name| format!("-D{name}")))
        .clang_args(headers.folders.iter().map(|f| format!("-I{}", f.display())))
        .generate_comments(false)
        .use_core()
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        .derive_default(true)
        .derive_eq(true)
        .derive_hash(true)
        .layout_tests(true)
        .allowlist_recursively(true);
    for function in library.functions() {
        builder = builder.allowlist_function(&function.declaration);
    }
    for name in &library.from_hip {
        // A handle of HIP points to a structure with the same name prefixed by `i`.
        builder = builder.blocklist_type(format!("i?{name}"));
    }
    for name in &library.from_rocblas {
        // A typedef of rocBLAS has its enumeration's name without the underscore at the end, or its structure's without the one before.
        builder = builder.blocklist_type(format!("_?{name}_?"));
    }
    for name in &library.opaque {
        builder = builder.opaque_type(name);
    }
    for name in &library.types {
        builder = builder.allowlist_type(name);
    }
    for pattern in &library.constants {
        builder = builder.allowlist_var(pattern);
    }
    let text = builder.generate().map_err(|e| format!("codegen: {:?}: {e}", library.headers))?.to_string();
    syn::parse_file(&text).map_err(|e| format!("codegen: bindgen wrote what syn cannot read: {e}"))
}
