//! The real objects that inputs are made from, with the positions of their parts.

use super::packed::Packed;
use code_object::CodeObject;
use object::LittleEndian;
use object::elf::{FileHeader64, SHT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Larger objects would make a run long, and their metadata is similar.
const LARGEST: usize = 320 << 10;

/// A real object.
pub(super) struct Base {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// The architecture that it was built for.
    pub(super) arch: String,
    /// The names of its kernels.
    pub(super) kernels: Vec<String>,
    /// Ranges to mutate: headers, tables, notes, symbols, descriptors.
    pub(super) ranges: Vec<Range<usize>>,
    /// The contents of the metadata note.
    pub(super) note: Range<usize>,
    /// The positions of the note's offset in the segment table and in the section table. The sizes follow 24 and 8 bytes later.
    pub(super) note_segment: usize,
    pub(super) note_section: Option<usize>,
    /// Bundles of this object that LLVM made.
    pub(super) packed: Vec<Packed>,
}

impl Base {
    /// Takes an object; an error if it cannot be read.
    pub(super) fn new(name: &str, bytes: Vec<u8>) -> Result<Self, String> {
        let code = CodeObject::parse(&bytes).map_err(|e| format!("{name}: {e}"))?;
        let code = code.ok_or_else(|| format!("{name} has no kernel metadata"))?;
        let kernels = code.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let arch = code.target.ok_or_else(|| format!("{name} does not say what it is for"))?.to_string();
        let header = FileHeader64::<LittleEndian>::parse(&*bytes).map_err(|e| e.to_string())?;
        let segments = header.program_headers(LittleEndian, &*bytes).map_err(|e| e.to_string())?;
        let sections = header.sections(LittleEndian, &*bytes).map_err(|e| e.to_string())?;
        let table = |offset: u64, entry: u16, count: usize| {
            offset as usize..offset as usize + usize::from(entry) * count
        };
        let (e_phoff, e_shoff) = (header.e_phoff(LittleEndian), header.e_shoff(LittleEndian));
        let segment_table = table(e_phoff, header.e_phentsize(LittleEndian), segments.len());
        let section_table = table(e_shoff, header.e_shentsize(LittleEndian), sections.len());
        let mut ranges = vec![0..64, segment_table.clone(), section_table.clone()];
        for section in sections.iter() {
            let (start, size) = section.file_range(LittleEndian).unwrap_or_default();
            // The reader does not interpret code, so that is not mutated.
            if size > 0 && section.sh_flags(LittleEndian) & u64::from(object::elf::SHF_EXECINSTR) == 0 {
                ranges.push(start as usize..(start + size) as usize);
            }
        }
        let owner = bytes.windows(8).position(|w| w == b"AMDGPU\0\0").ok_or("no note")?;
        let length =
            u32::from_le_bytes([bytes[owner - 8], bytes[owner - 7], bytes[owner - 6], bytes[owner - 5]]);
        let note = owner + 8..owner + 8 + length as usize;
        let note_start = (owner - 12) as u64;
        let segment = segments.iter().position(|s| {
            s.p_type(LittleEndian) == object::elf::PT_NOTE && s.p_offset(LittleEndian) == note_start
        });
        let section = sections
            .iter()
            .position(|s| s.sh_type(LittleEndian) == SHT_NOTE && s.sh_offset(LittleEndian) == note_start);
        let note_segment = segment_table.start
            + 56 * segment.ok_or_else(|| format!("{name} has no segment for its note"))?
            + 8;
        let note_section = section.map(|index| section_table.start + 64 * index + 24);
        let (name, packed) = (name.into(), Vec::new());
        Ok(Self { name, bytes, arch, kernels, ranges, note, note_segment, note_section, packed })
    }

    /// A base without known parts.
    #[cfg(test)]
    pub(super) fn bare(arch: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: arch.into(),
            ranges: std::iter::once(0..bytes.len()).collect(),
            note: 0..0,
            bytes,
            arch: arch.into(),
            kernels: Vec::new(),
            note_segment: 0,
            note_section: None,
            packed: Vec::new(),
        }
    }

    /// The object with another note, which is appended; the tables get its new offset and size.
    pub(super) fn with_note(&self, bytes: &[u8], description: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let start = bytes.len() as u64;
        for number in [7, description.len() as u32, 32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"AMDGPU\0\0");
        bytes.extend(description);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let size = bytes.len() as u64 - start;
        let mut put = |at: usize, value: u64| {
            if let Some(slot) = bytes.get_mut(at..at + 8) {
                slot.copy_from_slice(&value.to_le_bytes());
            }
        };
        put(self.note_segment, start);
        put(self.note_segment + 24, size);
        put(self.note_segment + 32, size);
        if let Some(section) = self.note_section {
            put(section, start);
            put(section + 8, size);
        }
        bytes
    }
}

/// The objects in a folder and its subfolders, smallest first.
pub(super) fn read_folder(folder: &Path) -> Result<Vec<Base>, String> {
    let mut bases = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "hsaco") {
                bases.extend(read(&path)?);
            }
        }
    }
    bases.sort_by(|a, b| (a.bytes.len(), &a.name).cmp(&(b.bytes.len(), &b.name)));
    Ok(bases)
}

fn read(path: &PathBuf) -> Result<Option<Base>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    if bytes.len() > LARGEST {
        return Ok(None);
    }
    Base::new(&path.display().to_string(), bytes).map(Some)
}
