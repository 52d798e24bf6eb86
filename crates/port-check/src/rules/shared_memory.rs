//! Shared memory beyond what a block gets.

use super::{Found, Look, Rule};
use crate::lex::Token;
use crate::preprocess::Macros;
use crate::scene::Scene;

pub(super) const RULE: Rule = Rule {
    name: "shared-memory",
    about: "more than 64 KiB of shared memory, and CUDA's way to ask for it",
    check,
};

/// The bytes of shared memory that a block has on all of AMD's GPUs but gfx950.
const LIMIT: i64 = 64 << 10;
const OPT_IN: [&str; 3] = [
    "cudaFuncAttributeMaxDynamicSharedMemorySize",
    "hipFuncAttributeMaxDynamicSharedMemorySize",
    "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for at in scene.words().filter(|at| OPT_IN.contains(&scene.text(*at))) {
            let reason = "AMD's GPUs have nothing to opt in to: a block gets at most 64 KiB of shared memory, and 160 KiB on gfx950.";
            found.check(
                scene.tokens[at].at,
                reason,
                "Read the limit from the device's properties, and choose smaller tiles for AMD's GPUs.",
            );
        }
        for function in &scene.functions {
            let (mut bytes, mut first) = (0, None);
            for at in function.body.clone().filter(|at| scene.text(*at) == "__shared__") {
                if let Some(size) = array_bytes(scene, at, look.macros) {
                    bytes = i64::saturating_add(bytes, size);
                    first.get_or_insert(at);
                }
            }
            if let Some(first) = first.filter(|_| bytes > LIMIT) {
                let reason = format!(
                    "The arrays of this function take {bytes} bytes of shared memory, and the compiler allows 65536 (163840 for gfx950)."
                );
                found.breaks(scene.tokens[first].at, reason, "Choose smaller tiles for AMD's GPUs.");
            }
        }
    }
}

/// The bytes of an array `__shared__ T name[A][B];` whose sizes are known.
fn array_bytes(scene: &Scene<'_>, at: usize, macros: &Macros) -> Option<i64> {
    let end = (at..scene.tokens.len()).find(|end| scene.is(*end, ";"))?;
    let open = (at..end).find(|open| scene.is(*open, "["))?;
    let mut bytes = size_of(scene.tokens.get(at + 1..open - 1)?)?;
    let mut open = open;
    while scene.is(open, "[") {
        let close = scene.close(open)?;
        bytes = scene.tokens[open + 1..close].split(|token| token.is("*")).try_fold(
            bytes,
            |bytes: i64, factor| match factor {
                [one] => bytes.checked_mul(one.integer().or_else(|| macros.integer(one.text))?),
                _ => None,
            },
        )?;
        open = close + 1;
    }
    Some(bytes)
}

fn size_of(of: &[Token<'_>]) -> Option<i64> {
    match of.last()?.text {
        "double" | "int64_t" | "uint64_t" | "float2" | "size_t" => Some(8),
        "float" | "int" | "unsigned" | "uint32_t" | "int32_t" | "half2" | "__half2" => Some(4),
        "half" | "__half" | "short" | "int16_t" | "uint16_t" | "nv_bfloat16" | "__nv_bfloat16" => Some(2),
        "char" | "int8_t" | "uint8_t" => Some(1),
        "float4" | "int4" | "uint4" => Some(16),
        _ => None,
    }
}
