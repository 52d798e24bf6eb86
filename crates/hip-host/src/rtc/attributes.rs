//! HIP's keywords in AMD's other spelling, `__attribute__((global))`, which kernel generators write: they
//! become `__global__` and so on. Attributes for AMD's GPUs are removed, since no other compiler knows them.
//! Clang's vector types become GCC's.

use super::source::Source;
use super::tokens::Kind;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Attributes without underscores, and the keywords that replace them.
const WORDS: [(&str, &str); 7] = [
    ("global", "__global__"),
    ("device", "__device__"),
    ("host", ""),
    ("shared", "__shared__"),
    ("constant", "__constant__"),
    ("managed", "__managed__"),
    ("launch_bounds", "__launch_bounds__"),
];
/// The name that include/hiphost/rtc.hpp gives to Clang's `ext_vector_type` for other compilers.
const VECTOR: &str = "hiphost_ext_vector_type";
/// The prefix of attributes that matter on AMD's GPUs only.
const OF_GPUS: &str = "amdgpu_";

/// The text with HIP's attributes replaced by keywords. Line breaks stay where they are.
pub(crate) fn as_words(text: &str) -> Cow<'_, str> {
    let source = Source::new(text);
    // Replacement text by token. Line markers stay where they are, even inside an attribute.
    let mut edits: BTreeMap<usize, String> = BTreeMap::new();
    let mut replace = |tokens: &[usize], new: String| {
        let mut tokens = tokens.iter().filter(|at| !source.is_kind(**at, Kind::Directive));
        if let Some(first) = tokens.next() {
            edits.insert(*first, new);
        }
        edits.extend(tokens.map(|at| (*at, String::new())));
    };
    let mut at = 0;
    while at < source.len() {
        let end = source.skip_attribute(at).filter(|_| source.is_any(at, &["__attribute__", "__attribute"]));
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let read = Attribute::read(&source, at);
        if let Some(lanes) = &read.lanes {
            let element = element_of(&source, at, end);
            let words: Vec<&str> = element.iter().map(|at| source.tokens[*at].text).collect();
            replace(&element, format!("::hiphost::vector_t<{}, {lanes}>", words.join(" ")));
        }
        if read.changed {
            replace(&(at..end).collect::<Vec<_>>(), read.text);
        }
        at = end;
    }
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from) = (String::new(), 0);
    for (at, new) in edits {
        let token = source.tokens[at];
        out += &text[from..token.start];
        out += &new;
        from = token.end();
    }
    Cow::Owned(out + &text[from..])
}

/// The replacement of an attribute.
#[derive(Default)]
struct Attribute {
    text: String,
    changed: bool,
    /// The element count of a vector attribute.
    lanes: Option<String>,
}

impl Attribute {
    /// Reads the attribute there; an attribute that stays is returned unchanged.
    fn read(source: &Source, at: usize) -> Self {
        let mut read = Self::default();
        let open = at + 2;
        let Some(close) = source.close(open).filter(|_| source.is(open, "(")) else { return read };
        let mut kept = Vec::new();
        let mut start = open + 1;
        while start < close {
            if source.is_kind(start, Kind::Directive) {
                start += 1;
                continue;
            }
            let mut end = start;
            while end < close && !source.is(end, ",") {
                end = source.skip(end);
            }
            let (first, value) = (source.tokens[start].text, source.join_all(start + 1..end));
            let name = first.trim_matches('_');
            if let Some((_, word)) = WORDS.iter().find(|(attribute, _)| *attribute == name) {
                read.text += &format!("{word}{value} ");
                read.changed = true;
            } else if name == VECTOR {
                read.lanes = Some(value);
                read.changed = true;
            } else if name.starts_with(OF_GPUS) {
                read.changed = true;
            } else {
                kept.push(format!("{first} {value}"));
            }
            start = end + 1;
        }
        if !kept.is_empty() {
            read.text += &format!("__attribute__(({})) ", kept.join(","));
        }
        read.text.truncate(read.text.trim_end().len());
        read
    }
}

/// The tokens of the element type from which a `typedef` or a `using` with the attribute makes a vector: all
/// but the new name. Elsewhere the tokens before the attribute, without a name.
fn element_of(source: &Source, attribute: usize, after: usize) -> Vec<usize> {
    let start = source.declaration_start(attribute);
    let end = (after..source.len()).find(|at| source.is_any(*at, &[";", ",", ")"])).unwrap_or(source.len());
    let mut words = Vec::new();
    let mut at = start;
    while at < end {
        if let Some(next) = source.skip_attribute(at) {
            at = next;
            continue;
        }
        words.push(at);
        at += 1;
    }
    let begins = |words: &[usize], word: &str| words.first().is_some_and(|at| source.is(*at, word));
    let equal = words.iter().position(|at| source.is(*at, "=")).filter(|_| begins(&words, "using"));
    if let Some(equal) = equal {
        return words.split_off(equal + 1);
    }
    if begins(&words, "typedef") {
        words.remove(0);
        words.pop();
        return words;
    }
    words.retain(|at| *at < attribute);
    if !source.is_kind(after, Kind::Word) {
        words.pop();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::as_words;

    /// Compares with white space normalised.
    #[track_caller]
    fn becomes(text: &str, expected: &str) {
        let out = as_words(text);
        assert_eq!(out.matches('\n').count(), text.matches('\n').count(), "lines stay: {out}");
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(plain(&out), plain(expected), "of {text}");
    }

    #[test]
    fn attributes_become_words() {
        becomes("extern \"C\" __attribute__((global)) void k();", "extern \"C\" __global__ void k();");
        becomes("__attribute__((__device__, const)) int f();", "__device__ __attribute__((const )) int f();");
        becomes("__attribute__((device)) __attribute__((host)) int f();", "__device__ int f();");
        becomes(
            "__attribute__((shared, aligned(16))) int a;",
            "__shared__ __attribute__((aligned ( 16 ))) int a;",
        );
        becomes("void __attribute__((amdgpu_flat_work_group_size(1, 256))) k();", "void k();");
        becomes("__attribute__((launch_bounds(64, 2)))\nvoid k();", "__launch_bounds__( 64 , 2 )\nvoid k();");
        becomes("__attribute__((global,\n used)) void k();", "__global__ __attribute__((used ))\n void k();");
        // Line markers, as the preprocessor writes them around text from a header.
        let marked = "__attribute__((\n# 1 \"x\" 3\nglobal\n# 1 \"x\"\n)) void k();";
        becomes(marked, "__global__\n# 1 \"x\" 3\n\n# 1 \"x\"\n void k();");
        // The compiler's own attributes stay, and so does malformed text.
        for text in
            ["__attribute__((aligned(4))) int a;", "int global; __attribute__(()) int a; __attribute__(("]
        {
            assert_eq!(as_words(text), text);
        }
    }

    #[test]
    fn vectors_become_those_of_another_compiler() {
        let vector = |element: &str, lanes: &str| format!("::hiphost::vector_t<{element}, ( {lanes} )>");
        for (text, element, lanes, expected) in [
            ("typedef float v __attribute__((NAME(4)));", "float", "4", "typedef V v ;"),
            (
                "int a; typedef __attribute__((NAME(2))) unsigned int v;",
                "unsigned int",
                "2",
                "int a; typedef V v;",
            ),
            ("using v = n::A<2>\n__attribute__((NAME(2 * N)));", "n :: A < 2 >", "2 * N", "using v = V ;"),
            (
                "};\n# 9 \"x\"\nusing v = int __attribute__((NAME(2)));",
                "int",
                "2",
                "};\n# 9 \"x\"\nusing v = V ;",
            ),
            (
                "using v = __attribute__((NAME(8), aligned(4))) T;",
                "T",
                "8",
                "using v = __attribute__((aligned ( 4 ))) V;",
            ),
            ("float __attribute__((NAME(4))) v = {1};", "float", "4", "V v = {1};"),
            ("void f(float v __attribute__((NAME(4))));", "float", "4", "void f(V v );"),
            (
                "using v = float __attribute__((\n# 2 \"x\" 3\nNAME\n# 2 \"x\"\n(4)));",
                "float",
                "4",
                "using v = V # 2 \"x\" 3 # 2 \"x\" ;",
            ),
        ] {
            becomes(&text.replace("NAME", super::VECTOR), &expected.replace('V', &vector(element, lanes)));
        }
    }
}
