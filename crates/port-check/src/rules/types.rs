//! What declared types tell.

use crate::lex::Token;
use crate::scene::{Function, Scene};
use std::ops::Range;

/// Names of integers with 32 bits, without those that also stand for others, as `long`.
const WORDS_OF_32_BITS: [&str; 8] =
    ["int", "unsigned", "uint32_t", "int32_t", "uint", "u32", "signed", "std"];
/// Words around a type that say nothing of its width.
const AROUND: [&str; 6] = ["const", "volatile", "static", "register", "constexpr", "__restrict__"];

/// Whether a type is an integer of 32 bits, and no pointer.
pub(super) fn is_32_bits(of: &[Token<'_>]) -> bool {
    let mut words = of.iter().filter(|token| !AROUND.contains(&token.text) && !token.is("::")).peekable();
    words.peek().is_some() && words.all(|token| WORDS_OF_32_BITS.contains(&token.text))
}

/// Whether a type, or an expression with a cast, names one of these types.
pub(super) fn names(of: &[Token<'_>], types: &[&str]) -> bool {
    of.iter().any(|token| token.is_word() && types.contains(&token.text))
}

/// The type of what an argument points to, as tokens: by a cast, or by the declaration of the first name in it.
pub(super) fn pointed<'a>(
    scene: &Scene<'a>,
    function: Option<&Function>,
    argument: Range<usize>,
) -> Vec<Token<'a>> {
    let tokens = &scene.tokens[argument.clone()];
    // `(half*)p` and `reinterpret_cast<half*>(p)` say it themselves.
    if tokens.windows(2).any(|pair| pair[0].is("*") && (pair[1].is(")") || pair[1].is(">"))) {
        return tokens.to_vec();
    }
    let name = tokens.iter().find(|token| token.is_word());
    let declared = name.and_then(|name| scene.type_of(function?, name.text));
    declared.map(<[Token<'a>]>::to_vec).unwrap_or_default()
}
