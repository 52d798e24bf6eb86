//! The value of an expression after `#if`, as far as it is known.

use super::macros::Macros;
use super::worlds::{Truth, World};
use crate::lex::Token;

/// The value of an expression in a world; `None` when it is not known or not well formed.
pub(super) fn value(tokens: &[Token<'_>], macros: &Macros, world: World) -> Option<i64> {
    if tokens.len() > LONGEST {
        return None;
    }
    let mut parser = Parser { tokens, at: 0, macros, world };
    let value = parser.ternary();
    (parser.at == tokens.len()).then_some(value).flatten()
}

/// Whether `#if` with this expression holds.
pub(super) fn holds(tokens: &[Token<'_>], macros: &Macros, world: World) -> Truth {
    value(tokens, macros, world).map(|value| value != 0)
}

struct Parser<'a, 'm> {
    tokens: &'a [Token<'a>],
    at: usize,
    macros: &'m Macros,
    world: World,
}

/// The most tokens of an expression: each may be a level of recursion.
const LONGEST: usize = 400;

/// Binary operators by strength, the weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is(sign));
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Option<i64> {
        let condition = self.binary(0);
        if !self.eat("?") {
            return condition;
        }
        let then = self.ternary();
        self.eat(":");
        let otherwise = self.ternary();
        if condition? != 0 { then } else { otherwise }
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1);
        while let Some(operator) = self.peek().filter(|token| operators.iter().any(|sign| token.is(sign))) {
            self.at += 1;
            let right = self.binary(level + 1);
            left = apply(operator.text, left, right);
        }
        left
    }

    fn unary(&mut self) -> Option<i64> {
        let token = self.peek()?;
        self.at += 1;
        match token.text {
            "!" => self.unary().map(|value| i64::from(value == 0)),
            "-" => self.unary().map(i64::wrapping_neg),
            "+" => self.unary(),
            "~" => self.unary().map(|value| !value),
            "(" => {
                let value = self.ternary();
                self.eat(")");
                value
            }
            "defined" => {
                let parenthesis = self.eat("(");
                let name = self.peek()?.text;
                self.at += 1;
                if parenthesis {
                    self.eat(")");
                }
                self.macros.is_defined(name, self.world).map(i64::from)
            }
            "true" => Some(1),
            "false" => Some(0),
            name if token.is_word() => {
                if self.peek().is_some_and(|token| token.is("(")) {
                    self.skip_call();
                    return None;
                }
                self.macros.value(name, self.world)
            }
            _ => token.integer(),
        }
    }

    fn skip_call(&mut self) {
        let mut open = 0;
        while let Some(token) = self.peek() {
            self.at += 1;
            match token.text {
                "(" => open += 1,
                ")" => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
    }
}

/// The result of an operator, which one known side may decide.
fn apply(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match operator {
        "&&" if left == Some(0) || right == Some(0) => return Some(0),
        "||" if left.is_some_and(|value| value != 0) || right.is_some_and(|value| value != 0) => {
            return Some(1);
        }
        _ => {}
    }
    let (left, right) = (left?, right?);
    let truth = |truth: bool| Some(i64::from(truth));
    match operator {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?),
        ">>" => left.checked_shr(u32::try_from(right).ok()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::tokens;

    fn amd(text: &str) -> Option<i64> {
        value(&tokens(text), &Macros::default(), World::Amd)
    }

    #[test]
    fn operators_bind_as_in_c() {
        assert_eq!(amd("1 + 2 * 3 == 7 && !0"), Some(1));
        assert_eq!(amd("(1 << 4 | 1) % 5 ? -1 : 2"), Some(-1));
        assert_eq!(amd("1 / 0"), None);
    }

    #[test]
    fn one_known_side_can_decide() {
        assert_eq!(amd("0 && UNKNOWN"), Some(0));
        assert_eq!(amd("UNKNOWN > 3 || 1"), Some(1));
        assert_eq!(amd("UNKNOWN || 0"), None);
        assert_eq!(amd("__has_builtin(x) && 0"), Some(0));
    }

    #[test]
    fn amd_defines_its_macros_and_not_those_of_cuda() {
        assert_eq!(amd("defined(__HIP_PLATFORM_AMD__) && !defined __CUDACC__"), Some(1));
        assert_eq!(amd("__CUDA_ARCH__ >= 800"), Some(0));
        assert_eq!(value(&tokens("defined(USE_ROCM)"), &Macros::default(), World::Cuda), Some(0));
        assert_eq!(value(&tokens("__CUDA_ARCH__ < 800"), &Macros::default(), World::Cuda), None);
    }
}
