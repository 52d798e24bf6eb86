//! Turns kernels.toml into Rust tables, and with the feature `host` compiles every unit for this CPU.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[derive(Deserialize)]
struct Kernels {
    family: Vec<Family>,
}

#[derive(Deserialize)]
struct Family {
    name: String,
    barriers: bool,
    waves: String,
    dtypes: Vec<String>,
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    ops: Vec<String>,
    dtypes: Option<Vec<String>>,
}

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels.toml");
    let text = fs::read_to_string(root.join("kernels.toml")).expect("kernels.toml is readable");
    let kernels: Kernels = toml::from_str(&text).expect("kernels.toml has families with groups of kernels");
    write(&out.join("families.rs"), &families(&root, &kernels));
    #[cfg(feature = "host")]
    host::build(&root, &out, &kernels);
}

/// The table of families, as an expression of type `&[Family]`.
fn families(root: &Path, kernels: &Kernels) -> String {
    let mut text = String::from("&[\n");
    for family in &kernels.family {
        let waves = if family.waves == "both" { "Both" } else { "Any" };
        assert!(["any", "both"].contains(&family.waves.as_str()), "waves of {} is any or both", family.name);
        let file = format!("{}.hip", family.name);
        println!("cargo::rerun-if-changed={file}");
        let source = root.join(&file);
        text += &format!(
            "Family {{ name: {:?}, file: {file:?}, source: include_str!({source:?}), barriers: {:?}, waves: Waves::{waves}, \
             dtypes: &{:?}, groups: &[\n",
            family.name, family.barriers, family.dtypes
        );
        for group in &family.group {
            let dtypes = group.dtypes.as_ref().unwrap_or(&family.dtypes);
            text +=
                &format!("Group {{ name: {:?}, ops: &{:?}, dtypes: &{dtypes:?} }},\n", group.name, group.ops);
        }
        text += "] },\n";
    }
    text + "]\n"
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
}

#[cfg(feature = "host")]
mod host {
    use super::{Family, Kernels, write};
    use std::path::Path;
    use std::{env, fs};

    /// Vectors at -O2, where GCC's cost model would give up on loops whose length it does not know. No flag may allow what
    /// IEEE 754 does not.
    const VECTORS: [&str; 2] = ["-ftree-vectorize", "-fvect-cost-model=dynamic"];
    /// Target features that change which instructions the compiler may use, by their Rust names.
    const FEATURES: [&str; 5] = ["avx", "avx2", "fma", "f16c", "bmi2"];

    /// Compiles all units into one library, and writes the list of their entries.
    pub(super) fn build(root: &Path, out: &Path, kernels: &Kernels) {
        for header in [
            "portable.hpp",
            "activations.hpp",
            "block_join.hpp",
            "packs_gfx9.hpp",
            "pairs_amd.hpp",
            "erf_amd.hpp",
            "rows.hpp",
            "reductions.hpp",
            "rows_gfx9.hpp",
            "softmax_gfx9.hpp",
            "norm_gfx9.hpp",
            "exp_amd.hpp",
            "reduce_lean.hpp",
            "reduce_gfx11.hpp",
            "columns_lean.hpp",
            "half_rows.hpp",
            "transpose_gfx9.hpp",
            "digits.hpp",
            "attention.hpp",
            "mma.hpp",
            "conv.hpp",
            "conv_tiles.hpp",
            "conv_wide.hpp",
        ] {
            println!("cargo::rerun-if-changed={header}");
        }
        let include = env::var_os("DEP_HIPHOST_INCLUDE").expect("hip-host's build script names its headers");
        println!("cargo::rerun-if-changed={}", Path::new(&include).display());
        // Units are named from here on by paths within OUT_DIR, so that a cache of compilers' work knows them in every build.
        env::set_current_dir(out).expect("OUT_DIR can be entered");
        let units = Path::new("units");
        fs::create_dir_all(units).expect("OUT_DIR is writable");

        let mut build = cc::Build::new();
        build
            .cpp(true)
            .opt_level(2)
            .debug(false)
            .force_frame_pointer(false)
            .pic(true)
            .include(include)
            .include(root);
        for flag in VECTORS {
            build.flag_if_supported(flag);
        }
        let enabled = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
        for feature in FEATURES.iter().filter(|feature| enabled.split(',').any(|name| name == **feature)) {
            build.flag_if_supported(format!("-m{feature}"));
        }
        // Those of all host kernels, and a sanitizer's: behind ours, because the last level of optimisation counts.
        let flags = env::var("DEP_HIPHOST_FLAGS").expect("hip-host's build script names flags");
        build.flags(flags.split_whitespace());
        // For programs that run few units under a sanitizer, for which kernels compile slowly: dtypes, and units by name.
        println!("cargo::rerun-if-env-changed=HIPSTACK_HOST_UNITS");
        let only = env::var("HIPSTACK_HOST_UNITS").ok();
        let names: Vec<String> = kernels
            .family
            .iter()
            .flat_map(|family| {
                family.dtypes.iter().flat_map(|dtype| [dtype.clone(), format!("{}_{dtype}", family.name)])
            })
            .collect();
        for word in only.iter().flat_map(|only| only.split(',')) {
            assert!(
                names.iter().any(|name| name == word),
                "HIPSTACK_HOST_UNITS has {word:?}: no dtype and no unit"
            );
        }
        let is_named = |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == name));
        let mut entries = Vec::new();
        for family in &kernels.family {
            for dtype in &family.dtypes {
                if is_named(dtype) || is_named(&format!("{}_{dtype}", family.name)) {
                    entries.extend(unit(&mut build, root, units, family, dtype));
                }
            }
        }
        build.compile("kernels_hip_host");
        write(&out.join("host.rs"), &registration(&entries));
    }

    /// Adds the translation units of a unit: its source behind the macros that it is built with. Returns their entries.
    fn unit(build: &mut cc::Build, root: &Path, units: &Path, family: &Family, dtype: &str) -> Vec<String> {
        let name = format!("{}_{dtype}", family.name);
        let source = root.join(format!("{}.hip", family.name));
        let waves: &[u32] = if family.waves == "both" { &[32, 64] } else { &[0] };
        let one = |wave: &u32| {
            let suffix = if *wave == 0 { "any".into() } else { format!("w{wave}") };
            let mut text = format!("#define HIPHOST_UNIT {name}\n#define DTYPE_{dtype}\n");
            if *wave != 0 {
                text += &format!("#define WAVE_SIZE {wave}\n");
            }
            if !family.barriers {
                text += "#define HIPHOST_NO_BARRIERS\n";
            }
            let file = units.join(format!("{name}_{suffix}.cpp"));
            write(&file, &format!("{text}#include \"{}\"\n", source.display()));
            build.file(file);
            format!("hiphost_module_{name}_{suffix}")
        };
        waves.iter().map(one).collect()
    }

    /// Declarations of the entries, and the list of them.
    fn registration(entries: &[String]) -> String {
        let mut text = String::from("unsafe extern \"C\" {\n");
        for entry in entries {
            text += &format!(
                "fn {entry}(runtime: *const hip_host::abi::Runtime) -> *const hip_host::abi::Module;\n"
            );
        }
        text += &format!("}}\nstatic ENTRIES: [hip_host::ModuleEntry; {}] = [\n", entries.len());
        for entry in entries {
            text += &format!("{entry},\n");
        }
        text + "];\n"
    }
}
