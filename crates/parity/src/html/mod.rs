//! The results as an HTML page: one file with its data, style and script, which loads nothing.
//!
//! The page is made of the files in the folder `page` of this crate. [`Page`] is its data: a run, or the comparison of
//! two records.

mod comparison;
mod data;
mod run;

use std::io;
use std::path::Path;

pub use data::Page;

use crate::report;

/// The page with marks where the other files and the data go.
const TEMPLATE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/page.css");
/// The script, in the order of its parts.
const SCRIPT: [&str; 6] = [
    include_str!("../../page/model.js"),
    include_str!("../../page/text.js"),
    include_str!("../../page/grid.js"),
    include_str!("../../page/charts.js"),
    include_str!("../../page/detail.js"),
    include_str!("../../page/main.js"),
];

/// Writes the page atomically, through a temporary file.
///
/// # Errors
/// The file system's error.
pub fn write(page: &Page<'_>, path: &Path) -> io::Result<()> {
    let text = render(page)?;
    report::write(path, |file| file.write_all(text.as_bytes()))
}

/// The whole page.
///
/// # Errors
/// None in practice: every part of [`Page`] can be JSON.
pub fn render(page: &Page<'_>) -> io::Result<String> {
    let data = escape(&serde_json::to_string(page)?);
    // The data comes last, because it may contain anything.
    Ok(TEMPLATE
        .replacen("/* STYLE */", STYLE, 1)
        .replacen("/* SCRIPT */", &SCRIPT.concat(), 1)
        .replacen("\"DATA\"", &data, 1))
}

/// JSON that cannot end the script element around it, whatever its strings contain. It means the same.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len() + json.len() / 64);
    for char in json.chars() {
        match char {
            '<' => escaped += "\\u003c",
            '>' => escaped += "\\u003e",
            '&' => escaped += "\\u0026",
            '\u{2028}' => escaped += "\\u2028",
            '\u{2029}' => escaped += "\\u2029",
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_means_the_same() {
        let text = "</script><!--<script>&amp;\u{2028}\u{2029}é\"\\";
        let escaped = escape(&serde_json::to_string(text).expect("a string"));
        assert!(!escaped.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).expect("JSON"), text);
    }

    #[test]
    fn the_parts_fit_into_the_page() {
        for mark in ["/* STYLE */", "/* SCRIPT */", "\"DATA\""] {
            assert_eq!(TEMPLATE.matches(mark).count(), 1, "{mark}");
            assert!(!STYLE.contains(mark) && !SCRIPT.concat().contains(mark), "{mark}");
        }
        assert!(!STYLE.contains("</style") && !SCRIPT.concat().contains("</script"));
        // Nothing is loaded: no part names an address, except that of the SVG namespace.
        let all = [TEMPLATE, STYLE, &SCRIPT.concat()].concat();
        let addresses: Vec<&str> = all.split("://").skip(1).collect();
        assert!(addresses.iter().all(|rest| rest.starts_with("www.w3.org/2000/svg")), "{addresses:?}");
        assert!(!all.contains("url(") && !all.contains("@import"));
    }
}
