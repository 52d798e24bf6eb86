//! The ELF file of a code object: its target, its notes, and the contents of its address space.

use crate::Error;
use crate::work::Work;
use object::LittleEndian;
use object::elf::{
    EM_AMDGPU, ET_DYN, FileHeader64, NoteHeader32, PF_X, PT_LOAD, ProgramHeader64, SHT_DYNSYM, SHT_REL,
    SHT_RELA, SHT_SYMTAB,
};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable};
use std::collections::HashSet;

/// The metadata note's type, and its owner.
const NT_AMDGPU_METADATA: u32 = 32;
const OWNER: &[u8] = b"AMDGPU";
/// The operating system ABI of ROCm's code objects: "AMDGPU - HSA".
const OS_ABI: u8 = 64;
/// The cost of looking at one segment header, in bytes read.
const LOOK: usize = 8;

pub(crate) type Header = FileHeader64<LittleEndian>;
type Endian = LittleEndian;

/// An ELF file whose parts all lie inside the bytes.
pub(crate) struct Elf<'a> {
    pub(crate) bytes: &'a [u8],
    header: &'a Header,
    segments: &'a [ProgramHeader64<Endian>],
    pub(crate) sections: SectionTable<'a, Header>,
    pub(crate) work: Work,
}

impl<'a> Elf<'a> {
    /// Checks that headers, segments and sections lie inside the file.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Header::parse(bytes).map_err(words)?;
        header.endian().map_err(words)?;
        // The counts of longer tables are stored elsewhere, and not every loader looks there.
        let (segment_count, segment_table) =
            (header.e_phnum.get(LittleEndian), header.e_phoff.get(LittleEndian));
        if segment_count == u16::MAX || segment_count != 0 && segment_table == 0 {
            return refuse(format!("it counts {segment_count} segments, which are not there"));
        }
        let segments = header.program_headers(LittleEndian, bytes).map_err(words)?;
        for segment in segments {
            check_segment(segment, bytes)?;
        }
        // A loader that does not know the file's length computes it from the section headers.
        if header.e_shoff.get(LittleEndian) == 0 && header.e_shnum.get(LittleEndian) != 0 {
            return refuse("it counts section headers and has none");
        }
        let sections = header.sections(LittleEndian, bytes).map_err(words)?;
        for section in sections.iter() {
            section.data(LittleEndian, bytes).map_err(words)?;
            let entry = match section.sh_type(LittleEndian) {
                SHT_SYMTAB | SHT_DYNSYM | SHT_RELA => 24,
                SHT_REL => 16,
                _ => section.sh_entsize(LittleEndian),
            };
            if section.sh_entsize(LittleEndian) != entry {
                return refuse(format!("a section has entries of other than {entry} bytes"));
            }
            if section.sh_offset(LittleEndian) > bytes.len() as u64 {
                return refuse("a section lies outside the file");
            }
        }
        Ok(Self { bytes, header, segments, sections, work: Work::of(bytes) })
    }

    /// Whether it is for a GPU of AMD.
    pub(crate) fn is_amd(&self) -> bool {
        self.header.e_machine(LittleEndian) == EM_AMDGPU
    }

    /// The version of the code object; an error if ROCm's runtime does not load that version.
    pub(crate) fn code_object_version(&self) -> Result<u8, Error> {
        let ident = self.header.e_ident();
        if ident.os_abi != OS_ABI {
            return refuse(format!("it is not for ROCm: its OS ABI is {}, not {OS_ABI}", ident.os_abi));
        }
        if self.header.e_type(LittleEndian) != ET_DYN {
            return refuse("it is not linked: build it without -c and -fgpu-rdc");
        }
        Ok(ident.abi_version.saturating_add(2))
    }

    /// The flags of its header.
    pub(crate) fn flags(&self) -> u32 {
        self.header.e_flags(LittleEndian)
    }

    /// The contents of its metadata notes: those of the segments, or those of the sections if the segments
    /// have none.
    ///
    /// Files linked from several objects have several notes.
    pub(crate) fn metadata(&self) -> Result<Vec<&'a [u8]>, Error> {
        let mut found = Found::default();
        for segment in self.segments {
            let notes = segment.notes(LittleEndian, self.bytes).map_err(words)?;
            notes.map_or(Ok(()), |notes| self.find_metadata(notes, &mut found))?;
        }
        let mut in_sections = Found::default();
        for section in self.sections.iter() {
            let notes = section.notes(LittleEndian, self.bytes).map_err(words)?;
            notes.map_or(Ok(()), |notes| self.find_metadata(notes, &mut in_sections))?;
        }
        Ok(if found.notes.is_empty() { in_sections.notes } else { found.notes })
    }

    fn find_metadata(&self, mut notes: NoteIterator<'a, Header>, found: &mut Found<'a>) -> Result<(), Error> {
        while let Some(note) = notes.next().map_err(words)? {
            self.work.spend(size_of::<NoteHeader32<Endian>>() + note.name().len() + note.desc().len())?;
            if note.n_type(LittleEndian) == NT_AMDGPU_METADATA && note.name() == OWNER {
                found.keep(note.desc());
            }
        }
        Ok(())
    }

    /// The `N` bytes that are loaded at an address.
    ///
    /// # Errors
    /// Those of [`Work::spend`], as for the next two.
    pub(crate) fn loaded<const N: usize>(&self, address: u64) -> Result<Option<[u8; N]>, Error> {
        let found = self.segment_at(address, N as u64)?;
        Ok(found.and_then(|(segment, offset)| {
            let bytes = segment.data(LittleEndian, self.bytes).ok()?;
            let start = usize::try_from(offset).ok()?;
            bytes.get(start..start.checked_add(N)?)?.try_into().ok()
        }))
    }

    /// Whether code is loaded at an address.
    pub(crate) fn has_code_at(&self, address: u64) -> Result<bool, Error> {
        let found = self.segment_at(address, 1)?;
        Ok(found.is_some_and(|(segment, _)| segment.p_flags(LittleEndian) & PF_X != 0))
    }

    /// Whether `length` bytes at an address are inside a loaded segment.
    pub(crate) fn is_loaded_at(&self, address: u64, length: u64) -> Result<bool, Error> {
        self.work.spend(self.segments.len() * LOOK)?;
        let covers = |segment: &ProgramHeader64<Endian>| {
            let offset = address.checked_sub(segment.p_vaddr(LittleEndian))?;
            Some(offset.checked_add(length)? <= segment.p_memsz(LittleEndian))
        };
        let loaded = |segment: &&ProgramHeader64<Endian>| segment.p_type(LittleEndian) == PT_LOAD;
        Ok(self.segments.iter().filter(loaded).any(|segment| covers(segment) == Some(true)))
    }

    /// The segment whose file contents cover `length` bytes at an address, and the offset of the address in
    /// it.
    fn segment_at(
        &self,
        address: u64,
        length: u64,
    ) -> Result<Option<(&'a ProgramHeader64<Endian>, u64)>, Error> {
        self.work.spend(self.segments.len() * LOOK)?;
        let covers = |segment: &'a ProgramHeader64<Endian>| {
            let offset = address.checked_sub(segment.p_vaddr(LittleEndian))?;
            (offset.checked_add(length)? <= segment.p_filesz(LittleEndian)).then_some((segment, offset))
        };
        Ok(self.segments.iter().filter(|segment| segment.p_type(LittleEndian) == PT_LOAD).find_map(covers))
    }
}

fn check_segment(segment: &ProgramHeader64<Endian>, bytes: &[u8]) -> Result<(), Error> {
    if segment.data(LittleEndian, bytes).is_err() {
        return refuse("a segment lies outside the file");
    }
    let (file, memory) = (segment.p_filesz(LittleEndian), segment.p_memsz(LittleEndian));
    if segment.p_type(LittleEndian) == PT_LOAD {
        if file > memory {
            return refuse(format!("a segment brings {file} bytes and has room for {memory}"));
        }
        if segment.p_vaddr(LittleEndian).checked_add(memory).is_none() {
            return refuse("a segment ends beyond the last address");
        }
    }
    Ok(())
}

/// Metadata notes in the order found.
#[derive(Default)]
struct Found<'a> {
    notes: Vec<&'a [u8]>,
    seen: HashSet<(usize, usize)>,
}

impl<'a> Found<'a> {
    /// Adds a note, unless it was already found: two segments may contain the same bytes.
    fn keep(&mut self, note: &'a [u8]) {
        if self.seen.insert((note.as_ptr().addr(), note.len())) {
            self.notes.push(note);
        }
    }
}

pub(crate) fn words(error: object::read::Error) -> Error {
    Error::Elf(error.to_string())
}

pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, Error> {
    Err(Error::Elf(reason.into()))
}
