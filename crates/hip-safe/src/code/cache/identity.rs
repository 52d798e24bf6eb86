//! The key (identity) and the payload of an entry, as bytes.

use super::reads::VARIABLES;
use crate::code::Text;
use crate::{Compiled, Result, Source, compiler_version};
use hip_sys::Platform;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Everything that the code depends on. Each part is preceded by its length, so that two different lists have different bytes.
pub(super) fn of(
    source: &Source,
    platform: &Platform,
    arch: &str,
    get: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Vec<u8>> {
    let (major, minor) = compiler_version(platform)?;
    let mut bytes = Vec::new();
    let library = platform.library.as_ref().map(|path| path.to_string_lossy().into_owned());
    let versions = format!("runtime {} compiler {major}.{minor}", platform.raw_version);
    put(&mut bytes, platform.kind.name());
    put(&mut bytes, &library.unwrap_or_default());
    put(&mut bytes, &versions);
    put(&mut bytes, &platform.compiler_identity());
    put_list(&mut bytes, &VARIABLES.map(|name| format!("{name} {:?}", get(name))));
    put(&mut bytes, arch);
    put(&mut bytes, &source.name);
    put(&mut bytes, &source.text);
    let headers: Vec<&str> = source.headers.iter().flat_map(|(name, text)| [name.as_str(), text]).collect();
    put_list(&mut bytes, &headers);
    put_list(&mut bytes, &source.options);
    put_list(&mut bytes, &source.expressions);
    Ok(bytes)
}

/// The payload of an entry.
pub(super) fn encode(compiled: &Compiled) -> Vec<u8> {
    let mut bytes = Vec::new();
    let names: Vec<&String> = compiled.names.iter().flat_map(|(from, to)| [from, to]).collect();
    put_list(&mut bytes, &names);
    put(&mut bytes, &compiled.log);
    bytes.extend(&compiled.code);
    bytes
}

/// Reads what [`encode`] wrote, except the description of the text, which the caller has.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Compiled> {
    let rest = &mut bytes;
    let mut names = BTreeMap::new();
    for _ in 0..take_length(rest)? / 2 {
        names.insert(take(rest)?, take(rest)?);
    }
    let log = take(rest)?;
    Some(Compiled { code: rest.to_vec(), log, names, text: Text::default() })
}

fn put_list(bytes: &mut Vec<u8>, list: &[impl AsRef<str>]) {
    bytes.extend((list.len() as u64).to_le_bytes());
    list.iter().for_each(|text| put(bytes, text.as_ref()));
}

fn put(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn take(rest: &mut &[u8]) -> Option<String> {
    let length = take_length(rest)?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    String::from_utf8(text.to_vec()).ok()
}

fn take_length(rest: &mut &[u8]) -> Option<usize> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    usize::try_from(u64::from_le_bytes(*length)).ok()
}
