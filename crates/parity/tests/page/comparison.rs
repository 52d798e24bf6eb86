//! The page of two compared records, of the whole registry.

use parity::comparison::{Comparison, Finding};
use parity::html::{self, Page};
use parity::record::{Entry, Found, NamedRecord, Record, embedded};
use parity::report::rerun;
use serde_json::json;

use super::browser::act;

/// The record that ships, with one element of one case changed, and another case left out.
fn changed(record: &Record, id: &str, left_out: &str) -> NamedRecord {
    let mut header = record.header().clone();
    header.device = "amd:0".into();
    let change = |entry: &Entry| {
        let mut entry = entry.clone();
        match &mut entry.found {
            Found::Sampled { probes, .. } if entry.id == id => {
                let finite = probes.iter_mut().find(|probe| probe.allowed.tolerance > 0.0);
                finite.expect("a number").bits ^= 1 << 20;
            }
            _ => {}
        }
        entry
    };
    let entries = record.entries().iter().filter(|entry| entry.id != left_out).map(change).collect();
    NamedRecord { name: "other".into(), record: Record::new(header, entries).unwrap() }
}

#[test]
fn thousands_of_compared_cases_are_shown() {
    let left = embedded().unwrap().remove(0);
    let (id, left_out) = ("exp/f32/transposed/matrix/[37,129]", "neg/f32/transposed/matrix/[37,129]");
    let right = changed(&left.record, id, left_out);
    let comparisons = [Comparison::new(&left, &right, &[]).unwrap()];
    let page = html::render(&Page::of_comparisons(&comparisons, &[], &[])).unwrap();
    let script = r##"
        see("title", document.title);
        see("rows", all("#rows tr").length);
        see("count", textOf(one("#count")));
        see("verdict", textOf(one("#verdict")));
        see("ready", performance.now());
        const start = performance.now();
        await choose("failures", true);
        see("filtered", performance.now() - start - 300);
        const failed = cell("exp", "f32");
        failed.click();
        see("id", textOf(one("#panel .id")));
        see("text", textOf(one("#panel-body")));
        see("commands", all("#panel .command code").map(textOf));
        await choose("failures", false);
        await choose("find", "neg/f32/transposed/matrix/[37,129]");
        see("absent", textOf(cell("neg", "f32")));
        cell("neg", "f32").click();
        see("why", textOf(one("#panel .why")));
    "##;
    let Some(seen) = act(&page, 1280, script) else { return };
    let entries = left.record.entries();
    println!(
        "{} cases in {} bytes: ready after {} ms, filtered in {} ms",
        entries.len(),
        page.len(),
        seen["ready"],
        seen["filtered"]
    );
    let operations: std::collections::HashSet<&str> = entries.iter().map(Entry::operation).collect();
    assert_eq!((&seen["rows"], &seen["verdict"]), (&json!(operations.len()), &json!("✕ 1 difference")));
    let digits = |number: usize| format!("{},{:03}", number / 1000, number % 1000);
    let count = digits(entries.len());
    assert_eq!(seen["count"], format!("{count} cases, {count} results, 1 difference"));
    assert_eq!((&seen["title"], &seen["id"]), (&json!("Parity: cuda-h200 / other"), &json!(id)));
    let pair = comparisons[0].pairs.iter().find(|pair| pair.entry.id == id).unwrap();
    let Finding::Differs(difference) = &pair.finding else { panic!("{:?}", pair.finding) };
    let text = seen["text"].as_str().unwrap();
    assert!(text.contains(&difference.describe("cuda-h200", "other")), "{text}");
    assert!(text.contains(&difference.left) && text.contains(&difference.right), "{text}");
    let commands = ["nvidia:0", "amd:0"].map(|device| rerun(device, id, 7, " --full"));
    assert_eq!(seen["commands"], json!(commands));
    assert_eq!((&seen["absent"], &seen["why"]), (&json!("–"), &json!("only in cuda-h200")));
}
