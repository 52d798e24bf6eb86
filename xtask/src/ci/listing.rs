//! What `cargo xtask ci --list` prints.

use super::plan::Planned;
use super::record::Record;
use std::fmt::Write;

/// Prints each step's command, when it last passed, how long it takes, whether it would run now, and its inputs.
pub(super) fn text(plan: &[Planned], record: &Record) -> String {
    let mut text = String::new();
    for planned in plan {
        let step = planned.step;
        let passed = match record.0.get(step.name) {
            Some(entry) => format!("{} in {} s", entry.date, entry.seconds),
            None => "not on record".into(),
        };
        let depends = match &planned.inputs {
            Some(inputs) => inputs.0.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
            None if step.heavy => "not known here".into(),
            None => "everything".into(),
        };
        let lines = [
            format!("{}: {}", step.name, step.command_line()),
            format!("  last passed:  {passed}"),
            format!("  now:          it {}", planned.decision),
            format!("  depends on:   {depends}"),
        ];
        writeln!(text, "{}", lines.join("\n")).expect("memory");
    }
    text
}
