//! Positions in Rust text: where a bracket closes, and where a match arm ends. It knows strings and comments, and no more
//! of the language than that.

/// The position behind the bracket that closes the one at `open`.
pub fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code(text, open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The position behind a match arm whose body begins at `body`, with the comma if there is one.
pub fn end_of_arm(text: &str, body: usize) -> Option<usize> {
    let start = body + text[body..].len() - text[body..].trim_start().len();
    if text[start..].starts_with('{') {
        let end = closing(text, start)?;
        return Some(if text[end..].starts_with(',') { end + 1 } else { end });
    }
    let mut depth = 0usize;
    for (at, byte) in code(text, start) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            // The end of the match itself.
            b'}' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The bytes from `start` on that are neither in strings nor in comments, with their positions.
fn code(text: &str, start: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
    let bytes = text.as_bytes();
    let mut at = start;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if bytes[at] == b'"' {
                at = end_of_string(bytes, at);
            } else if bytes[at..].starts_with(b"//") {
                at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
            } else {
                at += 1;
                return Some((at - 1, bytes[at - 1]));
            }
        }
        None
    })
}

fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_have_no_brackets() {
        let text = "{ a(\")}\\\"\"); // }\n [b] } rest";
        assert_eq!(&text[closing(text, 0).unwrap()..], " rest");
        assert_eq!(closing("{ (", 0), None);
    }

    #[test]
    fn arms_end_at_a_comma_or_a_brace() {
        let of =
            |text: &str| end_of_arm(text, text.find("=>").unwrap() + 2).map(|end| text[..end].to_owned());
        assert_eq!(of("A(x) => f(x, 1), B").as_deref(), Some("A(x) => f(x, 1),"));
        assert_eq!(of("A(x) => { f(x) } B").as_deref(), Some("A(x) => { f(x) }"));
        assert_eq!(of("A(x) => { f(x) }, B").as_deref(), Some("A(x) => { f(x) },"));
        assert_eq!(of("A(x) => f(x) }").as_deref(), Some("A(x) => f(x) "));
        assert_eq!(of("A(x) => match x { B => C, }, D").as_deref(), Some("A(x) => match x { B => C, },"));
    }
}
