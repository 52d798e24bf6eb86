//! Which of the kernels that ship have run.

use std::collections::BTreeSet;
use std::path::Path;

/// hip-host's two wave sizes.
const WAVES: [u32; 2] = [32, 64];
/// Kernels that are listed by name when they did not run.
const LISTED: usize = 12;

/// A line for each wave size. `complete`: the run was meant to reach every kernel, so those it did not are named.
pub(super) fn summary(seen: &Path, complete: bool) -> Result<String, String> {
    let text = match std::fs::read_to_string(seen) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("sanitize: cannot read {}: {error}", seen.display())),
    };
    let all: Vec<String> = kernels_hip::units().flat_map(|unit| unit.kernels()).collect();
    Ok(WAVES.iter().map(|wave| of_wave(&text, &all, *wave, complete)).collect())
}

fn of_wave(text: &str, all: &[String], wave: u32, complete: bool) -> String {
    let ending = format!(" {wave}");
    let ran: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_suffix(&ending)).collect();
    let missing: Vec<&str> = all.iter().map(String::as_str).filter(|kernel| !ran.contains(kernel)).collect();
    let mut line = format!("wave {wave}: {} of {} kernels ran", all.len() - missing.len(), all.len());
    if complete && !missing.is_empty() {
        line += &format!("; not {}", missing[..missing.len().min(LISTED)].join(", "));
        if missing.len() > LISTED {
            line += &format!(" and {} more", missing.len() - LISTED);
        }
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_counted_for_each_wave() {
        let all = ["a".to_owned(), "b".to_owned()];
        let text = "a 32\na 64\nb 64\nhelper 64\n";
        assert_eq!(of_wave(text, &all, 32, true), "wave 32: 1 of 2 kernels ran; not b\n");
        assert_eq!(of_wave(text, &all, 32, false), "wave 32: 1 of 2 kernels ran\n");
        assert_eq!(of_wave(text, &all, 64, true), "wave 64: 2 of 2 kernels ran\n");
    }
}
