//! A file of the checkout, and the ways to edit it. Each edit names its anchor and fails if the anchor is not there as often
//! as it was in the version that this program knows.

use std::fmt;

use crate::scan;

/// Why a file is not the one that this program knows.
#[derive(Debug)]
pub struct Misfit(pub String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of an edit.
pub type Edit = Result<(), Misfit>;

/// The text of a file.
pub struct File {
    name: String,
    text: String,
}

impl File {
    /// A file with its name for messages.
    pub fn new(name: &str, text: String) -> File {
        File { name: name.to_owned(), text }
    }

    /// The edited text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Inserts lines behind the line that is `anchor`, apart from its indentation, of which there must be one. They get the
    /// same indentation.
    pub fn after_line(&mut self, anchor: &str, lines: &str) -> Edit {
        let mut found = Vec::new();
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            if line.trim() == anchor {
                found.push((start + line.len(), line.len() - line.trim_start().len()));
            }
            start += line.len();
        }
        let [(at, indentation)] = found[..] else { return Err(self.misfit(anchor, 1, found.len())) };
        let lines = indented(lines, indentation);
        self.text.insert_str(at, &lines);
        Ok(())
    }

    /// Inserts lines behind the opening brace of the item that begins with `head`, of which there must be one.
    pub fn inside_item(&mut self, head: &str, lines: &str) -> Edit {
        let found: Vec<usize> = self.text.match_indices(head).map(|(at, _)| at).collect();
        let [at] = found[..] else { return Err(self.misfit(head, 1, found.len())) };
        let open = self.text[at..].find("{\n").ok_or_else(|| self.misfit(head, 1, 0))?;
        let indentation = at - self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let lines = indented(lines, indentation + 4);
        self.text.insert_str(at + open + 2, &lines);
        Ok(())
    }

    /// Inserts lines before each occurrence of the lines `anchor`, whatever their indentation. There must be `count`.
    pub fn before_each(&mut self, anchor: &str, count: usize, lines: &str) -> Edit {
        let wanted: Vec<&str> = anchor.lines().collect();
        let all: Vec<&str> = self.text.split_inclusive('\n').collect();
        let fits = |at: usize| {
            wanted
                .iter()
                .enumerate()
                .all(|(i, line)| all.get(at + i).is_some_and(|found| found.trim() == *line))
        };
        let (mut text, mut found) = (String::with_capacity(self.text.len()), 0);
        for (at, line) in all.iter().enumerate() {
            if fits(at) {
                found += 1;
                text.push_str(&indented(lines, line.len() - line.trim_start().len()));
            }
            text.push_str(line);
        }
        if found != count {
            return Err(self.misfit(anchor, count, found));
        }
        self.text = text;
        Ok(())
    }

    /// Adds text to the end.
    pub fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Inserts, behind each function `name`, its copy with other words. There must be `count`. Documentation is copied too.
    pub fn copy_functions(&mut self, name: &str, count: usize, words: &[(&str, &str)]) -> Edit {
        let head = format!("fn {name}(");
        let positions: Vec<usize> = self.text.match_indices(&head).map(|(at, _)| at).collect();
        if positions.len() != count {
            return Err(self.misfit(&head, count, positions.len()));
        }
        for at in positions.into_iter().rev() {
            let start = self.start_with_documentation(at);
            let broken = || self.misfit(&head, count, 0);
            let open = at + self.text[at..].find("{\n").ok_or_else(broken)?;
            let end = scan::closing(&self.text, open).ok_or_else(broken)?;
            let copy = format!("\n\n{}", replaced(self.text[start..end].trim_end(), words));
            self.text.insert_str(end, &copy);
        }
        Ok(())
    }

    /// Inserts, behind each line that begins with `head`, its copy with other words. There must be `count`.
    pub fn copy_lines(&mut self, head: &str, count: usize, words: &[(&str, &str)]) -> Edit {
        let mut text = String::with_capacity(self.text.len());
        let mut found = 0;
        for line in self.text.split_inclusive('\n') {
            text.push_str(line);
            if line.trim_start().starts_with(head) {
                found += 1;
                text.push_str(&replaced(line, words));
            }
        }
        if found != count {
            return Err(self.misfit(head, count, found));
        }
        self.text = text;
        Ok(())
    }

    /// Inserts, behind each match arm for the variant `Metal`, its copy with other words, and extends patterns of several
    /// variants. There must be `count` arms, without those inside the functions `except`.
    pub fn copy_arms(&mut self, count: usize, except: &[&str], words: &[(&str, &str)]) -> Edit {
        let excepted = self.bodies(except)?;
        let mut edits: Vec<(usize, String)> = Vec::new();
        let (mut found, mut from) = (0, 0);
        while let Some((start, arrow)) = self.next_arm(from) {
            from = arrow;
            if excepted.iter().any(|(open, end)| (*open..*end).contains(&start)) {
                continue;
            }
            found += 1;
            let pattern = &self.text[start..arrow];
            if pattern.contains('|') {
                let at = start + pattern.find("Metal(_)").ok_or_else(|| self.misfit("Metal(_)", 1, 0))?;
                let path = pattern[..at - start].rsplit([' ', '(']).next().unwrap_or_default();
                edits.push((at + "Metal(_)".len(), format!(" | {path}Hip(_)")));
                continue;
            }
            let end =
                scan::end_of_arm(&self.text, arrow + 2).ok_or_else(|| self.misfit("Metal", count, found))?;
            let indentation = start - self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
            let copy = replaced(&self.text[start..end], words);
            edits.push((end, format!("\n{}{copy}", " ".repeat(indentation))));
            // Arms inside this one are in the copy.
            from = end;
        }
        if found != count {
            return Err(self.misfit("match arms for `Metal`", count, found));
        }
        for (at, text) in edits.into_iter().rev() {
            self.text.insert_str(at, &text);
        }
        Ok(())
    }

    /// The next arm, on a line at or behind `from`, whose pattern names the variant `Metal`: where it begins, and where its
    /// arrow is.
    fn next_arm(&self, from: usize) -> Option<(usize, usize)> {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let arrow = line.find("=>").filter(|arrow| start >= from && names_metal(&line[..*arrow]));
            if let Some(arrow) = arrow {
                let indentation = line.len() - line.trim_start().len();
                return Some((start + indentation, start + arrow));
            }
            start += line.len();
        }
        None
    }

    /// Where the bodies of functions begin and end.
    fn bodies(&self, functions: &[&str]) -> Result<Vec<(usize, usize)>, Misfit> {
        let mut bodies = Vec::new();
        for name in functions {
            for (at, head) in self.text.match_indices(&format!("fn {name}(")) {
                let broken = || self.misfit(head, 1, 0);
                let open = at + self.text[at..].find("{\n").ok_or_else(broken)?;
                bodies.push((open, scan::closing(&self.text, open).ok_or_else(broken)?));
            }
        }
        Ok(bodies)
    }

    /// The beginning of the line of an item, or of the documentation and attributes before it.
    fn start_with_documentation(&self, at: usize) -> usize {
        let mut start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        loop {
            let Some(end) = start.checked_sub(1) else { return start };
            let previous = self.text[..end].rfind('\n').map_or(0, |newline| newline + 1);
            let line = self.text[previous..end].trim_start();
            if !line.starts_with("///") {
                return start;
            }
            start = previous;
        }
    }

    fn misfit(&self, anchor: &str, expected: usize, found: usize) -> Misfit {
        Misfit(format!("{}: expected {expected} of {anchor:?}, found {found}", self.name))
    }
}

/// Whether the pattern of an arm has the variant.
fn names_metal(pattern: &str) -> bool {
    let variant = |after: &str| after.starts_with('(') || after.starts_with(" {");
    pattern.match_indices("::Metal").any(|(at, found)| variant(&pattern[at + found.len()..]))
        && !pattern.trim_start().starts_with("//")
}

fn indented(lines: &str, indentation: usize) -> String {
    let indent =
        |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("{:indentation$}{line}\n", "") };
    lines.lines().map(indent).collect()
}

fn replaced(text: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [(&str, &str); 2] = [("Metal", "Hip"), ("metal", "hip")];

    fn edited(text: &str, edit: impl FnOnce(&mut File) -> Edit) -> Result<String, String> {
        let mut file = File::new("a.rs", text.to_owned());
        edit(&mut file).map(|()| file.text).map_err(|misfit| misfit.0)
    }

    #[test]
    fn arms_are_copied_behind_themselves() {
        let text =
            "match x {\n    A::Metal(m) => {\n        m.f(|A::Metal(n)| n)\n    }\n    A::Cpu => 1,\n}\n";
        let expected = "match x {\n    A::Metal(m) => {\n        m.f(|A::Metal(n)| n)\n    }\n    A::Hip(m) => {\n        m.f(|A::Hip(n)| n)\n    }\n    A::Cpu => 1,\n}\n";
        assert_eq!(edited(text, |file| file.copy_arms(1, &[], &WORDS)).unwrap(), expected);
    }

    #[test]
    fn inner_arms_are_copied_with_the_outer_one() {
        let text =
            "match x {\n    A::Metal(m) => match y {\n        B::Metal(n) => n,\n    },\n    _ => 1,\n}\n";
        let copied = edited(text, |file| file.copy_arms(1, &[], &WORDS)).unwrap();
        assert_eq!(copied.matches("A::Hip(m)").count(), 1);
        assert_eq!(copied.matches("B::Hip(n)").count(), 1);
    }

    #[test]
    fn patterns_of_several_variants_are_extended() {
        let text = "match x {\n    Self::Cuda(_) | Self::Metal(_) => true,\n    Q::Metal(_) | Q::Cpu(_) => false,\n}\n";
        let expected = "match x {\n    Self::Cuda(_) | Self::Metal(_) | Self::Hip(_) => true,\n    Q::Metal(_) | Q::Hip(_) | Q::Cpu(_) => false,\n}\n";
        assert_eq!(edited(text, |file| file.copy_arms(2, &[], &WORDS)).unwrap(), expected);
    }

    #[test]
    fn another_number_of_arms_is_a_misfit() {
        let text = "match x {\n    A::Metal(m) => 1,\n}\n";
        let misfit = edited(text, |file| file.copy_arms(2, &[], &WORDS)).unwrap_err();
        assert_eq!(misfit, "a.rs: expected 2 of \"match arms for `Metal`\", found 1");
    }

    #[test]
    fn functions_are_left_alone_on_request() {
        let text = "fn as_metal() {\n    match x {\n        A::Metal(m) => m,\n    }\n}\n";
        assert_eq!(edited(text, |file| file.copy_arms(0, &["as_metal"], &WORDS)).unwrap(), text);
    }

    #[test]
    fn functions_are_copied_with_their_documentation() {
        let text = "trait T {\n    /// On metal.\n    fn metal_fwd(&self) {\n        metal()\n    }\n}\n";
        let copied = edited(text, |file| file.copy_functions("metal_fwd", 1, &WORDS)).unwrap();
        assert!(
            copied.contains("    }\n\n    /// On hip.\n    fn hip_fwd(&self) {\n        hip()\n    }\n}\n"),
            "{copied}"
        );
    }

    #[test]
    fn lines_are_inserted_with_the_anchors_indentation() {
        let text = "enum E {\n    A(u8),\n}\n";
        let edit = |file: &mut File| file.after_line("A(u8),", "/// More.\nB(u8),");
        assert_eq!(edited(text, edit).unwrap(), "enum E {\n    A(u8),\n    /// More.\n    B(u8),\n}\n");
        let twice = "    A(u8),\n    A(u8),\n";
        assert_eq!(edited(twice, edit).unwrap_err(), "a.rs: expected 1 of \"A(u8),\", found 2");
    }

    #[test]
    fn lines_are_inserted_inside_items() {
        let text = "impl X for Y {\n    fn name(&self) {}\n}\n";
        let copied = edited(text, |file| file.inside_item("impl X for Y", "fn new() {}")).unwrap();
        assert_eq!(copied, "impl X for Y {\n    fn new() {}\n    fn name(&self) {}\n}\n");
    }
}
