//! Checks that a compiler rounds a product before it adds to it, as the options ask. It disassembles a small kernel.

use super::compiler::with_parsed;
use super::target::{Platform, Target};
use super::toolchain::Toolchain;
use crate::workspace;
use kernel_resources::{Disassembler, Function};
use kernels_hip::Unit;
use std::path::Path;

/// It is compiled with a real unit's command line.
const SOURCE: &str = "#include \"portable.hpp\"
extern \"C\" __global__ void contraction(float* out, double* wide, float a, float b, float c, double x, double y, double z) {
    out[threadIdx.x] = a * b + c;
    wide[threadIdx.x] = x * y + z;
}
";

/// Compiles the small kernel in the folder `work` and looks at its instructions.
pub(super) fn check(
    toolchain: &Toolchain,
    target: &Target,
    unit: &Unit,
    sources: &Path,
    work: &Path,
    disassembler: &Disassembler,
    headers: Option<&Path>,
) -> Result<(), String> {
    let source = work.join("contraction.hip");
    let object = work.join(format!("contraction.{}", target.platform.extension()));
    workspace::write_whole(&source, SOURCE.as_bytes())?;
    let mut command = toolchain.command(target, unit, sources, &source, &object);
    with_parsed(&mut command, headers);
    let out = command
        .env("TMPDIR", work)
        .output()
        .map_err(|e| format!("cannot start {}: {e}", toolchain.compiler.program.display()))?;
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stderr);
        return Err(format!("the kernel that shows contraction ({}):\n{command:?}\n{text}", out.status));
    }
    let functions = disassembler.functions(&object)?;
    let function = functions.iter().find(|function| function.name == "contraction");
    judge(target.platform, function.ok_or("the kernel that shows contraction is not in its object")?)
}

fn judge(platform: Platform, function: &Function) -> Result<(), String> {
    let names: Vec<&str> = function.instructions.iter().map(|i| i.name.as_str()).collect();
    let fused: Vec<&str> = names.iter().copied().filter(|name| is_fused(platform, name)).collect();
    if !fused.is_empty() {
        return Err(format!("contraction is on: a * b + c became {}", fused.join(", ")));
    }
    let products = names.iter().filter(|name| is_product(platform, name)).count();
    if products < 2 {
        return Err(format!("of two products of floats {products} are seen in: {}", names.join(" ")));
    }
    Ok(())
}

/// Instructions that multiply and add floats with one rounding.
fn is_fused(platform: Platform, name: &str) -> bool {
    match platform {
        Platform::Amd => {
            let fused = ["fma", "fmac", "fmaak", "fmamk", "mad", "mac", "madak", "madmk"];
            let kinds = ["v_", "v_pk_", "v_dual_", "s_"];
            let rest = kinds.iter().filter_map(|kind| name.strip_prefix(kind));
            rest.filter_map(|rest| rest.split_once("_f")).any(|(operation, _)| fused.contains(&operation))
        }
        Platform::Nvidia => ["FFMA", "DFMA"].contains(&name.split('.').next().unwrap_or_default()),
        Platform::Host => false,
    }
}

fn is_product(platform: Platform, name: &str) -> bool {
    match platform {
        Platform::Amd => name.contains("mul_f32") || name.contains("mul_f64"),
        Platform::Nvidia => ["FMUL", "DMUL"].contains(&name.split('.').next().unwrap_or_default()),
        Platform::Host => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiler;
    use super::super::toolchain::Toolchains;
    use super::*;

    #[test]
    fn fused_instructions_are_recognised() {
        for fused in [
            "v_fma_f32",
            "v_fmac_f32_e32",
            "v_pk_fma_f32",
            "v_dual_fmac_f32",
            "v_mac_f32_e32",
            "v_fma_f64",
            "s_fmac_f32",
        ] {
            assert!(is_fused(Platform::Amd, fused), "{fused}");
        }
        for other in ["v_mul_f32_e32", "v_mad_u64_u32", "v_add_f64", "v_mad_u32_u24", "s_mul_f32"] {
            assert!(!is_fused(Platform::Amd, other), "{other}");
        }
        assert!(is_fused(Platform::Nvidia, "FFMA.FTZ") && !is_fused(Platform::Nvidia, "IMAD.WIDE"));
    }

    /// Compiles with the kernels' options, and with the contraction option reversed, where there are compilers.
    #[test]
    fn contraction_is_detected_when_it_is_enabled() {
        let root = workspace::root().expect("tests run inside the workspace");
        let unit = kernels_hip::unit("elementwise", "f32").expect("it ships");
        let mut toolchains = Toolchains::default();
        for (arch, platform, off, on) in [
            ("gfx942", Platform::Amd, "-ffp-contract=off", "-ffp-contract=fast"),
            ("sm_80", Platform::Nvidia, "-fmad=false", "-fmad=true"),
        ] {
            let target = Target::new(platform, arch).expect("known");
            let (Ok(compiler), Some(disassembler)) =
                (compiler::find(&target), compiler::disassembler(platform))
            else {
                let lacking = format!("no compiler and disassembler for {arch} here");
                match platform {
                    Platform::Amd => crate::skip::without_rocm(lacking),
                    _ => println!("skipped: {lacking}"),
                }
                continue;
            };
            let work = tempfile::tempdir().expect("the temporary folder is writable");
            let toolchain = toolchains.of(compiler, &root).expect("it was found");
            let sources = root.join("kernels-hip");
            let check = |toolchain: &Toolchain| {
                let headers = toolchain.parse_headers(&target, work.path()).expect("they compile");
                check(toolchain, &target, &unit, &sources, work.path(), &disassembler, headers.as_deref())
            };
            assert_eq!(check(&toolchain), Ok(()), "{arch}");

            let script = work.path().join("compiler");
            let program = toolchain.compiler.program.display();
            let text = format!("#!/bin/bash\nexec '{program}' \"${{@/{off}/{on}}}\"\n");
            workspace::write_whole(&script, text.as_bytes()).expect("writable");
            workspace::executable(&script).expect("ours");
            let contracting = compiler::Compiler { program: script, kind: toolchain.compiler.kind };
            let contracting = toolchains.of(contracting, &root).expect("it is a file");
            let error = check(&contracting).expect_err("contraction is on");
            assert!(error.starts_with("contraction is on: "), "{arch}: {error}");
        }
    }
}
