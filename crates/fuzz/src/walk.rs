//! Walks an ELF file as runtimes do, which are not told its length. It shares no code with the reader: the offsets of the
//! ELF-64 format are written out.

const PT_LOAD: u64 = 1;
const PT_NOTE: u64 = 4;
const SHT_SYMTAB: u64 = 2;
const SHT_RELA: u64 = 4;
const SHT_NOBITS: u64 = 8;
const SHT_REL: u64 = 9;
const SHT_DYNSYM: u64 = 11;

struct File<'a>(&'a [u8]);

/// The fields of a section header that a runtime follows.
struct Section {
    kind: u64,
    offset: u64,
    size: u64,
    link: u64,
    entry: u64,
}

/// Follows every offset in a file; the error says which one leads outside.
pub(super) fn walk(bytes: &[u8]) -> Result<(), String> {
    let file = File(bytes);
    let (segments, segment_bytes, segment_count) =
        (file.number(32, 8)?, file.number(54, 2)?, file.number(56, 2)?);
    let (sections, section_bytes, section_count) =
        (file.number(40, 8)?, file.number(58, 2)?, file.number(60, 2)?);
    // AMD's runtime computes the file's length by this sum, and checks nothing else.
    let end = u128::from(sections) + u128::from(section_bytes) * u128::from(section_count);
    if end > bytes.len() as u128 {
        return Err(format!("section headers end at byte {end} of {}", bytes.len()));
    }
    for index in 0..segment_count {
        file.segment(at(segments, index, segment_bytes)?)?;
    }
    let all: Vec<Section> = (0..section_count)
        .map(|index| file.section(at(sections, index, section_bytes)?))
        .collect::<Result<_, _>>()?;
    for section in &all {
        if section.kind != SHT_NOBITS {
            file.holds("a section", section.offset, section.size)?;
        }
        match section.kind {
            SHT_SYMTAB | SHT_DYNSYM => file.symbols(section, &all)?,
            SHT_RELA => file.relocations(section, &all, 24)?,
            SHT_REL => file.relocations(section, &all, 16)?,
            _ => {}
        }
    }
    Ok(())
}

fn at(table: u64, index: u64, entry: u64) -> Result<u64, String> {
    index.checked_mul(entry).and_then(|n| n.checked_add(table)).ok_or_else(|| "a table ends nowhere".into())
}

impl File<'_> {
    fn holds(&self, what: &str, offset: u64, length: u64) -> Result<(), String> {
        let end = u128::from(offset) + u128::from(length);
        if end <= self.0.len() as u128 {
            return Ok(());
        }
        Err(format!("{what} ends at byte {end} of {}", self.0.len()))
    }

    fn number(&self, at: u64, width: u64) -> Result<u64, String> {
        self.holds("a number", at, width)?;
        let bytes = &self.0[at as usize..(at + width) as usize];
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn segment(&self, at: u64) -> Result<(), String> {
        let (kind, offset, size) = (self.number(at, 4)?, self.number(at + 8, 8)?, self.number(at + 32, 8)?);
        // An empty segment, such as that of the stack, is not read, so its offset may be anything.
        if size > 0 {
            self.holds("a segment", offset, size)?;
        }
        if kind == PT_LOAD && self.number(at + 40, 8)? < size {
            return Err("a segment brings more than it has room for".into());
        }
        if kind == PT_NOTE { self.notes(offset, size, self.number(at + 48, 8)?) } else { Ok(()) }
    }

    /// Notes follow one another. Both parts of a note are padded to 4 bytes, or to 8 if the segment is aligned to 8.
    fn notes(&self, start: u64, size: u64, align: u64) -> Result<(), String> {
        let align = if align == 8 { 8 } else { 4 };
        let mut at = 0;
        while at < size {
            let (name, text) = (self.number(start + at, 4)?, self.number(start + at + 4, 4)?);
            let contents = (at + 12 + name).next_multiple_of(align);
            if contents + text > size {
                return Err(format!("a note ends at byte {} of its segment's {size}", contents + text));
            }
            at = (contents + text).next_multiple_of(align);
        }
        Ok(())
    }

    fn section(&self, at: u64) -> Result<Section, String> {
        Ok(Section {
            kind: self.number(at + 4, 4)?,
            offset: self.number(at + 24, 8)?,
            size: self.number(at + 32, 8)?,
            link: self.number(at + 40, 4)?,
            entry: self.number(at + 56, 8)?,
        })
    }

    fn symbols(&self, table: &Section, all: &[Section]) -> Result<(), String> {
        let names = all.get(table.link as usize).ok_or("symbols have names in no section")?;
        entries("symbols", table, 24)?;
        for index in 0..table.size / 24 {
            let at = table.offset + 24 * index;
            let (name, section) = (self.number(at, 4)?, self.number(at + 6, 2)?);
            if name >= names.size && name != 0 {
                return Err(format!("symbol {index} has its name at {name} of {}", names.size));
            }
            let rest = self.0.get((names.offset + name) as usize..(names.offset + names.size) as usize);
            if name != 0 && !rest.is_some_and(|rest| rest.contains(&0)) {
                return Err(format!("the name of symbol {index} does not end"));
            }
            if section < 0xff00 && section as usize >= all.len() {
                return Err(format!("symbol {index} is in section {section} of {}", all.len()));
            }
        }
        Ok(())
    }

    fn relocations(&self, table: &Section, all: &[Section], entry: u64) -> Result<(), String> {
        let linked = all.get(table.link as usize).ok_or("relocations have symbols in no section")?;
        let symbols = if table.link == 0 { 0 } else { linked.size / 24 };
        entries("relocations", table, entry)?;
        for index in 0..table.size / entry {
            let symbol = self.number(table.offset + entry * index + 12, 4)?;
            if symbol != 0 && symbol >= symbols {
                return Err(format!("relocation {index} names symbol {symbol} of {symbols}"));
            }
        }
        Ok(())
    }
}

/// Runtimes step by the entry size in the header.
fn entries(what: &str, table: &Section, bytes: u64) -> Result<(), String> {
    if table.entry == bytes {
        return Ok(());
    }
    Err(format!("{what} have {} bytes each, not {bytes}", table.entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header, one segment of 8 bytes, and two sections: the null section, and symbols whose names are in that same section.
    fn file() -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 + 2 * 64 + 8];
        for (at, value, width) in [
            (32, 64_u64, 8),
            (40, 120, 8),
            (54, 56, 2),
            (56, 1, 2),
            (58, 64, 2),
            (60, 2, 2),
            (64 + 8, 248, 8),
            (64 + 32, 8, 8),
            (120 + 64 + 4, SHT_SYMTAB, 4),
            (120 + 64 + 56, 24, 8),
        ] {
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        bytes
    }

    #[test]
    fn offsets_that_lead_outside_are_found() {
        assert_eq!(walk(&file()), Ok(()));
        for (at, value, reason) in [
            (40, 129, "section headers end at byte 257 of 256"),
            (64 + 8, 249, "a segment ends at byte 257 of 256"),
            (32, 220, "a number ends"),
            (184 + 32, 24, "symbol 0 has its name"),
            (184 + 56, 1, "symbols have 1 bytes each"),
            (184 + 40, 2, "symbols have names in no section"),
            (120 + 24, 257, "a section ends at byte 257 of 256"),
        ] {
            let mut bytes = file();
            bytes[at] = value as u8;
            bytes[at + 1] = (value >> 8) as u8;
            if reason.starts_with("symbol 0") {
                bytes[0] = 1;
            }
            let found = walk(&bytes).expect_err("it leads outside");
            assert!(found.contains(reason), "{at}: {found} / {reason}");
        }
    }
}
