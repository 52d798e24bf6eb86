//! A handmade code object, each part of which can be made invalid.

#![allow(dead_code, reason = "each test program uses a part of it")]

use rmpv::Value;

/// Offsets of the parts in the file, which are also their addresses.
pub(crate) const DESCRIPTOR: usize = 256;
pub(crate) const CODE: usize = 320;
pub(crate) const SYMBOLS: usize = 384;
pub(crate) const NAMES: usize = 432;
pub(crate) const NOTE: usize = 512;
/// Headers of segments: readable data, code, the note.
pub(crate) const SEGMENTS: [usize; 3] = [64, 120, 176];
/// Header fields.
pub(crate) const OS_ABI: usize = 7;
pub(crate) const KIND: usize = 16;
pub(crate) const FLAGS: usize = 48;

/// The parts that differ between files.
pub(crate) struct Hand {
    pub(crate) note: Vec<u8>,
    pub(crate) abi: u8,
    pub(crate) flags: u32,
    /// Whether a segment and a section refer to the note.
    pub(crate) in_segment: bool,
    pub(crate) in_section: bool,
    /// A note after the first, in the same section and segment.
    pub(crate) second: Option<Vec<u8>>,
    /// A fifth, loaded section: its kind, its link, its bytes and its entry size.
    pub(crate) extra: Option<(u32, u32, Vec<u8>, u64)>,
}

impl Hand {
    /// A file for gfx90a, code object version 5, with this metadata.
    pub(crate) fn new(metadata: &Value) -> Self {
        Self::raw(&packed(metadata))
    }

    /// The same, with raw bytes as metadata.
    pub(crate) fn raw(metadata: &[u8]) -> Self {
        let note = metadata.to_vec();
        Self { note, abi: 3, flags: 0x53f, in_segment: true, in_section: true, second: None, extra: None }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut notes = note(&self.note);
        notes.extend(self.second.iter().flat_map(|second| note(second)));
        let extra_at = NOTE + notes.len();
        let extra_bytes = self.extra.as_ref().map_or(&[][..], |(_, _, bytes, _)| bytes);
        let end = (extra_at + extra_bytes.len()) as u64;
        let mut file = vec![0; 64];
        file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x40");
        file[8] = self.abi;
        put(&mut file, KIND, &3_u16.to_le_bytes());
        put(&mut file, 18, &224_u16.to_le_bytes());
        put(&mut file, 20, &1_u32.to_le_bytes());
        put(&mut file, 32, &64_u64.to_le_bytes());
        put(&mut file, 40, &end.to_le_bytes());
        put(&mut file, FLAGS, &self.flags.to_le_bytes());
        for (at, number) in
            [(52, 64_u16), (54, 56), (56, 3), (58, 64), (60, 4 + u16::from(self.extra.is_some())), (62, 3)]
        {
            put(&mut file, at, &number.to_le_bytes());
        }
        file.extend(segment(1, 4, 0, CODE as u64));
        file.extend(segment(1, 5, CODE as u64, 64));
        let kind = if self.in_segment { 4 } else { 0x6000_0001 };
        file.extend(segment(kind, 4, NOTE as u64, notes.len() as u64));
        file.resize(DESCRIPTOR, 0);
        file.extend(descriptor([256, 0, 48]));
        file.resize(SYMBOLS, 0);
        file.extend([0; 24]);
        file.extend(symbol(1, DESCRIPTOR as u64, 64));
        file.extend(b"\0k.kd\0");
        file.resize(NOTE, 0);
        file.extend(&notes);
        file.extend(extra_bytes);
        file.extend([0; 64]);
        file.extend(section(if self.in_section { 7 } else { 1 }, 0, NOTE, notes.len(), 0));
        file.extend(section(11, 3, SYMBOLS, 48, 24));
        file.extend(section(3, 0, NAMES, 6, 0));
        if let Some((kind, link, bytes, entry)) = &self.extra {
            let mut header = section(*kind, *link, extra_at, bytes.len(), *entry);
            put(&mut header, 8, &2_u64.to_le_bytes());
            file.extend(header);
        }
        file
    }
}

/// Overwrites bytes of a file.
pub(crate) fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The header of a segment.
pub(crate) fn segment(kind: u32, flags: u32, offset: u64, size: u64) -> Vec<u8> {
    let numbers = [offset, offset, offset, size, size, 4].map(u64::to_le_bytes).concat();
    [kind.to_le_bytes().to_vec(), flags.to_le_bytes().to_vec(), numbers].concat()
}

/// The header of a section.
pub(crate) fn section(kind: u32, link: u32, offset: usize, size: usize, entry: u64) -> Vec<u8> {
    let words = |n: [u32; 2]| n.map(u32::to_le_bytes).concat();
    let numbers = |n: &[u64]| n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let range = numbers(&[0, 0, offset as u64, size as u64]);
    [words([0, kind]), range, words([link, 1]), numbers(&[4, entry])].concat()
}

/// An entry of the symbol table: a global object in the first section.
pub(crate) fn symbol(name: u32, address: u64, size: u64) -> Vec<u8> {
    [&name.to_le_bytes()[..], &[0x11, 0, 1, 0], &address.to_le_bytes(), &size.to_le_bytes()].concat()
}

/// A descriptor with these sizes of shared memory, private memory and arguments; its code follows
/// immediately.
pub(crate) fn descriptor(sizes: [u32; 3]) -> Vec<u8> {
    let mut bytes = sizes.map(u32::to_le_bytes).concat();
    bytes.resize(16, 0);
    bytes.extend(64_u64.to_le_bytes());
    bytes.resize(64, 0);
    bytes
}

fn note(metadata: &[u8]) -> Vec<u8> {
    let mut bytes = [7, metadata.len() as u32, 32].map(u32::to_le_bytes).concat();
    bytes.extend(b"AMDGPU\0\0");
    bytes.extend(metadata);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub(crate) fn packed(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).expect("memory can be written");
    bytes
}

/// A map.
pub(crate) fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
}

pub(crate) fn list<T: Into<Value> + Clone>(items: &[T]) -> Value {
    Value::Array(items.iter().cloned().map(Into::into).collect())
}

/// Metadata with this list of kernels.
pub(crate) fn metadata(kernels: &[Value]) -> Value {
    map(&[("amdhsa.target", "amdgcn-amd-amdhsa--gfx90a".into()), ("amdhsa.kernels", list(kernels))])
}

/// A kernel that belongs to the descriptor above, with two arguments. The given entries replace or extend its
/// own.
pub(crate) fn kernel(changes: &[(&str, Value)]) -> Value {
    let whole = [
        (".name", "k".into()),
        (".symbol", "k.kd".into()),
        (".args", list(&[argument(0, 8, "global_buffer"), argument(8, 4, "hidden_block_count_x")])),
        (".kernarg_segment_size", 48.into()),
        (".kernarg_segment_align", 8.into()),
        (".group_segment_fixed_size", 256.into()),
        (".private_segment_fixed_size", 0.into()),
        (".max_flat_workgroup_size", 128.into()),
        (".wavefront_size", 64.into()),
        (".vgpr_count", 7.into()),
    ];
    let kept = whole.iter().filter(|(key, _)| changes.iter().all(|(changed, _)| changed != key));
    let set = changes.iter().filter(|(_, value)| !value.is_nil());
    map(&kept.chain(set).cloned().collect::<Vec<_>>())
}

pub(crate) fn argument(offset: u64, size: u64, kind: &str) -> Value {
    map(&[(".offset", offset.into()), (".size", size.into()), (".value_kind", kind.into())])
}
