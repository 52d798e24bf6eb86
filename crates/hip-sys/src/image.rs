//! Bytes that a module can be loaded from. `hipModuleLoadData` takes no length, so they are checked first.

use code_object::{Bundle, CodeObject, CutShort, Error as CodeError, Reader, TargetId, part};
use std::borrow::Cow;
use std::ffi::c_void;
use std::fmt;

const ELF: &[u8] = b"\x7fELF";
const FATBIN: &[u8] = &0xBA55_ED50_u32.to_le_bytes();
const HOST_MODULE: &[u8] = b"HIPHOSTM";
const HOST_CODE: &[u8] = b"HIPHOSTC";
/// The magic number of SPIR-V.
const SPIRV: &[u8] = &0x0723_0203_u32.to_le_bytes();

/// A copy of an image, whose structure was checked: every length in it stays inside. It begins a page and ends in zeros.
///
/// Of a bundle, compressed or not, only the code object for the device is copied. So no runtime has to choose or to
/// decompress, and those that do not know compressed bundles (before ROCm 6) load them too.
///
/// ```
/// use hip_sys::Image;
///
/// let cut = Image::new(b"\x7fELF\x02\x01\x01", "gfx1100").unwrap_err();
/// assert!(cut.to_string().contains("no whole 64-bit ELF file"));
/// let text = Image::new(b".version 7.0", "sm_90")?;
/// assert_eq!((text.to_string(), text.code_object()), ("an assembly text of 12 bytes".into(), None));
/// # Ok::<(), hip_sys::ImageError>(())
/// ```
pub struct Image {
    pages: Box<[Page]>,
    /// Bytes of `pages` that were copied.
    length: usize,
    /// Bytes of the image.
    given: usize,
    kind: String,
    code: Option<CodeObject>,
}

/// Code objects are mapped in pages, and the last one ends in zeros, which ends a text.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; PAGE]);

const PAGE: usize = 4096;

/// Why bytes are no image for a device.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// A code object or a bundle of them is malformed.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A length in it is larger than what is there.
    #[error(transparent)]
    CutShort(#[from] CutShort),
    /// It is for other devices.
    #[error("it was built for {built_for} and the device is {device}; build it with --offload-arch={device}")]
    OtherDevice {
        /// The devices it is for.
        built_for: String,
        /// The device it was to be loaded on.
        device: String,
    },
    /// It is an ELF file for another machine.
    #[error("it is an ELF file, but not for an AMD GPU; the device is {device}")]
    OtherMachine {
        /// The device it was to be loaded on.
        device: String,
    },
    /// It is code for an AMD GPU that does not say what kernels it has.
    #[error(
        "it is code for an AMD GPU without metadata of its kernels, as code object version 2 is; \
         build it again with --offload-arch={device}"
    )]
    NoMetadata {
        /// The device it was to be loaded on.
        device: String,
    },
    /// It is SPIR-V, or a bundle with nothing else for the device.
    #[error("it is SPIR-V, and not yet code for a device; build it with --offload-arch={device}")]
    Spirv {
        /// The device it was to be loaded on.
        device: String,
    },
    /// It is nothing that an AMD device loads.
    #[error("it is no code object and no bundle of them; build it with --offload-arch={device}")]
    NoCode {
        /// The device it was to be loaded on.
        device: String,
    },
    /// It is of no known kind.
    #[error(
        "it is no code object, bundle, fat binary, host module or assembly text; build it for this platform"
    )]
    Unknown,
    /// The name in a host module.
    #[error("the name in it is not UTF-8")]
    Name,
}

crate::debug_by_display!(ImageError);

impl Image {
    /// Checks and copies the bytes of an image for a device, whose architecture is named as its properties do:
    /// `gfx90a:sramecc+:xnack-`, `sm_90`, `host-w32`.
    ///
    /// # Errors
    /// What is wrong with them, and what to do.
    pub fn new(bytes: &[u8], arch: &str) -> Result<Self, ImageError> {
        let Checked { kind, loaded, code } = check(bytes, arch)?;
        let mut pages = vec![Page([0; PAGE]); loaded.len() / PAGE + 1].into_boxed_slice();
        for (page, chunk) in pages.iter_mut().zip(loaded.chunks(PAGE)) {
            page.0[..chunk.len()].copy_from_slice(chunk);
        }
        Ok(Self { pages, length: loaded.len(), given: bytes.len(), kind, code })
    }

    /// What a runtime is given: of a bundle, the code object for the device.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: S12: the pages are ours, have no padding between them, and hold at least so many bytes.
        unsafe { &*std::ptr::slice_from_raw_parts(self.pages.as_ptr().cast(), self.length) }
    }

    /// The address of its first byte, for `hipModuleLoadData`; valid while the image lives, wherever it is moved.
    pub fn address(&self) -> *const c_void {
        self.pages.as_ptr().cast()
    }

    /// What is known of its kernels: those of the code object that the device takes. `None` for images that are not AMD's.
    pub fn code_object(&self) -> Option<&CodeObject> {
        self.code.as_ref()
    }
}

/// What it is, for messages: "a code object of 4096 bytes".
impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.kind, self.given)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({self})")
    }
}

/// An image that was found to be whole.
struct Checked<'a> {
    /// What kind of image it is.
    kind: String,
    /// What of it a runtime is given.
    loaded: Cow<'a, [u8]>,
    /// What it says of its kernels.
    code: Option<CodeObject>,
}

fn check<'a>(bytes: &'a [u8], arch: &str) -> Result<Checked<'a>, ImageError> {
    // AMD's runtime treats whatever is no bundle as an ELF file and follows its offsets, so only checked bytes may reach it.
    let for_amd = arch.starts_with("gfx");
    let whole = |kind: String, code| Checked { kind, loaded: Cow::Borrowed(bytes), code };
    if bytes.starts_with(ELF) {
        check_elf(bytes, arch, for_amd).map(|code| whole("a code object".into(), code))
    } else if Bundle::is_one(bytes) {
        check_bundle(bytes, arch)
    } else if bytes.starts_with(SPIRV) {
        Err(ImageError::Spirv { device: arch.into() })
    } else if for_amd {
        Err(ImageError::NoCode { device: arch.into() })
    } else if bytes.starts_with(FATBIN) {
        check_fatbin(bytes).map(|()| whole("a fat binary".into(), None))
    } else if bytes.starts_with(HOST_MODULE) {
        check_host_module(bytes).map(|name| whole(format!("host module {name:?}"), None))
    } else if bytes.starts_with(HOST_CODE) {
        check_host_code(bytes).map(|()| whole("compiled host code".into(), None))
    } else {
        check_text(bytes).map(|()| whole("an assembly text".into(), None))
    }
}

fn check_elf(bytes: &[u8], arch: &str, for_amd: bool) -> Result<Option<CodeObject>, ImageError> {
    let code = CodeObject::parse(bytes)?;
    if for_amd && code.is_none() {
        return Err(without_metadata(bytes, arch));
    }
    if let Some(target) = code.as_ref().and_then(|code| code.target.as_ref())
        && !target.runs_on(&TargetId::parse(arch)?)
    {
        return Err(other_device([target], arch));
    }
    Ok(code)
}

fn without_metadata(bytes: &[u8], arch: &str) -> ImageError {
    let device = arch.to_string();
    if CodeObject::is_for_amd(bytes) {
        ImageError::NoMetadata { device }
    } else {
        ImageError::OtherMachine { device }
    }
}

/// Finds the code object for the device. Of the others a runtime reads only their offsets and sizes, which are checked here.
fn check_bundle<'a>(bytes: &'a [u8], arch: &str) -> Result<Checked<'a>, ImageError> {
    let bundle = Bundle::parse(bytes)?;
    let kind =
        if bundle.compression().is_some() { "a compressed bundle" } else { "a bundle of code objects" };
    let Some(best) = bundle.best_for(&TargetId::parse(arch)?) else {
        if bundle.entries().any(|entry| entry.is_spirv()) {
            return Err(ImageError::Spirv { device: arch.into() });
        }
        let built_for = bundle.entries().filter(|entry| entry.is_code()).filter_map(|entry| entry.target);
        return Err(other_device(built_for, arch));
    };
    let code = best.code_object()?.ok_or_else(|| without_metadata(best.bytes, arch))?;
    Ok(Checked { kind: kind.into(), loaded: Cow::Owned(best.bytes.to_vec()), code: Some(code) })
}

fn other_device<'a>(built_for: impl IntoIterator<Item = &'a TargetId>, arch: &str) -> ImageError {
    let names: Vec<String> = built_for.into_iter().map(TargetId::to_string).collect();
    let built_for = if names.is_empty() { "no device".into() } else { names.join(", ") };
    ImageError::OtherDevice { built_for, device: arch.into() }
}

fn check_fatbin(bytes: &[u8]) -> Result<(), ImageError> {
    let mut reader = Reader::new(bytes, FATBIN.len());
    let _version = reader.number::<2>()?;
    let header_length = reader.number::<2>()?;
    let length = reader.number::<8>()?;
    part(bytes, header_length, length)?;
    Ok(())
}

fn check_host_module(bytes: &[u8]) -> Result<&str, ImageError> {
    let mut reader = Reader::new(bytes, HOST_MODULE.len());
    let length = reader.number::<4>()?;
    std::str::from_utf8(reader.take(length)?).map_err(|_| ImageError::Name)
}

/// The platform checks the sum of the contents itself.
fn check_host_code(bytes: &[u8]) -> Result<(), ImageError> {
    let length = Reader::new(bytes, HOST_CODE.len()).number::<8>()?;
    part(bytes, 0, length)?;
    Ok(())
}

fn check_text(bytes: &[u8]) -> Result<(), ImageError> {
    let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let is_text = !text.is_empty() && !text.contains(&0) && std::str::from_utf8(text).is_ok();
    if is_text { Ok(()) } else { Err(ImageError::Unknown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

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
        for length in [1, 4095, 4096, 4097] {
            let text = vec![b'x'; length];
            let image = Image::new(&text, "sm_90").unwrap();
            assert!(image.address().addr().is_multiple_of(PAGE));
            let kept = image.pages.iter().flat_map(|page| page.0).collect::<Vec<u8>>();
            assert_eq!((&kept[..length], kept[length]), (&text[..], 0));
        }
    }

    #[test]
    fn an_amd_device_gets_only_checked_bytes() {
        let refused = "it is no code object and no bundle of them; build it with --offload-arch=gfx1100";
        for image in [
            &b"some text that is no ELF file, long enough to have offsets"[..],
            &host_module(3, "abc"),
            FATBIN,
        ] {
            assert_eq!(check(image, "gfx1100").map(|image| image.kind).unwrap_err().to_string(), refused);
        }
    }

    /// After a name that is not UTF-8 the next entry is still found, and it lies outside.
    #[test]
    fn the_length_of_a_bundle_name_counts_its_bytes() {
        let entries = [("hipX", 24 + 8 + 60, 0), ("host", u64::MAX / 2, 64)];
        let mut bytes = bundle(&entries, &[0; 64]);
        let name = bytes.windows(4).position(|w| w == b"hipX").unwrap();
        bytes[name..name + 4].fill(0xff);
        let cut = format!(
            "the bundle is malformed: it is cut short: bytes {} and 64 more are named, it has {}",
            u64::MAX / 2,
            bytes.len()
        );
        assert_eq!(check(&bytes, "gfx1100").map(|image| image.kind).unwrap_err().to_string(), cut);
    }

    #[test]
    fn truncated_images_are_refused() {
        assert_eq!(check(&host_module(3, "abc"), "").unwrap().kind, "host module \"abc\"");
        assert_eq!(check(b"HIPHOSTC\x10\0\0\0\0\0\0\0", "").unwrap().kind, "compiled host code");
        let cut_short: [(&[u8], &str); 10] = [
            (&host_module(4, "abc"), "12 and 4 more"),
            (&host_module(u32::MAX, ""), "12 and 4294967295 more"),
            (b"HIPHOSTM\x01", "8 and 4 more"),
            (b"HIPHOSTC\x11\0\0\0\0\0\0\0", "0 and 17 more"),
            (b"HIPHOSTC\x10", "8 and 8 more"),
            (&bundle(&[("host", 0, u64::MAX)], &[]), "0 and 18446744073709551615 more"),
            (&bundle(&[("host", u64::MAX, 2)], &[]), "18446744073709551615 and 2 more"),
            (&[BUNDLE, &u64::MAX.to_le_bytes()].concat(), "32 and 8 more"),
            (b"CCOB\x02\0\x01\0\xff\0\0\0", "12 and 4 more"),
            (&[FATBIN, &[1, 0, 16, 0], &100_u64.to_le_bytes()].concat(), "16 and 100 more"),
        ];
        for (bytes, reason) in cut_short {
            let found = check(bytes, "sm_90").map(|image| image.kind).unwrap_err().to_string();
            assert!(found.contains("cut short") && found.contains(reason), "{found}");
        }
        for (bytes, reason) in [
            (ELF, "no whole 64-bit ELF file"),
            (b"\x01\x02\x00\x03", "no code object"),
            (b"", "no code object"),
        ] {
            let found = check(bytes, "sm_90").map(|image| image.kind).unwrap_err().to_string();
            assert!(found.contains(reason), "{found}");
        }
    }

    #[test]
    fn a_bundle_for_other_devices_says_which() {
        let bytes = bundle(&[("host-x86_64-unknown-linux", 0, 0)], &[]);
        let reason = check(&bytes, "gfx90a:xnack-").map(|image| image.kind).unwrap_err();
        let expected =
            ImageError::OtherDevice { built_for: "no device".into(), device: "gfx90a:xnack-".into() };
        assert_eq!(reason, expected);
    }
}
