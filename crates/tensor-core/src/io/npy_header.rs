//! The header of an `.npy` file: a Python dictionary with three entries.

use super::npy::MAX_RANK;
use crate::dtype::DType;
use crate::shape::Shape;

/// The parsed header.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) descr: Descr,
    pub(super) fortran_order: bool,
    pub(super) shape: Shape,
}

/// A dtype in NumPy's notation: byte order, kind and size, such as "<f4".
#[derive(Debug, PartialEq)]
pub(super) struct Descr(pub(super) String);

impl Descr {
    /// The dtype, if tensors support it.
    pub(super) fn dtype(&self) -> Option<DType> {
        let name = self.name()?;
        DType::ALL.into_iter().find(|dtype| dtype.npy_name() == Some(name))
    }

    /// Whether the elements are booleans, of one byte each.
    pub(super) fn is_bool(&self) -> bool {
        self.name() == Some("b1")
    }

    pub(super) fn is_big_endian(&self) -> bool {
        self.0.starts_with('>')
    }

    /// Bytes per element, for numbers, strings and raw bytes of a fixed size.
    pub(super) fn size(&self) -> Option<usize> {
        let name = self.name()?;
        let (unit, digits) = match name.as_bytes().first()? {
            b'b' | b'i' | b'u' | b'f' | b'c' | b'S' | b'V' => (1, &name[1..]),
            // Unicode strings have four bytes per character.
            b'U' => (4, &name[1..]),
            _ => return None,
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse::<usize>().ok().filter(|_| is_number)?.checked_mul(unit)
    }

    /// Explains that tensors do not support the dtype, and what to do.
    pub(super) fn unsupported(&self) -> String {
        let known: Vec<&str> = DType::ALL.iter().filter_map(|dtype| dtype.npy_name()).collect();
        let remedy = match (self.is_bool(), self.size()) {
            (true, _) => ", or read it as u8 with npy::read_bool",
            (_, Some(_)) => ", or take its bytes with npy::read_raw",
            _ => "",
        };
        let (descr, known) = (&self.0, known.join(" "));
        format!("dtype {descr:?} is not supported; {known} are: convert the array with astype{remedy}")
    }

    /// Kind and size, without the byte order.
    fn name(&self) -> Option<&str> {
        self.0.strip_prefix(['<', '>', '|', '='])
    }
}

impl Header {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, the entries in any order.
    pub(super) fn parse(text: &str) -> Result<Header, String> {
        let mut parser = Parser { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        parser.expect('{')?;
        while !parser.take('}') {
            let key = parser.string()?;
            parser.expect(':')?;
            let repeated = match key {
                "descr" => descr.replace(parser.string().map_err(|error| structured(text, error))?).is_some(),
                "fortran_order" => fortran_order.replace(parser.boolean()?).is_some(),
                "shape" => shape.replace(parser.tuple()?).is_some(),
                _ => return Err(format!("the header has an unknown entry {key:?}")),
            };
            if repeated {
                return Err(format!("the header has two entries {key:?}"));
            }
            if !parser.take(',') {
                parser.expect('}')?;
                break;
            }
        }
        if !parser.rest.trim_ascii().is_empty() {
            return Err("the header goes on after its closing brace".to_owned());
        }
        let missing = |key| format!("the header has no entry {key:?}");
        Ok(Header {
            descr: Descr(descr.ok_or_else(|| missing("descr"))?.to_owned()),
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// The error for a dtype that is not a string but a list of fields.
fn structured(text: &str, error: String) -> String {
    if text.contains('[') { "arrays of structures are not supported".to_owned() } else { error }
}

/// A parser for the subset of Python that headers use.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Skips white space, and then `wanted` if it is next.
    fn take(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(self.unexpected(&format!("{wanted:?}"))) }
    }

    /// A string without escapes, in single or double quotes.
    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.take('\'') {
            '\''
        } else if self.take('"') {
            '"'
        } else {
            return Err(self.unexpected("a string"));
        };
        let Some((text, rest)) = self.rest.split_once(quote) else {
            return Err("the header has a string without an end".to_owned());
        };
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_ascii_start();
        for (text, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(text) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    /// A tuple of lengths: `()`, `(3,)`, `(2, 3)`.
    fn tuple(&mut self) -> Result<Shape, String> {
        let mut lengths = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            if lengths.len() == MAX_RANK {
                return Err(format!("the array has more than {MAX_RANK} axes, which no array of NumPy has"));
            }
            lengths.push(self.length()?);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(Shape::from(lengths))
    }

    fn length(&mut self) -> Result<usize, String> {
        self.rest = self.rest.trim_ascii_start();
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (text, rest) = self.rest.split_at(digits);
        if text.is_empty() {
            return Err(self.unexpected("a length"));
        }
        // Python 2 wrote long integers as 3L.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        text.parse().map_err(|_| format!("the length {text} does not fit 64 bits"))
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("the header should have {wanted} where it has {found:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let parse = |text| Header::parse(text).unwrap();
        let plain = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }            \n");
        assert_eq!((plain.descr.dtype(), plain.descr.is_big_endian()), (Some(DType::F32), false));
        assert!(!plain.fortran_order);
        assert_eq!(plain.shape, Shape::from([2, 3]));
        assert_eq!(parse("{'descr': '|u1', 'fortran_order': True, 'shape': ()}").shape, Shape::from(()));
        let other = parse("{\"shape\":(3L,),'fortran_order':True,'descr':'>i8'}");
        assert_eq!(
            other,
            Header { descr: Descr(">i8".to_owned()), fortran_order: true, shape: Shape::from(3) }
        );
        assert_eq!((other.descr.dtype(), other.descr.is_big_endian()), (Some(DType::I64), true));
    }

    #[test]
    fn damaged_headers_say_what_is_wrong() {
        let error = |text| Header::parse(text).unwrap_err();
        assert_eq!(error(""), "the header should have '{' where it has \"\"");
        assert_eq!(error("{'descr': '<f4'}"), "the header has no entry \"fortran_order\"");
        assert_eq!(error("{'descr': '<f4"), "the header has a string without an end");
        assert_eq!(error("{'x': 1}"), "the header has an unknown entry \"x\"");
        assert_eq!(error("{'shape': (1), 'shape': (1)}"), "the header has two entries \"shape\"");
        assert_eq!(error("{'shape': (-1,)}"), "the header should have a length where it has \"-1,)}\"");
        assert_eq!(
            error("{'shape': (99999999999999999999,)}"),
            "the length 99999999999999999999 does not fit 64 bits"
        );
        assert_eq!(error("{'descr': [('x', '<f4')]}"), "arrays of structures are not supported");
        assert!(error("{} x").contains("goes on"));
    }

    #[test]
    fn dtypes_have_sizes_that_tensors_have_or_not() {
        let descr = |text: &str| Descr(text.to_owned());
        for (text, size) in [
            ("|b1", Some(1)),
            ("<u2", Some(2)),
            (">c16", Some(16)),
            ("|V3", Some(3)),
            ("|S0", Some(0)),
            ("<U5", Some(20)),
            ("<U9223372036854775808", None),
            ("|O", None),
            ("<M8[ns]", None),
            ("<f", None),
            ("<f+4", None),
            ("f4", None),
            ("é", None),
            ("<é", None),
            ("<", None),
            ("", None),
        ] {
            assert_eq!((descr(text).size(), descr(text).dtype()), (size, None), "{text:?}");
        }
        let says = |text: &str| descr(text).unsupported();
        let unsupported = "is not supported; u1 u4 i2 i4 i8 f2 f4 f8 are: convert the array with astype";
        assert_eq!(says("|b1"), format!("dtype \"|b1\" {unsupported}, or read it as u8 with npy::read_bool"));
        assert_eq!(says("<u2"), format!("dtype \"<u2\" {unsupported}, or take its bytes with npy::read_raw"));
        assert_eq!(says("|O"), format!("dtype \"|O\" {unsupported}"));
    }

    #[test]
    fn ranks_have_a_limit() {
        let header = |rank: usize| {
            Header::parse(&format!(
                "{{'descr': '<f4', 'fortran_order': True, 'shape': ({})}}",
                "1,".repeat(rank)
            ))
        };
        assert_eq!(header(64).unwrap().shape.rank(), 64);
        assert_eq!(header(65).unwrap_err(), "the array has more than 64 axes, which no array of NumPy has");
    }
}
