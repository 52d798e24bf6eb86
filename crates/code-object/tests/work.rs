//! Files whose parts overlap: reading them takes no more time than their size allows.

mod common;

use code_object::CodeObject;
use common::*;

/// A valid file with parts appended.
struct Grown {
    file: Vec<u8>,
    segments: Vec<Vec<u8>>,
    sections: Vec<Vec<u8>>,
}

impl Grown {
    fn new() -> Self {
        let file = Hand::new(&metadata(&[kernel(&[])])).bytes();
        let sections = file[file.len() - 4 * 64..].chunks(64).map(<[u8]>::to_vec).collect();
        let segments = SEGMENTS.map(|at| file[at..at + 56].to_vec()).into();
        Self { file, segments, sections }
    }

    /// Appends bytes and returns their offset.
    fn put(&mut self, bytes: &[u8]) -> usize {
        self.file.resize(self.file.len().next_multiple_of(8), 0);
        let at = self.file.len();
        self.file.extend(bytes);
        at
    }

    /// Appends bytes, and adds `count` sections that refer to them. Returns the number of the first.
    fn add(&mut self, count: usize, kind: u32, link: u32, bytes: &[u8], entry: u64) -> u32 {
        let at = self.put(bytes);
        let first = self.sections.len() as u32;
        for _ in 0..count {
            let mut header = section(kind, link, at, bytes.len(), entry);
            // The flag for a loaded section.
            put(&mut header, 8, &2_u64.to_le_bytes());
            self.sections.push(header);
        }
        first
    }

    fn parse(mut self) -> Result<usize, String> {
        let (segments, sections) = (self.segments.len() as u16, self.sections.len() as u16);
        for (at, table, count_at, count) in
            [(32, self.segments.concat(), 56, segments), (40, self.sections.concat(), 60, sections)]
        {
            let offset = self.put(&table) as u64;
            put(&mut self.file, at, &offset.to_le_bytes());
            put(&mut self.file, count_at, &count.to_le_bytes());
        }
        let code = CodeObject::parse(&self.file).map_err(|error| error.to_string())?;
        Ok(code.map_or(0, |code| code.kernels.len()))
    }

    #[track_caller]
    fn refused(self) {
        let text = self.parse().expect_err("reading all of it takes too long");
        assert!(text.contains("lie over one another: they have 16 times its size"), "{text}");
    }
}

const RELOCATIONS: u32 = 4;
const SYMBOL_TABLE: u32 = 2;
const STRINGS: u32 = 3;
const NOTES: u32 = 7;

/// Notes of AMD's type without contents.
fn empty_notes(count: usize) -> Vec<u8> {
    [&[7, 0, 32].map(u32::to_le_bytes).concat()[..], b"AMDGPU\0\0"].concat().repeat(count)
}

fn relocations(count: usize) -> Vec<u8> {
    [0x100_u64, 13, 0].map(u64::to_le_bytes).concat().repeat(count)
}

#[test]
fn segments_over_the_same_notes() {
    let mut grown = Grown::new();
    let notes = empty_notes(10_000);
    let at = grown.put(&notes) as u64;
    grown.segments.extend(vec![segment(4, 4, at, notes.len() as u64); 100]);
    grown.refused();
}

#[test]
fn segments_over_ends_of_the_same_notes() {
    let mut grown = Grown::new();
    let notes = empty_notes(5_000);
    let at = grown.put(&notes) as u64;
    grown.segments.extend((0..5_000).map(|n| segment(4, 4, at + 20 * n, notes.len() as u64 - 20 * n)));
    grown.refused();
}

#[test]
fn sections_over_the_same_notes() {
    let mut grown = Grown::new();
    grown.add(1000, NOTES, 0, &empty_notes(5_000), 0);
    grown.refused();
}

#[test]
fn tables_of_the_same_symbols() {
    let mut grown = Grown::new();
    grown.add(2000, SYMBOL_TABLE, 3, &symbol(1, 0, 0).repeat(4_000), 24);
    grown.refused();
}

/// Each of them is searched for among all sections.
#[test]
fn many_tables_without_symbols() {
    let mut grown = Grown::new();
    grown.add(20_000, SYMBOL_TABLE, 3, &[], 24);
    grown.refused();
}

#[test]
fn symbols_with_the_same_long_name() {
    let mut grown = Grown::new();
    let name = grown.add(1, STRINGS, 0, &[&[b'a'; 100_000][..], &[0]].concat(), 0);
    grown.add(1, SYMBOL_TABLE, name, &symbol(0, 0, 0).repeat(4_000), 24);
    grown.refused();
}

#[test]
fn relocations_among_many_segments() {
    let mut grown = Grown::new();
    grown.segments.extend(vec![segment(0, 0, 0, 0); 4_000]);
    grown.add(1, RELOCATIONS, 0, &relocations(4_000), 24);
    grown.refused();
}

/// A name is formatted only for a message, not for each argument.
#[test]
fn a_long_name_and_many_arguments() {
    let name = "k".repeat(1 << 20);
    let arguments: Vec<_> = (0..10_000).map(|n| argument(4 * n, 4, "by_value")).collect();
    let change = [
        (".name", name.as_str().into()),
        (".args", list(&arguments)),
        (".kernarg_segment_size", 40_000.into()),
    ];
    let mut file = Hand::new(&metadata(&[kernel(&change)])).bytes();
    put(&mut file, DESCRIPTOR + 8, &40_000_u32.to_le_bytes());
    let code = CodeObject::parse(&file).expect("it is whole").expect("it has metadata");
    assert_eq!(code.kernel(&name).map(|kernel| kernel.params.len()), Some(10_000));
}

/// What linkers write: two tables of all symbols with one table of names, relocations, and notes that both
/// segments and sections refer to.
#[test]
fn a_large_file_is_read() {
    let mut grown = Grown::new();
    let mut names = vec![0];
    let mut symbols = vec![0; 24];
    for n in 0..20_000 {
        symbols.extend(symbol(names.len() as u32, 0, 0));
        names.extend(format!("_ZN6kernel{n}E\0").bytes());
    }
    let names = grown.add(1, STRINGS, 0, &names, 0);
    let table = grown.add(2, SYMBOL_TABLE, names, &symbols, 24);
    grown.add(1, RELOCATIONS, table, &relocations(20_000), 24);
    grown.segments.extend(vec![segment(0, 0, 0, 0); 8]);
    assert_eq!(grown.parse(), Ok(1));
}
