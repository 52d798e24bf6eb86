//! Kernels with one bug each: the sanitizer has to report the lines that are marked in their source.

use super::report::Report;
use super::setup::Built;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

/// The kernels' source, relative to the root.
const SOURCE: &str = "crates/hip-host/tests/kernels/planted.cpp";
/// The kernel without a bug.
const CLEAN: &str = "all_right";

/// Runs all of them; the error says which were not found.
pub(super) fn run(root: &Path, built: &Built) -> Result<(), String> {
    let text = std::fs::read_to_string(root.join(SOURCE))
        .map_err(|error| format!("sanitize: cannot read {SOURCE}: {error}"))?;
    let mut bugs = marks(&text, built.kind.name());
    let count = bugs.len();
    bugs.insert(CLEAN.to_owned(), BTreeSet::new());
    let image = built.folder.join("planted.image");
    compile(built, &image)?;
    let mut missed = 0;
    for (kernel, lines) in &bugs {
        let seen = built.folder.join("kernels.txt");
        let run = built.run("planted", &[kernel.as_ref(), image.as_ref()], &seen)?;
        if run.reports.is_empty() && !run.output.contains(&format!("{kernel} ran")) {
            return Err(format!("sanitize: {kernel} did not run:\n{}", run.output));
        }
        if kernel == CLEAN && !run.success {
            return Err(format!("sanitize: {kernel} has no bug, and failed:\n{}", run.output));
        }
        let found = found(&run.reports);
        let verdict = if found == *lines { "ok    " } else { "MISSED" };
        missed += usize::from(found != *lines);
        let title = run.reports.first().map_or("no report", |report| report.title.as_str());
        println!("{verdict} {kernel:<24} {title:<22} {}", told(&found, lines));
    }
    println!(
        "{}: {} of {count} planted bugs found at their lines, and {CLEAN} is clean",
        built.kind.name(),
        count - missed
    );
    if missed == 0 {
        Ok(())
    } else {
        Err(format!("sanitize: {missed} kernels were not reported as marked in {SOURCE}"))
    }
}

/// Compiles the kernels for the sanitizer, with the source's path from the root as its name in reports.
fn compile(built: &Built, image: &Path) -> Result<(), String> {
    let to = format!("--image={}", image.display());
    let words = [SOURCE, "--host-source", "--offload-arch=host-w32", &to];
    let words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
    let run = built.run("compile", &words, &built.folder.join("kernels.txt"))?;
    if run.success { Ok(()) } else { Err(format!("sanitize: {SOURCE} was not compiled:\n{}", run.output)) }
}

/// The marked lines of each kernel for a sanitizer.
fn marks(text: &str, sanitizer: &str) -> BTreeMap<String, BTreeSet<u32>> {
    let mark = format!("// planted {sanitizer}: ");
    let mut marks: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((code, kernel)) = line.split_once(&mark) {
            // A mark on a pure comment line only explains marks.
            let code = code.trim();
            if !code.is_empty() && !code.starts_with("//") {
                marks.entry(kernel.trim().to_owned()).or_default().insert(number);
            }
        }
    }
    marks
}

/// The lines that the reports name.
fn found(reports: &[Report]) -> BTreeSet<u32> {
    let locations = reports.iter().flat_map(|report| &report.locations);
    // Compilers may omit the folder that they ran in.
    let ours = |file: &str| file.ends_with(SOURCE) || SOURCE.ends_with(file);
    locations.filter(|location| ours(&location.file)).map(|location| location.line).collect()
}

fn told(found: &BTreeSet<u32>, marked: &BTreeSet<u32>) -> String {
    let list = |lines: &BTreeSet<u32>| {
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        if lines.is_empty() { "none".to_owned() } else { lines.join(" and ") }
    };
    if found == marked {
        format!("line {}", list(found))
    } else {
        format!("line {}, marked {}", list(found), list(marked))
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::Location;
    use super::*;

    #[test]
    fn marks_name_lines() {
        let text = "// a mark: // planted thread: x\nv[t] = 1; // planted thread: x\n\nw = v[0];  // planted thread: x\n\
                    o[9] = 1; // planted address: y\n";
        assert_eq!(marks(text, "thread"), [("x".to_owned(), [2, 4].into())].into());
        assert_eq!(marks(text, "address"), [("y".to_owned(), [5].into())].into());
    }

    #[test]
    fn locations_outside_the_kernel_are_ignored() {
        let at = |file: &str, line| Location { file: file.into(), line, function: "f".into() };
        let files = [
            ("/w/crates/hip-host/tests/kernels/planted.cpp", 7),
            ("tests/kernels/planted.cpp", 8),
            ("/w/other.cpp", 9),
        ];
        let locations = files.map(|(file, line)| at(file, line)).into();
        assert_eq!(found(&[Report { title: "data race".into(), locations }]), [7, 8].into());
    }
}
