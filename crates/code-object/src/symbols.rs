//! The symbol tables and relocations of a code object: their names, sections and addresses are checked to be
//! inside the file.

use crate::Error;
use crate::elf::{Elf, Header, refuse, words};
use object::LittleEndian;
use object::elf::{
    Rela64, SHF_ALLOC, SHN_LORESERVE, SHN_UNDEF, SHT_DYNSYM, SHT_SYMTAB, SectionHeader64, Sym64,
};
use object::read::SectionIndex;
use object::read::elf::{Rel, Rela, SectionHeader, Sym, SymbolTable};
use std::collections::HashMap;

/// Relocations that change 8 bytes, while the others change at most 4: `R_AMDGPU_ABS64`, `R_AMDGPU_REL64` and
/// `R_AMDGPU_RELATIVE64` of LLVM's AMDGPU usage guide.
const WIDE: [u32; 3] = [3, 5, 13];

/// The address range of a symbol.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) address: u64,
    pub(crate) size: u64,
}

/// The address ranges of a file's symbols by name. Dynamic symbols take precedence.
///
/// The name of every symbol of every table is inside the file, and its section is a section of the file.
pub(crate) fn read<'a>(elf: &Elf<'a>) -> Result<HashMap<&'a [u8], Extent>, Error> {
    let mut extents = HashMap::new();
    for kind in [SHT_DYNSYM, SHT_SYMTAB] {
        for (index, section) in elf.sections.enumerate() {
            if section.sh_type(LittleEndian) == kind {
                read_table(elf, &table(elf, index)?, &mut extents)?;
            }
        }
    }
    Ok(extents)
}

/// Checks that relocations refer to existing symbols and change bytes that are loaded.
pub(crate) fn check_relocations(elf: &Elf) -> Result<(), Error> {
    for section in elf.sections.iter() {
        let with = section.rela(LittleEndian, elf.bytes).map_err(words)?;
        let without = section.rel(LittleEndian, elf.bytes).map_err(words)?;
        let Some(link) = with.map(|(_, link)| link).or(without.map(|(_, link)| link)) else { continue };
        if section.sh_info(LittleEndian) as usize >= elf.sections.len() {
            return refuse("relocations are for a section that it does not have");
        }
        let symbols = if link.0 == 0 { 0 } else { table(elf, link)?.len() };
        let loaded = section.sh_flags(LittleEndian) & u64::from(SHF_ALLOC) != 0;
        let with = with
            .into_iter()
            .flat_map(|(list, _)| list)
            .map(|r| (r.r_offset(LittleEndian), r.r_sym(LittleEndian, false), r.r_type(LittleEndian, false)));
        let without = without
            .into_iter()
            .flat_map(|(list, _)| list)
            .map(|r| (r.r_offset(LittleEndian), r.r_sym(LittleEndian), r.r_type(LittleEndian)));
        for (address, symbol, kind) in with.chain(without) {
            elf.work.spend(size_of::<Rela64<LittleEndian>>())?;
            // Symbol 0 means no symbol.
            if symbol != 0 && symbol as usize >= symbols {
                return refuse(format!("a relocation names symbol {symbol} of {symbols}"));
            }
            let length = if WIDE.contains(&kind) { 8 } else { 4 };
            if loaded && !elf.is_loaded_at(address, length)? {
                return refuse(format!("a relocation changes bytes at {address:#x}, where none are loaded"));
            }
        }
    }
    Ok(())
}

fn table<'a>(elf: &Elf<'a>, index: SectionIndex) -> Result<SymbolTable<'a, Header>, Error> {
    let section = elf.sections.section(index).map_err(words)?;
    if ![SHT_DYNSYM, SHT_SYMTAB].contains(&section.sh_type(LittleEndian)) {
        return refuse("relocations lead to a section that has no symbols");
    }
    // `SymbolTable::parse` searches all sections for the table's extended section indices.
    elf.work.spend(elf.sections.len() * size_of::<SectionHeader64<LittleEndian>>())?;
    SymbolTable::parse(LittleEndian, elf.bytes, &elf.sections, index, section).map_err(words)
}

fn read_table<'a>(
    elf: &Elf<'a>,
    table: &SymbolTable<'a, Header>,
    extents: &mut HashMap<&'a [u8], Extent>,
) -> Result<(), Error> {
    for symbol in table.iter() {
        let name = table.symbol_name(LittleEndian, symbol).map_err(words)?;
        elf.work.spend(size_of::<Sym64<LittleEndian>>() + name.len())?;
        let section = symbol.st_shndx(LittleEndian);
        if section < SHN_LORESERVE && usize::from(section) >= elf.sections.len().max(1) {
            return refuse(format!("a symbol is in section {section} of {}", elf.sections.len()));
        }
        if section != SHN_UNDEF {
            let extent =
                Extent { address: symbol.st_value(LittleEndian), size: symbol.st_size(LittleEndian) };
            extents.entry(name).or_insert(extent);
        }
    }
    Ok(())
}
