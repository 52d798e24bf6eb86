//! Each rule has a text in `tests/rules`, whose lines end with `//~ breaks` or `//~ check` where the rule has to find something. The other
//! lines are near misses.

use port_check::{Checker, Source, rules};
use std::path::Path;

/// The marked lines of a text, with their marks.
fn marks(text: &str) -> Vec<(usize, String)> {
    let mark =
        |(index, line): (usize, &str)| Some((index + 1, line.split_once("//~ ")?.1.trim().to_string()));
    text.lines().enumerate().filter_map(mark).collect()
}

#[test]
fn each_rule_finds_its_marked_lines_and_no_others() {
    for rule in rules() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules").join(format!("{}.cu", rule.name));
        let sources = Source::read_all(&[&path]).expect("every rule has a text");
        let expected = marks(&sources[0].text);
        let near_misses = sources[0].text.lines().filter(|line| line.contains("// no:")).count();
        assert!(!expected.is_empty() && near_misses > 0, "{}: no finding or no near miss", rule.name);

        let report = Checker::new().only(&[rule.name]).expect("the name is a rule's").check(&sources);
        let found: Vec<(usize, String)> =
            report.findings.iter().map(|one| (one.line, one.severity.to_string())).collect();
        assert_eq!(found, expected, "{}\n{report}", rule.name);
        for finding in &report.findings {
            assert!(finding.reason.ends_with('.') && finding.remedy.ends_with('.'), "{finding}");
            assert!(!finding.reason.contains('\n') && !finding.remedy.contains('\n'), "{finding}");
        }
    }
}

#[test]
fn texts_belong_to_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    for entry in folder.read_dir().expect("the folder is part of the crate") {
        let name = entry
            .expect("it can be read")
            .path()
            .file_stem()
            .expect("files have names")
            .to_string_lossy()
            .into_owned();
        assert!(rules().iter().any(|rule| rule.name == name), "{name}.cu is no rule's text");
    }
    assert!(rules().is_sorted_by_key(|rule| rule.name));
}

/// Macros that stand for each other, and code that begins or ends where no rule expects it.
#[test]
fn odd_texts_are_read() {
    let doubled: String = (0..40).map(|n| format!("#define A{} A{n} + A{n}\n", n + 1)).collect();
    for text in [
        "#define TILE cg::tiled_partition<",
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n#define TILE cg::tiled_partition<",
        "__device__ void f(float* x, float* y, int i, int j) { x[i] = x[i + 8] + [&]{ y[j] = y[j + 4]; return 1.f; }(); }",
        "__device__ void f(float* s, int i) { s[i] += s[i + 4]; s[i] += s[i + 0x7fffffffffffffff]; }",
        "#define A B\n#define B C\n#define C A\n#if A\nint x;\n#endif",
        &format!("#define A0 1\n{doubled}#if A40\nint x;\n#endif"),
        &format!("#if {}1\nint x;\n#endif", "(".repeat(100_000)),
    ] {
        Checker::new().check(&[Source::new("odd.cu", text)]);
    }
    let shared = "__global__ void k() { __shared__ double a[0x0fffffffffffffff]; __shared__ double b[0x0fffffffffffffff]; }";
    let found = Checker::new().check(&[Source::new("large.cu", shared)]).findings;
    assert!(found.iter().any(|finding| finding.rule == "shared-memory"), "{found:?}");
}

#[test]
fn texts_that_end_anywhere_are_read() {
    for rule in rules() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules").join(format!("{}.cu", rule.name));
        let text = std::fs::read_to_string(path).expect("every rule has a text");
        let whole = Checker::new().check(&[Source::new("whole.cu", text.as_str())]).findings.len();
        for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
            let found = |part: &str| Checker::new().check(&[Source::new("part.cu", part)]).findings;
            assert!(found(&text[..end]).len() <= whole + 1, "{}: the first {end} bytes", rule.name);
            // What is cut off at the front may close what was never opened.
            let lines = text[end..].lines().count();
            assert!(
                found(&text[end..]).iter().all(|finding| finding.line <= lines),
                "{}: without {end} bytes",
                rule.name
            );
        }
    }
}
