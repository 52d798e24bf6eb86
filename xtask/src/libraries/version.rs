//! Versions: of a file from its name, of headers from their macros, and the releases of ROCm that had them.

use super::kind::Kind;
use hip_sys::Version;
use std::path::Path;

/// `major.minor` of a release of ROCm.
pub(super) type Release = (u32, u32);

/// The range of ROCm releases that a library may belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Releases {
    pub first: Release,
    pub last: Release,
}

const ANY: Release = (u32::MAX, u32::MAX);

/// rocRAND's own versions in the releases of ROCm, according to its repository's tags. The version was not
/// always raised. A version between two rows may belong to either.
const ROCRAND: [((u32, u32, u32), Release, Release); 9] = [
    ((2, 10, 9), (5, 0), (5, 4)),
    ((2, 10, 16), (5, 5), (5, 5)),
    ((2, 10, 17), (5, 6), (6, 0)),
    ((3, 0, 1), (6, 1), (6, 1)),
    ((3, 1, 0), (6, 2), (6, 2)),
    ((3, 3, 0), (6, 4), (6, 4)),
    ((4, 0, 0), (7, 0), (7, 0)),
    ((4, 1, 0), (7, 1), (7, 1)),
    ((4, 2, 0), (7, 2), (7, 2)),
];

/// rocFFT's versions, according to its changelog and, from 7.2 on, its header.
const ROCFFT: [((u32, u32, u32), Release, Release); 11] = [
    ((1, 0, 17), (5, 2), (5, 2)),
    ((1, 0, 18), (5, 3), (5, 3)),
    ((1, 0, 19), (5, 4), (5, 4)),
    ((1, 0, 22), (5, 5), (5, 5)),
    ((1, 0, 23), (5, 6), (5, 6)),
    ((1, 0, 24), (5, 7), (5, 7)),
    ((1, 0, 25), (6, 0), (6, 0)),
    ((1, 0, 26), (6, 1), (6, 1)),
    ((1, 0, 28), (6, 2), (6, 2)),
    ((1, 0, 31), (6, 3), (6, 3)),
    ((1, 0, 36), (7, 2), (7, 2)),
];

/// rocBLAS's versions, according to its changelog.
const ROCBLAS: [((u32, u32, u32), Release, Release); 14] = [
    ((2, 44, 0), (5, 2), (5, 2)),
    ((2, 45, 0), (5, 3), (5, 3)),
    ((2, 46, 0), (5, 4), (5, 4)),
    ((2, 47, 0), (5, 5), (5, 5)),
    ((3, 0, 0), (5, 6), (5, 6)),
    ((3, 1, 0), (5, 7), (5, 7)),
    ((4, 0, 0), (6, 0), (6, 0)),
    ((4, 1, 0), (6, 1), (6, 1)),
    ((4, 2, 0), (6, 2), (6, 2)),
    ((4, 3, 0), (6, 3), (6, 3)),
    ((4, 4, 0), (6, 4), (6, 4)),
    ((5, 0, 0), (7, 0), (7, 0)),
    ((5, 1, 0), (7, 1), (7, 1)),
    ((5, 2, 0), (7, 2), (7, 2)),
];

/// rocSOLVER's versions, according to its changelog and, from 7.2 on, its header.
const ROCSOLVER: [((u32, u32, u32), Release, Release); 7] = [
    ((3, 18, 0), (5, 2), (5, 2)),
    ((3, 19, 0), (5, 3), (5, 3)),
    ((3, 20, 0), (5, 4), (5, 4)),
    ((3, 24, 0), (6, 0), (6, 0)),
    ((3, 25, 0), (6, 1), (6, 1)),
    ((3, 26, 0), (6, 2), (6, 2)),
    ((3, 32, 0), (7, 2), (7, 2)),
];

/// rocSPARSE's versions, according to its changelog and, for 7.2, its header.
const ROCSPARSE: [((u32, u32, u32), Release, Release); 5] = [
    ((3, 0, 2), (6, 0), (6, 0)),
    ((3, 1, 1), (6, 1), (6, 1)),
    ((3, 2, 0), (6, 2), (6, 2)),
    ((3, 3, 0), (6, 3), (6, 3)),
    ((4, 2, 0), (7, 2), (7, 2)),
];

/// hipBLASLt's versions, according to its changelog and, from 7.2 on, its header.
const HIPBLASLT: [((u32, u32, u32), Release, Release); 2] =
    [((0, 6, 0), (6, 0), (6, 0)), ((1, 2, 0), (7, 2), (7, 2))];

/// MIOpen's versions, according to its repository's tags. The version was not always raised.
const MIOPEN: [((u32, u32, u32), Release, Release); 9] = [
    ((2, 17, 0), (5, 2), (5, 2)),
    ((2, 18, 0), (5, 3), (5, 3)),
    ((2, 19, 0), (5, 4), (5, 5)),
    ((2, 20, 0), (5, 6), (5, 7)),
    ((3, 0, 0), (6, 0), (6, 0)),
    ((3, 1, 0), (6, 1), (6, 1)),
    ((3, 2, 0), (6, 2), (6, 2)),
    ((3, 4, 0), (6, 4), (6, 4)),
    ((3, 5, 0), (7, 0), (7, 2)),
];

/// AMD SMI's versions, according to its headers and its changelog.
const AMDSMI: [((u32, u32, u32), Release, Release); 4] = [
    ((26, 0, 0), (7, 0), (7, 0)),
    ((26, 1, 0), (7, 1), (7, 1)),
    ((27, 0, 0), (10, 0), (10, 0)),
    ((27, 1, 0), (10, 1), (10, 1)),
];

impl Releases {
    /// The releases for the library's own version; without a version it may be any.
    pub(super) fn of(kind: Kind, version: Option<Version>) -> Self {
        let Some(v) = version else { return Self { first: (0, 0), last: ANY } };
        let (rows, own): (&[_], _) = match kind {
            Kind::Hip | Kind::Rtc => return Self { first: (v.major, v.minor), last: (v.major, v.minor) },
            Kind::Rocrand => (&ROCRAND, (v.major, v.minor, v.patch)),
            Kind::Rocfft => (&ROCFFT, (v.major, v.minor, v.patch)),
            // The last number only counts fixes.
            Kind::Rocblas => (&ROCBLAS, (v.major, v.minor, 0)),
            Kind::Rocsolver => (&ROCSOLVER, (v.major, v.minor, 0)),
            // Without a device it tells none.
            Kind::Rocsparse if v.major == 0 => return Self { first: (6, 0), last: ANY },
            Kind::Rocsparse => (&ROCSPARSE, (v.major, v.minor, v.patch)),
            Kind::Hipblaslt => (&HIPBLASLT, (v.major, v.minor, 0)),
            Kind::Miopen => (&MIOPEN, (v.major, v.minor, 0)),
            Kind::AmdSmi => (&AMDSMI, (v.major, v.minor, 0)),
        };
        let below = rows.iter().rfind(|row| row.0 <= own);
        let above = rows.iter().find(|row| row.0 >= own);
        Self { first: below.map_or((0, 0), |row| row.1), last: above.map_or(ANY, |row| row.2) }
    }
}

/// Parses "5.3".
pub(super) fn release(text: &str) -> Option<Release> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Parses the version at the end of `libamdhip64.so.5.2.21153`. Files of the other libraries have their
/// interface version there.
pub(super) fn of_file(kind: Kind, file: &Path) -> Option<Version> {
    if !matches!(kind, Kind::Hip | Kind::Rtc) {
        return None;
    }
    let numbers: Vec<u32> =
        file.file_name()?.to_str()?.split_once(".so.")?.1.split('.').map_while(|n| n.parse().ok()).collect();
    let [major, minor, patch] = numbers[..] else { return None };
    Some(Version { major, minor, patch })
}

/// The ROCm release of a file, if AMD's installers recorded it. HIP's own version may differ.
pub(super) fn of_rocm(file: &Path) -> Option<String> {
    let root = file.canonicalize().ok()?.parent()?.parent()?.to_path_buf();
    let text = std::fs::read_to_string(root.join(".info/version")).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The version that headers in `include` define.
pub(super) fn of_headers(kind: Kind, include: &Path) -> Option<Version> {
    let read = |header: &str| std::fs::read_to_string(include.join(header)).ok();
    let number = |text: &str, name: &str| {
        let value = |line: &str| {
            let (key, value) = line.strip_prefix("#define ")?.trim().split_once(char::is_whitespace)?;
            if key == name { value.trim().parse::<u32>().ok() } else { None }
        };
        text.lines().find_map(value)
    };
    let (header, prefix) = match kind {
        Kind::Rocrand => {
            let text = read("rocrand/rocrand_version.h")?;
            return Some(Version::from_rocrand(number(&text, "ROCRAND_VERSION")?.try_into().ok()?));
        }
        Kind::Rocfft => {
            let text = read("rocfft/rocfft-version.h")?;
            let [major, minor, patch] =
                ["major", "minor", "patch"].map(|part| number(&text, &format!("rocfft_version_{part}")));
            return Some(Version { major: major?, minor: minor?, patch: patch? });
        }
        Kind::AmdSmi => {
            let text = read("amd_smi/amdsmi.h")?;
            let [major, minor, patch] = ["MAJOR", "MINOR", "RELEASE"]
                .map(|part| number(&text, &format!("AMDSMI_LIB_VERSION_{part}")));
            return Some(Version { major: major?, minor: minor?, patch: patch? });
        }
        Kind::Hip | Kind::Rtc => ("hip/hip_version.h", "HIP"),
        Kind::Rocblas => ("rocblas/internal/rocblas-version.h", "ROCBLAS"),
        Kind::Rocsolver => ("rocsolver/rocsolver-version.h", "ROCSOLVER"),
        Kind::Rocsparse => ("rocsparse/rocsparse-version.h", "ROCSPARSE"),
        Kind::Hipblaslt => ("hipblaslt/hipblaslt-version.h", "HIPBLASLT"),
        Kind::Miopen => ("miopen/version.h", "MIOPEN"),
    };
    let text = read(header)?;
    let [major, minor, patch] =
        ["MAJOR", "MINOR", "PATCH"].map(|part| number(&text, &format!("{prefix}_VERSION_{part}")));
    Some(Version { major: major?, minor: minor?, patch: patch? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_file_names() {
        let version = of_file(Kind::Hip, Path::new("/x/libamdhip64.so.5.2.21153")).map(|v| v.to_string());
        assert_eq!(version.as_deref(), Some("5.2.21153"));
        assert_eq!(of_file(Kind::Hip, Path::new("libamdhip64.so.5")), None);
        assert_eq!(of_file(Kind::Rocrand, Path::new("librocrand.so.1.1.50400")), None);
    }

    #[test]
    fn versions_of_libraries_stand_for_releases() {
        let of = |own| Releases::of(Kind::Rocrand, Some(Version::from_rocrand(own)));
        assert_eq!(of(201_009), Releases { first: (5, 0), last: (5, 4) });
        assert_eq!(of(201_017), Releases { first: (5, 6), last: (6, 0) });
        assert_eq!(of(300_200), Releases { first: (6, 2), last: (6, 4) }, "between two rows");
        assert_eq!(of(400_200), Releases { first: (7, 2), last: (7, 2) });
        assert_eq!(of(500_000), Releases { first: (7, 2), last: ANY }, "later than all");
        let rocblas =
            |major, minor, patch| Releases::of(Kind::Rocblas, Some(Version { major, minor, patch }));
        assert_eq!(rocblas(4, 4, 1), Releases { first: (6, 4), last: (6, 4) });
        assert_eq!(rocblas(5, 2, 3), Releases { first: (7, 2), last: (7, 2) });
        assert_eq!(rocblas(2, 47, 0), Releases { first: (5, 5), last: (5, 5) });
        let hip = Releases::of(Kind::Hip, Some(Version::from_raw(60_443_484)));
        assert_eq!(hip, Releases { first: (6, 4), last: (6, 4) });
        let smi = |major, minor| Releases::of(Kind::AmdSmi, Some(Version { major, minor, patch: 0 }));
        assert_eq!(smi(26, 2), Releases { first: (7, 1), last: (10, 0) }, "7.2 to 7.14");
        assert_eq!(smi(27, 1), Releases { first: (10, 1), last: (10, 1) });
        assert_eq!(Releases::of(Kind::Hip, None), Releases { first: (0, 0), last: ANY });
    }
}
