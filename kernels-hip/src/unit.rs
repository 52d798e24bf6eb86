//! The families and units that kernels.toml lists.

use std::collections::BTreeMap;

/// A source file of kernels.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Such as `elementwise`.
    pub name: &'static str,
    /// The source's file name, such as `elementwise.hip`.
    pub file: &'static str,
    /// The source's text.
    pub source: &'static str,
    /// Whether its kernels use barriers or warp operations.
    pub barriers: bool,
    /// Whether the source depends on the wave size.
    pub waves: Waves,
    /// Whether its kernels use matrix units. It is built only for chips that have them.
    pub matrix_units: bool,
    /// The dtypes that it is compiled for.
    pub dtypes: &'static [&'static str],
    groups: &'static [Group],
}

/// The wave sizes that a family is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waves {
    /// The source does not depend on it: one host build serves both.
    Any,
    /// Once for 32 and once for 64.
    Both,
}

/// Kernels with a common name pattern, in which `ops` and `dtypes` are substituted.
#[derive(Debug)]
struct Group {
    name: &'static str,
    ops: &'static [&'static str],
    dtypes: &'static [&'static str],
}

/// A family compiled for one dtype: one object file.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    /// The source.
    pub family: Family,
    /// Such as `f16`.
    pub dtype: &'static str,
}

static FAMILIES: &[Family] = include!(concat!(env!("OUT_DIR"), "/families.rs"));

/// All families, in the order of kernels.toml.
pub fn families() -> &'static [Family] {
    FAMILIES
}

/// All units, in the order of their families.
pub fn units() -> impl Iterator<Item = Unit> {
    FAMILIES.iter().flat_map(|family| family.dtypes.iter().map(|dtype| Unit { family: *family, dtype }))
}

/// The unit of a family and a dtype, if there is one.
pub fn unit(family: &str, dtype: &str) -> Option<Unit> {
    units().find(|unit| unit.family.name == family && unit.dtype == dtype)
}

/// A hash of what all units of a device are compiled of, sources, headers and options, as [`Unit::source_hash`] writes it. Devices with equal
/// hashes run kernels of the same text.
pub fn units_hash(platform: &str, arch: &str, wave_size: u32) -> String {
    let mut parts = Vec::new();
    for family in FAMILIES {
        let source = family.source_hash();
        let units = family.dtypes.iter().map(|dtype| Unit { family: *family, dtype });
        for unit in units.filter(|unit| unit.is_for(platform, arch)) {
            parts.extend([unit.name(), source.clone(), unit.options_hash(platform, wave_size)]);
        }
    }
    crate::hash_parts(parts.iter().map(String::as_bytes))
}

impl Family {
    fn source_hash(&self) -> String {
        let headers = self.headers().into_iter().map(|(_, text)| text.as_bytes());
        crate::hash_parts(headers.chain([self.source.as_bytes()]))
    }

    /// The headers that its source includes, directly and through others, by name with their texts: those of [`crate::HEADERS`] that a
    /// compiler needs for it.
    pub fn headers(&self) -> Vec<(&'static str, &'static str)> {
        included(self.source, crate::HEADERS)
    }
}

/// Those of `headers` that a text includes, directly and through others, sorted by name.
fn included<'a>(source: &str, headers: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let named = |text: &str| -> Vec<String> {
        let quoted = |line: &str| Some(line.strip_prefix("#include \"")?.split_once('"')?.0.to_owned());
        text.lines().filter_map(quoted).collect()
    };
    let mut found = BTreeMap::new();
    let mut open = named(source);
    while let Some(name) = open.pop() {
        if let Some((name, text)) = headers.iter().find(|(header, _)| *header == name)
            && found.insert(*name, *text).is_none()
        {
            open.extend(named(text));
        }
    }
    found.into_iter().collect()
}

impl Unit {
    /// Such as `elementwise_f16`: the name of its object file and of its module in hip-host.
    pub fn name(&self) -> String {
        format!("{}_{}", self.family.name, self.dtype)
    }

    /// The names of its kernels.
    pub fn kernels(&self) -> Vec<String> {
        let groups = self.family.groups.iter().filter(|group| group.dtypes.contains(&self.dtype));
        let names = |group: &'static Group| {
            let dtype = self.dtype;
            group.ops.iter().map(move |op| group.name.replace("{op}", op).replace("{dtype}", dtype))
        };
        groups.flat_map(names).collect()
    }

    /// Whether it is built for this architecture of a platform. Units that use matrix units are left out for chips without them; another
    /// family has kernels for the same work.
    pub fn is_for(&self, platform: &str, arch: &str) -> bool {
        !self.family.matrix_units || crate::has_matrix_units(platform, arch)
    }

    /// A hash of the unit's source and of its [`Family::headers`], as 32 hexadecimal digits of 128-bit XXH3.
    pub fn source_hash(&self) -> String {
        self.family.source_hash()
    }

    /// A hash of its compiler options on a platform for a wave size: [`Unit::options`]. As [`Unit::source_hash`] otherwise.
    pub fn options_hash(&self, platform: &str, wave_size: u32) -> String {
        let options = self.options(platform, wave_size).unwrap_or_default();
        crate::hash_parts(options.iter().map(String::as_bytes))
    }

    /// The compiler options of this unit on the platform `amd`, `nvidia` or `host`: those of [`crate::options`], and its macros. The
    /// architecture is added to them. `None` for a platform without a compiler of kernels.
    pub fn options(&self, platform: &str, wave_size: u32) -> Option<Vec<String>> {
        let mut options: Vec<String> =
            crate::options::of(platform)?.iter().map(|option| (*option).to_owned()).collect();
        let is_host = platform == "host";
        if is_host {
            options.extend(crate::options::HOST_INSTRUCTIONS.iter().map(|option| (*option).to_owned()));
            options.extend(["--host-source", "-DHIPHOST_UNIT=rtc"].map(Into::into));
            if !self.family.barriers {
                options.push("-DHIPHOST_NO_BARRIERS".into());
            }
        }
        options.push(format!("-DDTYPE_{}", self.dtype));
        if !(is_host && self.family.waves == Waves::Any) {
            options.push(format!("-DWAVE_SIZE={wave_size}"));
        }
        Some(options)
    }

    /// The architecture and the wave size to compile it for, given those of a device. If the source does not depend on the wave size, the
    /// host has one build for all its devices.
    pub fn target<'a>(&self, platform: &str, arch: &'a str, wave_size: u32) -> (&'a str, u32) {
        let both = platform == "host" && self.family.waves == Waves::Any;
        if both { ("host", 0) } else { (arch, wave_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_family_share_their_texts_and_families_do_not() {
        let hash = |family, dtype| unit(family, dtype).expect("it ships").source_hash();
        assert_eq!(hash("reduce", "f32"), hash("reduce", "u8"));
        assert_ne!(hash("reduce", "f32"), hash("matmul", "f32"));
        assert_eq!(hash("matmul", "f32").len(), 32);
    }

    #[test]
    fn headers_are_those_that_are_included() {
        let headers =
            [("a", "#include \"b\"\n"), ("b", "#include \"a\"\n#include <c>\n"), ("c", ""), ("d", "")];
        let names = |source| included(source, &headers).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names("// text\n#include \"a\"\n#include \"unknown\"\n"), ["a", "b"]);
        assert_eq!(names(""), [""; 0]);
    }

    /// So that [`included`] finds them: nothing stands before an `#include`, and all are headers of this crate but the platforms' own.
    #[test]
    fn every_include_names_a_header_and_every_header_is_included() {
        let mut unused: Vec<&str> = crate::HEADERS.iter().map(|(name, _)| *name).collect();
        for family in families() {
            let headers = family.headers();
            unused.retain(|name| headers.iter().all(|(used, _)| used != name));
            for text in headers.iter().map(|(_, text)| *text).chain([family.source]) {
                for line in text.lines().filter(|line| line.contains("#include")) {
                    let known = headers.iter().any(|(name, _)| line == format!("#include \"{name}\""));
                    let of_platform =
                        ["hip/hip_runtime.h", "hiphost/device.hpp"].map(|name| format!("#include <{name}>"));
                    assert!(known || of_platform.iter().any(|own| own == line), "{}: {line}", family.name);
                }
            }
        }
        assert_eq!(unused, [""; 0], "a header that no family includes");
    }

    #[test]
    fn options_follow_platform_dtype_and_wave_size() {
        let hash =
            |dtype, platform, wave| unit("reduce", dtype).expect("it ships").options_hash(platform, wave);
        let one = hash("f32", "amd", 64);
        assert_eq!(one, hash("f32", "amd", 64));
        for other in [
            hash("f16", "amd", 64),
            hash("f32", "nvidia", 64),
            hash("f32", "host", 64),
            hash("f32", "amd", 32),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_devices_hash_covers_options_and_the_units_that_it_has() {
        let one = units_hash("amd", "gfx942", 64);
        assert_eq!(one, units_hash("amd", "gfx950", 64), "both have matrix units");
        for (platform, arch, wave_size) in
            [("amd", "gfx942", 32), ("amd", "gfx90a", 64), ("nvidia", "sm_90", 64)]
        {
            assert_ne!(one, units_hash(platform, arch, wave_size), "{platform} {arch} {wave_size}");
        }
    }

    #[test]
    fn the_host_has_one_build_of_what_depends_on_no_wave_size() {
        let unit = |family| unit(family, "f32").expect("it ships");
        let (one, two) = (unit("matmul"), unit("reduce"));
        assert_eq!(one.target("host", "host-w64", 64), ("host", 0));
        assert_eq!(two.target("host", "host-w64", 64), ("host-w64", 64));
        assert_eq!(one.target("amd", "gfx90a", 64), ("gfx90a", 64));
        assert_eq!(one.options("host", 64), one.options("host", 32));
        assert_ne!(two.options("host", 64), two.options("host", 32));
        assert!(one.options("host", 0).expect("compiled").contains(&"-DHIPHOST_NO_BARRIERS".to_owned()));
        assert_eq!(one.options("other", 32), None);
    }
}
