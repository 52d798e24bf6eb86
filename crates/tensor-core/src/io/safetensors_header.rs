//! The header of a safetensors file: eight bytes of length, then JSON that says where each tensor lies.
//!
//! It is parsed here and not by the `safetensors` crate, because a file is foreign input: that crate (0.8.0) adds offsets
//! without a check for overflow and takes the last of two tensors of one name in silence.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Shape;

/// The longest header that is read, as in other readers of the format.
const LONGEST: u64 = 100_000_000;
const METADATA: &str = "__metadata__";

/// What the header says of one tensor.
#[derive(Debug, Clone)]
pub struct Info {
    /// The dtype, if it is one that tensors have.
    pub dtype: Option<DType>,
    /// The dtype's name in the file, such as "BF16".
    pub dtype_name: String,
    /// The shape.
    pub shape: Shape,
    /// Where its bytes lie in the file.
    pub(super) range: Range<usize>,
}

/// A header whose every range lies in the file.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) tensors: BTreeMap<String, Info>,
    pub(super) metadata: BTreeMap<String, String>,
}

impl Header {
    /// Parses and checks the header of a file with these bytes. Errors are in words.
    pub(super) fn parse(file: &[u8]) -> Result<Header, String> {
        let Some((length, rest)) = file.split_first_chunk::<8>() else {
            return Err(format!(
                "truncated: it has {} bytes, and a header's length alone takes 8",
                file.len()
            ));
        };
        let length = u64::from_le_bytes(*length);
        if length > LONGEST {
            return Err(format!(
                "the header would have {length} bytes, more than {LONGEST}: not a safetensors file"
            ));
        }
        let Some((header, data)) = rest.split_at_checked(length as usize) else {
            return Err(format!(
                "truncated: the header has {length} bytes, {} are left in the file",
                rest.len()
            ));
        };
        let entries: Entries =
            serde_json::from_slice(header).map_err(|error| format!("the header is damaged: {error}"))?;
        let data_start = 8 + header.len();
        let mut parsed = Header { tensors: BTreeMap::new(), metadata: BTreeMap::new() };
        for (name, value) in entries.0 {
            let repeated = if name == METADATA {
                let metadata = metadata(value)?;
                !std::mem::replace(&mut parsed.metadata, metadata).is_empty()
            } else {
                let info = info(&name, value, data_start, data.len())?;
                parsed.tensors.insert(name.clone(), info).is_some()
            };
            if repeated {
                return Err(format!("the header has two entries {name:?}"));
            }
        }
        parsed.check_cover(data_start, data.len())?;
        Ok(parsed)
    }

    /// Checks that the tensors' bytes follow each other without a gap from the first byte of data to the last.
    fn check_cover(&self, data_start: usize, data_length: usize) -> Result<(), String> {
        let mut ranges: Vec<(&Range<usize>, &str)> =
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

/// The bytes of a header: length and JSON, padded so that the data start at a multiple of 8. Data follow in the order given.
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
        return Err(bad(format!("a header of {length} bytes is longer than readers take ({LONGEST})")));
    }
    let mut bytes = (length as u64).to_le_bytes().to_vec();
    bytes.extend(json.bytes());
    bytes.resize(8 + length, b' ');
    Ok(bytes)
}

/// The text under `__metadata__`.
fn metadata(value: Value) -> Result<BTreeMap<String, String>, String> {
    serde_json::from_value(value)
        .map_err(|error| format!("{METADATA} is not a map from text to text: {error}"))
}

/// One tensor's entry, checked against the length of the data.
fn info(name: &str, value: Value, data_start: usize, data_length: usize) -> Result<Info, String> {
    let entry: Entry = serde_json::from_value(value)
        .map_err(|error| format!("the entry of tensor {name:?} is damaged: {error}"))?;
    let [start, end] = entry.data_offsets;
    if start > end || end > data_length as u64 {
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
    // Both fit, for they are at most the length of a slice.
    let range = data_start + start as usize..data_start + end as usize;
    Ok(Info { dtype: DType::from_safetensors_name(&entry.dtype), dtype_name: entry.dtype, shape, range })
}

/// Bits of an element of any dtype that files have; `None` for a name that is not known.
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

/// One tensor, as JSON has it.
#[derive(serde::Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// The entries of a JSON map in their order, the repeated ones too.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names to tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}
