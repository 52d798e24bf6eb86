//! The process that runs the cases, and the one that reads what its device prints.
//!
//! The device's library prints to the standard error stream of the process that it is loaded into, so the cases run in a child process:
//! this program once more, with [`Role::Child`]'s option. Before each case it prints a line of its own to the same stream.

use super::cases::{self, Measured};
use super::counts::{self, Launch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// How the line before a case begins.
const MARK: &str = "bench case: ";
/// How the line behind it begins that says how many bytes went in and came out.
const MOVED: &str = "bench moved: ";
/// The device that is measured.
const DEVICE: &str = "amd:0";
/// Lines of the child that are shown when it fails.
const SHOWN: usize = 12;
/// What there has to be.
const NEEDS: &str = "This needs a libamdhip64 whose devices are emulated and that prints its instructions when AMDEMU_STATS is set, found by \
LD_LIBRARY_PATH; see docs/BENCHMARKING.md";

/// What was counted of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Count {
    /// The kernel's name.
    pub(super) kernel: String,
    /// What the instructions are divided by: see [`Measured::elements`].
    pub(super) elements: u64,
    /// Bytes of the operation's inputs and of its result.
    pub(super) bytes: u64,
    /// Instructions of waves.
    pub(super) wave: u64,
    /// Instructions of lanes.
    pub(super) lane: u64,
}

impl Count {
    /// Lane instructions for each element.
    pub(super) fn per_element(&self) -> f64 {
        self.lane as f64 / self.elements as f64
    }

    /// Lane instructions for each byte that has to be read or written.
    pub(super) fn per_byte(&self) -> f64 {
        self.lane as f64 / self.bytes as f64
    }
}

/// Runs the cases of these kernels on the device; the error is the text to show. The child's part.
pub(super) fn run_cases(kernels: &[String]) -> Result<(), String> {
    let devices = parity::devices::open(&[DEVICE.to_string()]).map_err(|error| error.to_string())?;
    let device = &devices[0].device;
    let all = cases::all();
    // In the order of the list: when a case ends the process, the next one begins behind it, and what ran before must not run again.
    for kernel in kernels {
        let measured = all.iter().find(|measured| measured.kernel == *kernel);
        let measured = measured.ok_or_else(|| format!("{kernel}: no case launches it"))?;
        eprintln!("{MARK}{}", measured.kernel);
        let inputs = measured.inputs();
        let result = parity::execute::run(&measured.case, &inputs, device)
            .map_err(|error| format!("{}: {error}", measured.kernel))?;
        let read = if measured.reads() { inputs.iter().map(Vec::len).sum::<usize>() } else { 0 };
        eprintln!("{MOVED}{}", read + result.bytes.len());
    }
    Ok(())
}

/// What came of the cases on an architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counted {
    /// The kernels that ran.
    pub(super) counts: Vec<Count>,
    /// Those that the device could not run: an emulator may lack an instruction.
    pub(super) refused: Vec<String>,
}

/// Counts the instructions of these kernels on an architecture. `step` is called with a kernel's name before its case.
pub(super) fn count(
    arch: &str,
    measured: &[Measured],
    objects: &Path,
    step: &mut dyn FnMut(&str),
) -> Result<Counted, String> {
    let (mut read, mut rest, mut refused) = (Read::default(), measured, Vec::new());
    // A case that fails ends its process; another one goes on behind it.
    while !rest.is_empty() {
        let status = run_child(arch, rest, objects, &mut read, step)?;
        if status.success() {
            break;
        }
        let failed = rest.iter().position(|measured| measured.kernel == read.current);
        match failed.filter(|_| !read.launches.is_empty()) {
            Some(at) => {
                refused.push(rest[at].kernel.clone());
                rest = &rest[at + 1..];
            }
            None => {
                let last = read.other.join("\n");
                return Err(format!("bench: the cases on {arch} failed ({status}):\n{last}\n{NEEDS}"));
            }
        }
    }
    let ran: Vec<&Measured> =
        measured.iter().filter(|measured| !refused.contains(&measured.kernel)).collect();
    Ok(Counted { counts: read.counts(&ran)?, refused })
}

/// Runs the cases in a process of their own, and reads what it prints.
fn run_child(
    arch: &str,
    measured: &[Measured],
    objects: &Path,
    read: &mut Read,
    step: &mut dyn FnMut(&str),
) -> Result<ExitStatus, String> {
    let own = std::env::current_exe().map_err(|e| format!("bench: cannot tell this program's name: {e}"))?;
    let list: Vec<&str> = measured.iter().map(|measured| measured.kernel.as_str()).collect();
    let mut child = Command::new(own)
        .args(["bench", "--instructions", "--child", &list.join(",")])
        .env("AMDEMU_STATS", "1")
        .env("AMDEMU_MODE", "sync")
        .env("AMDEMU_ARCH", arch)
        .env("HIPSTACK_KERNELS", objects)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("bench: cannot start this program again: {e}"))?;
    for line in BufReader::new(child.stderr.take().expect("it is piped")).lines() {
        let line = line.map_err(|e| format!("bench: cannot read what the child prints: {e}"))?;
        if let Some(kernel) = line.strip_prefix(MARK) {
            step(kernel);
        }
        read.line(line);
    }
    child.wait().map_err(|e| format!("bench: the child is gone: {e}"))
}

/// What has been read of the child.
#[derive(Default)]
struct Read {
    /// The kernel whose case runs.
    current: String,
    /// What was counted for each kernel in its own case.
    launches: BTreeMap<String, Launch>,
    /// What each kernel's case moved.
    bytes: BTreeMap<String, u64>,
    /// The last lines that were none of ours.
    other: Vec<String>,
}

impl Read {
    fn line(&mut self, line: String) {
        if let Some(kernel) = line.strip_prefix(MARK) {
            self.current = kernel.to_string();
            return;
        }
        if let Some(bytes) = line.strip_prefix(MOVED).and_then(|bytes| bytes.parse().ok()) {
            self.bytes.insert(self.current.clone(), bytes);
            return;
        }
        let Some(launch) = counts::launch(&line) else {
            if self.other.len() == SHOWN {
                self.other.remove(0);
            }
            self.other.push(line);
            return;
        };
        // Other kernels that an operation needs, such as one that fills its input, are no part of the figure.
        if launch.kernel == self.current {
            let none = Launch { kernel: launch.kernel.clone(), wave: 0, lane: 0 };
            let sum = self.launches.entry(launch.kernel.clone()).or_insert(none);
            sum.wave += launch.wave;
            sum.lane += launch.lane;
        }
    }

    fn counts(&self, measured: &[&Measured]) -> Result<Vec<Count>, String> {
        if self.launches.is_empty() {
            return Err(format!("bench: {DEVICE} did not say what its launches executed. {NEEDS}"));
        }
        let one = |measured: &&Measured| {
            let launch = self.launches.get(&measured.kernel).ok_or_else(|| {
                format!(
                    "bench: the case of {} did not launch it: see {}",
                    measured.kernel,
                    measured.case.id()
                )
            })?;
            let bytes = *self
                .bytes
                .get(&measured.kernel)
                .ok_or_else(|| format!("bench: the case of {} has no end", measured.kernel))?;
            let (kernel, wave, lane) = (measured.kernel.clone(), launch.wave, launch.lane);
            Ok(Count { kernel, elements: measured.elements, bytes, wave, lane })
        };
        measured.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(kernel: &str) -> Measured {
        cases::all().into_iter().find(|measured| measured.kernel == kernel).expect("it ships")
    }

    fn read(lines: &[&str]) -> Read {
        let mut read = Read::default();
        lines.iter().for_each(|line| read.line(line.to_string()));
        read
    }

    #[test]
    fn launches_of_the_kernel_itself_are_added_up() {
        let read = read(&[
            "bench case: elementwise_neg_f32",
            "emu: kernel elementwise_fill_f32: grid 1,1,1 block 256,1,1: 9 wave instructions, 288 lane instructions",
            "emu: kernel elementwise_neg_f32: grid 1,1,1 block 256,1,1: 8 wave instructions, 256 lane instructions",
            "emu: kernel elementwise_neg_f32: grid 1,1,1 block 256,1,1: 2 wave instructions, 64 lane instructions",
            "bench moved: 4096",
        ]);
        let kernel = "elementwise_neg_f32".to_string();
        let expected = Count { kernel, elements: 1 << 18, bytes: 4096, wave: 10, lane: 320 };
        assert_eq!(read.counts(&[&measured("elementwise_neg_f32")]), Ok(vec![expected]));
        let error = read.counts(&[&measured("elementwise_abs_f32")]).expect_err("it did not run");
        assert!(error.contains("elementwise_abs_f32"), "{error}");
    }

    #[test]
    fn a_library_that_counts_nothing_is_told_what_is_needed() {
        let read = read(&["bench case: elementwise_neg_f32", "something else"]);
        let error = read.counts(&[&measured("elementwise_neg_f32")]).expect_err("nothing was counted");
        assert!(error.contains("AMDEMU_STATS") && error.contains("LD_LIBRARY_PATH"), "{error}");
        assert_eq!(read.other, ["something else"]);
    }
}
