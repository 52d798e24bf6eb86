//! Helpers for Markdown: headings, fenced blocks, code spans, links.

/// The lines outside fenced blocks, with their numbers from 1.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((i + 1, line))
    })
}

/// The level and the text of a heading line.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let text = line.get(level..)?.strip_prefix(' ')?;
    (level > 0).then_some((level, text.trim()))
}

/// The lines below the heading with this text, up to the next heading of the same or a higher level, with
/// numbers.
///
/// Fenced blocks are included.
pub(super) fn section<'a>(text: &'a str, title: &str) -> Option<Vec<(usize, &'a str)>> {
    let headings: Vec<(usize, usize, &str)> =
        prose(text).filter_map(|(n, line)| heading(line).map(|(level, text)| (n, level, text))).collect();
    let at = headings.iter().position(|(_, _, text)| *text == title)?;
    let (first, level, _) = headings[at];
    let end = headings[at + 1..].iter().find(|(_, l, _)| *l <= level).map_or(usize::MAX, |(n, _, _)| *n);
    Some(text.lines().enumerate().map(|(i, l)| (i + 1, l)).filter(|(n, _)| *n > first && *n < end).collect())
}

/// The first fenced block of a language among these lines: the number of its first line, and its text.
pub(super) fn block(lines: &[(usize, &str)], language: &str) -> Option<(usize, String)> {
    let open = lines.iter().position(|(_, line)| line.trim() == format!("```{language}"))?;
    let body = &lines[open + 1..];
    let close = body.iter().position(|(_, line)| line.trim() == "```")?;
    Some((lines[open].0 + 1, body[..close].iter().map(|(_, line)| format!("{line}\n")).collect()))
}

/// The texts between single backticks on a line.
pub(super) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The targets of `[text](target)` on a line, excluding code spans.
pub(super) fn link_targets(line: &str) -> Vec<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
    let mut targets = Vec::new();
    let mut rest = plain.as_str();
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        if let Some(end) = rest.find(')') {
            let target = rest[..end].split_whitespace().next().unwrap_or("");
            targets.push(target.to_string());
        }
    }
    targets
}

/// The anchor that common hosts give a heading: lower-case letters, digits, `-` and `_`.
pub(super) fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# Top\n\n## One\na `b` c\n```toml\n# not a heading\nx = 1\n```\n### Sub\ns\n## Two\nt\n";

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let one = section(PAGE, "One").expect("there");
        assert_eq!(one.first(), Some(&(4, "a `b` c")));
        assert_eq!(one.last(), Some(&(10, "s")));
        assert_eq!(section(PAGE, "not a heading"), None);
        assert_eq!(section(PAGE, "Two").expect("there"), [(12, "t")]);
    }

    #[test]
    fn a_block_is_found_by_its_language() {
        let one = section(PAGE, "One").expect("there");
        assert_eq!(block(&one, "toml"), Some((6, "# not a heading\nx = 1\n".into())));
        assert_eq!(block(&one, "sh"), None);
    }

    #[test]
    fn spans_links_and_anchors() {
        assert_eq!(code_spans("a `b` and `c d`.").collect::<Vec<_>>(), ["b", "c d"]);
        assert_eq!(link_targets("see [a](b.md#c), ![i](i.png \"t\") and `[x](y)`"), ["b.md#c", "i.png"]);
        assert_eq!(anchor("S1 — table calls"), "s1--table-calls");
        assert_eq!(anchor("`hip-sys`: types"), "hip-sys-types");
    }
}
