//! The valid values of environment variables, according to the code that reads them.

use std::ffi::OsStr;
use std::path::Path;

/// The valid values of a variable. An empty value counts as not set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// Any text: flags, options, names.
    Text,
    /// An integer in this inclusive range.
    Number(u64, u64),
    /// A power of two up to this, or 0.
    PowerOfTwo(u64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some of these words, separated by commas.
    Words(&'static [&'static str]),
    /// An existing folder.
    Folder,
    /// An existing folder, or this word.
    FolderOr(&'static str),
    /// An existing file.
    File,
    /// A file that can be created: its folder exists.
    NewFile,
}

impl Value {
    /// Why a value is invalid, and what to set instead.
    pub(super) fn check(self, value: &OsStr) -> Result<(), Bad> {
        let text = value.to_string_lossy();
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let path = Path::new(value);
        let bad = |why: String, instead: String| Err(Bad { why, instead });
        match self {
            Self::Text => Ok(()),
            Self::Number(least, most) => {
                let instead = match most {
                    u64::MAX => format!("a whole number, {least} or more"),
                    _ => format!("a whole number from {least} to {most}"),
                };
                match text.parse::<u64>() {
                    Ok(number) if (least..=most).contains(&number) => Ok(()),
                    Ok(_) => bad("out of range".into(), instead),
                    Err(_) => bad("no whole number".into(), instead),
                }
            }
            Self::PowerOfTwo(most) => match text.parse::<u64>() {
                Ok(number) if number == 0 || number.is_power_of_two() && number <= most => Ok(()),
                _ => bad("no power of two in range".into(), format!("0, 1, 2, 4 and so on up to {most}")),
            },
            Self::OneOf(words) if words.contains(&text) => Ok(()),
            Self::OneOf(words) => bad("no such setting".into(), format!("one of {}", words.join(", "))),
            Self::Words(words) if text.split(',').all(|word| words.contains(&word.trim())) => Ok(()),
            Self::Words(words) => {
                bad("no such setting".into(), format!("some of {}, with commas between", words.join(", ")))
            }
            Self::Folder if path.is_dir() => Ok(()),
            Self::FolderOr(word) if path.is_dir() || text == word => Ok(()),
            Self::FolderOr(word) => bad(absent(path, "folder"), format!("a folder that is there, or {word}")),
            Self::Folder => bad(absent(path, "folder"), "a folder that is there".into()),
            Self::File if path.is_file() => Ok(()),
            Self::File => bad(absent(path, "file"), "a file that is there".into()),
            Self::NewFile => match path.parent() {
                Some(folder) if !path.is_dir() && (folder.as_os_str().is_empty() || folder.is_dir()) => {
                    Ok(())
                }
                _ => bad("no file can be made there".into(), "a file in a folder that is there".into()),
            },
        }
    }
}

/// An invalid value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bad {
    /// What is wrong with it.
    pub why: String,
    /// The valid values.
    pub instead: String,
}

fn absent(path: &Path, what: &str) -> String {
    if path.exists() { format!("not a {what}") } else { format!("no such {what}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(value: Value, text: &str) -> Option<String> {
        value.check(OsStr::new(text)).err().map(|bad| bad.why)
    }

    #[test]
    fn numbers_are_read_as_their_readers_do() {
        let memory = Value::Number(1, u64::MAX);
        assert_eq!(why(memory, " 2048 "), None);
        assert_eq!(why(memory, ""), None);
        assert_eq!(why(memory, "abc").as_deref(), Some("no whole number"));
        assert_eq!(why(memory, "2048M").as_deref(), Some("no whole number"));
        assert_eq!(why(memory, "0").as_deref(), Some("out of range"));
        assert_eq!(why(Value::Number(1, 1024), "1025").as_deref(), Some("out of range"));
        assert_eq!(why(Value::PowerOfTwo(64), "32"), None);
        assert_eq!(why(Value::PowerOfTwo(64), "33").as_deref(), Some("no power of two in range"));
        assert_eq!(why(Value::PowerOfTwo(64), "128").as_deref(), Some("no power of two in range"));
    }

    #[test]
    fn words_are_those_listed() {
        let words = Value::OneOf(&["host", "amd"]);
        assert_eq!(why(words, "amd"), None);
        let several = Value::Words(&["abort", "threads"]);
        assert_eq!(why(several, "threads, abort"), None);
        assert_eq!(why(several, "threads,about").as_deref(), Some("no such setting"));
        let bad = words.check(OsStr::new("metal")).expect_err("not in the list");
        assert_eq!(bad.instead, "one of host, amd");
    }

    #[test]
    fn paths_are_looked_at() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("file");
        std::fs::write(&file, "").expect("it is writable");
        let text = |path: &Path| path.display().to_string();
        assert_eq!(why(Value::Folder, &text(dir.path())), None);
        assert_eq!(why(Value::Folder, &text(&file)).as_deref(), Some("not a folder"));
        let or = Value::FolderOr("compile");
        assert_eq!((why(or, &text(dir.path())), why(or, "compile")), (None, None));
        assert_eq!(why(or, "compiled").as_deref(), Some("no such folder"));
        assert_eq!(why(Value::File, &text(&file)), None);
        assert_eq!(why(Value::File, &text(&dir.path().join("none"))).as_deref(), Some("no such file"));
        assert_eq!(why(Value::NewFile, &text(&dir.path().join("none"))), None);
        assert!(why(Value::NewFile, &text(&dir.path().join("none/deeper"))).is_some());
        assert!(why(Value::NewFile, &text(dir.path())).is_some());
    }
}
