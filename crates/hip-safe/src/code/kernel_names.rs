//! The names of the kernels in a text, for messages: as far as they can be seen without compiling it.

/// The identifier before the parameters that follow each `__global__`, in order. What macros make is not seen.
pub(crate) fn kernel_names(text: &str) -> Vec<String> {
    let mut tokens = Tokens { rest: text };
    let mut names = Vec::new();
    while let Some(token) = tokens.next() {
        if token == Token::Word("__global__")
            && let Some(name) = name_of_function(&mut tokens)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// The name before the parameters of a function, past its attributes and template arguments.
fn name_of_function<'a>(tokens: &mut Tokens<'a>) -> Option<&'a str> {
    let mut last = None;
    loop {
        match tokens.next()? {
            Token::Word(word) => last = Some(word),
            Token::Sign('(') if last.is_some_and(is_attribute) => tokens.skip_to(('(', ')')),
            Token::Sign('(') => return last,
            Token::Sign('<') => tokens.skip_to(('<', '>')),
            Token::Sign(';' | '{' | '}') => return None,
            Token::Sign(_) => {}
        }
    }
}

fn is_attribute(word: &str) -> bool {
    word.starts_with("__") || word == "alignas"
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// An identifier, a keyword or a number.
    Word(&'a str),
    Sign(char),
}

/// The words and signs of a C++ text, without comments and what is quoted.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    /// Skips what stands between two signs, the first of which was read.
    fn skip_to(&mut self, (open, close): (char, char)) {
        let mut depth = 1;
        while depth > 0
            && let Some(token) = self.next()
        {
            match token {
                Token::Sign(sign) if sign == open => depth += 1,
                Token::Sign(sign) if sign == close => depth -= 1,
                _ => {}
            }
        }
    }

    fn skip_quoted(&mut self, quote: char) {
        let mut escaped = false;
        let end = self.rest.char_indices().find(|&(_, c)| {
            let ends = c == quote && !escaped || c == '\n';
            escaped = c == '\\' && !escaped;
            ends
        });
        self.rest = end.map_or("", |(at, c)| &self.rest[at + c.len_utf8()..]);
    }

    fn skip_past(&mut self, end: &str) {
        self.rest = self.rest.split_once(end).map_or("", |(_, after)| after);
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.rest = self.rest.trim_start();
            let first = self.rest.chars().next()?;
            if self.rest.starts_with("//") {
                self.skip_past("\n");
            } else if self.rest.starts_with("/*") {
                self.skip_past("*/");
            } else if first == '_' || first.is_alphanumeric() {
                let is_part = |c: char| c == '_' || c.is_alphanumeric();
                let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(Token::Word(word));
            } else {
                self.rest = &self.rest[first.len_utf8()..];
                if matches!(first, '"' | '\'') {
                    self.skip_quoted(first);
                } else {
                    return Some(Token::Sign(first));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_the_parameters() {
        let text = "
            // __global__ void comment(int);
            /* __global__ void other_comment(int); */
            const char* quoted = \"__global__ void quoted(int) \\\" {\";
            extern \"C\" __global__ void add(const float* a) {}
            template <class T> __global__ __launch_bounds__(64, 2) void scale(T* a) { a[0] = f(1); }
            template <> __global__ void scale<float>(float*);
            namespace n { static __global__ void
                inner (int) ; }
            __global__ int variable;
            __device__ void no_kernel(int);
            __attribute__((used)) __global__ __attribute__((nothrow)) void last() {}
            __global__";
        assert_eq!(kernel_names(text), ["add", "scale", "inner", "last"]);
        assert!(kernel_names("").is_empty());
        assert!(kernel_names("\"unfinished __global__ void a(").is_empty());
    }
}
