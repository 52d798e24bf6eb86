//! Names of GPUs with their features, as compilers and runtimes spell them: `gfx90a:sramecc+:xnack-`.

use crate::Error;
use std::fmt;

/// A GPU, or the target of code: a processor, and features that are on or off.
///
/// For code, a feature that is not named may be either. For a device, it is a feature that the device does
/// not have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// The processor, e.g. `gfx90a`, or a family of them, e.g. `gfx11-generic`.
    pub processor: String,
    /// Its features, by name.
    pub features: Vec<Feature>,
}

/// A feature that is on or off.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Feature {
    /// Its name: `xnack` or `sramecc`.
    pub name: String,
    /// Whether it is on.
    pub on: bool,
}

impl TargetId {
    /// Parses a target, with the features in any order.
    ///
    /// # Errors
    /// [`Error::Target`] if the processor is missing, or a feature has no sign or occurs twice.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = |what: &str| Err(Error::Target(format!("{text:?} {what}")));
        let mut words = text.split(':');
        let processor = words.next().unwrap_or_default().to_string();
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        if !is_name(&processor) {
            return refuse("names no processor");
        }
        let mut features = Vec::new();
        for word in words {
            let (name, on) = match (word.strip_suffix('+'), word.strip_suffix('-')) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => return refuse("has a feature that is neither + nor -"),
            };
            if !is_name(name) {
                return refuse("has a feature without a name");
            }
            features.push(Feature { name: name.to_string(), on });
        }
        features.sort();
        if features.windows(2).any(|pair| pair[0].name == pair[1].name) {
            return refuse("has a feature twice");
        }
        Ok(Self { processor, features })
    }

    /// Whether a feature is on; `None` if it is not named.
    pub fn feature(&self, name: &str) -> Option<bool> {
        self.features.iter().find(|feature| feature.name == name).map(|feature| feature.on)
    }

    /// Whether code for this target runs on a device: the processors are equal or this is a family that
    /// includes the device's, and every feature named here has the same value on the device.
    pub fn runs_on(&self, device: &Self) -> bool {
        let processor = self.processor == device.processor || self.has_in_family(&device.processor);
        processor && self.features.iter().all(|feature| device.feature(&feature.name) == Some(feature.on))
    }

    /// How specifically this target names a device that it runs on: larger is more specific.
    pub(crate) fn closeness(&self, device: &Self) -> (bool, usize) {
        (self.processor == device.processor, self.features.len())
    }

    fn has_in_family(&self, processor: &str) -> bool {
        FAMILIES.iter().any(|(family, members)| self.processor == *family && members.contains(&processor))
    }

    /// The target in a name such as `amdgcn-amd-amdhsa--gfx90a:xnack+`: the part after architecture, vendor,
    /// system and environment. The environment may be empty or missing. `None` if nothing follows.
    pub(crate) fn of_triple(name: &str) -> Option<Result<Self, Error>> {
        let rest = name.splitn(4, '-').nth(3)?;
        let target = if rest.starts_with("gfx") { rest } else { rest.split_once('-')?.1 };
        (!target.is_empty()).then(|| Self::parse(target))
    }

    /// The target according to the header of an ELF file: its flags, and the version of its code object.
    ///
    /// `None` for a processor that this table does not have.
    pub(crate) fn of_flags(flags: u32, version: u8) -> Option<Self> {
        let (_, processor) = MACHINES.iter().find(|(number, _)| *number == flags & 0xff)?;
        let feature = |name: &str, shift: u32| match version {
            // One bit: on, or unspecified.
            ..4 => (flags >> (8 + shift / 2) & 1 == 1).then(|| Feature { name: name.into(), on: true }),
            // Two bits: unsupported, any, off, on.
            _ => match flags >> (8 + shift) & 3 {
                2 => Some(Feature { name: name.into(), on: false }),
                3 => Some(Feature { name: name.into(), on: true }),
                _ => None,
            },
        };
        let features = [feature("sramecc", 2), feature("xnack", 0)].into_iter().flatten().collect();
        Some(Self { processor: processor.to_string(), features })
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for Feature { name, on } in &self.features {
            write!(f, ":{name}{}", if *on { '+' } else { '-' })?;
        }
        Ok(())
    }
}

/// The lowest byte of an ELF file's flags, and its processor (LLVM's `EF_AMDGPU_MACH`).
const MACHINES: [(u32, &str); 53] = [
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5f, "gfx9-4-generic"),
];

/// Families whose code runs on several processors (LLVM's AMDGPU usage guide, "Generic processor code object
/// versioning").
const FAMILIES: [(&str, &[&str]); 6] = [
    ("gfx9-generic", &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]),
    ("gfx9-4-generic", &["gfx942", "gfx950"]),
    ("gfx10-1-generic", &["gfx1010", "gfx1011", "gfx1012", "gfx1013"]),
    ("gfx10-3-generic", &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"]),
    (
        "gfx11-generic",
        &["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"],
    ),
    ("gfx12-generic", &["gfx1200", "gfx1201"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TargetId {
        TargetId::parse(text).expect("it is well formed")
    }

    #[test]
    fn targets_are_read_and_written() {
        let target = id("gfx90a:xnack-:sramecc+");
        assert_eq!(target.to_string(), "gfx90a:sramecc+:xnack-");
        assert_eq!((target.feature("xnack"), target.feature("sramecc")), (Some(false), Some(true)));
        assert_eq!(id("gfx1100").feature("xnack"), None);
        for wrong in ["", ":xnack+", "gfx90a:", "gfx90a:xnack", "gfx90a:+", "gfx90a:xnack+:xnack-", "gfx 90a"]
        {
            assert!(matches!(TargetId::parse(wrong), Err(Error::Target(_))), "{wrong}");
        }
    }

    #[test]
    fn code_runs_where_its_features_are_the_same() {
        let device = id("gfx90a:sramecc+:xnack-");
        for (code, runs) in [
            ("gfx90a", true),
            ("gfx90a:sramecc+", true),
            ("gfx90a:sramecc+:xnack-", true),
            ("gfx90a:xnack+", false),
            ("gfx90a:sramecc-:xnack-", false),
            ("gfx908", false),
            ("gfx9-generic", false),
        ] {
            assert_eq!(id(code).runs_on(&device), runs, "{code}");
        }
        assert!(!id("gfx1100:xnack+").runs_on(&id("gfx1100")), "the device has no such feature");
        assert!(id("gfx11-generic").runs_on(&id("gfx1151")));
        assert!(!id("gfx1151").runs_on(&id("gfx11-generic")));
    }

    #[test]
    fn triples_end_in_targets() {
        let of =
            |name: &str| TargetId::of_triple(name).map(|target| target.expect("well formed").to_string());
        assert_eq!(of("amdgcn-amd-amdhsa--gfx90a:xnack+").as_deref(), Some("gfx90a:xnack+"));
        assert_eq!(of("amdgcn-amd-amdhsa-unknown-gfx90a").as_deref(), Some("gfx90a"));
        assert_eq!(of("amdgcn-amd-amdhsa-gfx906").as_deref(), Some("gfx906"));
        assert_eq!(of("amdgcn-amd-amdhsa--gfx10-3-generic").as_deref(), Some("gfx10-3-generic"));
        for none in
            ["x86_64-unknown-linux", "x86_64-unknown-linux-gnu", "x86_64-unknown-linux-gnu-", "host", ""]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    /// Flags as LLVM's readelf prints them for compiled files.
    #[test]
    fn flags_name_processor_and_features() {
        let of = |flags, version| TargetId::of_flags(flags, version).map(|target| target.to_string());
        assert_eq!(of(0x53f, 4).as_deref(), Some("gfx90a"));
        assert_eq!(of(0xb3f, 5).as_deref(), Some("gfx90a:sramecc-:xnack+"));
        assert_eq!(of(0x12f, 3).as_deref(), Some("gfx906:xnack+"));
        assert_eq!(of(0x22f, 3).as_deref(), Some("gfx906:sramecc+"));
        assert_eq!(of(0x0100_0054, 6).as_deref(), Some("gfx11-generic"));
        assert_eq!(of(0xff, 5), None);
    }
}
