//! The compilers that build the workspace and its kernels.

use super::Item;
use crate::build_kernels::compiler::{self, Compiler};
use crate::build_kernels::target::Platform;
use crate::resources::disassembly::Disassembler;
use crate::workspace;
use std::process::Command;

const SECTION: &str = "Compilers";

pub(super) fn look() -> Vec<Item> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rust = match workspace::output_of(Command::new(rustc).arg("--version")) {
        Some(version) => Item::found(SECTION, "Rust", version.trim()),
        None => Item::absent(SECTION, "Rust", "rustc does not start", "install it with rustup"),
    };
    let host =
        compiler_item("C++ compiler", compiler::host(), "install g++ or clang: hip-host's kernels need it");
    let no_rocm = "only needed to build AMD code objects ahead of time: install ROCm, or on Debian 12 \
                   apt-get install hipcc libamdhip64-dev rocm-device-libs clang-19 lld-19";
    let no_cuda =
        "only needed to build NVIDIA cubins ahead of time: install CUDA 13, or run ci/fetch-nvcc.sh";
    let mut items = vec![rust.needed(), host.needed()];
    items.extend(amd(no_rocm));
    items.push(compiler_item("NVIDIA nvcc", compiler::nvidia(), no_cuda));
    let no_objdump = "only needed to look at loops of kernels: on Debian 12 apt-get install llvm-19";
    let no_nvdisasm = "only needed to look at loops of kernels: install CUDA, or run ci/fetch-nvcc.sh";
    items.push(disassembler("AMD disassembler", Platform::Amd, no_objdump));
    items.push(disassembler("NVIDIA disassembler", Platform::Nvidia, no_nvdisasm));
    items
}

/// AMD's architectures, one line for those that one compiler would build.
fn amd(remedy: &str) -> Vec<Item> {
    let mut groups: Vec<(Result<Compiler, String>, Vec<String>)> = Vec::new();
    for target in Platform::Amd.all_targets() {
        let found = compiler::amd_for(&target.arch);
        let same = |group: &Result<Compiler, String>| match (group, &found) {
            (Ok(one), Ok(other)) => one == other,
            (Err(_), Err(_)) => true,
            _ => false,
        };
        match groups.iter_mut().find(|(group, _)| same(group)) {
            Some((_, archs)) => archs.push(target.arch),
            None => groups.push((found, vec![target.arch])),
        }
    }
    let item = |(found, archs): (Result<Compiler, String>, Vec<String>)| {
        let note = found.as_ref().ok().and_then(Compiler::note).map(|note| format!(" ({note})"));
        let name = format!("AMD {}", archs.join(" "));
        let item = compiler_item(&name, found, remedy);
        Item { detail: item.detail.clone() + &note.unwrap_or_default(), ..item }
    };
    groups.into_iter().map(item).collect()
}

fn disassembler(name: &str, platform: Platform, remedy: &str) -> Item {
    match Disassembler::find(platform) {
        Some(found) => Item::found(SECTION, name, found.to_string()),
        None => Item::absent(SECTION, name, "none found", remedy),
    }
}

fn compiler_item(name: &str, found: Result<Compiler, String>, remedy: &str) -> Item {
    match found {
        Ok(compiler) => Item::found(SECTION, name, compiler.to_string()),
        Err(why) => Item::absent(SECTION, name, why.split(';').next().unwrap_or_default(), remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_of_amds_is_in_one_line() {
        let names: Vec<String> = amd("install it").into_iter().map(|item| item.name).collect();
        let mut archs: Vec<&str> = names.iter().flat_map(|name| name.split(' ').skip(1)).collect();
        archs.sort_unstable();
        let mut all: Vec<String> =
            Platform::Amd.all_targets().into_iter().map(|target| target.arch).collect();
        all.sort();
        assert_eq!(archs, all);
    }
}
