//! The image that hiprtcGetCode returns: shared objects, one for each requested wave size, with a length and
//! a checksum, so that the image may be stored in a file and loaded by another process.

use crate::abi;
use xxhash_rust::xxh3::xxh3_64;

/// First bytes of an image that carries code.
pub(crate) const MAGIC: &[u8; 8] = b"HIPHOSTC";
/// Magic, total length, checksum of the rest, ABI version, number of objects.
pub(crate) const HEADER: usize = 32;
/// For each object: wave size, zero, length.
const ENTRY: usize = 16;
/// Images are always shorter; a larger length means that the bytes are garbage.
const LIMIT: u64 = 1 << 30;

/// A shared object and its wave size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) wave: u32,
    pub(crate) bytes: Vec<u8>,
}

/// What is wrong with an image.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImageError {
    #[error("the image is cut short or was changed: compile it again")]
    Damaged,
    #[error("the image was compiled by another version of hip-host: compile it again")]
    Version,
}

hip_sys::debug_by_display!(ImageError);

/// Packs objects into an image.
pub(crate) fn pack(objects: &[Object]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(abi::ABI.to_le_bytes());
    body.extend((objects.len() as u32).to_le_bytes());
    for object in objects {
        body.extend(object.wave.to_le_bytes());
        body.extend(0_u32.to_le_bytes());
        body.extend((object.bytes.len() as u64).to_le_bytes());
    }
    for object in objects {
        body.extend(&object.bytes);
    }
    let total = (HEADER - 8 + body.len()) as u64;
    [&MAGIC[..], &total.to_le_bytes(), &xxh3_64(&body).to_le_bytes(), &body].concat()
}

/// The total length of the image that starts with these 16 bytes.
pub(crate) fn length(start: &[u8; 16]) -> Result<usize, ImageError> {
    let (magic, rest) = start.split_at(8);
    let total = number(rest, 0).filter(|total| (HEADER as u64..LIMIT).contains(total));
    if magic != MAGIC {
        Err(ImageError::Damaged)
    } else {
        total.map(|n| n as usize).ok_or(ImageError::Damaged)
    }
}

/// Unpacks the objects of a whole image.
pub(crate) fn unpack(image: &[u8]) -> Result<Vec<Object>, ImageError> {
    let damaged = || ImageError::Damaged;
    let start = image.first_chunk::<16>().ok_or_else(damaged)?;
    if length(start)? != image.len() {
        return Err(ImageError::Damaged);
    }
    let sum = number(image, 16).ok_or_else(damaged)?;
    let body = &image[HEADER - 8..];
    if xxh3_64(body) != sum {
        return Err(ImageError::Damaged);
    }
    let first = number(body, 0).ok_or_else(damaged)?;
    let (version, count) = (first as u32, (first >> 32) as usize);
    if version != abi::ABI {
        return Err(ImageError::Version);
    }
    let mut at = count.checked_mul(ENTRY).and_then(|n| n.checked_add(8)).ok_or_else(damaged)?;
    let mut objects = Vec::new();
    for entry in 0..count {
        let offset = 8 + entry * ENTRY;
        let wave = number(body, offset).ok_or_else(damaged)? as u32;
        let length = number(body, offset + 8).and_then(|n| usize::try_from(n).ok()).ok_or_else(damaged)?;
        let end = at.checked_add(length).ok_or_else(damaged)?;
        let bytes = body.get(at..end).ok_or_else(damaged)?.to_vec();
        objects.push(Object { wave, bytes });
        at = end;
    }
    Ok(objects)
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<Object> {
        let object = |wave, bytes: &[u8]| Object { wave, bytes: bytes.to_vec() };
        vec![object(32, b"first"), object(64, b"")]
    }

    #[test]
    fn an_image_holds_its_objects() {
        let image = pack(&two());
        assert_eq!(&image[..8], b"HIPHOSTC");
        // 8 magic, 8 length, 8 sum, 8 version and count, two entries of 16, five bytes.
        assert_eq!(image.len(), 69);
        assert_eq!(image[8..16], 69_u64.to_le_bytes());
        assert_eq!(unpack(&image), Ok(two()));
        assert_eq!(length(image.first_chunk().expect("long enough")), Ok(69));
    }

    #[test]
    fn every_damage_is_seen() {
        let image = pack(&two());
        for length in 0..image.len() {
            assert_eq!(unpack(&image[..length]), Err(ImageError::Damaged), "{length} bytes");
        }
        for at in 0..image.len() {
            let mut changed = image.clone();
            changed[at] ^= 1;
            assert_eq!(unpack(&changed), Err(ImageError::Damaged), "byte {at}");
        }
    }

    #[test]
    fn another_version_is_distinguished() {
        let mut image = pack(&two());
        image[24] ^= 0x40;
        let sum = xxh3_64(&image[24..]);
        image[16..24].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(unpack(&image), Err(ImageError::Version));
    }
}
