//! The findings as text and as JSON.

use super::{Finding, layouts::Layouts, others::Other, symbols::Symbols};
use serde_json::{Value, json};

/// A paragraph for each library.
pub(super) fn text(findings: &[Finding], others: &[Other]) -> String {
    let mut text = String::new();
    for finding in findings {
        let Finding { kind, location, .. } = finding;
        match &finding.file {
            Some(file) => text += &format!("{}: {}\n", kind.title(), file.display()),
            None => {
                let why = finding.missing.as_deref().unwrap_or("not found");
                text += &format!("{}: absent from {location}: {why}\n\n", kind.title());
                continue;
            }
        }
        match &finding.version {
            Some((version, told_by)) => text += &format!("  version    {version}, by {told_by}\n"),
            None => text += "  version    unknown: optional functions were not held against their releases\n",
        }
        if let Some(release) = &finding.release {
            text += &format!("  release    ROCm {release}\n");
        }
        if let Some(soname) = &finding.soname {
            text += &format!("  SONAME     {soname}\n");
        }
        if let Some(answer) = &finding.answer {
            text += &format!("  answer     {answer}\n");
        }
        if let Some(symbols) = &finding.symbols {
            text += &format!("  functions  {}\n", symbols.sentence());
        }
        match &finding.layouts {
            Ok(layouts) => {
                text += &format!("  layouts    {}\n", layouts.sentence());
                for known in &layouts.known {
                    text += &format!("  known      {known}\n");
                }
            }
            Err(why) => text += &format!("  layouts    not checked: {why}\n"),
        }
        for error in &finding.errors {
            text += &format!("  ERROR      {error}\n");
        }
        text += "\n";
    }
    for Other { title, location, file, soname, error } in others {
        match file {
            Some(file) => text += &format!("{title}: {}\n", file.display()),
            None => text += &format!("{title}: absent from {location}\n"),
        }
        text += &soname.as_ref().map(|soname| format!("  SONAME     {soname}\n")).unwrap_or_default();
        text += &error.as_ref().map(|error| format!("  ERROR      {error}\n")).unwrap_or_default();
    }
    text
}

/// Up to this many absent functions are listed by name; more are only counted.
const MANY: usize = 12;

impl Symbols {
    /// How many functions exist, of how many.
    pub(crate) fn counts(&self) -> String {
        let (found, of) = self.required;
        let all = self.optional.len() + self.absent.len();
        let optional =
            if all > 0 { format!(", {} of {all} optional", self.optional.len()) } else { String::new() };
        format!("{found} of {of} required{optional}")
    }

    /// One line.
    fn sentence(&self) -> String {
        let absent: Vec<String> = match self.absent.len() {
            ..=MANY => self.absent.iter().map(|(name, since)| format!("{name} since {since}")).collect(),
            _ => {
                let since = |absent: &[(&str, &str)]| format!("{} since {}", absent.len(), absent[0].1);
                self.absent.chunk_by(|a, b| a.1 == b.1).map(since).collect()
            }
        };
        let absent =
            if absent.is_empty() { String::new() } else { format!(" (absent: {})", absent.join(", ")) };
        format!("{}{absent}; {} more are not wrapped", self.counts(), self.unwrapped)
    }
}

impl Layouts {
    /// One line.
    pub(crate) fn sentence(&self) -> String {
        let Self { structures, fields, constants, headers, newer, .. } = self;
        let mut text = String::new();
        if *structures > 0 {
            text += &format!("{structures} structures of {fields} fields and ");
        }
        text += &format!("{constants} constants are as in headers {headers}");
        if !newer.is_empty() {
            text += &format!("; newer than these: {}", newer.len());
        }
        text
    }
}

/// The findings as JSON.
pub(super) fn json(findings: &[Finding], others: &[Other]) -> Value {
    let entry = |finding: &Finding| {
        let symbols = finding.symbols.as_ref().map(|symbols| {
            json!({
                "required": symbols.required.1,
                "required_found": symbols.required.0,
                "optional_found": symbols.optional,
                "optional_absent": symbols.absent.iter().map(|(name, since)| json!({"name": name, "since": since})).collect::<Value>(),
                "not_wrapped": symbols.unwrapped,
            })
        });
        let layouts = match &finding.layouts {
            Ok(layouts) => json!({
                "headers": layouts.headers,
                "structures": layouts.structures,
                "fields": layouts.fields,
                "constants": layouts.constants,
                "newer_constants": layouts.newer,
                "known_differences": layouts.known,
            }),
            Err(why) => json!({ "not_checked": why }),
        };
        json!({
            "library": finding.kind.title(),
            "location": finding.location,
            "file": finding.file.as_ref().map(|file| file.display().to_string()),
            "version": finding.version.as_ref().map(|version| &version.0),
            "version_by": finding.version.as_ref().map(|version| version.1),
            "release": finding.release,
            "soname": finding.soname,
            "answer": finding.answer,
            "missing": finding.missing,
            "functions": symbols,
            "layouts": layouts,
            "errors": finding.errors,
        })
    };
    let other = |other: &Other| {
        json!({
            "library": other.title,
            "location": other.location,
            "file": other.file.as_ref().map(|file| file.display().to_string()),
            "soname": other.soname,
            "errors": other.error.as_slice(),
        })
    };
    findings.iter().map(entry).chain(others.iter().map(other)).collect()
}
