//! The file of an entry: a header, the key (identity) and the compiled code (payload).
//!
//! Numbers are little-endian. The header has 8 bytes of magic, 4 for the length of the identity, 8 for the length of the payload, and 16 for the
//! checksum of everything else. Identity and payload follow, and nothing else.

use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"HIPCACHE";
/// The size of the header in bytes.
pub(super) const HEADER: usize = 36;

/// The header for an identity and a payload.
pub(super) fn header(identity: &[u8], payload: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&(identity.len() as u32).to_le_bytes());
    header[12..20].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    let sum = checksum(&header[..20], &[identity, payload]);
    header[20..].copy_from_slice(&sum);
    header
}

/// Identity and payload of an entry; `None` if it is damaged.
pub(super) fn parse(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (header, rest) = file.split_first_chunk::<HEADER>()?;
    let identity_length = u32::from_le_bytes(header[8..12].try_into().ok()?) as usize;
    let payload_length = u64::from_le_bytes(header[12..20].try_into().ok()?);
    let (identity, payload) = rest.split_at_checked(identity_length)?;
    let whole = header.starts_with(MAGIC) && payload.len() as u64 == payload_length;
    (whole && header[20..] == checksum(&header[..20], &[rest])).then_some((identity, payload))
}

/// The checksum finds damage. It does not protect against forgery: whoever can write an entry can write its checksum.
fn checksum(header: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Xxh3::new();
    hasher.update(header);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.digest128().to_le_bytes()
}
