//! Checks that no kernel function uses preprocessor conditions in its body: code that depends on the target
//! is `if constexpr` or a function of `platform`.

use super::{Problem, tree::File, tree::Tree};

const KERNELS: &str = "kernels-hip/";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let kernels = tree.with_extension(&["hip", "hpp"]).filter(|file| file.path.starts_with(KERNELS));
    kernels.flat_map(problems).collect()
}

fn problems(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    // For each open brace, whether it is a function's; and the text before the next brace.
    let (mut open, mut before) = (Vec::new(), String::new());
    let mut continues = false;
    for (number, line) in file.lines() {
        let code = without_strings(line.split("//").next().unwrap_or(""));
        let directive = code.trim_start().strip_prefix('#').map(str::trim_start);
        if !continues && open.contains(&true) && directive.is_some_and(is_conditional) {
            let message = "a condition of the preprocessor in a function's body: ask `if constexpr`, or write a \
                           function for each target in platform/";
            problems.push(Problem::error(&file.path, number, message));
        }
        // The text of a macro is not a function.
        let is_macro = continues || directive.is_some();
        continues = is_macro && line.ends_with('\\');
        if is_macro {
            continue;
        }
        for c in code.chars() {
            match c {
                '{' => open.push(!opens_scope(&before)),
                '}' => {
                    open.pop();
                }
                _ => {}
            }
            if matches!(c, '{' | '}' | ';') { before.clear() } else { before.push(c) }
        }
        before.push(' ');
    }
    problems
}

/// Whether a directive, given without its `#`, is conditional.
fn is_conditional(directive: &str) -> bool {
    directive.starts_with("if") || directive.starts_with("el")
}

/// Whether a brace after this text opens a namespace or a type.
fn opens_scope(before: &str) -> bool {
    let words = ["namespace", "struct", "enum", "union"];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let behind = words.iter().flat_map(|word| {
        let whole = move |(at, _): &(usize, &str)| {
            !before[..*at].ends_with(is_part) && !before[at + word.len()..].starts_with(is_part)
        };
        before.rmatch_indices(word).find(whole).map(|(at, _)| at + word.len())
    });
    let Some(name) = behind.max().map(|at| before[at..].trim_start()) else { return false };
    // A function's parameters have parentheses, but so does `alignas(16)`.
    let name = if name.starts_with("alignas") { name.rsplit(')').next().unwrap_or(name) } else { name };
    !name.contains(['(', ')'])
}

/// The line without string contents.
fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn conditions_in_bodies_are_seen_and_others_are_not() {
        let text = "namespace hipstack {\n#if ON_HOST\nDEVICE u32 one() { return 1; }\n#endif\nDEVICE u32 two() {\n#if ON_AMD\n    return 2;\n\
                    #elif ON_NVIDIA\n    return 3;\n#else\n    return 4;\n#endif\n}\n#ifdef X\n#endif\n}\n";
        assert_eq!(lines("kernels-hip/families/a.hip", text), [6, 8, 10]);
        assert_eq!(lines("kernels-hip/platform/a.hpp", text), [6, 8, 10]);
        assert_eq!(lines("crates/hip-host/tests/kernels/a.hip", text), Vec::<usize>::new(), "others may");
    }

    #[test]
    fn types_are_no_bodies_but_their_members_have_some() {
        let of = |open: &str| lines("kernels-hip/headers/a.hpp", &format!("{open} {{\n#if X\n#endif\n}}"));
        let scopes = [
            "struct A",
            "union B",
            "enum C : u8",
            "namespace a",
            "struct alignas(sizeof(T)) A",
            "template <class T> struct A<T*>",
            "SIZE(A, 16)\nstruct B",
        ];
        for scope in scopes {
            assert_eq!(of(scope), Vec::<usize>::new(), "{scope}");
        }
        let bodies = [
            "void f()",
            "struct A {\n METHOD u32 f() const",
            "A f(struct B b)",
            "u32 of_struct(u32 x)",
            "const auto f = [&](u32 i)",
            "KERNEL(name, const T* in)",
        ];
        for body in bodies {
            assert_eq!(of(body).len(), 1, "{body}");
        }
    }

    #[test]
    fn comments_strings_and_macros_open_nothing() {
        for opener in [
            "// void f() {",
            "static_assert(1, \"{\");",
            "#define F \\\n    void f() {",
            "#define G void g() {",
        ] {
            let seen = lines("kernels-hip/headers/a.hpp", &format!("{opener}\n#if X\n#endif\n"));
            assert_eq!(seen, Vec::<usize>::new(), "{opener}");
        }
    }
}
