//! The families and units that kernels.toml lists.

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
    /// Whether the text depends on the wave size.
    pub waves: Waves,
    /// The dtypes that it is compiled for.
    pub dtypes: &'static [&'static str],
    groups: &'static [Group],
}

/// For which wave sizes a family is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waves {
    /// The text does not depend on it: one host build serves both.
    Any,
    /// Once for 32 and once for 64.
    Both,
}

/// Kernels with one pattern of name. `ops` and `dtypes` fill it in.
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

/// All families, as kernels.toml lists them.
pub fn families() -> &'static [Family] {
    FAMILIES
}

/// All units, family by family.
pub fn units() -> impl Iterator<Item = Unit> {
    FAMILIES.iter().flat_map(|family| family.dtypes.iter().map(|dtype| Unit { family: *family, dtype }))
}

/// The unit of a family and a dtype, if there is one.
pub fn unit(family: &str, dtype: &str) -> Option<Unit> {
    units().find(|unit| unit.family.name == family && unit.dtype == dtype)
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

    /// A number for its texts, that of its family and [`crate::HEADERS`], as 32 hexadecimal digits: what was compiled from
    /// other texts has another. It is XXH3 of 128 bits.
    pub fn source_hash(&self) -> String {
        let headers = crate::HEADERS.iter().map(|(_, text)| text.as_bytes());
        crate::hash_parts(headers.chain([self.family.source.as_bytes()]))
    }

    /// A number for the options that its code is compiled with on a platform of that name, for waves of that size: those of
    /// [`crate::options`] and its macros. As [`Unit::source_hash`] otherwise.
    pub fn options_hash(&self, platform: &str, wave_size: u32) -> String {
        let options = self.options(crate::options::of(platform).unwrap_or_default(), wave_size);
        crate::hash_parts(options.iter().map(String::as_bytes))
    }

    /// The options of a run-time compiler for this unit: `common` (one of [`crate::options`]) and its macros.
    pub fn options(&self, common: &[&str], wave_size: u32) -> Vec<String> {
        let macros = [format!("-DDTYPE_{}", self.dtype), format!("-DWAVE_SIZE={wave_size}")];
        common.iter().map(|option| (*option).to_owned()).chain(macros).collect()
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
    fn options_follow_platform_dtype_and_wave_size() {
        let hash =
            |dtype, platform, wave| unit("reduce", dtype).expect("it ships").options_hash(platform, wave);
        let one = hash("f32", "amd", 64);
        assert_eq!(one, hash("f32", "amd", 64));
        for other in [hash("f16", "amd", 64), hash("f32", "nvidia", 64), hash("f32", "amd", 32)] {
            assert_ne!(one, other);
        }
    }
}
