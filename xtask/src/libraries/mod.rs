//! `cargo xtask libraries`: compares AMD's libraries and their headers with hip-sys's bindings.

mod find;
pub(crate) mod kind;
mod known;
mod layouts;
pub(crate) mod others;
mod report;
mod symbols;
mod version;

use crate::build_kernels::compiler;
use find::Found;
use kind::Kind;
use layouts::Layouts;
use std::path::PathBuf;
use symbols::Symbols;
use version::Releases;

/// Options of `cargo xtask libraries`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask libraries                                 what the system's search finds
  cargo xtask libraries --json                          the same for programs
  ci/fetch-rocm-packages.sh target/rocm                 unpack newer versions, install nothing
  cargo xtask libraries --folder target/rocm/5.7 --folder target/rocm/6.4 --folder target/rocm/7.2

Of each library: its required functions, its optional ones against the release that brought them, and the sizes, offsets and
values in hip-sys against its headers, where there are headers and a C++ compiler. Of RCCL, which has no table in
hip-sys: where it is. Fails if anything is not as hip-sys has it.")]
pub struct LibrariesArgs {
    /// Look in this folder of unpacked packages, and load nothing (may be given several times; default: the
    /// system's search)
    #[arg(long, value_name = "DIR")]
    folder: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// The result for one library.
#[derive(Debug)]
pub(crate) struct Finding {
    pub kind: Kind,
    /// The folder searched, or "system".
    pub location: String,
    /// The file.
    pub file: Option<PathBuf>,
    /// Its own version, and the source of the version.
    pub version: Option<(String, &'static str)>,
    /// The ROCm release that it was installed with, if recorded next to it.
    pub release: Option<String>,
    /// Its SONAME, by which the system's search finds it.
    pub soname: Option<String>,
    /// Further information that the library reported.
    pub answer: Option<String>,
    /// Why it is missing, or could not be loaded.
    pub missing: Option<String>,
    /// Its functions.
    pub symbols: Option<Symbols>,
    /// Its structures and constants, or why they were not checked.
    pub layouts: Result<Layouts, String>,
    /// All errors found.
    pub errors: Vec<String>,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &LibrariesArgs) -> Result<(), String> {
    let (mut findings, mut others) = (Vec::new(), Vec::new());
    if args.folder.is_empty() {
        findings.extend(system());
        others.extend(others::system());
    }
    for folder in &args.folder {
        findings.extend(in_folder(folder)?);
        others.extend(others::in_folder(folder)?);
    }
    if args.json {
        let text = serde_json::to_string_pretty(&report::json(&findings, &others));
        println!("{}", text.map_err(|e| format!("libraries: {e}"))?);
    } else {
        print!("{}", report::text(&findings, &others));
    }
    let wrong = findings.iter().map(|finding| finding.errors.len());
    match wrong.sum::<usize>() + others.iter().filter(|other| other.error.is_some()).count() {
        0 => Ok(()),
        1 => Err("libraries: 1 error; see above".into()),
        errors => Err(format!("libraries: {errors} errors; see above")),
    }
}

/// The libraries of this machine.
pub(crate) fn system() -> Vec<Finding> {
    find::system().into_iter().map(|found| examine("system".into(), found)).collect()
}

/// The libraries in a folder of unpacked packages.
pub(crate) fn in_folder(folder: &std::path::Path) -> Result<Vec<Finding>, String> {
    let founds = find::folder(folder).map_err(|why| format!("libraries: {why}"))?;
    Ok(founds.into_iter().map(|found| examine(folder.display().to_string(), found)).collect())
}

/// Whether this machine has any of the libraries; otherwise why the check has nothing to do.
pub(crate) fn available() -> Result<(), String> {
    if find::system().iter().any(|found| found.file.is_some()) {
        return Ok(());
    }
    Err("no libamdhip64 and no library beside it here (Debian 12: apt-get install libamdhip64-dev librocrand-dev)"
        .into())
}

/// The library files of this machine, and the folders of the matching headers.
pub(crate) fn files() -> Vec<PathBuf> {
    let headers = |found: &Found| {
        let header = |folder: &PathBuf| Some(folder.join(found.kind.headers()[0]).parent()?.to_path_buf());
        found.includes.iter().filter_map(header).collect::<Vec<_>>()
    };
    find::system().iter().flat_map(|found| found.file.iter().cloned().chain(headers(found))).collect()
}

fn examine(location: String, found: Found) -> Finding {
    let Found { kind, file, version, told_by, answer, refused, includes } = found;
    let mut errors = Vec::new();
    let (mut symbols, mut soname) = (None, None);
    let release = file.as_deref().and_then(version::of_rocm);
    if let Some(file) = &file {
        errors.extend(refused.clone());
        match symbols::exports(file) {
            Ok(exports) => {
                errors.extend(unknown_name(exports.soname.as_deref(), &kind.names()));
                soname = exports.soname;
                let checked = symbols::check(kind, &exports.functions, Releases::of(kind, version));
                errors.extend(checked.errors.iter().cloned());
                symbols = Some(checked);
            }
            Err(why) => errors.push(why),
        }
    }
    let layouts = match headers_for(kind, version, &includes, file.is_some()) {
        Ok(()) => layouts::check(kind, &includes).inspect_err(|why| errors.push(why.clone())),
        Err(why) => Err(why),
    };
    if let Ok(layouts) = &layouts {
        errors.extend(layouts.errors.iter().cloned());
    }
    let missing = match (&file, refused) {
        (None, Some(why)) => Some(why),
        (None, None) => Some(format!("no {} in this folder", kind.file())),
        (Some(_), _) => None,
    };
    let version = version.map(|version| (version.to_string(), told_by));
    Finding { kind, location, file, version, release, soname, answer, missing, symbols, layouts, errors }
}

/// The error if a library's SONAME is not among the names that hip-sys looks for.
fn unknown_name(soname: Option<&str>, names: &[String]) -> Option<String> {
    let soname = soname.filter(|soname| !names.iter().any(|name| name == soname))?;
    Some(format!("its SONAME is {soname}, and looked for are {}", names.join(", ")))
}

/// Why the bindings cannot be compared with headers. Headers count only if they have the library's own
/// version.
fn headers_for(
    kind: Kind,
    version: Option<hip_sys::Version>,
    includes: &[PathBuf],
    there: bool,
) -> Result<(), String> {
    if !there {
        return Err("no library".into());
    }
    let header = kind.headers()[0];
    let own = includes.first().filter(|own| own.join(header).is_file());
    let own = own.ok_or_else(|| format!("no {header} here"))?;
    compiler::host()?;
    match (version, version::of_headers(kind, own)) {
        (Some(library), Some(headers))
            if (library.major, library.minor) != (headers.major, headers.minor) =>
        {
            Err(format!("the headers in {} are of {headers}", own.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
