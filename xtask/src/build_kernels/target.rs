//! What kernels are built for: a platform and one of its architectures.

use std::fmt;

/// A platform that has its own compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Platform {
    /// AMD's GPUs: ELF code objects.
    Amd,
    /// NVIDIA's GPUs: cubins.
    Nvidia,
    /// This CPU: the objects that the crate kernels-hip links in, compiled here to see that they compile.
    Host,
}

/// AMD's architectures that the compilers named in docs build for.
const AMD: [&str; 12] = [
    "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1151",
    "gfx1200", "gfx1201",
];

impl Platform {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Amd, Self::Nvidia, Self::Host];

    /// Name of its folder and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amd => "amd",
            Self::Nvidia => "nvidia",
            Self::Host => "host",
        }
    }

    /// How the name of its objects ends.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Amd => "hsaco",
            Self::Nvidia => "cubin",
            Self::Host => "o",
        }
    }

    /// What is built when no architecture is asked for.
    pub fn default_targets(self) -> Vec<Target> {
        let archs: &[&str] = match self {
            Self::Amd => &["gfx90a"],
            Self::Nvidia => &["sm_90"],
            Self::Host => &["w32", "w64"],
        };
        archs.iter().map(|arch| Target { platform: self, arch: arch.to_string() }).collect()
    }
}

/// A platform and an architecture that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The platform.
    pub platform: Platform,
    /// Such as `gfx90a`, `sm_90`, `w32`.
    pub arch: String,
}

impl Target {
    /// The target, or why there is none.
    pub fn new(platform: Platform, arch: &str) -> Result<Self, String> {
        let known = match platform {
            Platform::Amd => AMD.contains(&arch),
            // Which numbers exist depends on the compiler, which says so itself.
            Platform::Nvidia => {
                arch.strip_prefix("sm_").is_some_and(|n| n.parse::<u32>().is_ok_and(|n| n >= 50))
            }
            Platform::Host => ["w32", "w64"].contains(&arch),
        };
        if known {
            return Ok(Self { platform, arch: arch.into() });
        }
        let choice = match platform {
            Platform::Amd => AMD.join(" "),
            Platform::Nvidia => "sm_80 sm_90 and others that nvcc --list-gpu-code names".into(),
            Platform::Host => "w32 w64".into(),
        };
        Err(format!("build-kernels: {} has no architecture {arch:?}; there are: {choice}", platform.name()))
    }

    /// Lanes that run together: 64 on GCN and CDNA (gfx9), 32 on RDNA and on NVIDIA.
    pub fn wave_size(&self) -> u32 {
        if self.arch.starts_with("gfx9") || self.arch == "w64" { 64 } else { 32 }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.platform.name(), self.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wave_sizes_follow_the_architecture() {
        let wave = |platform, arch| Target::new(platform, arch).expect("known").wave_size();
        assert_eq!(wave(Platform::Amd, "gfx90a"), 64);
        assert_eq!(wave(Platform::Amd, "gfx942"), 64);
        assert_eq!(wave(Platform::Amd, "gfx1030"), 32);
        assert_eq!(wave(Platform::Amd, "gfx1201"), 32);
        assert_eq!(wave(Platform::Nvidia, "sm_90"), 32);
        assert_eq!(wave(Platform::Host, "w64"), 64);
    }

    #[test]
    fn an_unknown_architecture_is_named_with_the_choice() {
        for (platform, arch) in [(Platform::Amd, "gfx9"), (Platform::Nvidia, "90"), (Platform::Host, "host")]
        {
            let error = Target::new(platform, arch).expect_err("unknown");
            assert!(error.contains(&format!("{arch:?}")) && error.contains("there are"), "{error}");
        }
    }

    #[test]
    fn defaults_are_known() {
        for platform in Platform::ALL {
            for target in platform.default_targets() {
                assert_eq!(Target::new(platform, &target.arch), Ok(target.clone()));
            }
        }
    }
}
