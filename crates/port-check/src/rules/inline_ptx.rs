//! NVIDIA's assembly.

use super::{Found, Look, Rule};
use crate::lex::Kind;

pub(super) const RULE: Rule = Rule { name: "inline-ptx", about: "inline PTX assembly", check };

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for word in scene.words().filter(|at| ["asm", "__asm__", "__asm"].contains(&scene.text(*at))) {
            let open = (word + 1..word + 4).find(|at| scene.is(*at, "("));
            let Some(text) =
                open.and_then(|open| scene.tokens.get(open + 1)).filter(|token| token.kind == Kind::Text)
            else {
                continue;
            };
            let code = text.text.trim_matches('"').trim();
            if !code.is_empty() && !is_amd(code) {
                let instruction =
                    code.split([' ', ';', '\\']).find(|part| part.contains('.')).unwrap_or("the text");
                let reason = format!(
                    "AMD's assembler does not know PTX, here `{}`.",
                    instruction.trim_matches(['{', '}', '"', '\t'])
                );
                let remedy = "Write it in C++ or with AMD's `__builtin_amdgcn_…` functions, in a branch for `__HIP_PLATFORM_AMD__`.";
                found.breaks(scene.tokens[word].at, reason, remedy);
            }
        }
    }
}

/// Whether an instruction is AMD's.
fn is_amd(code: &str) -> bool {
    ["s_", "v_", "ds_", "global_", "buffer_", "flat_", ";"].iter().any(|start| code.starts_with(start))
}
