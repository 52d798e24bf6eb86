//! Finds kernels that do nothing. Sources that do not know a chip could leave a kernel empty, or end it with a trap.

use super::target::Platform;
use object::{File, Object, ObjectSection, ObjectSymbol};

/// A kernel of this many bytes in a cubin does nothing: nvcc pads it to eight instructions.
const LEAST_OF_NVIDIA: u64 = 128;

/// Those of the given kernels that do nothing.
///
/// # Errors
/// The code of a kernel is not in the file.
pub(super) fn among<'a>(
    platform: Platform,
    file: &File<'_>,
    kernels: &'a [String],
) -> Result<Vec<&'a str>, String> {
    let mut idle = Vec::new();
    for name in kernels {
        let does_nothing = match platform {
            Platform::Amd => is_idle(code_of(file, name)?),
            Platform::Nvidia => function(file, name)?.size() <= LEAST_OF_NVIDIA,
            // Tests run these kernels.
            Platform::Host => false,
        };
        if does_nothing {
            idle.push(name.as_str());
        }
    }
    Ok(idle)
}

fn function<'data, 'file>(
    file: &'file File<'data>,
    name: &str,
) -> Result<object::Symbol<'data, 'file>, String> {
    let mut named = file.symbols().filter(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
    named.next().ok_or_else(|| format!("it has no code of {name}"))
}

/// The instructions of a kernel.
fn code_of<'data>(file: &File<'data>, name: &str) -> Result<&'data [u8], String> {
    let symbol = function(file, name)?;
    let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
    let code = section.and_then(|section| section.data_range(symbol.address(), symbol.size()).ok().flatten());
    code.ok_or_else(|| format!("the code of {name} is not in the file"))
}

/// Whether AMD's code neither reads nor writes memory: it has only instructions of the scalar unit, such as `s_endpgm` and
/// `s_trap`. Scalar loads have another format.
fn is_idle(code: &[u8]) -> bool {
    let mut words = code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    while let Some(word) = words.next() {
        let Some(constants) = scalar(word) else { return false };
        for _ in 0..constants {
            words.next();
        }
    }
    true
}

/// How many constant words follow an instruction of the scalar unit; `None` for any other instruction. The formats are from
/// AMD's ISA documents, chapter "Microcode Formats". They have the same encoding from gfx6 to gfx12.
fn scalar(word: u32) -> Option<usize> {
    if word >> 30 != 0b10 {
        return None;
    }
    // An operand of 255 means that a 32-bit constant follows. On gfx1250, 254 means that a 64-bit one does.
    let constants = |operands: &[u32]| {
        let words = operands.iter().map(|shift| match word >> shift & 0xff {
            255 => 1,
            254 => 2,
            _ => 0,
        });
        words.max().unwrap_or(0)
    };
    Some(match word >> 23 & 0x1ff {
        // SOP1, SOPC and SOPP.
        0b1_0111_1101 => constants(&[0]),
        0b1_0111_1110 => constants(&[0, 8]),
        0b1_0111_1111 => 0,
        // SOPK: one of these opcodes sets a hardware register to a constant that follows. Its number depends on the generation.
        kind if kind >> 5 == 0b1011 => usize::from(matches!(kind & 0x1f, 19..=21)),
        // SOP2.
        _ => constants(&[0, 8]),
    })
}

#[cfg(test)]
mod tests {
    use super::super::compiler;
    use super::super::target::Target;
    use super::*;
    use crate::workspace;
    use std::process::Command;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn code_that_only_ends_traps_or_counts_is_idle() {
        for code in [
            &[][..],
            // s_endpgm of gfx9 and of gfx11.
            &[0xbf81_0000],
            &[0xbfb0_0000],
            // s_trap 2 before it.
            &[0xbf92_0002, 0xbf81_0000],
            // s_and_b32 s0, s0, 0x3ff: its constant must not be read as an instruction.
            &[0x8b00_ff00, 0x0000_03ff, 0xbfb0_0000],
            // s_setreg_imm32_b32 of gfx12.
            &[0xb980_0641, 0x0000_0001, 0xbfb0_0000],
        ] {
            assert!(is_idle(&words(code)), "{code:x?}");
        }
        for code in [
            // v_mov_b32 v0, 0 and global_store_dword of gfx9.
            &[0x7e00_0280, 0xdc70_8000, 0x007f_0000, 0xbf81_0000][..],
            // s_load_dwordx2 of gfx9, and of gfx11.
            &[0xc006_0003, 0x0000_0000, 0xbf81_0000],
            &[0xf404_0000, 0xf800_0000, 0xbfb0_0000],
        ] {
            assert!(!is_idle(&words(code)), "{code:x?}");
        }
    }

    const SOURCE: &str = "extern \"C\" __attribute__((global)) void nothing(int* p) {}
extern \"C\" __attribute__((global)) void traps(int* p) { __builtin_trap(); }
extern \"C\" __attribute__((global)) void writes(int* p) { *p = 1; }
";

    /// Runs only where there is a compiler of AMD's.
    #[test]
    fn compiled_kernels_that_do_nothing_are_named() {
        let Ok(compiler) = compiler::amd() else {
            return crate::skip::without_rocm("no compiler of AMD's here");
        };
        let work = tempfile::tempdir().expect("the temporary folder is writable");
        let (source, object) = (work.path().join("idle.hip"), work.path().join("idle.hsaco"));
        workspace::write_whole(&source, SOURCE.as_bytes()).expect("writable");
        for arch in ["gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250"] {
            let target = Target::new(Platform::Amd, arch).expect("known");
            let mut command = Command::new(&compiler.program);
            command.args(["--genco", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-O3"]);
            command.arg(format!("--offload-arch={arch}")).arg("-o").arg(&object).arg(&source);
            let out = command.output().expect("it starts");
            assert!(out.status.success(), "{arch}: {}", String::from_utf8_lossy(&out.stderr));
            let bytes = std::fs::read(&object).expect("it was written");
            let check = |names: &[&str]| {
                let names: Vec<String> = names.iter().map(ToString::to_string).collect();
                super::super::object_file::check(&target, &bytes, &names)
            };
            assert_eq!(check(&["writes"]), Ok(()), "{arch}");
            let error = check(&["nothing", "traps", "writes"]).expect_err("two do nothing");
            assert_eq!(error, "2 of 3 kernels do nothing: nothing traps", "{arch}");
        }
    }
}
