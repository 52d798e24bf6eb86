//! Models in several files: whole GGUF files with some of the tensors each, or one file that was cut into parts.

use std::path::{Path, PathBuf};

use tensor_core::Result;
use tensor_core::file::Source;

use super::header::Header;
use super::metadata::Metadata;
use super::{OPEN, shown};

/// Where a split model says which of its files this is, from 0 on.
pub(super) const NUMBER: &str = "split.no";
/// How many there are.
pub(super) const COUNT: &str = "split.count";
/// How many tensors they have together.
pub(super) const TENSORS: &str = "split.tensors.count";
/// The digits of a number in the name of a file.
const DIGITS: usize = 5;
/// The most files of a model, and the most parts of a file.
const MOST: usize = 99_999;

/// All files of the split model that `path` is one of, `NAME-00002-of-00003.gguf`; `None` if its name is not such.
pub(crate) fn files(path: &Path) -> Option<Vec<PathBuf>> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".gguf")?;
    let (rest, count) = number_behind(stem)?;
    let (name, number) = number_behind(rest.strip_suffix("-of-")?)?;
    let name = name.strip_suffix('-')?;
    if number == 0 || number > count {
        return None;
    }
    Some(
        (1..=count)
            .map(|number| path.with_file_name(format!("{name}-{number:05}-of-{count:05}.gguf")))
            .collect(),
    )
}

/// The parts from `path` on, `NAME.gguf.part00`, as far as they are there; `None` if its name is not that of a first
/// part.
pub(super) fn parts(path: &Path) -> Option<Vec<PathBuf>> {
    let name = path.file_name()?.to_str()?;
    let (stem, digits) = name.rsplit_once(".part")?;
    let first: usize =
        digits.parse().ok().filter(|&first| first <= 1 && digits.bytes().all(|b| b.is_ascii_digit()))?;
    let width = digits.len();
    let named = |index: usize| path.with_file_name(format!("{stem}.part{index:0width$}"));
    Some((first..=MOST).map(named).take_while(|path| path.exists()).collect())
}

/// The number of five digits at the end of a name, and the name before it.
fn number_behind(name: &str) -> Option<(&str, usize)> {
    let (rest, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    Some((rest, digits.parse().ok()?))
}

/// The header of all files together. The first has the metadata of the model.
pub(super) fn join(sources: &[Source], headers: Vec<Header>) -> Result<Header> {
    let many = headers.len() > 1;
    let mut whole: Option<Header> = None;
    for (index, (header, source)) in headers.into_iter().zip(sources).enumerate() {
        let error = |what: String| Err(source.error(OPEN, what));
        let says = |key, otherwise| header.metadata.u64(key).unwrap_or(otherwise);
        let (number, count) = (says(NUMBER, 0), says(COUNT, 1));
        if many && (number, count) != (index as u64, sources.len() as u64) {
            return error(format!(
                "it says that it is file {number} of {count} ({NUMBER} and {COUNT}), and its name says file {index} of {}",
                sources.len()
            ));
        }
        if !many && count > 1 {
            return error(format!(
                "it is one of {count} files of a model: give all of them their names NAME-00001-of-{count:05}.gguf"
            ));
        }
        let Some(whole) = &mut whole else {
            whole = Some(header);
            continue;
        };
        for (name, info) in header.tensors {
            if whole.tensors.contains_key(&name) {
                return error(format!("tensor {} is also in a file before this one", shown(&name)));
            }
            whole.tensors.insert(name, info);
        }
    }
    let whole = whole.expect("a model has a file");
    let (there, said) = (whole.tensors.len() as u64, whole.metadata.u64(TENSORS));
    match said.filter(|&said| many && said != there) {
        Some(said) => {
            Err(sources[0].error(OPEN, format!("the files have {there} tensors, and {TENSORS} is {said}")))
        }
        None => Ok(whole),
    }
}

/// What only holds for one file of several.
pub(super) fn without(metadata: &Metadata) -> Metadata {
    let mut whole = metadata.clone();
    for key in [NUMBER, COUNT, TENSORS] {
        whole.remove(key);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_split_models_lead_to_all_files() {
        let names = |path: &str| {
            files(Path::new(path))
                .map(|files| files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>())
        };
        let both = ["a/m-00001-of-00002.gguf", "a/m-00002-of-00002.gguf"].map(String::from).to_vec();
        assert_eq!(names("a/m-00001-of-00002.gguf"), Some(both.clone()));
        assert_eq!(names("a/m-00002-of-00002.gguf"), Some(both));
        for other in [
            "m.gguf",
            "m-00003-of-00002.gguf",
            "m-00000-of-00002.gguf",
            "m-1-of-2.gguf",
            "00001-of-00001.gguf",
            "é.gguf",
            "",
        ] {
            assert_eq!(names(other), None, "{other}");
        }
    }

    #[test]
    fn parts_follow_the_first_as_far_as_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["m.gguf.part00", "m.gguf.part01", "m.gguf.part03", "n.part1", "n.part2"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let count = |name: &str| parts(&folder.path().join(name)).map(|parts| parts.len());
        assert_eq!(count("m.gguf.part00"), Some(2));
        assert_eq!(count("n.part1"), Some(2));
        assert_eq!(count("m.gguf.part03"), None, "it is not the first");
        assert_eq!(count("m.gguf"), None);
    }
}
