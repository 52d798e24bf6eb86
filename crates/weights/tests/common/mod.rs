//! GGUF files written byte by byte, so that they may be wrong.
#![allow(dead_code, reason = "each test program uses its part")]

use std::path::{Path, PathBuf};

/// The file that llama.cpp's own package wrote, and what it reads from it.
pub(crate) fn python(extension: &str) -> Vec<u8> {
    std::fs::read(data(&format!("python.{extension}"))).unwrap()
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The folder of real models; `None`, and a word, without HIPSTACK_MODELS.
pub(crate) fn models() -> Option<PathBuf> {
    let folder = std::env::var_os("HIPSTACK_MODELS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: HIPSTACK_MODELS names no folder; ci/fetch-models.sh fills target/ci/models");
    }
    folder
}

/// A file in the making.
#[derive(Clone)]
pub(crate) struct Raw(pub Vec<u8>);

impl Raw {
    /// Version 3, with these numbers of tensors and of metadata.
    pub(crate) fn new(tensors: u64, metadata: u64) -> Raw {
        Raw(b"GGUF\x03\0\0\0".to_vec()).u64(tensors).u64(metadata)
    }

    pub(crate) fn u32(mut self, value: u32) -> Raw {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Raw {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn text(mut self, text: &str) -> Raw {
        self = self.u64(text.len() as u64);
        self.0.extend(text.bytes());
        self
    }

    /// A tensor's entry; the innermost length comes first.
    pub(crate) fn tensor(mut self, name: &str, lengths: &[u64], format: u32, offset: u64) -> Raw {
        self = self.text(name).u32(lengths.len() as u32);
        for &length in lengths {
            self = self.u64(length);
        }
        self.u32(format).u64(offset)
    }

    /// Aligned to 32 bytes, and with so many bytes of data.
    pub(crate) fn data(mut self, bytes: usize) -> Vec<u8> {
        let length = self.0.len().next_multiple_of(32) + bytes;
        self.0.resize(length, 7);
        self.0
    }
}
