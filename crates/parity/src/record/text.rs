//! The file format of records: tab-separated text, one line per case, suited for diffs.
//!
//! ```text
//! parity-record/1
//! device       nvidia:0
//! description  nvidia:0 (sm_90)
//! seed         7
//! date         2026-01-31
//! version      0.1.0
//! cases        2
//! fact         name     NVIDIA H200
//!
//! <hash>  neg/f32/…  f32  [37,129]  equal bits      digest <32 hexadecimal digits>
//! <hash>  exp/f32/…  f32  [37,129]  within 2.5 ulp  samples 0:3f800000:2.981e-7 17:7f800000:6.085e31! …
//! <hash>  sum/f16/…  -    -         equal bits      error out of memory
//! ```
//!
//! Columns are separated by one tab. A sample is `index:bits:tolerance`, followed by `!` if an overflow is also right.
//! In texts, backslash, tab, line feed and carriage return are escaped as `\\`, `\t`, `\n`, `\r`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use reference::DType;

use super::{Allowed, Entry, Form, Found, Header, Probe, Record, positions};
use crate::case::shape_text;
use crate::{Error, report};

/// The first line of a record: the format version, which changes whenever an older reader would misunderstand the file.
pub const SCHEMA: &str = "parity-record/1";

hip_sys::debug_by_display!(Damage);

/// An error in the text of a record, with its line.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Damage {
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl Record {
    /// The text of the file.
    pub fn to_text(&self) -> String {
        let Header { device, description, facts, seed, date, version } = &self.header;
        let (device, description) = (escape(device), escape(description));
        let (date, version, cases) = (escape(date), escape(version), self.entries.len());
        let mut text = format!(
            "{SCHEMA}\ndevice\t{device}\ndescription\t{description}\nseed\t{seed}\ndate\t{date}\nversion\t{version}\n\
             cases\t{cases}\n"
        );
        for (key, value) in facts {
            let _ = writeln!(text, "fact\t{}\t{}", escape(key), escape(value));
        }
        text.push('\n');
        for entry in &self.entries {
            line(&mut text, entry);
        }
        text
    }

    /// Reads the text of a record.
    ///
    /// # Errors
    /// [`Damage`] with the first wrong line and the reason.
    pub fn parse(text: &str) -> Result<Record, Damage> {
        let mut lines = Lines { rest: text.split_terminator('\n').enumerate(), last: 0 };
        let (header, cases) = lines.header()?;
        let mut entries = Vec::new();
        while let Some((number, text)) = lines.take() {
            entries.push(entry(text).map_err(|reason| Damage { line: number, reason })?);
        }
        if entries.len() != cases {
            let reason = format!("the file ends after {} cases; its head says {cases}", entries.len());
            return Err(Damage { line: lines.last, reason });
        }
        if !text.ends_with('\n') {
            return Err(Damage { line: lines.last, reason: "the last line has no end".into() });
        }
        Record::new(header, entries)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::ReadRecord`] if the file cannot be read, [`Error::Record`] if it is not a record.
    pub fn read(path: &Path) -> Result<Record, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::ReadRecord { path: path.to_path_buf(), source })?;
        Record::parse(&text).map_err(|damage| Error::Record { name: path.display().to_string(), damage })
    }

    /// Writes a file atomically, through a temporary file.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = self.to_text();
        let written = report::write(path, |file| file.write_all(text.as_bytes()));
        written.map_err(|source| Error::Write { path: path.to_path_buf(), source })
    }
}

fn line(text: &mut String, entry: &Entry) {
    let Entry { hash, id, rule, found } = entry;
    let _ = write!(text, "{hash:032x}\t{}\t", escape(id));
    let form = |text: &mut String, form: &Form| {
        let _ = write!(text, "{}\t{}\t{}\t", form.dtype, shape_text(&form.shape), escape(rule));
    };
    match found {
        Found::Exact { form: its, digest } => {
            form(text, its);
            let _ = write!(text, "digest {digest:032x}");
        }
        Found::Sampled { form: its, probes } => {
            form(text, its);
            *text += "samples";
            let digits = 2 * its.dtype.size();
            for Probe { index, bits, allowed } in probes {
                let mark = if allowed.overflow { "!" } else { "" };
                let _ = write!(text, " {index}:{bits:0digits$x}:{}{mark}", tolerance(allowed.tolerance));
            }
        }
        Found::Error(error) => {
            let _ = write!(text, "-\t-\t{}\terror {}", escape(rule), escape(error));
        }
    }
    text.push('\n');
}

/// "0", or the shortest digits with an exponent that read back as the same number: at most four for a rounded
/// tolerance.
fn tolerance(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:e}") }
}

/// The lines of a file, with their numbers.
struct Lines<'a> {
    rest: std::iter::Enumerate<std::str::SplitTerminator<'a, char>>,
    last: usize,
}

impl<'a> Lines<'a> {
    fn take(&mut self) -> Option<(usize, &'a str)> {
        let (before, text) = self.rest.next()?;
        self.last = before + 1;
        Some((self.last, text))
    }

    fn next(&mut self) -> Result<(usize, &'a str), Damage> {
        let end = Damage { line: self.last + 1, reason: "the file ends in its head".into() };
        self.take().ok_or(end)
    }

    /// The header, and the number of cases that it announces.
    fn header(&mut self) -> Result<(Header, usize), Damage> {
        let (line, first) = self.next()?;
        if first != SCHEMA {
            let reason = format!("not a record that this version reads: the first line is not {SCHEMA:?}");
            return Err(Damage { line, reason });
        }
        let mut header = Header {
            device: self.field("device")?,
            description: self.field("description")?,
            facts: BTreeMap::new(),
            seed: self.number("seed")?,
            date: self.field("date")?,
            version: self.field("version")?,
        };
        let cases = self.number("cases")?;
        loop {
            let (line, text) = self.next()?;
            if text.is_empty() {
                return Ok((header, cases));
            }
            let damage = |reason: String| Damage { line, reason };
            let fact = text.strip_prefix("fact\t").and_then(|fact| fact.split_once('\t'));
            let (key, value) = fact.ok_or_else(|| damage("expected a fact or an empty line".into()))?;
            let (key, value) = (unescape(key).map_err(damage)?, unescape(value).map_err(damage)?);
            if header.facts.insert(key, value).is_some() {
                return Err(damage("this fact is there twice".into()));
            }
        }
    }

    fn field(&mut self, name: &str) -> Result<String, Damage> {
        let (line, text) = self.next()?;
        let damage = |reason: String| Damage { line, reason };
        let value = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('\t'));
        unescape(value.ok_or_else(|| damage(format!("expected the field {name:?}")))?).map_err(damage)
    }

    fn number<N: std::str::FromStr>(&mut self, name: &str) -> Result<N, Damage> {
        let text = self.field(name)?;
        text.parse().map_err(|_| Damage { line: self.last, reason: format!("{name} {text:?} is no number") })
    }
}

fn entry(line: &str) -> Result<Entry, String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [hash, id, dtype, shape, rule, result] = columns[..] else {
        return Err(format!("{} columns, expected 6", columns.len()));
    };
    let (hash, id, rule) = (hex(hash, 32)?, unescape(id)?, unescape(rule)?);
    let (kind, rest) = result.split_once(' ').unwrap_or((result, ""));
    if kind == "error" {
        return match (dtype, shape) {
            ("-", "-") => Ok(Entry::of_error(hash, id, rule, unescape(rest)?)),
            _ => Err("an error has neither dtype nor shape".into()),
        };
    }
    let form = form(dtype, shape)?;
    let found = match kind {
        "digest" => Found::Exact { form, digest: hex(rest, 32)? },
        "samples" => {
            let probes = rest.split(' ').filter(|text| !text.is_empty());
            let probes = probes.map(|text| probe(form.dtype, text)).collect::<Result<Vec<_>, _>>()?;
            let indices = positions(hash, form.elements().unwrap_or(0));
            if !probes.iter().map(|probe| probe.index).eq(indices) {
                return Err("other elements are sampled than the case's hash says".into());
            }
            Found::Sampled { form, probes }
        }
        _ => return Err(format!("the result is {kind:?}, expected digest, samples or error")),
    };
    Ok(Entry { hash, id, rule, found })
}

fn form(dtype: &str, shape: &str) -> Result<Form, String> {
    let dtype = DType::from_name(dtype).ok_or_else(|| format!("{dtype:?} is no dtype"))?;
    let wrong = || format!("{shape:?} is no shape");
    let axes = shape.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(wrong)?;
    let axes = axes.split(',').filter(|_| !axes.is_empty());
    let shape = axes.map(|axis| axis.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let form = Form { dtype, shape };
    form.elements().map(|_| form.clone()).ok_or_else(wrong)
}

fn probe(dtype: DType, text: &str) -> Result<Probe, String> {
    let (plain, overflow) = text.strip_suffix('!').map_or((text, false), |plain| (plain, true));
    let mut parts = plain.split(':');
    let (Some(index), Some(bits), Some(tolerance), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(format!("sample {text:?} is not index:bits:tolerance"));
    };
    let index = index.parse().map_err(|_| format!("sample {text:?}: {index:?} is not an index"))?;
    let bits = hex(bits, 2 * dtype.size()).map_err(|reason| format!("sample {text:?}: {reason}"))? as u64;
    let tolerance: f64 =
        tolerance.parse().map_err(|_| format!("sample {text:?}: {tolerance:?} is no tolerance"))?;
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(format!("sample {text:?}: a tolerance is a number and not negative"));
    }
    if tolerance.is_infinite() && !overflow {
        return Err(format!("sample {text:?}: a tolerance is infinite only where an overflow is right"));
    }
    Ok(Probe { index, bits, allowed: Allowed { tolerance, overflow } })
}

fn hex(text: &str, digits: usize) -> Result<u128, String> {
    let wrong = || format!("{text:?} is not {digits} hexadecimal digits");
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !plain {
        return Err(wrong());
    }
    u128::from_str_radix(text, 16).map_err(|_| wrong())
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('\\') => '\\',
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => return Err(format!("a backslash before {other:?}")),
            },
            _ => c,
        });
    }
    Ok(plain)
}
