//! What of an image a runtime is given, and what none is.

#[path = "../../code-object/tests/common/mod.rs"]
mod common;

use code_object::{Method, compress_bundle, write_bundle};
use common::{Hand, NOTE, kernel, metadata, put};
use hip_sys::{Image, ImageError};

const DEVICE: &str = "gfx90a:sramecc+:xnack-";
const OURS: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a";
const OTHER: &str = "hipv4-amdgcn-amd-amdhsa--gfx1100";
const HOST: (&str, &[u8]) = ("host-x86_64-unknown-linux", b"");

fn object() -> Vec<u8> {
    Hand::new(&metadata(&[kernel(&[])])).bytes()
}

fn refused(bytes: &[u8]) -> ImageError {
    Image::new(bytes, DEVICE).expect_err("it is not for the device")
}

/// Runtimes before ROCm 6 do not know compressed bundles, and follow their bytes as an ELF file's.
#[test]
fn a_runtime_gets_the_code_object_of_a_bundle() {
    let object = object();
    let bundle = write_bundle(&[HOST, (OTHER, b"\x7fELF"), (OURS, &object)], 4096);
    let compressed = [Method::Zlib, Method::Zstd]
        .into_iter()
        .flat_map(|method| [1, 2, 3].map(|version| compress_bundle(&bundle, method, version)));
    for bytes in std::iter::once(bundle.clone()).chain(compressed) {
        let image = Image::new(&bytes, DEVICE).expect("it has code for the device");
        assert_eq!(image.bytes(), object);
        assert_eq!(image.address(), image.bytes().as_ptr().cast());
        assert!(image.code_object().is_some_and(|code| code.kernel("k").is_some()));
        assert!(image.to_string().ends_with(&format!("of {} bytes", bytes.len())), "{image}");
    }
    assert_eq!(Image::new(&object, DEVICE).expect("it is whole").bytes(), object);
}

#[test]
fn entries_for_other_devices_are_not_read() {
    let object = object();
    let others: [(&str, &[u8]); 3] =
        [(OTHER, b"\x7fELF, cut"), ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack", &object), ("\u{fffd}", b"")];
    for other in others {
        let bytes = write_bundle(&[other, (OURS, &object)], 8);
        assert_eq!(Image::new(&bytes, DEVICE).expect("ours is whole").bytes(), object);
    }
    let cut = write_bundle(&[HOST, (OURS, b"\x7fELF, cut")], 8);
    assert!(matches!(refused(&cut), ImageError::Code(_)));
}

#[test]
fn a_bundle_too_large_to_be_read_is_refused() {
    let mut bytes = compress_bundle(&write_bundle(&[HOST], 8), Method::Zstd, 3);
    put(&mut bytes, 16, &(3_u64 << 30).to_le_bytes());
    let text = refused(&bytes).to_string();
    assert!(text.contains("has 3221225472 bytes when decompressed, allowed are"), "{text}");
}

/// Code object version 2 has another note, which is not read here.
#[test]
fn code_without_metadata_is_refused() {
    let mut bytes = object();
    put(&mut bytes, NOTE + 8, &10_u32.to_le_bytes());
    let bundle = write_bundle(&[(OURS, &bytes)], 8);
    for bytes in [&bytes, &bundle] {
        let text = refused(bytes).to_string();
        assert!(text.contains("code object version 2") && text.contains("--offload-arch=gfx90a"), "{text}");
    }
    put(&mut bytes, 18, &62_u16.to_le_bytes());
    assert_eq!(refused(&bytes), ImageError::OtherMachine { device: DEVICE.into() });
}

#[test]
fn spirv_is_named() {
    let spirv: &[u8] = &[3, 2, 0x23, 7, 0, 0, 1, 0];
    let id = "hip-spirv64-amd-amdhsa--amdgcnspirv";
    for bytes in [spirv.to_vec(), write_bundle(&[HOST, (id, spirv)], 8)] {
        let error = refused(&bytes);
        assert_eq!(error, ImageError::Spirv { device: DEVICE.into() });
        assert!(error.to_string().contains("--offload-arch=gfx90a"), "{error}");
    }
    let object = object();
    let both = write_bundle(&[(id, spirv), (OURS, &object)], 8);
    assert_eq!(Image::new(&both, DEVICE).expect("it has code for the device").bytes(), object);
}
