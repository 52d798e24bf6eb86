//! `cargo run -p benches --bin plot`: writes the results measured on a GPU as drawings, as a part of
//! docs/BENCHMARKING.md and as a page with all rows.

mod candle;
mod charts;
mod page;
mod reasons;
mod svg;

use crate::throughput::results::read_folder;
use std::path::Path;

/// The folder of the results, relative to the workspace's root.
const FIGURES: &str = "benches/h200";
/// The page of which a part is generated.
const PAGE: &str = "docs/BENCHMARKING.md";
/// The page with all rows, in the folder of the results.
const ROWS: &str = "ROWS.md";
/// The folder of the drawings, relative to the page's.
const DRAWINGS: &str = "figures";

/// Draws and writes everything below `root`; the error is the text to show.
pub fn run(root: &Path) -> Result<(), String> {
    let folder = root.join(FIGURES);
    let sets = read_folder(&folder).map_err(|error| format!("plot: {error}"))?;
    if sets.is_empty() {
        return Err(format!(
            "plot: there are no figures in {}; benches/h200/run.sh measures them",
            folder.display()
        ));
    }
    let read = |file: &Path| {
        std::fs::read_to_string(file).map_err(|error| format!("plot: {}: {error}", file.display()))
    };
    let notes = read(&folder.join("notes.txt"))?;
    let reasons =
        reasons::parse(&read(&folder.join("reasons.tsv"))?).map_err(|error| format!("plot: {error}"))?;

    let candle =
        candle::parse(&read(&folder.join("candle.tsv"))?).map_err(|error| format!("plot: {error}"))?;

    let page = root.join(PAGE);
    let drawings = page.with_file_name(DRAWINGS);
    std::fs::create_dir_all(&drawings).map_err(|error| format!("plot: {}: {error}", drawings.display()))?;
    let charts = charts::all(&sets);
    for (name, chart) in &charts {
        for theme in [&svg::LIGHT, &svg::DARK] {
            let file = drawings.join(page::file_name(name, theme.name));
            write_whole(&file, svg::draw(chart, theme).as_bytes())?;
        }
    }
    let (part, unexplained) = page::part(&sets, &notes, &reasons, &charts);
    let text = page::filled(&read(&page)?, &part).map_err(|error| format!("plot: {PAGE}: {error}"))?;
    write_whole(&page, text.as_bytes())?;
    write_whole(&folder.join(ROWS), page::all_rows(&sets, &candle).as_bytes())?;
    println!(
        "plot: {} drawings in {}, a part of {PAGE}, and {FIGURES}/{ROWS}",
        2 * charts.len(),
        drawings.display()
    );
    if unexplained.is_empty() {
        return Ok(());
    }
    Err(format!(
        "plot: these missed their target, and {FIGURES}/reasons.tsv does not say why:\n  {}",
        unexplained.join("\n  ")
    ))
}

/// Writes a file under a temporary name, then renames it, so that a reader never sees a partial file.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let temporary = path.with_extension("tmp");
    std::fs::write(&temporary, bytes)
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|error| format!("plot: cannot write {}: {error}", path.display()))
}

/// The lines of a file of tab-separated values after its heading, without comments.
fn rows_below<'a>(file: &str, heading: &str, text: &'a str) -> Result<impl Iterator<Item = &'a str>, String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    if lines.next() == Some(heading) {
        Ok(lines)
    } else {
        Err(format!("{file} does not begin with the line {heading:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::results::{Figures, to_json};

    #[test]
    fn drawings_and_tables_are_written_the_same_each_time() {
        let root = tempfile::tempdir().expect("a folder for temporary files");
        let put = |name: &str, text: &str| {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().expect("it is in a folder")).expect("the folder is ours");
            std::fs::write(file, text).expect("the folder is ours");
        };
        let read = |name: &str| std::fs::read_to_string(root.path().join(name)).expect("it was written");
        assert!(run(root.path()).is_err_and(|error| error.contains("there are no figures in")));

        let row = |ratio, share| Figures {
            torch_us: Some(100.0 * ratio),
            ratio: Some(ratio),
            share: Some(share),
            ..Figures::new("add", "f16", "16384x8192", 100.0)
        };
        put("benches/h200/memory.json", &to_json(&[row(1.02, 0.93)]));
        put("benches/h200/notes.txt", "a card\n");
        put("benches/h200/reasons.tsv", "op\tdtype\tshape\treason\n");
        put(
            "benches/h200/candle.tsv",
            "op\tdtype\tshape\tcandle_us\ttorch_us\nadd\tf16\t16384x8192\t200\t100\n",
        );
        put(
            PAGE,
            "# Page\n\n<!-- h200: written by `cargo run -p benches --bin plot` -->\n<!-- h200: end -->\n",
        );
        run(root.path()).expect("nothing was missed");
        let written = || (read(PAGE), read("benches/h200/ROWS.md"), read("docs/figures/h200-share-dark.svg"));
        let first = written();
        assert!(
            first.0.contains("src=\"figures/h200-ratio-light.svg\"") && first.2.contains("93.0"),
            "{first:?}"
        );
        assert!(first.1.contains("\n## memory\n\n| operation | dtype |"), "{}", first.1);
        assert!(first.1.contains("| add | 16384x8192 | - | 2.04 | - |"), "{}", first.1);
        assert!(!root.path().join("docs/figures/h200-select-light.svg").exists());
        run(root.path()).expect("as before");
        assert_eq!(written(), first);

        // A row that missed its target is also written, and needs a reason.
        put("benches/h200/memory.json", &to_json(&[row(0.9, 0.93)]));
        let error = run(root.path()).expect_err("there is no reason");
        assert!(error.ends_with("add f16 16384x8192"), "{error}");
        assert!(
            read(PAGE)
                .contains("| add | f16 | 16384x8192 | 93.0 % | 90.0 % | 0.90 | 1.00 | - | - | not known |")
        );
        put("benches/h200/reasons.tsv", "op\tdtype\tshape\treason\nadd\t*\t*\tslow\n");
        run(root.path()).expect("there is one now");
        assert!(read(PAGE).contains("| 0.90 | 1.00 | - | - | slow |"));
    }
}
