//! `cargo xtask doctor`: reports what this machine has, and how to get what it lacks.

mod compilers;
mod devices;
mod folders;
mod libraries;
mod sensors;
mod value;

use crate::table::Table;
use serde_json::{Value, json};

/// Options of `cargo xtask doctor`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask doctor           a table, and what to do
  cargo xtask doctor --json    the same for programs

Fails only if something is missing that nothing here works without: Rust, a C++ compiler, the host's devices.")]
pub struct DoctorArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Whether something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Found,
    /// Missing, but everything else works without it.
    Absent,
    /// Missing, and nothing works without it.
    Needed,
    /// Present, but wrong.
    Bad,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Absent => "absent",
            Self::Needed => "NEEDED",
            Self::Bad => "BAD",
        }
    }
}

/// The result of looking for one thing.
#[derive(Clone, Debug)]
struct Item {
    section: &'static str,
    name: String,
    state: State,
    /// Version, path, numbers.
    detail: String,
    /// How to get or fix it.
    remedy: Option<String>,
}

impl Item {
    fn found(section: &'static str, name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { section, name: name.into(), state: State::Found, detail: detail.into(), remedy: None }
    }

    fn absent(
        section: &'static str,
        name: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { section, name: name.into(), state: State::Absent, detail: detail.into(), remedy }
    }

    fn bad(
        section: &'static str,
        name: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { state: State::Bad, ..Self::absent(section, name, detail, remedy) }
    }

    fn needed(self) -> Self {
        let state = if self.state == State::Absent { State::Needed } else { self.state };
        Self { state, ..self }
    }
}

/// Runs the command; the error is the text to show.
pub fn run(args: &DoctorArgs) -> Result<(), String> {
    let parts = [compilers::look, libraries::look, devices::look, sensors::look, folders::look];
    let items: Vec<Item> = parts.into_iter().flat_map(|look| look()).collect();
    if args.json {
        let text = serde_json::to_string_pretty(&as_json(&items)).map_err(|e| format!("doctor: {e}"))?;
        println!("{text}");
    } else {
        print!("{}", as_text(&items));
    }
    let needed: Vec<&str> =
        items.iter().filter(|i| i.state == State::Needed).map(|i| i.name.as_str()).collect();
    if needed.is_empty() {
        Ok(())
    } else {
        Err(format!("doctor: needed and not there: {}", needed.join(", ")))
    }
}

fn as_text(items: &[Item]) -> String {
    let mut text = String::new();
    let mut rest = items;
    while let Some(first) = rest.first() {
        let (section, others) =
            rest.split_at(rest.iter().take_while(|item| item.section == first.section).count());
        let mut table = Table::new(&[first.section, "", ""]);
        for item in section {
            table.row(&[format!("  {}", item.name), item.state.name().to_string(), item.detail.clone()]);
        }
        text += &format!("{table}\n");
        rest = others;
    }
    let remedies = |wanted: fn(State) -> bool| -> Vec<String> {
        let wanted = items.iter().filter(|item| wanted(item.state));
        wanted.filter_map(|item| Some(format!("  {}: {}", item.name, item.remedy.as_ref()?))).collect()
    };
    for (heading, remedies) in [
        ("What to do about what is bad", remedies(|state| state == State::Bad)),
        ("What to do about what is absent, if you want it", remedies(|state| state != State::Bad)),
    ] {
        if !remedies.is_empty() {
            text += &format!("{heading}\n{}\n", remedies.join("\n"));
        }
    }
    text
}

fn as_json(items: &[Item]) -> Value {
    let entry = |item: &Item| {
        json!({
            "section": item.section,
            "name": item.name,
            "state": item.state.name().to_lowercase(),
            "detail": item.detail,
            "remedy": item.remedy,
        })
    };
    items.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Vec<Item> {
        vec![
            Item::found("Compilers", "rustc", "1.95"),
            Item::absent("Libraries", "HIP", "not found", "install it"),
            Item::absent("Libraries", "C", "", "write it").needed(),
        ]
    }

    #[test]
    fn text_has_a_table_per_section_and_the_remedies_last() {
        let text = as_text(&items());
        assert!(text.starts_with("Compilers\n  rustc    found  1.95\n\nLibraries\n"), "{text}");
        assert!(text.ends_with("if you want it\n  HIP: install it\n  C: write it\n"), "{text}");
    }

    #[test]
    fn bad_items_have_their_own_remedies() {
        let mut items = items();
        items.push(Item::bad("Folders", "V", "bad value", "set it"));
        let text = as_text(&items);
        assert!(text.contains("\nFolders\n  V      BAD  bad value\n"), "{text}");
        assert!(
            text.contains("What to do about what is bad\n  V: set it\nWhat to do about what is absent"),
            "{text}"
        );
    }

    #[test]
    fn json_says_the_same() {
        let json = as_json(&items());
        assert_eq!(json[0]["state"], "found");
        assert_eq!(json[1]["remedy"], "install it");
        assert_eq!(json[2]["state"], "needed");
    }

    #[test]
    fn a_found_item_is_not_marked_as_needed() {
        assert_eq!(Item::found("s", "n", "d").needed().state, State::Found);
    }
}
