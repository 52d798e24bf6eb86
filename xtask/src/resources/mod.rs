//! `cargo xtask resources`: shows the GPU resources that the compiled kernels use, and what limits their
//! number of waves.

mod report;

use crate::build_kernels::manifest::Manifest;
use crate::build_kernels::target::Platform;
use crate::workspace;
use report::Row;
use std::path::{Path, PathBuf};

/// Options of `cargo xtask resources`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask resources                                  every kernel of every architecture that was built
  cargo xtask resources --arch gfx942,gfx1100 --family reduce
  cargo xtask resources --summary                        only the worst, and those that spill
  cargo xtask resources --json                           the same for programs

The figures are those that `cargo xtask build-kernels` left in the manifests below target/kernels. Columns:
  VGPR, SGPR   vector and scalar registers; on gfx90a and later VGPR includes AGPR, those for accumulation
  LDS          bytes of shared memory of a block; scratch: bytes of memory that each lane has for itself
  spills       vector + scalar registers that did not fit
  waves        waves that a SIMD can hold, with blocks of 256 threads, and what does not let it hold more
  16-byte      loads and stores of 16 bytes a lane within loops; - where there was no disassembler:
               amd     llvm-objdump of LLVM 19 or later in $ROCM_PATH/llvm/bin, /opt/rocm/llvm/bin, target/ci/rocm/bin
                       (ci/fetch-rocm-compiler.sh) or PATH
               nvidia  nvdisasm beside nvcc or in PATH (ci/fetch-nvcc.sh)")]
pub struct ResourcesArgs {
    /// Only these architectures
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    arch: Vec<String>,
    /// Only this family of kernels, such as reduce
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// Leave the table out
    #[arg(long)]
    summary: bool,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// Read below this folder instead of target/kernels
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &ResourcesArgs) -> Result<(), String> {
    let folder = match &args.out {
        Some(out) => out.clone(),
        None => workspace::root()?.join("target/kernels"),
    };
    if let Some(family) = &args.family
        && !kernels_hip::families().iter().any(|known| known.name == family)
    {
        let known: Vec<_> = kernels_hip::families().iter().map(|family| family.name).collect();
        return Err(format!("resources: no family is called {family:?}; there are: {}", known.join(" ")));
    }
    let rows = rows(&folder, &args.arch, args.family.as_deref())?;
    if args.json {
        println!("{}", report::json(&rows)?);
    } else {
        if !args.summary {
            println!("{}", report::table(&rows));
        }
        print!("{}", report::summary(&rows));
    }
    Ok(())
}

/// The kernels that the manifests list.
fn rows(folder: &Path, archs: &[String], family: Option<&str>) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut seen = Vec::new();
    for platform in [Platform::Amd, Platform::Nvidia] {
        for target in built(&folder.join(platform.name()), archs)? {
            let manifest = Manifest::read(&target)?;
            seen.push(manifest.arch.clone());
            for object in &manifest.objects {
                let of = object.unit.split('_').next().unwrap_or_default();
                if family.is_none_or(|family| family == of) {
                    rows.extend(object.resources.iter().map(|resources| Row {
                        platform: manifest.platform.clone(),
                        arch: manifest.arch.clone(),
                        family: of.to_string(),
                        resources: resources.clone(),
                    }));
                }
            }
        }
    }
    if let Some(missing) = archs.iter().find(|arch| !seen.contains(arch)) {
        return Err(format!(
            "resources: nothing is built for {missing} in {}; `cargo xtask build-kernels --arch {missing}` builds it",
            folder.display()
        ));
    }
    if rows.is_empty() {
        return Err(format!(
            "resources: no kernels of GPUs in {}; `cargo xtask build-kernels --arch gfx942` builds some",
            folder.display()
        ));
    }
    Ok(rows)
}

/// The folders of architectures, by name.
fn built(platform: &Path, archs: &[String]) -> Result<Vec<PathBuf>, String> {
    let Ok(entries) = std::fs::read_dir(platform) else { return Ok(Vec::new()) };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("cannot read {}: {e}", platform.display()))?.path();
        let wanted = archs.is_empty() || archs.iter().any(|arch| path.ends_with(arch));
        if wanted && path.join("manifest.json").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}
