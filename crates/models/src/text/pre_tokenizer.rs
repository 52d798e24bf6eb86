//! Pre-tokenizers of byte-pair encodings: regular expressions that cut text into words, which are encoded one by one.
//!
//! The expressions are those of the models' own `tokenizer.json`; "default" is llama.cpp's, for files that name none. A
//! pre-tokenizer with several of them cuts by the first, then cuts each piece by the next. For "tekken" llama.cpp tells
//! upper case from lower case in ASCII alone, where the model's own expression does so in all scripts.

use regex::Regex;

use super::error::{Error, Result};

/// What `tokenizer.ggml.pre` names.
pub(super) struct Known {
    /// The names of it, by which llama.cpp's converter tells models apart.
    names: &'static [&'static str],
    expressions: &'static [&'static str],
    /// Whether a word that is a token is that token, whatever the merges say.
    pub(super) ignore_merges: bool,
    /// Whether a file that does not say so wants a token at the beginning.
    pub(super) add_bos: bool,
}

// Each ends with a run of spaces. Where these files say `\s+(?!\S)|\s+`, the run leaves its last character to the word
// that follows; `Step::split` does so, because the crate `regex` has no look-ahead, and therefore no text that takes it
// more than linear time.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";
const LLAMA3: &str = r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+";
const QWEN2: &str = r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+";
const QWEN35: &str = r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+";
const DEEPSEEK3: &str = r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+"##;

/// The pre-tokenizers, with the options that go with them.
const KNOWN: [Known; 12] = [
    Known {
        names: &["default"],
        expressions: &[r"[\p{P}$+<=>^~|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
        ignore_merges: false,
        add_bos: false,
    },
    Known {
        names: &[
            "gpt-2",
            "phi-2",
            "jina-es",
            "jina-de",
            "gigachat",
            "jina-v2-es",
            "jina-v2-de",
            "a.x-4.0",
            "mellum",
            "modern-bert",
            "jina-v1-en",
            "jina-v2-code",
            "roberta-bpe",
            "exaone4",
            "mpt",
            "olmo",
            "jais",
            "trillion",
            "granite-docling",
        ],
        expressions: &[GPT2],
        ignore_merges: false,
        add_bos: false,
    },
    Known {
        names: &[
            "smollm",
            "starcoder",
            "refact",
            "command-r",
            "codeshell",
            "exaone",
            "minerva-7b",
            "mellum2",
        ],
        expressions: &[r"\p{N}", GPT2],
        ignore_merges: false,
        add_bos: false,
    },
    Known {
        names: &[
            "llama-bpe",
            "llama3",
            "llama-v3",
            "falcon3",
            "falcon-h1",
            "pixtral",
            "midm-2.0",
            "lfm2",
            "jina-v5-nano",
        ],
        expressions: &[LLAMA3],
        ignore_merges: true,
        add_bos: true,
    },
    Known {
        names: &["dbrx", "smaug-bpe", "chatglm-bpe"],
        expressions: &[LLAMA3],
        ignore_merges: false,
        add_bos: false,
    },
    Known { names: &["glm4", "glm5"], expressions: &[LLAMA3], ignore_merges: true, add_bos: false },
    Known {
        names: &[
            "qwen2",
            "deepseek-r1-qwen",
            "kormo",
            "f2llmv2",
            "megrez",
            "stablelm2",
            "hunyuan",
            "solar-open",
            "grok-2",
        ],
        expressions: &[QWEN2],
        ignore_merges: false,
        add_bos: false,
    },
    Known { names: &["qwen35"], expressions: &[QWEN35], ignore_merges: false, add_bos: false },
    Known { names: &["tekken"], expressions: &[TEKKEN], ignore_merges: true, add_bos: true },
    Known {
        names: &["deepseek-coder"],
        expressions: &[r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\u{d7ff}]+", r"\p{N}"],
        ignore_merges: false,
        add_bos: false,
    },
    Known {
        names: &["falcon"],
        expressions: &[r"[\p{P}$+<=>^~|`]+", GPT2, "[0-9][0-9][0-9]"],
        ignore_merges: false,
        add_bos: false,
    },
    Known {
        names: &["deepseek-v3", "hunyuan-dense", "joyai-llm"],
        expressions: &[r"\p{N}{1,3}", "[一-龥\u{3040}-ゟ゠-ヿ]+", DEEPSEEK3],
        ignore_merges: false,
        add_bos: false,
    },
];

impl Known {
    /// The pre-tokenizer of that name.
    ///
    /// # Errors
    /// [`Error::UnknownPreTokenizer`].
    pub(super) fn of(name: &str) -> Result<&'static Known> {
        static ALL: [Known; 12] = KNOWN;
        ALL.iter().find(|known| known.names.contains(&name)).ok_or_else(|| Error::UnknownPreTokenizer {
            found: name.to_owned(),
            known: ALL.iter().flat_map(|known| known.names).copied().collect(),
        })
    }
}

/// Cuts text into words.
pub(super) struct PreTokenizer(Vec<Step>);

struct Step {
    expression: Regex,
    /// Whether the expression takes a run of spaces with a line's end in it apart from other runs.
    has_lines: bool,
}

impl PreTokenizer {
    pub(super) fn new(known: &Known) -> PreTokenizer {
        let step = |expression: &&str| Step {
            expression: Regex::new(expression).expect("the table's expressions are right"),
            has_lines: expression.contains(r"\s*[\r\n]+"),
        };
        PreTokenizer(known.expressions.iter().map(step).collect())
    }

    /// The words of a text, which follow each other without gaps.
    pub(super) fn split<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut words = vec![text];
        for step in &self.0 {
            words = words.into_iter().flat_map(|word| step.split(word)).collect();
        }
        words
    }
}

impl Step {
    fn split<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(found) = self.expression.find_at(text, at) {
            let end = self.end(text, found.start(), found.end());
            words.extend([&text[at..found.start()], &text[found.start()..end]]);
            at = end;
        }
        words.push(&text[at..]);
        words.retain(|word| !word.is_empty());
        words
    }

    /// The end of what was found: a run of two spaces or more leaves the last one to the word that follows it.
    fn end(&self, text: &str, start: usize, end: usize) -> usize {
        let found = &text[start..end];
        let is_run = end < text.len()
            && found.chars().all(char::is_whitespace)
            && !(self.has_lines && found.ends_with(['\r', '\n']));
        match found.char_indices().next_back() {
            Some((last, _)) if is_run && last > 0 => start + last,
            _ => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split<'t>(name: &str, text: &'t str) -> Vec<&'t str> {
        let words = PreTokenizer::new(Known::of(name).unwrap()).split(text);
        assert_eq!(words.concat(), text);
        words
    }

    #[test]
    fn every_name_is_one_pre_tokenizer() {
        let mut names: Vec<&str> = KNOWN.iter().flat_map(|known| known.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for known in &KNOWN {
            assert_eq!(PreTokenizer::new(known).split(""), [""; 0]);
        }
    }

    #[test]
    fn a_run_of_spaces_leaves_the_last_to_the_word() {
        assert_eq!(split("gpt-2", "a   b\n\nc  "), ["a", "  ", " b", "\n", "\n", "c", "  "]);
        assert_eq!(split("llama-bpe", "a   b\n\n c  "), ["a", "  ", " b", "\n\n", " c", "  "]);
        assert_eq!(split("llama-bpe", "x \n\t y"), ["x", " \n", "\t", " y"]);
        assert_eq!(split("qwen2", "\u{3000}\u{3000}世界"), ["\u{3000}", "\u{3000}世界"]);
    }

    #[test]
    fn digits_are_cut_as_the_model_learnt_them() {
        assert_eq!(split("smollm", "in 2024!"), ["in", " ", "2", "0", "2", "4", "!"]);
        assert_eq!(split("llama-bpe", "in 12345"), ["in", " ", "123", "45"]);
        assert_eq!(split("gpt-2", "in 12345"), ["in", " 12345"]);
        assert_eq!(split("default", "12345 6"), ["123", "45", " ", "6"]);
    }

    #[test]
    fn contractions_and_case() {
        assert_eq!(split("llama-bpe", "I'LL we've"), ["I", "'LL", " we", "'ve"]);
        assert_eq!(split("gpt-2", "I'LL we've"), ["I", "'", "LL", " we", "'ve"]);
        assert_eq!(split("tekken", "HelloWorld HTTPServer"), ["Hello", "World", " HTTPServer"]);
    }

    #[test]
    fn a_million_spaces_take_no_time_that_hurts() {
        let text = format!("{}x", " ".repeat(1_000_000));
        assert_eq!(split("gpt-2", &text).len(), 2);
    }

    #[test]
    fn an_unknown_name_lists_the_known() {
        let error = Known::of("nonsense").err().unwrap().to_string();
        assert!(error.contains(r#""nonsense""#) && error.contains(r#""llama-bpe""#), "{error}");
    }
}
