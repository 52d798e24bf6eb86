//! The instructions of a compiled object: a disassembler's output as functions, branches and loops.

use super::Vendor;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest LLVM whose disassembler is used. Only the disassembler of their own compiler knows the newest
/// chips' instructions.
const OLDEST_LLVM: u32 = 19;

/// A program that prints instructions.
pub struct Disassembler {
    program: PathBuf,
    vendor: Vendor,
    /// Its version output.
    pub version: String,
}

/// The instructions of one kernel, by address.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub instructions: Vec<Instruction>,
}

/// One instruction.
#[derive(Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub at: u64,
    /// Its name, such as `v_add_f32_e32`.
    pub name: String,
    /// The address that it may jump to within the function.
    pub target: Option<u64>,
}

/// A part of a function that ends with a jump to its beginning: the addresses of its first and last
/// instruction.
pub(super) type Loop = (u64, u64);

impl fmt::Display for Disassembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.program.display(), self.version)
    }
}

impl Disassembler {
    /// The first of these files that runs and knows the vendor's instructions: llvm-objdump or nvdisasm.
    pub fn find(vendor: Vendor, candidates: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        candidates.into_iter().filter(|file| file.is_file()).find_map(|program| {
            let text = output_of(Command::new(&program).arg("--version"))?;
            let line = |word: &str| text.lines().find(|line| line.contains(word)).map(str::trim);
            let version = line("LLVM version").or_else(|| line("release"))?.to_string();
            let old = llvm_version(&version).is_some_and(|version| version < OLDEST_LLVM);
            (!old).then_some(Self { program, vendor, version })
        })
    }

    /// The kernels of an object file.
    ///
    /// # Errors
    /// The program does not start, or cannot read the object.
    pub fn functions(&self, object: &Path) -> Result<Vec<Function>, String> {
        let option = if self.vendor == Vendor::Nvidia { "-c" } else { "-d" };
        let out = Command::new(&self.program)
            .arg(option)
            .arg(object)
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.program.display()))?;
        if !out.status.success() {
            let text = String::from_utf8_lossy(&out.stderr);
            return Err(format!("{} cannot read {}: {text}", self.program.display(), object.display()));
        }
        let text = String::from_utf8_lossy(&out.stdout);
        Ok(if self.vendor == Vendor::Nvidia { nvidia(&text) } else { amd(&text) })
    }
}

/// The output of a command, if it succeeds.
fn output_of(command: &mut Command) -> Option<String> {
    let out = command.output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

/// The number in `LLVM version 19.1.7`.
fn llvm_version(text: &str) -> Option<u32> {
    text.split("LLVM version ").nth(1)?.split('.').next()?.trim().parse().ok()
}

impl Function {
    /// Its loops; several jumps to the same address are one loop.
    pub(super) fn loops(&self) -> Vec<Loop> {
        let mut ends = BTreeMap::<u64, u64>::new();
        for instruction in &self.instructions {
            // A jump to itself stops the program and is not a loop.
            if let Some(first) = instruction.target.filter(|target| *target < instruction.at) {
                let end = ends.entry(first).or_default();
                *end = instruction.at.max(*end);
            }
        }
        ends.into_iter().collect()
    }
}

/// The loops that contain no other loop.
pub(super) fn innermost(loops: &[Loop]) -> Vec<Loop> {
    let holds = |outer: &Loop, inner: &Loop| outer != inner && outer.0 <= inner.0 && inner.1 <= outer.1;
    loops.iter().filter(|outer| !loops.iter().any(|inner| holds(outer, inner))).copied().collect()
}

/// Parses the output of llvm-objdump: `0000000000001900 <name>:`, then lines such as `s_cbranch_scc1 65503 //
/// 0000000074BC: BF89FFDF <name+0x13c>`.
fn amd(text: &str) -> Vec<Function> {
    let mut functions = Vec::<Function>::new();
    let mut start = 0;
    for line in text.lines() {
        if let Some((address, name)) = amd_heading(line) {
            start = address;
            functions.push(Function { name: name.into(), instructions: Vec::new() });
        } else if let (Some(function), Some((code, comment))) = (functions.last_mut(), line.split_once("//"))
        {
            let Some(name) = code.split_whitespace().next() else { continue };
            let Some(at) = comment.trim().split(':').next().and_then(|at| u64::from_str_radix(at, 16).ok())
            else {
                continue;
            };
            let label = comment.rsplit_once('<').map(|(_, label)| label.trim_end_matches('>'));
            let target = label.filter(|_| name.contains("branch")).and_then(|label| {
                let (symbol, offset) = label.split_once("+0x").unwrap_or((label, "0"));
                let offset = u64::from_str_radix(offset, 16).ok()?;
                (symbol == function.name).then_some(start + offset)
            });
            function.instructions.push(Instruction { at, name: name.into(), target });
        }
    }
    functions
}

fn amd_heading(line: &str) -> Option<(u64, &str)> {
    let (address, name) = line.split_once(" <")?;
    let name = name.strip_suffix(">:")?;
    Some((u64::from_str_radix(address, 16).ok()?, name))
}

/// Parses the output of nvdisasm: `.text.name:`, labels such as `.L_x_12:`, and lines such as ``/*0230*/ @!P0
/// BRA `(.L_x_12) ;``.
fn nvidia(text: &str) -> Vec<Function> {
    let mut functions = Vec::<Function>::new();
    let mut labels = BTreeMap::<&str, u64>::new();
    let mut jumps = Vec::<(usize, usize, &str)>::new();
    let mut open = Vec::<&str>::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix(".text.").and_then(|name| name.strip_suffix(':')) {
            functions.push(Function { name: name.into(), instructions: Vec::new() });
        } else if let Some(label) = line.strip_suffix(':') {
            open.push(label);
        } else if let (Some((at, code)), true) =
            (line.strip_prefix("/*").and_then(|line| line.split_once("*/")), !functions.is_empty())
        {
            let Ok(at) = u64::from_str_radix(at, 16) else { continue };
            let Some(name) = code.split_whitespace().find(|word| !word.starts_with('@')) else { continue };
            labels.extend(open.drain(..).map(|label| (label, at)));
            let function = functions.len() - 1;
            if name.starts_with("BRA")
                && let Some((_, label)) = code.split_once("`(")
            {
                let label = label.split(')').next().unwrap_or_default();
                jumps.push((function, functions[function].instructions.len(), label));
            }
            let name = name.trim_end_matches(';').to_string();
            functions[function].instructions.push(Instruction { at, name, target: None });
        }
    }
    for (function, instruction, label) in jumps {
        functions[function].instructions[instruction].target = labels.get(label).copied();
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMD: &str = "
f.hsaco:\tfile format elf64-amdgpu

Disassembly of section .text:

0000000000007300 <neg_i16>:
	s_load_dwordx2 s[56:57], s[6:7], 0x18                      // 000000007300: C0060E03 00000018
	s_cbranch_scc1 2                                           // 000000007308: BF8500AD <neg_i16+0x10>
	global_load_dwordx4 v[10:13], v[10:11], off offset:-8      // 00000000730C: DC5C9FF8 0A7F000A
	s_cbranch_execnz 65503                                     // 000000007314: BF89FFDF <neg_i16+0xc>
	s_cbranch_execnz 65503                                     // 000000007318: BF89FFDF <neg_i16+0x8>
	s_endpgm                                                   // 00000000731C: BF810000

0000000000007400 <abs_i16>:
	s_branch 65535                                             // 000000007400: BF81FFFF <abs_i16>
";

    const NVIDIA: &str = "
	.section	.text.neg_f32,\"ax\",@progbits
neg_f32:
.text.neg_f32:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_2) ;
.L_x_1:
        /*0020*/                   LDG.E.128 R4, desc[UR58][R22.64] ;
        /*0030*/              @!P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0040*/                   EXIT ;
.L_x_3:
        /*0050*/                   BRA `(.L_x_3);
        /*0060*/                   NOP;
";

    #[test]
    fn amds_functions_have_their_loops() {
        let functions = amd(AMD);
        let names: Vec<_> = functions.iter().map(|f| (f.name.as_str(), f.instructions.len())).collect();
        assert_eq!(names, [("neg_i16", 6), ("abs_i16", 1)]);
        assert_eq!(functions[0].instructions[2].name, "global_load_dwordx4");
        let loops = functions[0].loops();
        assert_eq!(loops, [(0x7308, 0x7318), (0x730c, 0x7314)]);
        assert_eq!(innermost(&loops), [(0x730c, 0x7314)]);
        assert_eq!(functions[1].loops(), [], "a jump to itself");
    }

    #[test]
    fn nvidias_functions_have_their_loops() {
        let functions = nvidia(NVIDIA);
        assert_eq!(functions.len(), 1);
        assert_eq!(functions[0].loops(), [(0x20, 0x30)]);
        let names: Vec<_> = functions[0].instructions.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["LDC", "BRA", "LDG.E.128", "BRA", "EXIT", "BRA", "NOP"]);
    }

    #[test]
    fn versions_are_numbers() {
        assert_eq!(llvm_version("Debian LLVM version 19.1.7"), Some(19));
        assert_eq!(llvm_version("V13.5.37"), None);
    }
}
