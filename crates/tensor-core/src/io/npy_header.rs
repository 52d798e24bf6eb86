//! The header of an `.npy` file: a Python dictionary with three entries.

use crate::dtype::DType;
use crate::shape::Shape;

/// What the header says.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) big_endian: bool,
    pub(super) fortran_order: bool,
    pub(super) shape: Shape,
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
        let (dtype, big_endian) = dtype(descr.ok_or_else(|| missing("descr"))?)?;
        Ok(Header {
            dtype,
            big_endian,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// The dtype and whether it is big-endian, from a byte order and a name such as "<f4".
fn dtype(descr: &str) -> Result<(DType, bool), String> {
    let unsupported = || {
        let known: Vec<&str> = DType::ALL.iter().filter_map(|dtype| dtype.npy_name()).collect();
        format!("dtype {descr:?} is not supported; {} are: convert the array with astype", known.join(" "))
    };
    let big_endian = match descr.as_bytes().first() {
        Some(b'<' | b'|' | b'=') => false,
        Some(b'>') => true,
        _ => return Err(unsupported()),
    };
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.npy_name() == Some(&descr[1..]));
    Ok((dtype.ok_or_else(unsupported)?, big_endian))
}

/// An error for a dtype that is not a string: a list of fields.
fn structured(text: &str, error: String) -> String {
    if text.contains('[') { "arrays of structures are not supported".to_owned() } else { error }
}

/// The part of Python's syntax that headers use.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Skips white space, then `wanted` if it comes next.
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

    /// A string without escapes, in either kind of quotes.
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
        // Python 2 wrote some lengths as 3L.
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
        assert_eq!((plain.dtype, plain.big_endian, plain.fortran_order), (DType::F32, false, false));
        assert_eq!(plain.shape, Shape::from([2, 3]));
        assert_eq!(parse("{'descr': '|u1', 'fortran_order': True, 'shape': ()}").shape, Shape::from(()));
        let other = parse("{\"shape\":(3L,),'fortran_order':True,'descr':'>i8'}");
        assert_eq!(
            other,
            Header { dtype: DType::I64, big_endian: true, fortran_order: true, shape: Shape::from(3) }
        );
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
        assert!(
            error("{'descr': '|b1', 'fortran_order': False, 'shape': ()}")
                .starts_with("dtype \"|b1\" is not supported; u1 u4")
        );
        assert!(
            error("{'descr': 'é', 'fortran_order': False, 'shape': ()}")
                .starts_with("dtype \"é\" is not supported")
        );
        assert!(error("{} x").contains("goes on"));
    }
}
