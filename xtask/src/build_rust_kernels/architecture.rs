//! How a GPU's architecture is told to the compiler.

use std::path::{Path, PathBuf};

/// An architecture of AMD's or NVIDIA's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Architecture {
    pub(super) name: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// AMD's, of the generation 9 to 12.
    Amd(u32),
    Nvidia,
}

/// What becomes of panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Panics {
    /// The launch fails, and its error has file and line
    Location,
    /// The launch fails without a location
    Trap,
    /// The compiler assumes that there are none and leaves out what would find them: bounds checks and assertions. A panic is then
    /// undefined behaviour
    Never,
}

impl Panics {
    /// A name for a folder.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Location => "location",
            Self::Trap => "trap",
            Self::Never => "never",
        }
    }
}

impl Architecture {
    pub(super) fn of(name: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("{name:?} {why}"));
        let kind = if let Some(number) = name.strip_prefix("gfx") {
            // The last two digits are minor version and stepping, in hexadecimal.
            let digits = number.len() >= 3 && number.chars().all(|one| one.is_ascii_hexdigit());
            match number.len().checked_sub(2).filter(|_| digits).and_then(|end| number[..end].parse().ok()) {
                Some(generation @ 9..=11) => Kind::Amd(generation),
                // Later ones of the generation have other barriers.
                Some(12) if ["gfx1200", "gfx1201"].contains(&name) => Kind::Amd(12),
                _ => {
                    return wrong(
                        "is no chip whose barrier is known here: there are gfx9.., gfx10.., gfx11.., gfx1200 and gfx1201",
                    );
                }
            }
        } else if name
            .strip_prefix("sm_")
            .is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number >= 70))
        {
            Kind::Nvidia
        } else {
            return wrong("names no architecture: AMD's begin with gfx, NVIDIA's with sm_, from sm_70 on");
        };
        Ok(Self { name: name.to_owned(), kind })
    }

    pub(super) fn extension(&self) -> &'static str {
        match self.kind {
            Kind::Amd(_) => "co",
            Kind::Nvidia => "ptx",
        }
    }

    pub(super) fn triple(&self) -> &'static str {
        match self.kind {
            Kind::Amd(_) => "amdgcn-amd-amdhsa",
            Kind::Nvidia => "nvptx64-nvidia-cuda",
        }
    }

    /// NVIDIA's target has a linker of its own, which this nightly does not ship: a static library's code is complete without it.
    pub(super) fn crate_type(&self) -> &'static str {
        match self.kind {
            Kind::Amd(_) => "cdylib",
            Kind::Nvidia => "staticlib",
        }
    }

    /// Flags for every crate, core among them.
    pub(super) fn flags(&self, panics: Panics) -> Vec<String> {
        let mut flags = vec![format!("-Ctarget-cpu={}", self.name)];
        match panics {
            Panics::Location => flags.push("--cfg hip_kernel_panic=\"location\"".to_owned()),
            Panics::Trap => {}
            Panics::Never => flags.push("--cfg hip_kernel_panic=\"never\"".to_owned()),
        }
        if let Kind::Amd(generation) = self.kind {
            flags.push(format!("--cfg hip_kernel_gfx=\"{generation}\""));
            if generation >= 10 {
                // A block on one compute unit: what hip-kernel's barrier relies on.
                flags.push("-Ctarget-feature=+cumode".to_owned());
            }
        }
        flags
    }

    /// Flags for the crate itself.
    pub(super) fn last_flags(&self) -> Vec<&'static str> {
        match self.kind {
            // More versions of ROCm load it than the compiler's own default, 6.
            Kind::Amd(_) => vec!["-Cllvm-args=-amdhsa-code-object-version=5"],
            Kind::Nvidia => vec!["-Clto=fat", "--emit=asm"],
        }
    }

    /// The file that the compiler wrote below the target folder.
    pub(super) fn built(&self, target: &Path, library: &str) -> Result<PathBuf, String> {
        let folder = target.join(self.triple()).join("release");
        match self.kind {
            Kind::Amd(_) => Ok(folder.join(format!("{library}.elf"))),
            Kind::Nvidia => newest(&folder.join("deps"), library),
        }
    }
}

/// The newest assembly text of a library that defines a kernel. Cargo names it after a hash.
fn newest(folder: &Path, library: &str) -> Result<PathBuf, String> {
    let files = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let texts = files.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let is_ours = name.starts_with(&format!("{library}-")) && name.ends_with(".s");
        let has_kernel = || std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(".entry"));
        (is_ours && has_kernel()).then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
    });
    texts.max().map(|(_, path)| path).ok_or_else(|| format!("{library} has no function with #[kernel]"))
}
