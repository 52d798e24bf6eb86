//! Bundles and compressed bundles, written by this crate's own writer and then corrupted.

mod common;

use code_object::{Bundle, Error, Method, TargetId, compress_bundle, write_bundle};
use common::{Hand, kernel, metadata};

const HOST: (&str, &[u8]) = ("host-x86_64-unknown-linux", b"");

fn best(ids: &[&str], device: &str) -> Option<String> {
    let entries: Vec<(&str, &[u8])> = ids.iter().map(|id| (*id, &b"\x7fELF"[..])).collect();
    let bytes = write_bundle(&entries, 8);
    let bundle = Bundle::parse(&bytes).expect("it is whole");
    bundle.best_for(&TargetId::parse(device).expect("well formed")).map(|entry| entry.id.to_string())
}

#[test]
fn the_most_specific_entry_for_a_device_is_chosen() {
    let [any, on, off, ecc, family, v3] = [
        "hipv4-amdgcn-amd-amdhsa--gfx90a",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hipv4-amdgcn-amd-amdhsa--gfx11-generic",
        "hip-amdgcn-amd-amdhsa--gfx1100",
    ];
    let device = "gfx90a:sramecc+:xnack-";
    assert_eq!(best(&[on, any, off, ecc], device).as_deref(), Some(ecc));
    assert_eq!(best(&[on, any, off], device).as_deref(), Some(off));
    assert_eq!(best(&[on, any], device).as_deref(), Some(any));
    assert_eq!(best(&[on], device), None);
    assert_eq!(best(&[on, off], "gfx90a:sramecc+:xnack+").as_deref(), Some(on));
    assert_eq!(best(&[family, v3], "gfx1100").as_deref(), Some(v3));
    assert_eq!(best(&[family, v3], "gfx1101").as_deref(), Some(family));
    // HIP ignores entries of other programs, and entries that are not ELF files.
    assert_eq!(best(&["openmp-amdgcn-amd-amdhsa--gfx90a", HOST.0], device), None);
    let bitcode = write_bundle(&[(any, b"BC\xc0\xde")], 8);
    assert!(
        Bundle::parse(&bitcode)
            .expect("whole")
            .best_for(&TargetId::parse(device).expect("well formed"))
            .is_none()
    );
}

#[test]
fn entries_are_what_their_names_say() {
    let object = Hand::new(&metadata(&[kernel(&[])])).bytes();
    for (id, whole) in
        [("hipv4-amdgcn-amd-amdhsa--gfx90a", true), ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", false)]
    {
        let bytes = write_bundle(&[HOST, (id, &object)], 4096);
        let bundle = Bundle::parse(&bytes).expect("it is whole");
        let entry = bundle.entries().nth(1).expect("there are two");
        assert_eq!((entry.kind(), entry.bytes.as_ptr().addr() - bytes.as_ptr().addr()), ("hipv4", 4096));
        match entry.code_object() {
            Ok(code) => assert!(whole && code.is_some_and(|code| code.kernel("k").is_some())),
            Err(error) => {
                assert!(!whole, "{error}");
                let text = format!("{id} in the bundle: its target is unclear: it was built for gfx90a");
                assert_eq!(error.to_string(), text);
            }
        }
    }
}

#[test]
fn truncated_bundles_are_refused() {
    let whole = write_bundle(&[HOST, ("hipv4-amdgcn-amd-amdhsa--gfx90a", b"code")], 8);
    for length in 0..whole.len() {
        assert!(matches!(Bundle::parse(&whole[..length]), Err(Error::Bundle(_))), "{length}");
    }
}

/// A malformed name is treated as another device's: the entries next to it are still read.
#[test]
fn a_malformed_name_is_no_target() {
    let (bad, good) = ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack", "hipv4-amdgcn-amd-amdhsa--gfx90a");
    let bytes = write_bundle(&[(bad, b"\x7fELF"), (good, b"\x7fELF")], 8);
    let bundle = Bundle::parse(&bytes).expect("its list is whole");
    assert_eq!(bundle.entries().map(|entry| entry.target.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(best(&[bad, good], "gfx90a").as_deref(), Some(good));
}

#[test]
fn spirv_is_known_by_its_name() {
    let ids = ["hip-spirv64-amd-amdhsa--amdgcnspirv", "hipv4-amdgcn-amd-amdhsa--gfx90a", HOST.0];
    let bytes = write_bundle(&ids.map(|id| (id, &b""[..])), 8);
    let bundle = Bundle::parse(&bytes).expect("it is whole");
    assert_eq!(bundle.entries().map(|entry| entry.is_spirv()).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn every_version_and_method_is_decompressed() {
    let object = Hand::new(&metadata(&[kernel(&[])])).bytes();
    let whole = write_bundle(&[HOST, ("hipv4-amdgcn-amd-amdhsa--gfx90a", &object)], 4096);
    for method in [Method::Zlib, Method::Zstd] {
        for version in 1..=3 {
            let bytes = compress_bundle(&whole, method, version);
            assert!(bytes.len() < whole.len() / 2 && Bundle::is_one(&bytes));
            let bundle = Bundle::parse(&bytes).expect("it is whole");
            assert_eq!((bundle.compression(), bundle.entries().count()), (Some(method), 2));
            let device = TargetId::parse("gfx90a").expect("well formed");
            assert_eq!(bundle.best_for(&device).map(|entry| entry.bytes), Some(&object[..]));
            for length in 0..bytes.len() {
                assert!(matches!(
                    Bundle::parse(&bytes[..length]),
                    Err(Error::Bundle(_) | Error::Compressed(_))
                ));
            }
        }
    }
}

/// A modification of the bytes of a bundle.
type Change<'a> = &'a dyn Fn(&mut Vec<u8>);

#[test]
fn compressed_bundles_with_wrong_sizes() {
    let whole = write_bundle(&[HOST], 8);
    let refused = |change: Change| {
        [Method::Zlib, Method::Zstd].map(|method| {
            let mut bytes = compress_bundle(&whole, method, 3);
            change(&mut bytes);
            Bundle::parse(&bytes).expect_err("something is wrong with it").to_string()
        })
    };
    let length = |n: u64| move |bytes: &mut Vec<u8>| bytes[16..24].copy_from_slice(&n.to_le_bytes());
    let right = whole.len() as u64;
    let cases: [(Change, &str); 9] = [
        (&|b| b[4] = 9, "its version 9 is not known"),
        (&|b| b[6] = 2, "its method 2 is not known"),
        (&|b| b[8] = 31, "it names 31 bytes, which are fewer than its header has"),
        (&|b| b[9] = 0xff, "cut short"),
        (&|b| b[24] ^= 1, "the sum is another"),
        (&length(right + 1), "bytes and names"),
        (&length(right - 1), ""),
        (&length(1 << 30), "cannot hold the 1073741824 that it names"),
        (&length((1 << 31) + 1), "has 2147483649 bytes when decompressed, allowed are 2147483648"),
    ];
    for (change, reason) in cases {
        for text in refused(change) {
            assert!(text.contains(reason) && !text.is_empty(), "{text} / {reason}");
        }
    }
}

/// Half a megabyte of zeros in a few thousand bytes whose header claims less: no more is decompressed than
/// claimed.
#[test]
fn a_bomb_is_not_unpacked() {
    for method in [Method::Zlib, Method::Zstd] {
        let mut bytes = compress_bundle(&vec![0; 1 << 19], method, 3);
        assert!(bytes.len() < 8000, "{}", bytes.len());
        bytes[16..24].copy_from_slice(&100_u64.to_le_bytes());
        let text = Bundle::parse(&bytes).expect_err("it is larger than it says").to_string();
        assert!(text.contains("cannot be decompressed"), "{text}");
    }
}
