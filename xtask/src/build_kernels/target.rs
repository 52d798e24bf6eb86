//! The targets of kernels: a platform and one of its architectures.

use kernel_resources::{Gpu, Vendor};
use kernels_hip::MAX_BLOCK;
use std::fmt;

/// A platform; each has its own compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Platform {
    /// AMD's GPUs: ELF code objects.
    Amd,
    /// NVIDIA's GPUs: cubins.
    Nvidia,
    /// This CPU: shared objects.
    Host,
}

/// The architectures of AMD that `all` means; a compiler may know more.
const AMD: [&str; 13] = [
    "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1151",
    "gfx1200", "gfx1201", "gfx1250",
];

/// The architectures of NVIDIA that `all` means; nvcc may know more.
const NVIDIA: [&str; 2] = ["sm_80", "sm_90"];

/// `host` is for sources that depend on no wave size, the others for one wave size each.
const HOST: [&str; 3] = ["host", "host-w32", "host-w64"];

impl Platform {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Amd, Self::Nvidia, Self::Host];

    /// The name of its folder, also used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amd => "amd",
            Self::Nvidia => "nvidia",
            Self::Host => "host",
        }
    }

    /// The file extension of its objects.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Amd => "hsaco",
            Self::Nvidia => "cubin",
            Self::Host => "so",
        }
    }

    /// Whether its objects are for a GPU.
    pub const fn is_gpu(self) -> bool {
        !matches!(self, Self::Host)
    }

    /// Who makes its GPUs, if it is for GPUs.
    pub const fn vendor(self) -> Option<Vendor> {
        match self {
            Self::Amd => Some(Vendor::Amd),
            Self::Nvidia => Some(Vendor::Nvidia),
            Self::Host => None,
        }
    }

    /// The platform that has architectures of this form.
    pub fn of_arch(arch: &str) -> Option<Self> {
        match arch {
            _ if arch.starts_with("gfx") => Some(Self::Amd),
            _ if arch.starts_with("sm_") => Some(Self::Nvidia),
            _ if HOST.contains(&arch) => Some(Self::Host),
            _ => None,
        }
    }

    /// The architectures that `all` stands for.
    pub fn all_targets(self) -> Vec<Target> {
        let archs: &[&str] = match self {
            Self::Amd => &AMD,
            Self::Nvidia => &NVIDIA,
            Self::Host => &HOST,
        };
        archs.iter().map(|arch| Target { platform: self, arch: arch.to_string() }).collect()
    }

    /// What is built when no architecture is asked for.
    pub fn default_targets(self) -> Vec<Target> {
        let archs: &[&str] = match self {
            Self::Amd => &["gfx942"],
            Self::Nvidia => &["sm_90"],
            Self::Host => &HOST,
        };
        archs.iter().map(|arch| Target { platform: self, arch: arch.to_string() }).collect()
    }
}

/// A platform and one of its architectures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The platform.
    pub platform: Platform,
    /// Such as `gfx90a`, `sm_90`, `host-w32`.
    pub arch: String,
}

impl Target {
    /// The target, or an error that lists the choices.
    pub fn new(platform: Platform, arch: &str) -> Result<Self, String> {
        let known = match platform {
            // nvcc reports which numbers it knows.
            Platform::Amd => is_amd(arch),
            Platform::Nvidia => {
                arch.strip_prefix("sm_").is_some_and(|n| n.parse::<u32>().is_ok_and(|n| n >= 50))
            }
            Platform::Host => HOST.contains(&arch),
        };
        let target = Self { platform, arch: arch.into() };
        if known { Ok(target) } else { Err(target.unknown()) }
    }

    /// The GPU, if it is one.
    pub fn gpu(&self) -> Option<Gpu<'_>> {
        let vendor = self.platform.vendor()?;
        Some(Gpu { vendor, arch: &self.arch, block: MAX_BLOCK.into() })
    }

    /// Whether `all` includes this architecture. For others the compiler must say whether they exist.
    pub fn is_listed(&self) -> bool {
        self.platform != Platform::Amd || AMD.contains(&self.arch.as_str())
    }

    /// The error for an unknown architecture, with those that exist.
    pub(super) fn unknown(&self) -> String {
        let Self { platform, arch } = self;
        let (names, more) = match platform {
            Platform::Amd => (AMD.to_vec(), " and others that the compiler knows"),
            Platform::Nvidia => (NVIDIA.to_vec(), " and others that nvcc --list-gpu-code names"),
            Platform::Host => (HOST.to_vec(), ""),
        };
        let near = nearest(arch, &names).map(|name| format!(" (is {name} meant?)")).unwrap_or_default();
        let (platform, names) = (platform.name(), names.join(" "));
        format!(
            "{platform} has no architecture {arch:?}{near}; there are: {names}{more}; all is those named here"
        )
    }

    /// Lanes of a wave: 64 on AMD's chips up to gfx9, 32 on later ones (gfx1250 too) and on NVIDIA's; 0 for code that serves both sizes.
    pub fn wave_size(&self) -> u32 {
        match self.arch.as_str() {
            "host" => 0,
            "host-w64" => 64,
            // gfx and three letters: the major version has one digit.
            arch if arch.starts_with("gfx") && arch.len() == 6 => 64,
            _ => 32,
        }
    }
}

/// Whether a name has the form of AMD's: `gfx`, a major version of one or two digits, a minor version, and a stepping that may
/// be a letter.
fn is_amd(arch: &str) -> bool {
    let Some(rest) = arch.strip_prefix("gfx") else { return false };
    let Some((stepping, version)) = rest.as_bytes().split_last() else { return false };
    matches!(version.len(), 2 | 3)
        && version[0] != b'0'
        && version.iter().all(u8::is_ascii_digit)
        && matches!(stepping, b'0'..=b'9' | b'a'..=b'f')
}

/// The name that a mistyped one is likely to mean.
fn nearest<'a>(arch: &str, names: &[&'a str]) -> Option<&'a str> {
    let arch = arch.to_lowercase();
    let alike = |name: &str| arch.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let distance = |name: &str| strsim::levenshtein(&arch, name);
    let near = names.iter().copied().min_by_key(|name| (distance(name), usize::MAX - alike(name)))?;
    (distance(near) <= 2).then_some(near)
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
        assert_eq!(wave(Platform::Amd, "gfx950"), 64);
        assert_eq!(wave(Platform::Amd, "gfx1030"), 32);
        assert_eq!(wave(Platform::Amd, "gfx1201"), 32);
        assert_eq!(wave(Platform::Amd, "gfx1250"), 32);
        assert_eq!(wave(Platform::Amd, "gfx803"), 64);
        assert_eq!(wave(Platform::Amd, "gfx1310"), 32);
        assert_eq!(wave(Platform::Nvidia, "sm_90"), 32);
        assert_eq!(wave(Platform::Host, "host-w64"), 64);
        assert_eq!(wave(Platform::Host, "host"), 0);
    }

    #[test]
    fn an_unknown_architecture_is_named_with_the_choice() {
        for (platform, arch) in [(Platform::Amd, "gfx9"), (Platform::Nvidia, "90"), (Platform::Host, "w64")] {
            let error = Target::new(platform, arch).expect_err("unknown");
            assert!(error.contains(&format!("{arch:?}")) && error.contains("there are"), "{error}");
        }
    }

    #[test]
    fn a_near_name_is_offered() {
        for (platform, arch, near) in [
            (Platform::Amd, "gfx90A", "gfx90a"),
            (Platform::Amd, "gfx94-2", "gfx942"),
            (Platform::Nvidia, "sm90", "sm_90"),
        ] {
            let error = Target::new(platform, arch).expect_err("unknown");
            assert!(error.contains(&format!("is {near} meant?")), "{error}");
        }
        assert!(!Target::new(Platform::Amd, "polaris").expect_err("unknown").contains("meant"));
    }

    #[test]
    fn a_chip_that_is_not_in_the_list_is_left_to_the_compiler() {
        for (arch, near) in [("gfx1031", "gfx1030"), ("gfx94a", "gfx942"), ("gfx1251", "gfx1250")] {
            let target = Target::new(Platform::Amd, arch).expect("it is formed like a name");
            assert!(!target.is_listed() && target.unknown().contains(&format!("is {near} meant?")), "{arch}");
        }
        assert!(Target::new(Platform::Amd, "gfx950").expect("known").is_listed());
        for arch in
            ["gfx", "gfx94", "gfx012", "gfx12345", "gfx94g", "gfx9a4", "gfx942:xnack-", "gfx11-generic"]
        {
            assert!(Target::new(Platform::Amd, arch).is_err(), "{arch}");
        }
    }

    #[test]
    fn default_and_all_architectures_are_known_with_their_platform() {
        for platform in Platform::ALL {
            for target in platform.default_targets().into_iter().chain(platform.all_targets()) {
                assert_eq!(Target::new(platform, &target.arch), Ok(target.clone()));
                assert_eq!(Platform::of_arch(&target.arch), Some(platform));
            }
        }
    }
}
