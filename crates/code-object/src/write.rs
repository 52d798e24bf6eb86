//! Writes the formats that this crate reads: bundles, and compressed bundles.

use crate::Method;

/// A bundle of named entries, each aligned to `align` bytes (code objects are memory-mapped and need 4096).
///
/// ```
/// let host = ("host-x86_64-unknown-linux", &b""[..]);
/// let bytes = code_object::write_bundle(&[host], 4096);
/// let bundle = code_object::Bundle::parse(&bytes)?;
/// assert!(bundle.entries().next().is_some_and(|entry| entry.kind() == "host"));
/// # Ok::<(), code_object::Error>(())
/// ```
pub fn write_bundle(entries: &[(&str, &[u8])], align: usize) -> Vec<u8> {
    let names: usize = entries.iter().map(|(id, _)| 24 + id.len()).sum();
    let mut offset = 24 + 8 + names;
    let mut bytes = [crate::bundle::MAGIC, &(entries.len() as u64).to_le_bytes()].concat();
    for (id, contents) in entries {
        offset = offset.next_multiple_of(align);
        for number in [offset, contents.len(), id.len()] {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.extend(id.as_bytes());
        offset += contents.len();
    }
    for (_, contents) in entries {
        bytes.resize(bytes.len().next_multiple_of(align), 0);
        bytes.extend(*contents);
    }
    bytes
}

/// A compressed bundle of version 1, 2 or 3 (any other number gives version 3). Optimised for speed rather
/// than size.
pub fn compress_bundle(bundle: &[u8], method: Method, version: u16) -> Vec<u8> {
    let (number, data) = match method {
        Method::Zlib => (0_u16, miniz_oxide::deflate::compress_to_vec_zlib(bundle, 1)),
        Method::Zstd => {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            (1, ruzstd::encoding::compress_to_vec(bundle, level))
        }
    };
    let version = if (1..=3).contains(&version) { version } else { 3 };
    let header = [20, 24, 32][usize::from(version) - 1];
    let (total, length) = ((header + data.len()) as u64, bundle.len() as u64);
    let lengths: Vec<u8> = match version {
        1 => length.to_le_bytes()[..4].to_vec(),
        2 => [&total.to_le_bytes()[..4], &length.to_le_bytes()[..4]].concat(),
        _ => [total.to_le_bytes(), length.to_le_bytes()].concat(),
    };
    let sum = md5::compute(bundle).0;
    [b"CCOB", &version.to_le_bytes()[..], &number.to_le_bytes(), &lengths, &sum[..8], &data].concat()
}
