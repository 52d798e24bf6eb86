//! The architectures that each release of AMD's hiprtc compiles for. Asked for another one, the library ends the process, so
//! nobody may find out by asking.

use crate::Version;
use thiserror::Error;

/// An architecture that AMD's hiprtc of this version must not be asked for.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "hiprtc of HIP {version} does not know the architecture {arch:?}{}; it knows {}. {}",
    if *.feature { " with these features" } else { "" },
    .known.join(", "),
    remedy(*.since)
)]
pub struct UnknownArchitecture {
    /// What was asked for.
    pub arch: String,
    /// Whether the name itself is known, and what follows it is wrong.
    pub feature: bool,
    /// The version of the runtime.
    pub version: Version,
    /// The first release that knows it, as major and minor, if one does.
    pub since: Option<(u32, u32)>,
    /// What may be asked for, without features.
    pub known: Vec<&'static str>,
}

crate::debug_by_display!(UnknownArchitecture);

fn remedy(since: Option<(u32, u32)>) -> String {
    let ahead = "load code that was compiled ahead of time for it";
    match since {
        Some((major, minor)) => format!("Install ROCm {major}.{minor} or later, or {ahead}"),
        None => format!("Check the name, or {ahead}"),
    }
}

/// For names that come from a user: a device's own architecture is not looked up here.
///
/// A release: major and minor.
type Number = (u32, u32);
/// See [`RELEASES`].
type Release = (Number, Number, &'static [&'static str]);

/// First release, last release that still has it, architectures. The lists up to 6.0 are those of the compiler library's own
/// sources at each release, and that of 5.2 was tried one by one; those of 5.7 and 6.4 are no longer than what is in the libraries
/// themselves; the others are as far as they are known for sure.
const RELEASES: &[Release] = &[
    (
        (5, 2),
        LATEST,
        &[
            "gfx600", "gfx601", "gfx602", "gfx700", "gfx701", "gfx702", "gfx703", "gfx704", "gfx705",
            "gfx801", "gfx802", "gfx803", "gfx805", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906",
            "gfx908", "gfx909", "gfx90a", "gfx90c", "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030",
            "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
        ],
    ),
    ((5, 3), (6, 3), &["gfx940"]),
    ((5, 3), LATEST, &["gfx1100", "gfx1101", "gfx1102", "gfx1103"]),
    ((5, 7), (6, 3), &["gfx941"]),
    ((5, 7), LATEST, &["gfx942"]),
    ((6, 1), LATEST, &["gfx1150", "gfx1151"]),
    ((6, 3), LATEST, &["gfx1200", "gfx1201", "gfx1152"]),
    ((7, 0), LATEST, &["gfx950", "gfx1153"]),
];

/// It was not taken out so far.
const LATEST: (u32, u32) = (u32::MAX, u32::MAX);

/// Those whose error correction of registers may be named as on or off.
const SRAMECC: &[&str] = &["gfx906", "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"];

/// Those whose retry of page faults may be named as on or off.
const XNACK: &[&str] = &[
    "gfx801", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c",
    "gfx940", "gfx941", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012", "gfx1013",
];

/// What hiprtc of a version may be asked for.
pub(crate) fn known(version: Version) -> Vec<&'static str> {
    let release = (version.major, version.minor);
    let has = |(first, last, _): &&((u32, u32), (u32, u32), _)| (*first..=*last).contains(&release);
    RELEASES.iter().filter(has).flat_map(|(_, _, archs)| archs.iter().copied()).collect()
}

/// Refuses what hiprtc of a version must not be asked for.
pub(crate) fn check(version: Version, arch: &str) -> Result<(), UnknownArchitecture> {
    let mut parts = arch.split(':');
    let base = parts.next().unwrap_or_default();
    let known = known(version);
    let is_known = known.contains(&base);
    let mut named = Vec::new();
    let features = parts.all(|feature| {
        let (name, switch) = feature.split_at_checked(feature.len().wrapping_sub(1)).unwrap_or_default();
        let allowed = match name {
            "sramecc" => SRAMECC,
            "xnack" => XNACK,
            _ => &[],
        };
        let once = !named.contains(&name);
        named.push(name);
        once && allowed.contains(&base) && matches!(switch, "+" | "-")
    });
    if is_known && features {
        return Ok(());
    }
    let later = RELEASES
        .iter()
        .find(|(first, _, archs)| *first > (version.major, version.minor) && archs.contains(&base));
    let since = later.map(|(first, _, _)| *first);
    Err(UnknownArchitecture { arch: arch.to_owned(), feature: is_known, version, since, known })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version { major: 5, minor: 2, patch: 21153 };
    const NEW: Version = Version { major: 7, minor: 1, patch: 0 };

    #[test]
    fn each_release_knows_its_own() {
        assert_eq!(known(OLD).len(), 33);
        for (arch, old, new) in [
            ("gfx906", true, true),
            ("gfx1036", true, true),
            ("gfx940", false, false),
            ("gfx942", false, true),
        ] {
            assert_eq!((check(OLD, arch).is_ok(), check(NEW, arch).is_ok()), (old, new), "{arch}");
        }
    }

    /// What the compiler libraries of Ubuntu's packages and of Debian's (7.2) list in themselves (`strings libamd_comgr.so`), beyond what
    /// 5.2 knew.
    #[test]
    fn nothing_is_asked_of_a_library_that_does_not_list_it() {
        let lists: [(u32, u32, &[&str]); 3] = [
            (
                5,
                7,
                &[
                    "gfx940", "gfx941", "gfx942", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150",
                    "gfx1151",
                ],
            ),
            (
                6,
                4,
                &[
                    "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151",
                    "gfx1152", "gfx1153", "gfx1200", "gfx1201",
                ],
            ),
            (
                7,
                2,
                &[
                    "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151",
                    "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx1250", "gfx1251",
                ],
            ),
        ];
        for (major, minor, list) in lists {
            let since = known(OLD);
            for arch in known(Version { major, minor, patch: 0 }) {
                assert!(since.contains(&arch) || list.contains(&arch), "{major}.{minor} has no {arch}");
            }
        }
    }

    #[test]
    fn features_are_those_that_the_architecture_has() {
        for good in ["gfx906:sramecc+:xnack-", "gfx90a:xnack-:sramecc+", "gfx1010:xnack+"] {
            assert_eq!(check(OLD, good), Ok(()));
        }
        for bad in [
            "gfx90a:foo",
            "gfx1030:xnack+",
            "gfx900:sramecc+",
            "gfx906:xnack",
            "gfx906:",
            "gfx906:xnack+:xnack-",
            "gfx906:xnack+:",
            "gfx906:xnackö",
        ] {
            assert!(check(OLD, bad).expect_err("it is not known").feature, "{bad}");
        }
        for bad in ["", " gfx906", "GFX906", "sm_90", "gfx906,gfx908", "gfx"] {
            assert!(!check(OLD, bad).expect_err("it is not known").feature, "{bad}");
        }
    }

    #[test]
    fn the_error_names_version_and_remedy() {
        let message = check(OLD, "gfx1100").expect_err("too new").to_string();
        let start = "hiprtc of HIP 5.2.21153 does not know the architecture \"gfx1100\"; it knows gfx600, ";
        assert!(message.starts_with(start), "{message}");
        let end = "Install ROCm 5.3 or later, or load code that was compiled ahead of time for it";
        assert!(message.ends_with(end), "{message}");
        assert!(check(NEW, "gfx999").expect_err("no such").to_string().contains("Check the name"));
    }
}
