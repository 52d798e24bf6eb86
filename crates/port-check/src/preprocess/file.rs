//! A file after its preprocessor lines: the code that both compilers read, and the lines themselves.

use super::condition;
use super::macros::Macros;
use super::worlds::{Part, World, Worlds};
use crate::lex::{Kind, Token};
use std::collections::HashSet;

/// What is in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File<'a> {
    /// The code that compilers for AMD's GPUs and CUDA's compilers share.
    pub(crate) code: Vec<Token<'a>>,
    pub(crate) defines: Vec<Define<'a>>,
    pub(crate) includes: Vec<Include<'a>>,
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The names of functions and types that the code for AMD's GPUs declares.
    declared: HashSet<&'a str>,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub(crate) struct Define<'a> {
    pub(crate) name: &'a str,
    pub(crate) at: usize,
    pub(crate) parameters: Option<Vec<&'a str>>,
    pub(crate) body: Vec<Token<'a>>,
    pub(crate) worlds: Worlds,
}

/// An `#include`.
#[derive(Clone, Debug)]
pub(crate) struct Include<'a> {
    pub(crate) path: &'a str,
    /// Whether it is in quotes, so that the file's own folder is searched.
    pub(crate) quoted: bool,
    pub(crate) at: usize,
    pub(crate) worlds: Worlds,
}

/// An `#if`, `#ifdef`, `#ifndef` or `#elif` in code of both compilers.
#[derive(Clone, Debug)]
pub(crate) struct Condition<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    /// Whether it holds for AMD's GPUs because macros of CUDA's compilers are missing there; `None` if these do not matter.
    pub(crate) without_cuda: Option<bool>,
}

/// The branches of an `#if` that is open.
struct Chain {
    outer: Worlds,
    /// Whether one of the branches so far was taken.
    taken: Worlds,
    here: Worlds,
    depth: usize,
}

impl<'a> File<'a> {
    /// Reads tokens that stand in these surroundings. `text` is the whole file.
    pub(super) fn read(text: &'a str, tokens: &[Token<'a>], outside: Worlds, macros: &Macros) -> File<'a> {
        let mut file = File::default();
        let mut chains: Vec<Chain> = Vec::new();
        let mut ported: Vec<Token<'a>> = Vec::new();
        let mut depth = 0;
        let mut at = 0;
        while at < tokens.len() {
            let here = chains.last().map_or(outside, |chain| chain.here);
            if !(tokens[at].first && tokens[at].is("#")) {
                let mut token = tokens[at];
                if here.part() != Part::NotAmd {
                    depth -= usize::from(token.is("}") && depth > 0);
                    token.depth = depth;
                    depth += usize::from(token.is("{"));
                    if here.part() == Part::Both { &mut file.code } else { &mut ported }.push(token);
                }
                at += 1;
                continue;
            }
            let end = (at + 1..tokens.len()).find(|next| tokens[*next].first).unwrap_or(tokens.len());
            let line = &tokens[at + 1..end];
            at = end;
            let Some((name, rest)) = line.split_first() else { continue };
            match name.text {
                "if" | "ifdef" | "ifndef" => {
                    let holds = file.condition(name.text, rest, here, macros);
                    chains.push(Chain { outer: here, taken: holds, here: here.and(holds), depth });
                }
                "elif" | "else" | "elifdef" | "elifndef" => {
                    let Some(chain) = chains.last_mut() else { continue };
                    let kind = name.text.strip_prefix("el").unwrap_or_default();
                    let reached = chain.outer.and(!chain.taken);
                    let holds =
                        if kind == "se" { Worlds::ALL } else { file.condition(kind, rest, reached, macros) };
                    chain.here = reached.and(holds);
                    chain.taken = chain.taken.or(holds);
                    depth = chain.depth;
                }
                "endif" => drop(chains.pop()),
                "define" => file.defines.extend(define(rest, here)),
                "include" => file.includes.extend(include(text, rest, here)),
                _ => {}
            }
        }
        file.declared = declarations(&file.code).chain(declarations(&ported)).collect();
        file
    }

    /// The names of functions and types that code for AMD's GPUs declares.
    pub(super) fn declared(&self) -> impl Iterator<Item = &'a str> {
        self.declared.iter().copied()
    }

    /// The macros that code of both compilers defines.
    pub(crate) fn shared_defines(&self) -> impl Iterator<Item = &Define<'a>> {
        self.defines.iter().filter(|define| define.worlds.part() == Part::Both)
    }

    /// The files that code of both compilers includes.
    pub(crate) fn shared_includes(&self) -> impl Iterator<Item = &Include<'a>> {
        self.includes.iter().filter(|include| include.worlds.part() == Part::Both)
    }

    /// What a condition says; it is noted when both compilers reach it.
    fn condition(&mut self, kind: &str, tokens: &[Token<'a>], reached: Worlds, macros: &Macros) -> Worlds {
        let holds = |world| {
            let defined = || macros.is_defined(tokens.first()?.text, world);
            match kind {
                "ifdef" => defined(),
                "ifndef" => defined().map(|defined| !defined),
                _ => condition::holds(tokens, macros, world),
            }
        };
        let amd = holds(World::Amd);
        if reached.part() == Part::Both {
            let without_cuda = if holds(World::AmdWithCudaMacros).is_none() { amd } else { None };
            self.conditions.push(Condition { tokens: tokens.to_vec(), without_cuda });
        }
        Worlds { amd, cuda: holds(World::Cuda) }
    }
}

fn define<'a>(tokens: &[Token<'a>], worlds: Worlds) -> Option<Define<'a>> {
    let (name, rest) = tokens.split_first()?;
    // Parameters follow the name without a space.
    let takes = rest.first().is_some_and(|token| token.is("(") && token.at == name.at + name.text.len());
    let end = if takes { rest.iter().position(|token| token.is(")"))? } else { 0 };
    let parameters =
        takes.then(|| rest[1..end].iter().filter(|token| !token.is(",")).map(|token| token.text).collect());
    let mut body = rest[if takes { end + 1 } else { 0 }..].to_vec();
    let mut depth = 0_usize;
    for token in &mut body {
        depth = depth.saturating_sub(usize::from(token.is("}")));
        token.depth = depth;
        depth += usize::from(token.is("{"));
    }
    Some(Define { name: name.text, at: name.at, parameters, body, worlds })
}

fn include<'a>(text: &'a str, tokens: &[Token<'a>], worlds: Worlds) -> Option<Include<'a>> {
    let first = tokens.first()?;
    let quoted = first.kind == Kind::Text;
    let path = if quoted {
        first.text.trim_matches('"')
    } else {
        let rest = text[first.at..].strip_prefix('<')?;
        &rest[..rest.find(['>', '\n'])?]
    };
    Some(Include { path, quoted, at: first.at, worlds })
}

/// The names that code gives functions with a body, and types.
fn declarations<'a>(code: &[Token<'a>]) -> impl Iterator<Item = &'a str> {
    let function = |at: usize| {
        let name = code[at].is_word() && code.get(at + 1)?.is("(");
        let close = (at + 2..code.len()).find(|next| code[*next].is(")"))?;
        // A type stands before a function's name, and a body after its parameters.
        let typed = at > 0
            && (code[at - 1].is_word() || code[at - 1].is("*") || code[at - 1].is("&"))
            && !code[at - 1].is("return");
        (name && typed && code.get(close + 1)?.is("{")).then_some(code[at].text)
    };
    let named = |at: usize| {
        let ends = code[at].is_word()
            && code.get(at + 1)?.is(";")
            && code[..at].iter().rev().take(8).any(|token| token.is("typedef"));
        let using = code[at].is_word() && at > 0 && code[at - 1].is("using") && code.get(at + 1)?.is("=");
        (ends || using).then_some(code[at].text)
    };
    let found: Vec<&str> = (0..code.len()).filter_map(|at| function(at).or_else(|| named(at))).collect();
    found.into_iter()
}
