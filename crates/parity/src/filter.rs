//! Selecting cases by id.

use crate::case::Case;

/// The cases selected by a filter.
///
/// A complete id selects that case only. A filter with `*` (any text) or `?` (any character) must match the whole id.
/// Any other filter selects every case whose id contains it. Brackets have no special meaning.
pub fn select(cases: Vec<Case>, filter: &str) -> Vec<Case> {
    let ids: Vec<String> = cases.iter().map(Case::id).collect();
    let wanted: Vec<bool> = if ids.iter().any(|id| id == filter) {
        ids.iter().map(|id| id == filter).collect()
    } else {
        ids.iter().map(|id| chooses(filter, id)).collect()
    };
    cases.into_iter().zip(wanted).filter_map(|(case, wanted)| wanted.then_some(case)).collect()
}

/// Whether a filter chooses a text: the whole of it matches a filter with `*` or `?`, and it contains any other one.
pub fn chooses(filter: &str, text: &str) -> bool {
    if filter.contains(['*', '?']) { matches(filter, text) } else { text.contains(filter) }
}

/// Whether the whole `text` matches `pattern`, in which `*` is any text and `?` any character.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to continue if the last `*` must match one more character.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((after, swallowed)) => {
                    retry = Some((after, swallowed + 1));
                    p = after;
                    t = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use reference::DType;

    use super::*;
    use crate::case::{Layout, Op, Operand};
    use crate::inputs::Contents;

    #[test]
    fn patterns() {
        assert!(matches("add/*/[37,129]", "add/f32/x/[37,129]"));
        assert!(matches("*", "") && matches("a?c", "abc") && matches("*b*d", "abcbd"));
        assert!(!matches("add", "add/f32") && !matches("?", "") && !matches("*b", "abc"));
        assert!(matches("*aab", "aaaaab"));
    }

    #[test]
    fn a_whole_id_selects_one_case() {
        let operand = |contents| vec![Operand::dense(DType::F32, &[3], contents)];
        let plain = Case::new(Op::Copy, operand(Contents::Mixed), Layout::Contiguous, "vector");
        let longer = Case::new(Op::Copy, operand(Contents::Ones), Layout::Contiguous, "vector");
        let all = vec![plain.clone(), longer.clone()];
        assert!(longer.id().contains(&plain.id()));
        assert_eq!(select(all.clone(), &plain.id()), [plain]);
        assert_eq!(select(all.clone(), "copy/f32").len(), 2);
        assert_eq!(select(all.clone(), "copy/*/ones"), [longer]);
        assert!(select(all, "no such thing").is_empty());
    }
}
