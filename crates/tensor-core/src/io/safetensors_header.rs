//! The header of a safetensors file: its length in eight bytes, then JSON with the position of each tensor.
//!
//! We do not use the `safetensors` crate, because files are untrusted input: that crate (0.8.0) adds offsets without
//! checking for overflow, and silently takes the last of two tensors with the same name.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Shape;

/// Bytes before the JSON, which hold its length.
pub(super) const FIXED: usize = 8;
/// The longest header that is read; other readers have the same limit.
const LONGEST: u64 = 100_000_000;
const METADATA: &str = "__metadata__";

/// A tensor's entry in the header.
#[derive(Debug, Clone)]
pub struct Info {
    /// The dtype, if tensors support it.
    pub dtype: Option<DType>,
    /// The dtype's name in the file, such as "BF16".
    pub dtype_name: String,
    /// The shape.
    pub shape: Shape,
    /// The byte range in the file.
    pub(super) range: Range<u64>,
}

impl Info {
    /// Where its bytes lie in the file.
    pub fn byte_range(&self) -> Range<u64> {
        self.range.clone()
    }
}

/// A header whose ranges all lie in the file.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) tensors: BTreeMap<String, Info>,
    pub(super) metadata: BTreeMap<String, String>,
}

impl Header {
    /// The length of the JSON that follows the first [`FIXED`] bytes. The file has `length` bytes and begins with
    /// `fixed`.
    pub(super) fn length(fixed: &[u8], length: u64) -> Result<u64, String> {
        let Some(header) = fixed.first_chunk() else {
            return Err(format!("truncated: it has {length} bytes, and a header's length alone takes 8"));
        };
        let header = u64::from_le_bytes(*header);
        if header > LONGEST {
            return Err(format!(
                "the header would have {header} bytes, more than {LONGEST}: not a safetensors file"
            ));
        }
        let left = length - FIXED as u64;
        if header > left {
            return Err(format!("truncated: the header has {header} bytes, {left} are left in the file"));
        }
        Ok(header)
    }

    /// Parses and checks a header's JSON. `data_length` bytes of data follow it. Errors are texts.
    pub(super) fn parse(json: &[u8], data_length: u64) -> Result<Header, String> {
        let entries: Entries =
            serde_json::from_slice(json).map_err(|error| format!("the header is damaged: {error}"))?;
        let data_start = (FIXED + json.len()) as u64;
        let mut header = Header { tensors: BTreeMap::new(), metadata: entries.metadata };
        for (name, entry) in entries.tensors {
            let info = info(&name, entry, data_start, data_length)?;
            header.tensors.insert(name, info);
        }
        header.check_cover(data_start, data_length)?;
        Ok(header)
    }

    /// Checks that the tensors' ranges cover the data without gaps or overlaps.
    fn check_cover(&self, data_start: u64, data_length: u64) -> Result<(), String> {
        let mut ranges: Vec<(&Range<u64>, &str)> =
            self.tensors.iter().map(|(name, info)| (&info.range, name.as_str())).collect();
        ranges.sort_unstable_by_key(|(range, _)| (range.start, range.end));
        let mut end = data_start;
        for (range, name) in ranges {
            if range.start != end {
                let what = if range.start < end {
                    "overlaps the tensor before it"
                } else {
                    "leaves a gap before it"
                };
                return Err(format!("tensor {name:?} {what}"));
            }
            end = range.end;
        }
        match data_start + data_length - end {
            0 => Ok(()),
            extra => Err(format!("{extra} bytes at the end belong to no tensor")),
        }
    }
}

/// Encodes a header: length and JSON, padded so that the data start at a multiple of 8. The data must follow in the
/// given order.
pub(super) fn encode(
    tensors: &[(&str, DType, &Shape)],
    metadata: &BTreeMap<String, String>,
) -> Result<Vec<u8>> {
    let bad = |what: String| Error::new("safetensors::write", ErrorKind::Argument { what });
    let mut entries = Map::new();
    if !metadata.is_empty() {
        entries.insert(METADATA.to_owned(), serde_json::json!(metadata));
    }
    let mut offset = 0usize;
    for (name, dtype, shape) in tensors {
        if *name == METADATA {
            return Err(bad(format!("{METADATA:?} cannot be the name of a tensor")));
        }
        let overflow = || Error::new("safetensors::write", ErrorKind::Overflow { shape: (*shape).clone() });
        let bytes =
            shape.count().and_then(|count| count.checked_mul(dtype.size_in_bytes())).ok_or_else(overflow)?;
        let end = offset.checked_add(bytes).ok_or_else(overflow)?;
        let entry = serde_json::json!({
            "dtype": dtype.safetensors_name(),
            "shape": shape.dims(),
            "data_offsets": [offset, end],
        });
        if entries.insert((*name).to_owned(), entry).is_some() {
            return Err(bad(format!("two tensors are named {name:?}")));
        }
        offset = end;
    }
    let json = Value::Object(entries).to_string();
    let length = json.len().next_multiple_of(8);
    if length as u64 > LONGEST {
        return Err(bad(format!("a header of {length} bytes is longer than readers accept ({LONGEST})")));
    }
    let mut bytes = (length as u64).to_le_bytes().to_vec();
    bytes.extend(json.bytes());
    bytes.resize(8 + length, b' ');
    Ok(bytes)
}

/// Converts a tensor's entry, and checks it against the length of the data.
fn info(name: &str, entry: Entry, data_start: u64, data_length: u64) -> Result<Info, String> {
    let [start, end] = entry.data_offsets;
    if start > end || end > data_length {
        return Err(format!(
            "tensor {name:?} lies at bytes {start}..{end}, but the file has {data_length} bytes of data"
        ));
    }
    let lengths = entry.shape.iter().map(|&length| usize::try_from(length));
    let shape: Shape = lengths
        .collect::<Result<_, _>>()
        .map_err(|_| format!("tensor {name:?}: {:?} is too large", entry.shape))?;
    let Some(count) = shape.count() else {
        return Err(format!("tensor {name:?}: the shape {shape} is too large for the address space"));
    };
    if let Some(bits) = bits(&entry.dtype) {
        let needed = count.checked_mul(bits).map(|bits| bits.div_ceil(8) as u64);
        if needed != Some(end - start) {
            let (dtype, bytes) = (&entry.dtype, end - start);
            return Err(format!("tensor {name:?} is {shape} of {dtype}, but has {bytes} bytes"));
        }
    }
    // No overflow: both are at most the length of the file.
    let range = data_start + start..data_start + end;
    Ok(Info { dtype: DType::from_safetensors_name(&entry.dtype), dtype_name: entry.dtype, shape, range })
}

/// Bits per element of any dtype that safetensors files can have; `None` for an unknown name.
fn bits(dtype: &str) -> Option<usize> {
    Some(match dtype {
        "F4" => 4,
        "F6_E2M3" | "F6_E3M2" => 6,
        "BOOL" | "U8" | "I8" | "F8_E4M3" | "F8_E5M2" | "F8_E8M0" | "F8_E4M3FNUZ" | "F8_E5M2FNUZ" => 8,
        "U16" | "I16" | "F16" | "BF16" => 16,
        "U32" | "I32" | "F32" => 32,
        "U64" | "I64" | "F64" | "C64" => 64,
        _ => return None,
    })
}

/// A tensor's JSON entry. Duplicate fields are an error; unknown fields are ignored.
#[derive(serde::Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// The JSON header. Duplicate names are an error.
#[derive(Default)]
struct Entries {
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, Entry>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names to tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Entries::default();
                let mut has_metadata = false;
                while let Some(name) = map.next_key::<String>()? {
                    let within = |error| A::Error::custom(format!("in {name:?}: {error}"));
                    let repeated = if name == METADATA {
                        // Some writers store empty metadata as null.
                        let texts: Option<Texts> = map.next_value().map_err(within)?;
                        entries.metadata = texts.map(|texts| texts.0).unwrap_or_default();
                        std::mem::replace(&mut has_metadata, true)
                    } else {
                        let entry = map.next_value().map_err(within)?;
                        entries.tensors.insert(name.clone(), entry).is_some()
                    };
                    if repeated {
                        return Err(A::Error::custom(format!("two entries {name:?}")));
                    }
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// A map of texts. Duplicate names are an error.
struct Texts(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from text to text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts = BTreeMap::new();
                while let Some((name, text)) = map.next_entry::<String, String>()? {
                    if texts.insert(name.clone(), text).is_some() {
                        return Err(A::Error::custom(format!("two entries {name:?}")));
                    }
                }
                Ok(Texts(texts))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}
