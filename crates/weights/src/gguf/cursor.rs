//! Reading a file from front to back, with every length checked against what is left of it.

use tensor_core::file::Source;
use tensor_core::{Error, ErrorKind, Result};

use super::OPEN;
use super::kind::Type;
use super::strings::Strings;
use super::value::{Array, Value};

/// Arrays in arrays are read to this depth. GGUF's own tools write none.
const DEEPEST: usize = 8;
/// Bytes that are read at once.
const BUFFER: u64 = 1 << 16;

/// A position in a file.
pub(super) struct Cursor<'a> {
    source: &'a Source,
    at: u64,
    /// The bytes from `first` on.
    buffer: Vec<u8>,
    first: u64,
    /// What is being read, for messages.
    pub(super) reading: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, at: 0, buffer: Vec::new(), first: 0, reading: "the header".to_owned() }
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The bytes from here to the end of the file.
    pub(super) fn left(&self) -> u64 {
        self.source.length() - self.at
    }

    /// An error in what is being read.
    pub(super) fn error(&self, what: impl std::fmt::Display) -> Error {
        self.source.error(OPEN, format!("{}: {what}", self.reading))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.fixed().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// A number of things that take at least `least` bytes each.
    pub(super) fn count(&mut self, least: u64, things: &str) -> Result<u64> {
        let count = self.u64()?;
        if count > self.left() / least {
            let left = self.left();
            return Err(self.error(format!(
                "{count} {things} do not fit the {left} bytes that are left: the file is damaged or incomplete; fetch it again"
            )));
        }
        Ok(count)
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let length = self.count(1, "bytes of text")?;
        let bytes = self.bytes(length)?;
        String::from_utf8(bytes).map_err(|error| self.error(format!("a text is not UTF-8: {error}")))
    }

    pub(super) fn value_type(&mut self) -> Result<Type> {
        let number = self.u32()?;
        Type::of_number(number).ok_or_else(|| {
            self.error(format!(
                "there is no type {number} of values; the file is damaged, or newer than its version"
            ))
        })
    }

    pub(super) fn value(&mut self) -> Result<Value> {
        Ok(match self.value_type()? {
            Type::U8 => Value::U8(u8::from_le_bytes(self.fixed()?)),
            Type::I8 => Value::I8(i8::from_le_bytes(self.fixed()?)),
            Type::U16 => Value::U16(u16::from_le_bytes(self.fixed()?)),
            Type::I16 => Value::I16(i16::from_le_bytes(self.fixed()?)),
            Type::U32 => Value::U32(self.u32()?),
            Type::I32 => Value::I32(i32::from_le_bytes(self.fixed()?)),
            Type::F32 => Value::F32(f32::from_le_bytes(self.fixed()?)),
            Type::U64 => Value::U64(self.u64()?),
            Type::I64 => Value::I64(i64::from_le_bytes(self.fixed()?)),
            Type::F64 => Value::F64(f64::from_le_bytes(self.fixed()?)),
            Type::Bool => Value::Bool(self.truth()?),
            Type::String => Value::String(self.text()?),
            Type::Array => Value::Array(self.array(1)?),
        })
    }

    /// An array that lies within `depth - 1` others.
    fn array(&mut self, depth: usize) -> Result<Array> {
        if depth > DEEPEST {
            return Err(
                self.error(format!("arrays lie in arrays more than {DEEPEST} deep; such a file is not read"))
            );
        }
        let kind = self.value_type()?;
        let count = self.count(kind.least(), "values")?;
        Ok(match kind {
            Type::U8 => Array::U8(self.bytes(count)?),
            Type::I8 => Array::I8(self.numbers(count, i8::from_le_bytes)?),
            Type::U16 => Array::U16(self.numbers(count, u16::from_le_bytes)?),
            Type::I16 => Array::I16(self.numbers(count, i16::from_le_bytes)?),
            Type::U32 => Array::U32(self.numbers(count, u32::from_le_bytes)?),
            Type::I32 => Array::I32(self.numbers(count, i32::from_le_bytes)?),
            Type::F32 => Array::F32(self.numbers(count, f32::from_le_bytes)?),
            Type::U64 => Array::U64(self.numbers(count, u64::from_le_bytes)?),
            Type::I64 => Array::I64(self.numbers(count, i64::from_le_bytes)?),
            Type::F64 => Array::F64(self.numbers(count, f64::from_le_bytes)?),
            Type::Bool => Array::Bool(self.many(count, Self::truth)?),
            Type::String => Array::String(self.strings(count)?),
            Type::Array => Array::Array(self.many(count, |cursor| cursor.array(depth + 1).map(Box::new))?),
        })
    }

    /// Texts, in memory that is as large as they are: their lengths are read first.
    fn strings(&mut self, count: u64) -> Result<Strings> {
        let start = self.at;
        let mut whole = 0;
        for _ in 0..count {
            let length = self.count(1, "bytes of text")?;
            whole += length;
            self.at += length;
        }
        self.at = start;
        let mut ends = self.room(count)?;
        let mut text = self.room(whole)?;
        for _ in 0..count {
            // The file may have changed meanwhile: the length is checked again.
            let length = self.count(1, "bytes of text")?;
            self.append(length, &mut text)?;
            ends.push(text.len());
        }
        let not_text = |error| self.error(format!("a text is not UTF-8: {error}"));
        let text = String::from_utf8(text).map_err(|error| not_text(error.utf8_error()))?;
        if let Some(index) = ends.iter().position(|&end| !text.is_char_boundary(end)) {
            return Err(self.error(format!("text {index} is not UTF-8: it ends within a character")));
        }
        Ok(Strings::of_parts(text, ends))
    }

    fn truth(&mut self) -> Result<bool> {
        match self.fixed()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [byte] => {
                Err(self.error(format!("a truth value is {byte}, neither 0 nor 1: the file is damaged")))
            }
        }
    }

    fn numbers<T, const N: usize>(&mut self, count: u64, number: fn([u8; N]) -> T) -> Result<Vec<T>> {
        self.many(count, |cursor| cursor.fixed().map(number))
    }

    /// `count` values, which were checked against what is left.
    fn many<T>(&mut self, count: u64, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut values = self.room(count)?;
        for _ in 0..count {
            values.push(one(self)?);
        }
        Ok(values)
    }

    fn bytes(&mut self, count: u64) -> Result<Vec<u8>> {
        let mut bytes = self.room(count)?;
        self.append(count, &mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, count: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let there = self.buffered(1)?;
            let taken = left.min(there.len() as u64) as usize;
            bytes.extend_from_slice(&there[..taken]);
            self.at += taken as u64;
            left -= taken as u64;
        }
        Ok(())
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = *self.buffered(N)?.first_chunk().expect("that many are there");
        self.at += N as u64;
        Ok(bytes)
    }

    /// The bytes from here on, as far as they are in memory: at least `least`, which is no more than a buffer has.
    fn buffered(&mut self, least: usize) -> Result<&[u8]> {
        if self.left() < least as u64 {
            let length = self.source.length();
            return Err(self
                .error(format!("the file ends here, at {length} bytes: it is incomplete; fetch it again")));
        }
        let there = |cursor: &Self| {
            let skipped = usize::try_from(cursor.at.checked_sub(cursor.first)?).ok()?;
            (cursor.buffer.len().checked_sub(skipped)? >= least).then_some(skipped)
        };
        if let Some(skipped) = there(self) {
            return Ok(&self.buffer[skipped..]);
        }
        self.buffer.resize(self.left().min(BUFFER) as usize, 0);
        self.first = self.at;
        self.source.read(self.at, &mut self.buffer, OPEN)?;
        Ok(&self.buffer)
    }

    /// An empty vector for `count` values, which take no more bytes than the file has for them.
    fn room<T>(&self, count: u64) -> Result<Vec<T>> {
        let mut values = Vec::new();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let reserved = values.try_reserve_exact(count);
        let bytes = count.saturating_mul(size_of::<T>());
        reserved.map_err(|_| Error::new(OPEN, ErrorKind::OutOfMemory { bytes }))?;
        Ok(values)
    }
}
