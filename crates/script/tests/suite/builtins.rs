//! Which functions there are: those of tensor-core, and those that docs/SCRIPTS.md lists.

use std::collections::BTreeSet;
use std::fs;

use script::Options;
use tensor_core::UnaryOp;

use crate::common::{Run, project};

/// Methods of tensors that scripts do not have, and why.
const LEFT_OUT: [(&str, &str); 11] = [
    (
        "unary unary_scalar binary compare reduce reduce_all unary_assign_ binary_assign_",
        "take an operation as data; each has its name",
    ),
    (
        "apply_op1 apply_op1_no_bwd apply_op2 apply_op2_no_bwd apply_op3 apply_op3_no_bwd inplace_op1 inplace_op2 inplace_op3",
        "take operations written in Rust",
    ),
    (
        "conv1d_with conv2d_with conv_transpose1d_with conv_transpose2d_with max_pool2d_with avg_pool2d_with",
        "take a structure; the plain forms take its parts",
    ),
    (
        "conv1d_with_activation conv2d_with_activation conv_transpose1d_with_activation conv_transpose2d_with_activation linear_with_activation activate",
        "the activation has a method",
    ),
    (
        "dims dims1 dims2 dims3 dims4 dims5 elem_count strides layout storage as_strided as_strided_",
        "about memory, or the property shape",
    ),
    ("storage_references", "the property references"),
    ("to_vec0 to_vec1 to_vec2 to_vec3", "to_scalar and to_array are of any rank"),
    ("to_bytes to_cpu_storage", "there are no bytes in scripts"),
    ("sort_last_dim arg_sort_last_dim", "candle's names of sort and argsort"),
    ("interpolate1d interpolate2d", "candle's names of upsample_nearest"),
    ("scaled_dot_product_attention_capped", "of models with caps alone"),
];

#[test]
fn every_method_of_a_tensor_is_there_or_has_a_reason() {
    let run = Run::new(Options::default());
    let there: BTreeSet<&str> = run.interpreter.builtins().collect();
    let left_out: BTreeSet<&str> = LEFT_OUT.iter().flat_map(|(names, _)| names.split(' ')).collect();
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(project("crates/tensor-core/src/tensor")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        // Methods take self on the line of their name or on the next one.
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(rest) = line.strip_prefix("pub fn ") else { continue };
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let next = lines.get(index + 1).copied().unwrap_or("");
            let is_method =
                [*line, next].iter().any(|line| line.contains("&self") || line.contains("&mut self"));
            if name.is_empty() || !is_method {
                continue;
            }
            found.insert(name);
        }
    }
    assert!(found.len() > 100, "{found:?}: are methods elsewhere now?");
    for name in &found {
        assert!(
            there.contains(name.as_str()) != left_out.contains(name.as_str()),
            "{name}: add it to crates/script/src/tensors/methods.rs, or to the list here with a reason, and not to both"
        );
    }
    let stale: Vec<&&str> = left_out.iter().filter(|name| !found.contains(**name)).collect();
    assert!(stale.is_empty(), "no method of tensors: {stale:?}");
}

#[test]
fn the_page_lists_all_functions() {
    let page = fs::read_to_string(project("docs/SCRIPTS.md")).unwrap();
    let words: BTreeSet<&str> = page.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let run = Run::new(Options::default());
    // A new row of tensor-core's table needs no edit of the page, which names the table.
    assert!(page.contains("all of tensor-core's `UnaryOp`"));
    let unary = UnaryOp::ALL.map(UnaryOp::name);
    let listed = |name: &str| words.contains(name) || unary.contains(&name.strip_suffix('_').unwrap_or(name));
    let missing: Vec<&str> = run.interpreter.builtins().filter(|name| !listed(name)).collect();
    assert!(missing.is_empty(), "docs/SCRIPTS.md lacks {missing:?}");
}
