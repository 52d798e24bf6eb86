//! Parses what a sanitizer wrote: what it found, and where in the kernels' source.

use std::collections::BTreeMap;
use std::fmt;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Report {
    /// Such as "heap-buffer-overflow" or "data race".
    pub(super) title: String,
    /// For each call stack that has one, its innermost location in a kernel's source.
    pub(super) locations: Vec<Location>,
}

/// A line of a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    /// The path as passed to the compiler.
    pub(super) file: String,
    pub(super) line: u32,
    /// The function; after inlining it may be one that the kernel calls.
    pub(super) function: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} in {}", self.file, self.line, self.function)
    }
}

/// The beginnings of reports.
const HEADS: [&str; 2] = ["ERROR: AddressSanitizer: ", "WARNING: ThreadSanitizer: "];

/// All reports in a text.
pub(super) fn parse(text: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    // Whether the current call stack already has its location.
    let mut located = true;
    for line in text.lines() {
        if let Some(title) = title(line) {
            reports.push(Report { title, locations: Vec::new() });
            located = true;
        }
        let Some(report) = reports.last_mut() else { continue };
        let Some(frame) = line.trim_start().strip_prefix('#') else { continue };
        if frame.starts_with("0 ") {
            located = false;
        }
        if let (false, Some(location)) = (located, location(frame)) {
            report.locations.push(location);
            located = true;
        }
    }
    reports
}

/// Merges equal reports, with their counts.
pub(super) fn unique(reports: Vec<Report>) -> Vec<(Report, usize)> {
    let mut counts = BTreeMap::new();
    for report in reports {
        *counts.entry(report).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

/// Shortens "heap-buffer-overflow on address 0x… at pc …" and "data race (pid=…)" to the part without
/// numbers.
fn title(line: &str) -> Option<String> {
    let rest = HEADS.iter().find_map(|head| line.split_once(head))?.1;
    let end = [" on ", " (", ": "].iter().filter_map(|mark| rest.find(mark)).min();
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
}

/// The location of a frame, if it is in a kernel's source, not in hip-host's headers, Rust or a library.
/// Frames are "0 0x55d93f in function /path/file.cpp:45" or "0 function /path/file.cpp:45 (program+0x6a173)".
/// Compilers write paths below the package's folder relative to it.
fn location(frame: &str) -> Option<Location> {
    let (frame, _) = frame.rsplit_once(" (").filter(|_| frame.ends_with(')')).unwrap_or((frame, ""));
    let (function, location) = frame.split_at(frame.rfind(" /").or_else(|| frame.rfind(' '))?);
    let mut parts = location.trim_start().split(':');
    let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
    let kernel = [".hip", ".cpp", ".hpp"].iter().any(|ending| file.ends_with(ending));
    if !kernel || file.contains("/hiphost/") || file.contains("/libsanitizer/") {
        return None;
    }
    let function = function.split_once(' ').map_or(function, |(_number, function)| function);
    let function = match function.strip_prefix("0x").and_then(|rest| rest.split_once(" in ")) {
        Some((_address, function)) => function,
        None => function,
    };
    Some(Location { file: file.to_owned(), line, function: function.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "\
=================================================================
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6150 at pc 0x5591 bp 0x7fd sp 0x7fc
WRITE of size 4 at 0x6150 thread T1
    #0 0x5591 in scale_by /a b/kernels.hip:14
    #1 0x5591 in call<0, 1> /a b/kernels.hip:12
    #2 0x5591 in threads /a b/include/hiphost/detail/registration.hpp:69
    #3 0x5592 in {closure#1} crates/hip-host/src/run/runner.rs:227

allocated by thread T1 here:
    #0 0x7fab in posix_memalign ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:145
SUMMARY: AddressSanitizer: heap-buffer-overflow /a b/kernels.hip:14 in scale_by
";

    const THREAD: &str = "\
==================
WARNING: ThreadSanitizer: data race (pid=26685)
  Write of size 4 at 0x7faf by thread T3:
    #0 atomicAdd<int> /k/include/hiphost/detail/atomics.hpp:27 (program+0x6a)
    #1 sum_up /k/reduce.hip:88 (program+0x69f48)

  Previous read of size 4 at 0x7faf by thread T2:
    #0 sum_up<0, 1> reduce.hip:89 (program+0x69f6c)

  Thread T1 (tid=26689, running) created by main thread at:
    #0 pthread_create ../../../../src/libsanitizer/tsan/tsan_interceptors_posix.cpp:1001 (libtsan.so+0x5e)
==================
";

    fn at(file: &str, line: u32, function: &str) -> Location {
        Location { file: file.into(), line, function: function.into() }
    }

    #[test]
    fn an_overrun_names_its_line() {
        let locations = vec![at("/a b/kernels.hip", 14, "scale_by")];
        assert_eq!(parse(ADDRESS), [Report { title: "heap-buffer-overflow".into(), locations }]);
    }

    #[test]
    fn a_race_names_two_lines_behind_the_headers() {
        let locations = vec![at("/k/reduce.hip", 88, "sum_up"), at("reduce.hip", 89, "sum_up<0, 1>")];
        assert_eq!(parse(THREAD), [Report { title: "data race".into(), locations }]);
    }

    #[test]
    fn equal_reports_are_counted() {
        let twice = parse(&[THREAD, ADDRESS, THREAD].concat());
        assert_eq!(twice.len(), 3);
        assert_eq!(unique(twice).iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn a_crash_has_a_title() {
        let text = "==5==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1)\n";
        assert_eq!(parse(text)[0].title, "SEGV");
    }
}
