//! Selects cases by name.

/// Whether the whole `text` matches `pattern`, in which `*` is any text and `?` any one character. Both are
/// ASCII.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    fn rest(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', after @ ..], _) => rest(after, text) || (!text.is_empty() && rest(pattern, &text[1..])),
            ([p, after @ ..], [t, left @ ..]) => (*p == b'?' || p == t) && rest(after, left),
            _ => false,
        }
    }
    rest(pattern.as_bytes(), text.as_bytes())
}

/// Whether a filter selects a case: by a pattern, or, without `*` and `?`, by a part of its name.
pub(crate) fn selects(filter: &str, name: &str) -> bool {
    if filter.contains(['*', '?']) { matches(filter, name) } else { name.contains(filter) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("memory/*", "memory/allocate/null") && matches("*", "") && matches("a?c", "abc"));
        assert!(matches("*b*d", "abcbd") && matches("*aab", "aaaaab") && matches("a**", "a"));
        assert!(!matches("memory", "memory/allocate") && !matches("?", "") && !matches("*b", "abc"));
        assert!(!matches("a*b", "ac") && matches("a*b", "ab") && matches("a*b", "axxb"));
    }

    #[test]
    fn a_filter_without_a_pattern_matches_part_of_the_name() {
        assert!(selects("allocate", "memory/allocate/null"));
        assert!(!selects("allocate/*", "memory/allocate/null"));
    }
}
