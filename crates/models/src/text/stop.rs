//! Texts that end generation, also where they span tokens.

/// Ends text before the first of some stop strings.
///
/// Text that may be the beginning of a stop string is kept until that is decided. If one of them comes, the text before
/// it is passed on, and nothing from it on. Of several the one that ends first counts, and of those that end at the same
/// position the longest. The result does not depend on how the text is cut into pieces.
#[derive(Debug, Clone, Default)]
pub struct StopStrings {
    strings: Vec<String>,
    kept: String,
    stopped: bool,
}

impl StopStrings {
    /// Ends text at any of these. Empty ones are left out: they would end every text.
    pub fn new<T: Into<String>>(strings: impl IntoIterator<Item = T>) -> StopStrings {
        let strings =
            strings.into_iter().map(Into::into).filter(|string: &String| !string.is_empty()).collect();
        StopStrings { strings, ..StopStrings::default() }
    }

    /// The text that no stop string can reach any more. Nothing comes after [`is_stopped`](StopStrings::is_stopped).
    pub fn push(&mut self, text: &str) -> String {
        if self.stopped {
            return String::new();
        }
        self.kept.push_str(text);
        let ends = self.strings.iter().filter_map(|string| {
            let start = self.kept.find(string)?;
            Some((start + string.len(), start))
        });
        if let Some((_, start)) = ends.min() {
            self.stopped = true;
            self.kept.truncate(start);
            return std::mem::take(&mut self.kept);
        }
        let rest = self.kept.split_off(self.decided());
        std::mem::replace(&mut self.kept, rest)
    }

    /// Ends the text: what was kept, if no stop string came.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.kept)
    }

    /// Whether a stop string came.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Where the longest end of the kept text begins that a stop string begins with.
    fn decided(&self) -> usize {
        let longest = self.strings.iter().map(String::len).max().unwrap_or(0);
        let first = self.kept.len().saturating_sub(longest.saturating_sub(1));
        (first..self.kept.len())
            .filter(|&at| self.kept.is_char_boundary(at))
            .find(|&at| self.strings.iter().any(|string| string.starts_with(&self.kept[at..])))
            .unwrap_or(self.kept.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stop_string_may_span_pieces() {
        let mut stops = StopStrings::new(["</s>", "\nUser:", ""]);
        assert_eq!(stops.push("Hello <"), "Hello ");
        assert_eq!(stops.push("b>\nUs"), "<b>");
        assert_eq!(stops.push("e\nUser"), "\nUse");
        assert!(!stops.is_stopped());
        assert_eq!(stops.push(": more"), "");
        assert!(stops.is_stopped());
        assert_eq!((stops.push("x"), stops.finish()), (String::new(), String::new()));
    }

    #[test]
    fn the_first_end_counts() {
        let mut stops = StopStrings::new(["abcd", "bc"]);
        assert_eq!((stops.push("xab"), stops.push("cd")), ("x".into(), "a".into()));
        let mut stops = StopStrings::new(["bc", "abc"]);
        assert_eq!(stops.push("xabc"), "x");
        let mut stops = StopStrings::new(["abc"]);
        assert_eq!((stops.push("xab"), stops.finish()), ("x".into(), "ab".into()));
    }

    /// By definition: the text before the stop string that ends first, the longest of several.
    fn expected(text: &str, strings: &[String]) -> String {
        for end in 0..=text.len() {
            let begun = text.get(..end).unwrap_or_default();
            let starts =
                strings.iter().filter(|string| !string.is_empty() && begun.ends_with(string.as_str()));
            if let Some(start) = starts.map(|string| end - string.len()).min() {
                return text[..start].to_owned();
            }
        }
        text.to_owned()
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            pieces in prop::collection::vec("[abé]{0,4}", 0..8),
            strings in prop::collection::vec("[abé]{0,3}", 0..4),
        ) {
            let mut stops = StopStrings::new(strings.clone());
            let mut found: String = pieces.iter().map(|piece| stops.push(piece)).collect();
            found += &stops.finish();
            prop_assert_eq!(found, expected(&pieces.concat(), &strings));
        }
    }
}
