//! Compares the structures and constants of the bindings with headers, using the system's C++ compiler.
//!
//! Every size, offset and value is an element of one array, on a line of its own. The compiler writes the
//! array into an object file, from which it is read; nothing is linked or run. A line that does not compile
//! identifies an item that these headers lack.

use super::kind::Kind;
use super::known::{self, Known};
use super::version::{self, Release, release};
use crate::build_kernels::compiler;
use hip_sys::hip::hipMemoryType;
use hip_sys::{MemoryKind, Version};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "values.cpp";
const ARRAY: &str = "xtask_values";

/// The result of comparing the bindings with headers.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    /// The folder of the headers and their version.
    pub headers: String,
    /// Number of structures, fields and constants that are as in the bindings, or as known.toml says.
    pub structures: usize,
    pub fields: usize,
    pub constants: usize,
    /// Constants that were introduced after these headers.
    pub newer: Vec<&'static str>,
    /// Differences that known.toml lists, as sentences.
    pub known: Vec<String>,
    pub errors: Vec<String>,
}

/// The kind of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Size,
    Alignment,
    Offset,
    /// A constant, which may be newer than the headers.
    Constant(&'static str),
}

/// One number to determine.
struct Question {
    sort: Sort,
    /// Its name in messages.
    name: String,
    /// The C++ expression.
    expression: String,
    /// The value in the bindings; `None` if the expression must not compile.
    expected: Option<i64>,
}

impl Question {
    fn number(sort: Sort, name: String, expression: String, expected: usize) -> Self {
        Self { sort, name, expression, expected: i64::try_from(expected).ok() }
    }

    /// The suffix of the name, for one of hipMemoryType's values.
    fn memory_type(&self) -> Option<&'static str> {
        match self.sort {
            Sort::Constant(name) => name.strip_prefix("hipMemoryType"),
            _ => None,
        }
    }

    /// For an item that known.toml lists as absent or renamed: it must be missing, or the entry is stale.
    fn gone(sort: Sort, name: String, expression: String) -> Self {
        Self { sort, name, expression, expected: None }
    }
}

/// Compares a library's bindings with the headers in these folders; an error if the comparison could not be
/// made.
pub(super) fn check(kind: Kind, includes: &[PathBuf]) -> Result<Layouts, String> {
    let own = includes.first().ok_or("no headers")?;
    let version = version::of_headers(kind, own)
        .ok_or_else(|| format!("the headers in {} do not say their version", own.display()))?;
    let at = (version.major, version.minor);
    let known: Vec<Known> = known::of(kind.module(), at)?;
    let questions = questions(kind, &known);
    let answers = ask(kind.headers(), includes, &questions)?;
    let mut result = Layouts {
        headers: format!("{version} in {}", own.display()),
        known: known.iter().map(Known::sentence).collect(),
        ..Layouts::default()
    };
    let older = release(kind.bindings().version).is_some_and(|made_from: Release| at < made_from);
    for (question, answer) in questions.iter().zip(&answers) {
        let name = &question.name;
        match (question.expected, *answer, question.sort) {
            (Some(ours), Some(theirs), sort) if ours == theirs => match sort {
                Sort::Size => result.structures += 1,
                Sort::Alignment => {}
                Sort::Offset => result.fields += 1,
                Sort::Constant(_) => result.constants += 1,
            },
            (Some(ours), Some(theirs), _) => {
                result.errors.push(format!("{name} is {ours} in hip-sys and {theirs} in the headers"));
            }
            (Some(_), None, Sort::Constant(constant)) if older => result.newer.push(constant),
            (Some(_), None, _) => result.errors.push(format!("{name} is not in the headers")),
            (None, None, _) => {}
            (None, Some(_), _) => {
                result.errors.push(format!("{name} is in the headers, and known.toml says otherwise"));
            }
        }
    }
    if kind == Kind::Hip {
        result.errors.extend(memory_kinds(version, &questions, &answers));
    }
    Ok(result)
}

fn questions(kind: Kind, known: &[Known]) -> Vec<Question> {
    let entry = |item: &str| known.iter().find(|known| known.item == item);
    let mut questions = Vec::new();
    for structure in kind.bindings().structures {
        let found = entry(structure.name);
        if found.is_some() {
            questions.push(Question::gone(
                Sort::Size,
                structure.name.into(),
                format!("sizeof({})", structure.name),
            ));
        }
        let name = match found {
            Some(Known { absent: true, .. }) => continue,
            Some(Known { named: Some(other), .. }) => other.as_str(),
            _ => structure.name,
        };
        let size = format!("the size of {name}");
        questions.push(Question::number(Sort::Size, size, format!("sizeof({name})"), structure.size));
        let align = format!("the alignment of {name}");
        questions.push(Question::number(Sort::Alignment, align, format!("alignof({name})"), structure.align));
        for (field, offset) in structure.fields {
            let found = entry(&format!("{}.{field}", structure.name));
            let absent = found.is_some_and(|known| known.absent);
            let here = found.and_then(|known| known.named.as_deref()).unwrap_or(field);
            if absent || here != *field {
                let expression = format!("__builtin_offsetof({name}, {field})");
                questions.push(Question::gone(Sort::Offset, format!("{name}::{field}"), expression));
            }
            if !absent {
                let offset = found.and_then(|known| known.offset).unwrap_or(*offset);
                let expression = format!("__builtin_offsetof({name}, {here})");
                questions.push(Question::number(
                    Sort::Offset,
                    format!("the offset of {name}::{here}"),
                    expression,
                    offset,
                ));
            }
        }
    }
    for constant in kind.bindings().constants {
        let found = known.iter().find_map(|known| known.values.get(constant.name));
        let expected = found.copied().unwrap_or(constant.value);
        questions.push(Question {
            name: constant.name.into(),
            expression: constant.name.into(),
            expected: Some(expected),
            sort: Sort::Constant(constant.name),
        });
    }
    questions
}

/// Checks the headers' values of hipMemoryType with the code that programs interpret them with.
fn memory_kinds(version: Version, questions: &[Question], answers: &[Option<i64>]) -> Vec<String> {
    let mut errors = Vec::new();
    for (question, answer) in questions.iter().zip(answers) {
        let Some(name) = question.memory_type() else { continue };
        let Some(raw) = answer.and_then(|value| u32::try_from(value).ok()) else { continue };
        let read = format!("{:?}", MemoryKind::from_raw(hipMemoryType(raw), version));
        if read != name {
            errors.push(format!("hipMemoryType{name} is {raw} here, which MemoryKind takes for {read}"));
        }
    }
    errors
}

/// The values; `None` for an expression that does not compile.
fn ask(headers: &[&str], includes: &[PathBuf], questions: &[Question]) -> Result<Vec<Option<i64>>, String> {
    let compiler = compiler::host()?;
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let (source, object) = (folder.path().join(SOURCE), folder.path().join("values.o"));
    let own: Vec<PathBuf> = (0..includes.len()).map(|index| folder.path().join(index.to_string())).collect();
    for (include, own) in includes.iter().zip(&own) {
        link_own(include, own).map_err(|e| format!("cannot link to {}: {e}", include.display()))?;
    }
    let mut left_out: BTreeSet<usize> = BTreeSet::new();
    loop {
        let (text, lines) = source_text(headers, questions, &left_out);
        std::fs::write(&source, text).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
        let mut command = Command::new(&compiler.program);
        // Without the second macro MIOpen's headers omit a third of their declarations.
        command.args(["-D__HIP_PLATFORM_AMD__", "-DMIOPEN_BETA_API"]);
        command.args(["-std=c++17", "-w", "-c"]).env("LC_ALL", "C");
        command.args(own.iter().map(|folder| format!("-I{}", folder.display())));
        // The compiler's messages name the source file as it is named here.
        command.args([SOURCE, "-o", "values.o"]).current_dir(folder.path());
        let out =
            command.output().map_err(|e| format!("cannot start {}: {e}", compiler.program.display()))?;
        if out.status.success() {
            let kept = (0..questions.len()).filter(|index| !left_out.contains(index));
            let values: BTreeMap<usize, i64> = kept.zip(values(&object)?).collect();
            return Ok((0..questions.len()).map(|index| values.get(&index).copied()).collect());
        }
        let said = String::from_utf8_lossy(&out.stderr);
        let wrong: Vec<usize> =
            error_lines(&said).into_iter().filter_map(|line| lines.get(&line).copied()).collect();
        if wrong.is_empty() {
            let first: Vec<&str> = said.lines().filter(|line| line.contains("error")).take(3).collect();
            return Err(format!("the headers do not compile: {}", first.join("; ")));
        }
        left_out.extend(wrong);
    }
}

/// Links only the folders of these libraries' headers, and hipblas-common, which hipBLASLt's include. Headers of a foreign C library may be next to them.
fn link_own(include: &Path, own: &Path) -> std::io::Result<()> {
    std::fs::create_dir(own)?;
    let mut names: BTreeSet<&str> =
        Kind::ALL.iter().filter_map(|kind| kind.headers()[0].split('/').next()).collect();
    names.insert("hipblas-common");
    let there = names.into_iter().filter(|name| include.join(name).is_dir());
    there.into_iter().try_for_each(|name| std::os::unix::fs::symlink(include.join(name), own.join(name)))
}

/// The source, and the question on each line.
fn source_text(
    headers: &[&str],
    questions: &[Question],
    left_out: &BTreeSet<usize>,
) -> (String, BTreeMap<usize, usize>) {
    let mut text = String::new();
    for header in headers {
        text += &format!("#if __has_include(<{header}>)\n#include <{header}>\n#endif\n");
    }
    text +=
        &format!("extern \"C\" {{ extern const long long {ARRAY}[]; }}\nconst long long {ARRAY}[] = {{\n");
    let mut lines = BTreeMap::new();
    for (index, question) in questions.iter().enumerate().filter(|(index, _)| !left_out.contains(index)) {
        lines.insert(text.lines().count() + 1, index);
        text += &format!("(long long)({}),\n", question.expression);
    }
    text += "0};\n";
    (text, lines)
}

/// The lines of the source with a compiler error: `values.cpp:12:3: error: …`.
fn error_lines(said: &str) -> Vec<usize> {
    let number = |line: &str| {
        let rest = line.strip_prefix(SOURCE)?.strip_prefix(':')?;
        if rest.contains(" error: ") { rest.split(':').next()?.parse().ok() } else { None }
    };
    said.lines().filter_map(number).collect()
}

/// Reads the array from an object file.
fn values(object: &Path) -> Result<Vec<i64>, String> {
    let bytes = std::fs::read(object).map_err(|e| format!("cannot read {}: {e}", object.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", object.display()))?;
    let find = || {
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(ARRAY))?;
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        section.data_range(symbol.address(), symbol.size()).ok()?
    };
    let data = find().ok_or_else(|| format!("{}: {ARRAY} has no data", object.display()))?;
    let (numbers, _) = data.as_chunks::<8>();
    Ok(numbers.iter().map(|number| i64::from_ne_bytes(*number)).collect())
}
