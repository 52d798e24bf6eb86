//! What a GGUF file has before its data: a version, metadata, and where each tensor lies.

use std::collections::BTreeMap;
use std::ops::Range;

use tensor_core::file::Source;
use tensor_core::{Result, Shape};

use super::cursor::Cursor;
use super::metadata::Metadata;
use super::{OPEN, shown};
use crate::format::Format;

pub(crate) const MAGIC: &[u8; 4] = b"GGUF";
/// The version that is written. Version 2 is read as well; it differs in nothing that is read here.
pub(super) const VERSION: u32 = 3;
/// The key of the alignment of data.
pub(super) const ALIGNMENT: &str = "general.alignment";
/// The alignment of files that name none.
pub(super) const USUAL_ALIGNMENT: u64 = 32;
/// The most dimensions that ggml has.
pub(super) const MOST_DIMENSIONS: u32 = 4;
/// ggml's number of 8-bit integers, which tensors do not have.
const I8: u32 = 24;

/// A tensor of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// How its numbers are stored, if tensors can have them.
    pub format: Option<Format>,
    /// The name of the format, such as "q4_k".
    pub format_name: &'static str,
    /// The shape, outermost dimension first: files have it the other way round.
    pub shape: Shape,
    /// The file of a split model that it lies in, from 0 on.
    pub(super) file: usize,
    /// Its bytes in that file.
    pub(super) range: Range<u64>,
}

impl Info {
    /// The size in the file, in bytes.
    pub fn byte_len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Where its bytes lie in its file.
    pub fn byte_range(&self) -> Range<u64> {
        self.range.clone()
    }
}

/// A header whose tensors all lie in their file.
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) metadata: Metadata,
    pub(super) tensors: BTreeMap<String, Info>,
    pub(super) alignment: u64,
}

impl Header {
    /// Reads the header of file `file` of a model.
    pub(super) fn read(source: &Source, file: usize) -> Result<Header> {
        let mut cursor = Cursor::new(source);
        let version = version(&mut cursor)?;
        // A tensor has at least a length of its name, a number of dimensions, a format and an offset; metadata a length of
        // the key, a type and a byte.
        let tensors = cursor.count(8 + 4 + 4 + 8, "tensors")?;
        let values = cursor.count(8 + 4 + 1, "metadata")?;
        let metadata = metadata(&mut cursor, values)?;
        let alignment = alignment(&cursor, &metadata)?;
        let mut tensors = infos(&mut cursor, tensors, file)?;
        let Some(data) = cursor.at().checked_next_multiple_of(alignment) else {
            return Err(cursor.error(format!("{ALIGNMENT} is {alignment}, more than the file has")));
        };
        for (name, info) in &mut tensors {
            resolve_range(source, name, info, data, alignment)?;
        }
        check_overlaps(source, &tensors)?;
        Ok(Header { version, metadata, tensors, alignment })
    }
}

fn version(cursor: &mut Cursor<'_>) -> Result<u32> {
    let magic = cursor.u32()?.to_le_bytes();
    if &magic != MAGIC {
        let found = magic.escape_ascii();
        return Err(
            cursor.error(format!("it begins with \"{found}\" and not with \"GGUF\": it is no GGUF file"))
        );
    }
    match cursor.u32()? {
        version @ 2..=3 => Ok(version),
        1 => Err(cursor.error("version 1 is not read; convert the model again, or fetch a newer file")),
        version if (2..=3).contains(&version.swap_bytes()) => {
            Err(cursor.error("the file is big-endian; convert it with gguf_convert_endian.py of llama.cpp"))
        }
        version => Err(cursor.error(format!("version {version} is not known; 2 and 3 are"))),
    }
}

fn metadata(cursor: &mut Cursor<'_>, count: u64) -> Result<Metadata> {
    let mut metadata = Metadata::new();
    for index in 0..count {
        cursor.reading = format!("the name of metadata {index}");
        let key = cursor.text()?;
        cursor.reading = format!("metadata {}", shown(&key));
        let value = cursor.value()?;
        if metadata.insert(key, value).is_some() {
            return Err(cursor.error("two values have this name: the file is damaged"));
        }
    }
    cursor.reading = "the header".to_owned();
    Ok(metadata)
}

fn alignment(cursor: &Cursor<'_>, metadata: &Metadata) -> Result<u64> {
    let Some(value) = metadata.get(ALIGNMENT) else { return Ok(USUAL_ALIGNMENT) };
    let alignment = value.as_u64().filter(|alignment| alignment.is_power_of_two());
    alignment.ok_or_else(|| {
        cursor.error(format!("{ALIGNMENT} is {value}, which is no power of two: the file is damaged"))
    })
}

/// The tensors; the ranges are as the file has them, relative to its data.
fn infos(cursor: &mut Cursor<'_>, count: u64, file: usize) -> Result<BTreeMap<String, Info>> {
    let mut tensors = BTreeMap::new();
    for index in 0..count {
        cursor.reading = format!("the name of tensor {index}");
        let name = cursor.text()?;
        cursor.reading = format!("tensor {}", shown(&name));
        let info = info(cursor, file)?;
        if tensors.insert(name, info).is_some() {
            return Err(cursor.error("two tensors have this name: the file is damaged"));
        }
    }
    cursor.reading = "the header".to_owned();
    Ok(tensors)
}

fn info(cursor: &mut Cursor<'_>, file: usize) -> Result<Info> {
    let rank = cursor.u32()?;
    if rank > MOST_DIMENSIONS {
        return Err(cursor.error(format!(
            "it has {rank} dimensions, and ggml has {MOST_DIMENSIONS} at most: the file is damaged"
        )));
    }
    let mut dims = [0; MOST_DIMENSIONS as usize];
    let dims = &mut dims[..rank as usize];
    // The innermost dimension comes first.
    for length in dims.iter_mut().rev() {
        let read = cursor.u64()?;
        *length = usize::try_from(read)
            .map_err(|_| cursor.error(format!("a length of {read} does not fit the address space")))?;
    }
    let shape = Shape::from(&*dims);
    let number = cursor.u32()?;
    let format = Format::from_ggml_type(number);
    let (format_name, bytes) = match format {
        Some(format) => (format.name(), format.byte_len(&shape)),
        None if number == I8 => ("i8", shape.elements(OPEN).map_err(|error| error.kind().to_string())),
        None => {
            return Err(cursor.error(format!(
                "its format has number {number}, which is not known: the file is damaged, or newer than this program"
            )));
        }
    };
    let bytes = bytes.map_err(|what| cursor.error(format!("{what}: the file is damaged")))? as u64;
    let start = cursor.u64()?;
    let end = start.checked_add(bytes);
    let end = end.ok_or_else(|| {
        cursor.error(format!("it lies at {start}, past the end of the file: the file is damaged"))
    })?;
    Ok(Info { format, format_name, shape, file, range: start..end })
}

/// Turns the range in the data into a range in the file, whose data begin at `data`.
fn resolve_range(source: &Source, name: &str, info: &mut Info, data: u64, alignment: u64) -> Result<()> {
    let error = |what: String| Err(source.error(OPEN, format!("tensor {}: {what}", shown(name))));
    let Range { start, end } = info.range;
    if start % alignment != 0 {
        return error(format!(
            "it lies at {start}, which is no multiple of {alignment}: the file is damaged"
        ));
    }
    match end.checked_add(data) {
        Some(end) if end <= source.length() => {
            info.range = data + start..end;
            Ok(())
        }
        _ => error(format!(
            "its bytes {start}..{end} of the data do not lie in the file, which has {} bytes: it is incomplete; fetch it again",
            source.length()
        )),
    }
}

fn check_overlaps(source: &Source, tensors: &BTreeMap<String, Info>) -> Result<()> {
    let mut ranges: Vec<(&Range<u64>, &str)> = tensors
        .iter()
        .map(|(name, info)| (&info.range, name.as_str()))
        .filter(|(range, _)| !range.is_empty())
        .collect();
    ranges.sort_unstable_by_key(|(range, _)| range.start);
    for pair in ranges.windows(2) {
        let [(before, first), (after, second)] = [pair[0], pair[1]];
        if after.start < before.end {
            return Err(source.error(
                OPEN,
                format!(
                    "tensors {} and {} lie on the same bytes: the file is damaged",
                    shown(first),
                    shown(second)
                ),
            ));
        }
    }
    Ok(())
}
