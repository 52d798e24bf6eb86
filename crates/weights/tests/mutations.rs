//! Thousands of damaged GGUF files: each is read or is an error, without a panic, and in no more memory than a few times the file.

mod common;

use common::{Raw, python};
use weights::gguf::File;

/// Numbers that readers multiply, add and allocate by.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    31,
    33,
    255,
    1 << 16,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    (1 << 61) + 1,
    (1 << 62) + 1,
    1 << 63,
    u64::MAX - 31,
    u64::MAX,
];

/// SplitMix64: the same mutations in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A file whose vocabulary and arrays are longer than what a reader needs besides.
fn large() -> Vec<u8> {
    let mut raw = Raw::new(2, 4).text("general.alignment").u32(4).u32(32);
    raw = raw.text("words").u32(9).u32(8).u64(3000);
    for index in 0..3000 {
        raw = raw.text(&format!("▁{index}"));
    }
    raw = raw.text("numbers").u32(9).u32(10).u64(2000);
    for index in 0..2000 {
        raw = raw.u64(index);
    }
    raw = raw.text("arrays").u32(9).u32(9).u64(100);
    for index in 0..100 {
        raw = raw.u32(4).u64(1).u32(index);
    }
    raw.tensor("a", &[64, 10], 2, 0).tensor("b", &[8], 0, 384).data(416)
}

fn mutated(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    // What is read before the data has most of what can be wrong.
    let end = if random.below(4) == 0 { bytes.len() } else { bytes.len().min(1700) };
    for _ in 0..=random.below(3) {
        let position = random.below(end.min(bytes.len()).max(1));
        match random.below(6) {
            0 => bytes.truncate(position),
            1 => bytes.iter_mut().skip(position).take(1).for_each(|byte| *byte = random.next() as u8),
            2 => bytes.iter_mut().skip(position).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            3 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let length = if random.below(2) == 0 { 4 } else { 8 };
                bytes.iter_mut().skip(position).zip(&number[..length]).for_each(|(byte, new)| *byte = *new);
            }
            4 => {
                let copied: Vec<u8> = bytes.iter().skip(position).take(random.below(64)).copied().collect();
                let to = random.below(bytes.len().max(1)).min(bytes.len());
                bytes.splice(to..to, copied);
            }
            _ => {
                let until = (position + random.below(32)).min(bytes.len());
                bytes.drain(position.min(until)..until);
            }
        }
    }
    bytes
}

/// Reads the header and all tensors' bytes. Whether it could.
fn read(bytes: Vec<u8>) -> bool {
    let length = bytes.len() as u64;
    let mut answer = None;
    let memory = allocation_counter::measure(|| answer = Some(File::from_bytes(bytes)));
    // A reader has a buffer of at most the file, and what it keeps: numbers and texts as they are in the file. Beyond that
    // come nodes of maps, boxes of arrays, and the message of an error.
    let most = 2 * length + length / 2 + 8192;
    assert!(memory.bytes_max <= most, "{} bytes at once for a file of {length}", memory.bytes_max);
    match answer.unwrap() {
        Ok(file) => {
            let sum: u64 = file.names().map(|name| file.bytes(name).unwrap().len() as u64).sum();
            assert!(sum <= length, "{sum} bytes of tensors in a file of {length}: they overlap");
            true
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("gguf::open: bytes in memory: ") && text.len() < 1000, "{text}");
            false
        }
    }
}

#[test]
fn damaged_files_are_errors() {
    let mut random = Random(32);
    let (python, large) = (python("gguf"), large());
    let mut good = 0;
    let all = 6000;
    for turn in 0..all {
        let original = if turn % 4 == 0 { &large } else { &python };
        good += usize::from(read(mutated(original, &mut random)));
    }
    assert!(read(python) && read(large));
    // Changes of values leave a file that can be read. If all or nothing could, nothing would be tried.
    assert!(good > all / 20 && good < all / 2, "{good} of {all} could be read");
}

/// Every file that ends too early.
#[test]
fn truncated_files_are_errors() {
    let python = python("gguf");
    let file = File::from_bytes(python.clone()).unwrap();
    // The last tensor has padding behind it, which nobody reads.
    let end = file.names().map(|name| file.info(name).unwrap().byte_range().end).max().unwrap();
    for length in 0..python.len() {
        let complete = length as u64 >= end;
        assert_eq!(read(python[..length].to_vec()), complete, "{length} of {}", python.len());
    }
}

/// Numbers that overflow something, at each offset of the header.
#[test]
fn numbers_that_overflow_are_errors() {
    let python = python("gguf");
    for index in 0..1600 {
        for number in [33, 1 << 32, (1 << 61) + 1, 1 << 63, u64::MAX] {
            let mut bytes = python.clone();
            bytes[index..index + 8].copy_from_slice(&number.to_le_bytes());
            read(bytes);
        }
    }
}
