//! Which of the shipped kernels have run.

use kernels_hip::Waves;
use std::collections::BTreeSet;
use std::path::Path;

/// hip-host's two wave sizes.
const WAVES: [u32; 2] = [32, 64];
/// Up to this many kernels that did not run are listed by name.
const LISTED: usize = 12;

/// The kernels that a run has reached.
pub(super) struct Coverage {
    /// A line for each wave size.
    pub(super) text: String,
    /// Number of kernels that did not run at one of the wave sizes.
    pub(super) missing: usize,
}

/// `complete`: the run was meant to reach every kernel, so missing ones are named.
pub(super) fn read(seen: &Path, complete: bool) -> Result<Coverage, String> {
    let text = match std::fs::read_to_string(seen) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("sanitize: cannot read {}: {error}", seen.display())),
    };
    let named = |unit: kernels_hip::Unit| {
        let any = unit.family.waves == Waves::Any;
        unit.kernels().into_iter().map(move |name| (name, any))
    };
    let all: Vec<(String, bool)> = kernels_hip::units().flat_map(named).collect();
    let (lines, missing): (String, Vec<usize>) =
        WAVES.iter().map(|wave| of_wave(&text, &all, *wave, complete)).unzip();
    Ok(Coverage { text: lines, missing: missing.iter().sum() })
}

/// The line for a wave size, and the number of kernels that did not run. `all`: each kernel, and whether its
/// code is the same for both wave sizes, so that a run at either counts.
fn of_wave(text: &str, all: &[(String, bool)], wave: u32, complete: bool) -> (String, usize) {
    let ran: BTreeSet<&str> = text.lines().collect();
    let at = |kernel: &str, wave: u32| ran.contains(format!("{kernel} {wave}").as_str());
    let has_run =
        |kernel: &str, any: bool| WAVES.iter().any(|other| (any || *other == wave) && at(kernel, *other));
    let missing: Vec<&str> = all
        .iter()
        .filter(|(kernel, any)| !has_run(kernel, *any))
        .map(|(kernel, _)| kernel.as_str())
        .collect();
    let mut line = format!("wave {wave}: {} of {} kernels ran", all.len() - missing.len(), all.len());
    if complete && !missing.is_empty() {
        line += &format!("; not {}", missing[..missing.len().min(LISTED)].join(", "));
        if missing.len() > LISTED {
            line += &format!(" and {} more", missing.len() - LISTED);
        }
    }
    (line + "\n", missing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_counted_for_each_wave() {
        let all = [("a".to_owned(), false), ("b".to_owned(), false), ("c".to_owned(), true)];
        let text = "a 32\na 64\nb 64\nc 64\nhelper 64\n";
        assert_eq!(of_wave(text, &all, 32, true), ("wave 32: 2 of 3 kernels ran; not b\n".to_owned(), 1));
        assert_eq!(of_wave(text, &all, 32, false), ("wave 32: 2 of 3 kernels ran\n".to_owned(), 1));
        assert_eq!(of_wave(text, &all, 64, true), ("wave 64: 3 of 3 kernels ran\n".to_owned(), 0));
        // A run without a log reached no kernel.
        assert_eq!(of_wave("", &all, 32, true).1, 3);
    }
}
