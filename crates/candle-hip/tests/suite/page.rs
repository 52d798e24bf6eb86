//! The page for those who come from candle names what tensor-core has.

use std::path::Path;

/// Words that are no names of tensor-core: arguments, Rust's, and crates.
const OTHERS: [&str; 8] = ["a", "b", "d", "depth", "off", "on", "weights", "TryFrom"];

#[test]
fn names_on_the_page_are_in_tensor_core() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(here.join("COMING_FROM_CANDLE.md")).unwrap();
    let mut sources = String::new();
    read(&here.join("../tensor-core/src"), &mut sources);
    read(&here.join("../../kernels-hip/src"), &mut sources);
    let section = |title: &str| page.split(title).nth(1)?.split("\n## ").next();
    let table = section("## Other names").unwrap().lines();
    let rows = table.filter(|line| line.starts_with("| ") && !line.starts_with("| candle |"));
    let right = rows.map(|row| row.split('|').nth(2).unwrap());
    let mut names = 0;
    for row in right.chain(section("## The same in both")) {
        for code in row.split('`').skip(1).step_by(2) {
            let code = code.split('"').step_by(2).collect::<String>();
            let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            for word in words.filter(|word| word.starts_with(|c: char| c.is_alphabetic())) {
                let found =
                    ["fn ", "struct ", "enum ", "trait ", "mod ", ", ", "(", "    "].iter().any(|before| {
                        ["(", "<", " {", ";", ",", ":"]
                            .iter()
                            .any(|after| sources.contains(&format!("{before}{word}{after}")))
                    });
                assert!(found || OTHERS.contains(&word), "{word} in {row}");
                names += 1;
            }
        }
    }
    assert!(names > 60, "{names} names");
}

fn read(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, into);
        } else {
            into.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}
