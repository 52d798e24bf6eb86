//! The bytes that a module is loaded from. C's function takes no length, so they are checked first, and they are kept as
//! long as the module: a runtime may read them later.

use crate::convert::base_architecture;
use bytemuck::{Pod, Zeroable};
use code_object::CodeObject;
use std::ffi::c_void;

const ELF: &[u8] = b"\x7fELF";
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED_BUNDLE: &[u8] = b"CCOB";
const FATBIN: &[u8] = &0xBA55_ED50_u32.to_le_bytes();
const HOST_MODULE: &[u8] = b"HIPHOSTM";
const HOST_CODE: &[u8] = b"HIPHOSTC";

/// A checked image.
pub(crate) struct Image {
    pages: Box<[Page]>,
    /// What messages call it.
    pub(crate) label: String,
    /// What is known of its kernels.
    pub(crate) code: Option<CodeObject>,
}

/// Code objects are mapped in pages, and the last one ends in zeros, which ends a text.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

impl Image {
    /// Checks and copies the bytes of an image that is meant for a device of the given architecture.
    ///
    /// # Errors
    /// What is wrong with them, and what to do.
    pub(crate) fn new(bytes: &[u8], arch: &str) -> Result<Self, String> {
        let (kind, code) = check(bytes, arch)?;
        let label = format!("{kind} of {} bytes", bytes.len());
        let mut pages = vec![Page::zeroed(); bytes.len() / size_of::<Page>() + 1].into_boxed_slice();
        bytemuck::cast_slice_mut(&mut pages)[..bytes.len()].copy_from_slice(bytes);
        Ok(Self { pages, label, code })
    }

    /// Its first byte.
    pub(crate) fn address(&self) -> *const c_void {
        self.pages.as_ptr().cast()
    }
}

/// What kind of image it is, and what it says of its kernels.
fn check(bytes: &[u8], arch: &str) -> Result<(String, Option<CodeObject>), String> {
    // AMD's runtime takes whatever is no bundle for an ELF file and follows its offsets; only what was checked may reach it.
    let for_amd = arch.starts_with("gfx");
    if bytes.starts_with(ELF) {
        let code = CodeObject::parse(bytes)?;
        if for_amd && !CodeObject::is_for_amd(bytes) {
            return Err(format!("it is an ELF file, but not for an AMD GPU; the device is {arch}"));
        }
        if let Some(built) = code.as_ref().and_then(|code| code.arch.as_deref()) {
            check_architecture(&[built], arch)?;
        }
        Ok(("a code object".into(), code))
    } else if bytes.starts_with(BUNDLE) {
        check_bundle(bytes, arch).map(|code| ("a bundle of code objects".into(), code))
    } else if bytes.starts_with(COMPRESSED_BUNDLE) {
        check_compressed(bytes).map(|()| ("a compressed bundle".into(), None))
    } else if for_amd {
        Err(format!("it is no code object and no bundle of them; build it with --offload-arch={arch}"))
    } else if bytes.starts_with(FATBIN) {
        check_fatbin(bytes).map(|()| ("a fat binary".into(), None))
    } else if bytes.starts_with(HOST_MODULE) {
        check_host_module(bytes).map(|name| (format!("host module {name:?}"), None))
    } else if bytes.starts_with(HOST_CODE) {
        check_host_code(bytes).map(|()| ("compiled host code".into(), None))
    } else {
        check_text(bytes).map(|()| ("an assembly text".into(), None))
    }
}

/// Finds the code object for the device; every entry lies inside the bundle.
fn check_bundle(bytes: &[u8], arch: &str) -> Result<Option<CodeObject>, String> {
    let mut at = BUNDLE.len();
    let count = number::<8>(bytes, &mut at)?;
    let (mut found, mut built_for) = (None, Vec::new());
    for _ in 0..count {
        let (offset, size) = (number::<8>(bytes, &mut at)?, number::<8>(bytes, &mut at)?);
        let name_length = number::<8>(bytes, &mut at)?;
        let entry = part(bytes, offset, size)?;
        let name = part(bytes, at as u64, name_length)?;
        at += name.len();
        let name = String::from_utf8_lossy(name).into_owned();
        if !entry.starts_with(ELF) {
            continue;
        }
        let code = CodeObject::parse(entry)?;
        let built = name.rsplit_once("--").map_or(name.as_str(), |(_, built)| built);
        if found.is_none() && base_architecture(built) == base_architecture(arch) {
            found = Some(code);
        }
        built_for.push(built.to_string());
    }
    match found {
        Some(code) => Ok(code),
        None => {
            check_architecture(&built_for.iter().map(String::as_str).collect::<Vec<_>>(), arch).map(|()| None)
        }
    }
}

fn check_architecture(built_for: &[&str], arch: &str) -> Result<(), String> {
    if built_for.iter().any(|built| base_architecture(built) == base_architecture(arch)) {
        return Ok(());
    }
    let list = if built_for.is_empty() { "no device".into() } else { built_for.join(", ") };
    Err(format!("it was built for {list} and the device is {arch}; build it with --offload-arch={arch}"))
}

/// Version 1 does not say how long it is.
fn check_compressed(bytes: &[u8]) -> Result<(), String> {
    let mut at = COMPRESSED_BUNDLE.len();
    let version = number::<2>(bytes, &mut at)?;
    let _method = number::<2>(bytes, &mut at)?;
    let length = match version {
        2 => number::<4>(bytes, &mut at)?,
        3 => number::<8>(bytes, &mut at)?,
        _ => {
            return Err(format!(
                "compressed bundles of version {version} are not known; build it without compression"
            ));
        }
    };
    part(bytes, 0, length).map(|_| ())
}

fn check_fatbin(bytes: &[u8]) -> Result<(), String> {
    let mut at = FATBIN.len();
    let _version = number::<2>(bytes, &mut at)?;
    let header_length = number::<2>(bytes, &mut at)?;
    let length = number::<8>(bytes, &mut at)?;
    part(bytes, header_length, length).map(|_| ())
}

fn check_host_module(bytes: &[u8]) -> Result<&str, String> {
    let mut at = HOST_MODULE.len();
    let length = number::<4>(bytes, &mut at)?;
    let name = part(bytes, at as u64, length)?;
    std::str::from_utf8(name).map_err(|_| "the name in it is not UTF-8".into())
}

/// The platform checks the sum of the contents itself.
fn check_host_code(bytes: &[u8]) -> Result<(), String> {
    let length = number::<8>(bytes, &mut HOST_CODE.len())?;
    part(bytes, 0, length).map(|_| ())
}

fn check_text(bytes: &[u8]) -> Result<(), String> {
    let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let is_text = !text.is_empty() && !text.contains(&0) && std::str::from_utf8(text).is_ok();
    if is_text {
        return Ok(());
    }
    Err("it is no code object, bundle, fat binary, host module or assembly text; build it for this platform"
        .into())
}

/// The little-endian number of `N` bytes at `at`, which moves behind it.
fn number<const N: usize>(bytes: &[u8], at: &mut usize) -> Result<u64, String> {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(part(bytes, *at as u64, N as u64)?);
    *at += N;
    Ok(u64::from_le_bytes(wide))
}

fn part(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8], String> {
    let range = offset
        .checked_add(length)
        .and_then(|end| Some(usize::try_from(offset).ok()?..usize::try_from(end).ok()?));
    range.and_then(|range| bytes.get(range)).ok_or_else(|| {
        format!("it is cut short: bytes {offset} and {length} more are named, it has {}", bytes.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_module(length: u32, name: &str) -> Vec<u8> {
        [HOST_MODULE, &length.to_le_bytes(), name.as_bytes()].concat()
    }

    fn bundle(entries: &[(&str, u64, u64)], tail: &[u8]) -> Vec<u8> {
        let mut bytes = [BUNDLE, &(entries.len() as u64).to_le_bytes()].concat();
        for (name, offset, size) in entries {
            for n in [*offset, *size, name.len() as u64] {
                bytes.extend(n.to_le_bytes());
            }
            bytes.extend(name.as_bytes());
        }
        [&bytes, tail].concat()
    }

    #[test]
    fn images_are_kept_in_pages_that_end_in_zeros() {
        let text = vec![b'x'; 4096];
        let image = Image::new(&text, "sm_90").unwrap();
        assert!(image.address().addr().is_multiple_of(4096));
        let kept: &[u8] = bytemuck::cast_slice(&image.pages);
        assert_eq!((&kept[..4096], kept[4096]), (&text[..], 0));
    }

    #[test]
    fn an_amd_device_is_given_nothing_that_was_not_walked() {
        let refused = "it is no code object and no bundle of them; build it with --offload-arch=gfx1100";
        for image in [
            &b"some text that is no ELF file, long enough to have offsets"[..],
            &host_module(3, "abc"),
            FATBIN,
        ] {
            assert_eq!(check(image, "gfx1100").unwrap_err(), refused);
        }
    }

    /// A name that is no UTF-8 is as long as it says; the entry behind it is found, and it lies outside.
    #[test]
    fn bundle_names_are_as_long_as_they_say() {
        let entries = [("hipX", 24 + 8 + 60, 0), ("host", u64::MAX / 2, 64)];
        let mut bytes = bundle(&entries, &[0; 64]);
        let name = bytes.windows(4).position(|w| w == b"hipX").unwrap();
        bytes[name..name + 4].fill(0xff);
        let cut =
            format!("it is cut short: bytes {} and 64 more are named, it has {}", u64::MAX / 2, bytes.len());
        assert_eq!(check(&bytes, "gfx1100").unwrap_err(), cut);
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        assert_eq!(check(&host_module(3, "abc"), "").unwrap().0, "host module \"abc\"");
        assert_eq!(check(b"HIPHOSTC\x10\0\0\0\0\0\0\0", "").unwrap().0, "compiled host code");
        let refused = [
            host_module(4, "abc"),
            host_module(u32::MAX, ""),
            b"HIPHOSTM\x01".to_vec(),
            b"HIPHOSTC\x11\0\0\0\0\0\0\0".to_vec(),
            b"HIPHOSTC\x10".to_vec(),
            bundle(&[("host", 0, u64::MAX)], &[]),
            bundle(&[("host", u64::MAX, 2)], &[]),
            [BUNDLE, &u64::MAX.to_le_bytes()].concat(),
            b"CCOB\x02\0\x01\0\xff\0\0\0".to_vec(),
            [FATBIN, &[1, 0, 16, 0], &100_u64.to_le_bytes()].concat(),
            ELF.to_vec(),
            b"\x01\x02\x00\x03".to_vec(),
            Vec::new(),
        ];
        for bytes in refused {
            let reason = check(&bytes, "gfx90a").map(|(kind, _)| kind).unwrap_err();
            assert!(!reason.is_empty(), "{bytes:?}");
        }
    }

    #[test]
    fn a_bundle_for_other_devices_says_which() {
        let bytes = bundle(&[("host-x86_64-unknown-linux", 0, 0)], &[]);
        let reason = check(&bytes, "gfx90a:xnack-").map(|(kind, _)| kind).unwrap_err();
        assert!(reason.contains("no device") && reason.contains("gfx90a:xnack-"), "{reason}");
    }
}
