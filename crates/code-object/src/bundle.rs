//! Bundles of code objects, as clang's offload bundler writes them: a list of named entries, and their
//! contents.

use crate::compressed;
use crate::{CodeObject, Error, Method, Reader, TargetId, part};
use std::borrow::Cow;
use std::ops::Range;

pub(crate) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Kinds of entries that HIP's runtime loads: for code object versions up to 3, and for later ones.
const HIP: [&str; 2] = ["hip", "hipv4"];

/// A bundle whose entries all lie inside the file.
#[derive(Debug, Clone)]
pub struct Bundle<'a> {
    bytes: Cow<'a, [u8]>,
    compression: Option<Method>,
    entries: Vec<Listed>,
}

#[derive(Debug, Clone)]
struct Listed {
    id: String,
    target: Option<TargetId>,
    range: Range<usize>,
}

/// One entry of a bundle.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Its name: a kind, a triple and a target, e.g. `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+`.
    pub id: &'a str,
    /// The GPU at the end of its name; also `None` if that is malformed.
    pub target: Option<&'a TargetId>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Bundle<'a> {
    /// Whether the bytes begin like a bundle, compressed or not.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC) || compressed::is_one(bytes)
    }

    /// Reads a bundle; a compressed one is decompressed, up to [`crate::MAX_UNCOMPRESSED`] bytes.
    ///
    /// Only the list of entries is parsed: see [`Entry::code_object`].
    ///
    /// # Errors
    /// [`Error::Bundle`], [`Error::Compressed`], [`Error::TooLarge`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        if compressed::is_one(bytes) {
            let (method, bytes) = compressed::decompress(bytes)?;
            let entries = read_list(&bytes)?;
            return Ok(Self { bytes: Cow::Owned(bytes), compression: Some(method), entries });
        }
        Ok(Self { bytes: Cow::Borrowed(bytes), compression: None, entries: read_list(bytes)? })
    }

    /// The compression method, if it was compressed.
    pub fn compression(&self) -> Option<Method> {
        self.compression
    }

    /// Its entries, in file order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().map(|listed| Entry {
            id: &listed.id,
            target: listed.target.as_ref(),
            bytes: self.bytes.get(listed.range.clone()).unwrap_or_default(),
        })
    }

    /// The code object that HIP loads for a device: the most specific one that runs on it. The device's own
    /// processor is more specific than a family, and more features are more specific than fewer.
    pub fn best_for(&self, device: &TargetId) -> Option<Entry<'_>> {
        let fitting = self.entries().filter(Entry::is_code).filter_map(|entry| {
            let target = entry.target.filter(|target| target.runs_on(device))?;
            Some((target.closeness(device), entry))
        });
        // Of equally specific entries the first wins, as in the runtime.
        fitting.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, entry)| entry)
    }
}

impl Entry<'_> {
    /// Its kind: HIP loads `hip` and `hipv4`; `host` stands for the host's own code.
    pub fn kind(&self) -> &str {
        self.id.split('-').next().unwrap_or(self.id)
    }

    /// Whether it is an ELF file that HIP loads on a GPU.
    pub fn is_code(&self) -> bool {
        HIP.contains(&self.kind()) && self.target.is_some() && self.bytes.starts_with(b"\x7fELF")
    }

    /// Whether it is SPIR-V (`--offload-arch=amdgcnspirv`), which a runtime first has to compile for its
    /// device.
    pub fn is_spirv(&self) -> bool {
        let triple = self.id.split_once('-').map_or("", |(_, triple)| triple);
        HIP.contains(&self.kind()) && triple.starts_with("spirv")
    }

    /// Parses the code object; `None` as for [`CodeObject::parse`].
    ///
    /// # Errors
    /// [`Error::Entry`] with the error of [`CodeObject::parse`], or if it was built for another GPU than its
    /// name says.
    pub fn code_object(&self) -> Result<Option<CodeObject>, Error> {
        let named = |error| Error::Entry { id: self.id.to_string(), error: Box::new(error) };
        let code = CodeObject::parse(self.bytes).map_err(named)?;
        if let Some((code, named_target)) = code.as_ref().zip(self.target)
            && let Some(built) = &code.target
        {
            // Before version 4 the name did not contain features.
            let same = match code.version {
                ..4 => built.processor == named_target.processor,
                _ => built == named_target,
            };
            if !same {
                return Err(named(Error::Target(format!("it was built for {built}"))));
            }
        }
        Ok(code)
    }
}

fn read_list(bytes: &[u8]) -> Result<Vec<Listed>, Error> {
    if !bytes.starts_with(MAGIC) {
        return Err(Error::Bundle("it does not begin with the magic words".into()));
    }
    let mut reader = Reader::new(bytes, MAGIC.len());
    let count = reader.number::<8>().map_err(Error::bundle)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(read_entry(bytes, &mut reader)?);
    }
    Ok(entries)
}

fn read_entry(bytes: &[u8], reader: &mut Reader) -> Result<Listed, Error> {
    let mut number = || reader.number::<8>().map_err(Error::bundle);
    let (offset, size, id_length) = (number()?, number()?, number()?);
    let id = String::from_utf8_lossy(reader.take(id_length).map_err(Error::bundle)?).into_owned();
    let length = part(bytes, offset, size).map_err(Error::bundle)?.len();
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    // A malformed name is treated as that of another device.
    let target = id.split_once('-').and_then(|(_, triple)| TargetId::of_triple(triple)).and_then(Result::ok);
    Ok(Listed { id, target, range: start..start.saturating_add(length) })
}
