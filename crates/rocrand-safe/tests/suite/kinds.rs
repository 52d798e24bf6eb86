//! Which kinds a platform has: data, so that one more, or one less, is seen. `COVERAGE.md` has the reasons.

use crate::under_test;
use rocrand_safe::{Error, Generator, Kind};

/// The kinds that the platform under test has, of those that `HIPSTACK_TEST_KINDS` names, as `Xorwow,Sobol32` does. On an emulated device some
/// take minutes.
pub(crate) fn here() -> Vec<Kind> {
    let Ok(chosen) = std::env::var("HIPSTACK_TEST_KINDS") else { return on_platform() };
    let named = |name: &str| {
        let kind = Kind::ALL.into_iter().find(|kind| format!("{kind:?}") == name);
        kind.unwrap_or_else(|| panic!("HIPSTACK_TEST_KINDS names {name}; there are {:?}", Kind::ALL))
    };
    let chosen: Vec<_> = chosen.split(',').map(named).collect();
    on_platform().into_iter().filter(|kind| chosen.contains(kind)).collect()
}

fn on_platform() -> Vec<Kind> {
    let lacking: &[Kind] = match under_test::name().as_str() {
        "host" => &[
            Kind::Mtgp32,
            Kind::Mrg31k3p,
            Kind::Lfsr113,
            Kind::Mt19937,
            Kind::ScrambledSobol32,
            Kind::ScrambledSobol64,
        ],
        "nvidia" => &[
            Kind::Mrg31k3p,
            Kind::Lfsr113,
            Kind::Threefry2x32x20,
            Kind::Threefry2x64x20,
            Kind::Threefry4x32x20,
            Kind::Threefry4x64x20,
        ],
        _ => &[],
    };
    Kind::ALL.into_iter().filter(|kind| !lacking.contains(kind)).collect()
}

#[test]
fn each_platform_has_the_kinds_that_are_listed() {
    let stream = under_test::stream();
    let here = on_platform();
    for kind in Kind::ALL {
        match Generator::new(&stream, kind) {
            Ok(generator) => {
                assert!(here.contains(&kind), "{kind:?} is not listed");
                assert_eq!(generator.kind(), kind);
                generator.close().unwrap();
            }
            Err(Error::NoKind { kind: refused, .. }) => {
                assert_eq!(refused, kind);
                assert!(!here.contains(&kind), "{kind:?} is listed");
            }
            Err(error) => panic!("{kind:?}: {error}"),
        }
    }
}
