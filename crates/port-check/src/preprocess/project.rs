//! All files together: what one defines, another's conditions ask for.

use super::file::File;
use super::macros::Macros;
use super::worlds::Worlds;
use crate::lex::{self, Token};
use crate::source::Source;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Files that are built together.
pub(crate) struct Project<'a> {
    pub(crate) files: Vec<(&'a Source, File<'a>)>,
    pub(crate) macros: Macros,
}

/// How often files are read at most: macros change what is read, which changes what is defined.
const ROUNDS: usize = 8;

impl<'a> Project<'a> {
    /// Reads sources until no macro tells more.
    pub(crate) fn read(sources: &'a [Source], given: Macros) -> Project<'a> {
        let tokens: Vec<Vec<Token<'a>>> = sources.iter().map(|source| lex::tokens(&source.text)).collect();
        let mut outside = vec![Worlds::ALL; sources.len()];
        let mut macros = given;
        let mut files = Vec::new();
        for _ in 0..ROUNDS {
            let read = |(index, source): (usize, &'a Source)| {
                File::read(&source.text, &tokens[index], outside[index], &macros)
            };
            files = sources.iter().enumerate().map(read).collect();
            let next = (surroundings(sources, &files), macros.of(&files));
            if next.0 == outside && next.1 == macros {
                break;
            }
            (outside, macros) = next;
        }
        Project { files: sources.iter().zip(files).collect(), macros }
    }
}

/// Where each file is included. A file that no other includes is compiled by itself.
fn surroundings(sources: &[Source], files: &[File<'_>]) -> Vec<Worlds> {
    let by_path: HashMap<PathBuf, usize> =
        sources.iter().enumerate().map(|(index, source)| (plain(&source.path), index)).collect();
    let mut found: Vec<Option<Worlds>> = vec![None; sources.len()];
    for (index, source) in sources.iter().enumerate() {
        for include in &files[index].includes {
            // `<cuda.h>` is not the project's own cuda.h, but `<project/cuda.h>` may be.
            if !include.quoted && !include.path.contains('/') {
                continue;
            }
            let beside = source.path.parent().unwrap_or(Path::new("")).join(include.path);
            let by_name = || sources.iter().position(|source| source.path.ends_with(include.path));
            let target = by_path.get(&plain(&beside)).copied().or_else(by_name);
            if let Some(target) = target.filter(|target| *target != index) {
                found[target] =
                    Some(found[target].map_or(include.worlds, |worlds| worlds.or(include.worlds)));
            }
        }
    }
    found.into_iter().map(|worlds| worlds.unwrap_or(Worlds::ALL)).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::worlds::Part;

    /// The words of the code that is shared, file by file.
    fn shared(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, *text)).collect();
        let project = Project::read(&sources, Macros::default());
        let words = |file: &File<'_>| file.code.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
        project.files.iter().map(|(_, file)| words(file)).collect()
    }

    #[test]
    fn code_of_one_side_alone_is_left_out() {
        let text = "#if 0\na\n#else\nb\n#endif\n#ifdef __HIP_PLATFORM_AMD__\nc\n#else\nd\n#endif\n#if UNKNOWN\ne\n#else\nf\n#endif\n";
        assert_eq!(shared(&[("a.cu", text)]), ["b e f"]);
        assert_eq!(shared(&[("a.cu", "#if defined(USE_ROCM) || X\na\n#elif Y\nb\n#endif c")]), ["a"]);
        assert_eq!(
            shared(&[(
                "a.cu",
                "#if __CUDA_ARCH__ >= 800\na\n#elif __CUDA_ARCH__ < 600\nb\n#else\nc\n#endif"
            )]),
            ["b"]
        );
    }

    #[test]
    fn macros_that_only_one_side_defines_decide_too() {
        let common = "#if !defined(USE_HIP) && __CUDA_ARCH__ >= 800\n#define FAST\n#endif\n#ifdef USE_HIP\n#define OURS\n#endif\n";
        let kernel =
            "#include \"common.cuh\"\n#ifdef FAST\na\n#else\nb\n#endif\n#ifdef OURS\nc\n#else\nd\n#endif\n";
        assert_eq!(shared(&[("k/common.cuh", common), ("k/kernel.cu", kernel)]), ["", "b"]);
    }

    #[test]
    fn a_file_is_read_as_where_it_is_included() {
        let files = [
            ("a.cu", "#ifdef __HIPCC__\n#include \"v/hip.h\"\n#else\n#include \"v/cuda.h\"\n#endif\n"),
            ("v/hip.h", "hip"),
            ("v/cuda.h", "cuda"),
            ("v/lone.h", "lone"),
        ];
        assert_eq!(shared(&files), ["", "", "", "lone"]);
    }

    #[test]
    fn branches_do_not_add_up_to_more_open_braces() {
        let sources = [Source::new("a.cu", "{\n#if A\nif (x) {\n#else\nif (y) {\n#endif\n} }\nz")];
        let project = Project::read(&sources, Macros::default());
        assert_eq!(project.files[0].1.code.last().map(|token| token.depth), Some(0));
        assert_eq!(Worlds::ALL.part(), Part::Both);
    }
}
