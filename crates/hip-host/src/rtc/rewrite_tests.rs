//! Tests of the rewriting: many forms of source, and arbitrary text.

use super::rewrite;

/// The rewritten text, with white space normalised.
fn rewritten(text: &str) -> String {
    let out = rewrite(text).text;
    assert_eq!(out.matches('\n').count(), text.matches('\n').count(), "lines stay: {out}");
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

const INLINE: &str = "inline __attribute__((always_inline))";

#[track_caller]
fn becomes(text: &str, expected: &str) {
    assert_eq!(rewritten(text), expected.replace("INLINE", INLINE), "of {text}");
}

/// The registration of a kernel.
fn kernel(number: u32, parameters: &str, name: &str, bounds: &str) -> String {
    format!(
        "static ::hiphost::Registration<static_cast<void (*)({parameters})>(&{name})> hiphost_rtc_{number}({bounds});"
    )
}

/// Names of the kernels and variables that a source registers, in order of appearance.
fn registered(text: &str) -> Vec<String> {
    let out = rewrite(text).text;
    let mut names = Vec::new();
    for line in out.split("static ::hiphost::").skip(1) {
        let (kind, rest) = line.split_once('<').expect("arguments");
        let start = if kind == "Registration" { rest.find(">(&").expect("a cast") + 3 } else { 1 };
        let end = rest.find(if kind == "Registration" { ")> hiphost_rtc" } else { "> hiphost_rtc" });
        names.push(rest[start..end.expect("its end")].to_owned());
    }
    names
}

#[test]
fn a_kernel_is_inlined_and_registered_behind_its_body() {
    let text = "extern \"C\" __global__ void k(float* a, int n) { a[n] = 1; } int x;";
    let register = kernel(1, "float * a , int n", "k", "0");
    becomes(text, &format!("extern \"C\" INLINE void k(float* a, int n) {{ a[n] = 1; }} {register} int x;"));
    // A kernel that is only declared is not registered.
    becomes("__global__ void k(int); int x;", "INLINE void k(int); int x;");
}

#[test]
fn kernels_are_found_where_they_are() {
    let cases: [(&str, &[&str]); 15] = [
        ("namespace a { namespace b::c { __global__ void k() {} } }", &["k"]),
        ("extern \"C\" { __global__ void k() {} __global__ void l() {} }", &["k", "l"]),
        ("namespace { inline namespace x { static __global__ void k() {} } }", &["k"]),
        ("__attribute__((used)) __global__ __attribute__((x(1))) void __attribute__((y)) k() {}", &["k"]),
        ("__global__\nvoid\nk\n(int a)\n{\n}\n", &["k"]),
        ("[[nodiscard]] __global__ void k() noexcept {}", &["k"]),
        ("struct S { void f() { } friend __global__ void k() {} }; __global__ void l() {}", &["l"]),
        ("template <class T> __global__ void k(T) {}", &[]),
        ("template <> __global__ void k<int>(int) {}", &["k< int >"]),
        ("template __global__ void n::k<A<int>>(A<int>); int x;", &["n::k< A < int > >"]),
        ("extern template __global__ void k<int>(int);", &[]),
        ("# 1 \"k.hip\"\n# 2\ntemplate <class T> __global__ void k(T) {}", &[]),
        ("# 1 \"k.hip\"\ntemplate <> __global__ void k<int>(int) {}", &["k< int >"]),
        ("int x;\n# 9 \"k.hip\"\ntemplate __global__ void k<int>(int);", &["k< int >"]),
        ("const char* s = \"__global__ void k() {}\"; // __global__ void k() {}\n", &[]),
    ];
    for (text, names) in cases {
        assert_eq!(registered(text), names, "{text}");
    }
}

#[test]
fn no_operator_function_hides_what_follows() {
    let operators = [
        "=",
        "==",
        "!=",
        "<=",
        ">=",
        "<=>",
        "+=",
        "-=",
        "*=",
        "/=",
        "%=",
        "^=",
        "&=",
        "|=",
        "<<=",
        ">>=",
        "<",
        ">",
        "<<",
        ">>",
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "|",
        "^",
        "~",
        "!",
        "&&",
        "||",
        "++",
        "--",
        ",",
        "->",
        "->*",
        "()",
        "[]",
        "( )",
        " new[]",
        " bool",
        " const A<(1 > 2)>*",
        "\"\"_x",
    ];
    for operator in operators {
        for text in [
            format!("__device__ A operator{operator}(A a, A b) {{ return a; }}"),
            format!(
                "template <class T> __device__ inline A operator{operator} (T a, A b) noexcept {{ return a; }}"
            ),
            format!("template <> __device__ A operator{operator}<int>(A a) {{ return a; }}"),
            format!("__device__ A n::A<int>::operator{operator}(A b) const {{ return b; }}"),
            format!("struct A {{ A& operator{operator}(A b) {{ return *this; }} }};"),
            format!("struct A {{ A& operator{operator}(A) = default; friend A operator{operator}(A, A); }};"),
            format!("__device__ A operator{operator}(A a, A b);"),
        ] {
            let text = format!("{text} __global__ void k(int) {{}} __device__ int a;");
            assert_eq!(registered(&text), ["k", "a"], "{text}");
            assert_eq!(rewrite(&text).lost, "", "{text}");
        }
    }
}

#[test]
fn no_other_form_hides_what_follows() {
    for text in [
        "template <class T> requires (sizeof(T) == 4) __device__ void f(T) {}",
        "template <class T> __device__ void f(T t) requires requires { t + t; } {}",
        "template <class T> __device__ void f(T t) requires C<T> && requires (T u) { u = t; } {}",
        "template <class T> concept C = requires(T t) { t = t; };",
        "template <class T, class = std::enable_if_t<sizeof(T) < 4>> __device__ void f(T) {}",
        "template <int N, std::enable_if_t<N < 4, int> = 0> __device__ void f() {}",
        "template <int N, class = std::enable_if_t<N <= 4>> struct S { int a = 3; };",
        "__device__ auto f(int a = 3) -> decltype(a == 3) { return a == 3; }",
        "__device__ void f() try { } catch (...) { }",
        "struct S { S() : a{1}, b(2) {} int a = 1; static constexpr bool c = 1 < 2; };",
        "using A = B<(1 > 2)>; typedef int (*F)(int); enum class E : int { a = 1 }; asm(\"nop = 1;\");",
        "{ stray = 1; }",
    ] {
        let text = format!("{text} __global__ void k(int) {{}} __device__ int a;");
        assert_eq!(registered(&text), ["k", "a"], "{text}");
        assert_eq!(rewrite(&text).lost, "", "{text}");
    }
}

#[test]
fn a_kernel_may_name_its_result_in_any_way() {
    for (text, name) in [
        ("__global__ auto k(float*) -> void {}", "k"),
        ("__global__ auto k(float*) {}", "k"),
        ("typedef void nothing; __global__ nothing k(float*) {}", "k"),
        ("__global__ typename n::A<int>::type k(float*) {}", "k"),
        ("__global__ std::enable_if_t<(1 < 2), void> k(float*) {}", "k"),
        ("void __global__ __launch_bounds__(64) k(float*) {}", "k"),
        ("__global__ void (k)(float*) {}", "k"),
        ("__global__ void n::m::k(float*) {}", "n::m::k"),
        ("__global__ void ::n::k(float*) {}", "::n::k"),
        ("__global__ nothing n::k(float*) {}", "n::k"),
    ] {
        assert_eq!(registered(text), [name], "{text}");
        assert_eq!(rewrite(text).lost, "", "{text}");
    }
}

#[test]
fn static_members_are_kernels_too() {
    let cases: [(&str, &[&str]); 5] = [
        ("struct S { struct I {}; static __global__ void k(I, int a = 1) {} };", &["S::k"]),
        (
            "struct alignas(8) A::S final : B<int> { struct T { static __global__ void k() {} }; };",
            &["A::S::T::k"],
        ),
        ("template <> struct S<int> { static __global__ void k() {} };", &["S< int >::k"]),
        ("template <class T> struct S { static __global__ void k() {} };", &[]),
        ("template <class T> struct S { struct I { static __global__ void k() {} }; };", &[]),
    ];
    for (text, names) in cases {
        let out = rewrite(text);
        let found: Vec<_> = out
            .text
            .split("Registration<&")
            .skip(1)
            .filter_map(|rest| rest.split_once("> hiphost_rtc"))
            .collect();
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names, "{text}");
        assert_eq!(out.lost, "", "{text}");
    }
}

#[test]
fn kernels_that_cannot_be_read_are_named_with_their_lines() {
    let lost = |text: &str| {
        let lost = rewrite(text).lost;
        lost.lines()
            .map(|line| line.split(": error:").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(lost("# 1 \"k.hip\"\nint a;\n\nstruct { static __global__ void k() {} } s;"), ["k.hip:3"]);
    assert_eq!(lost("# 8 \"a.h\" 2\nstruct S {\nfriend __global__ void k() {} };\n# 1 \"b.h\"\n"), ["a.h:9"]);
    assert_eq!(
        lost("void f() {\n__global__ void k() {} }\nint x = (__global__ void l() {});"),
        ["text:2", "text:3"]
    );
    assert_eq!(lost("__global__ void (*k(int)) {}"), ["text:1"]);
    // Declarations are not registered.
    assert_eq!(
        lost(
            "__global__ void k(int); void f() { __global__ void k(int); } struct S { friend __global__ void k(); };"
        ),
        none
    );
}

#[test]
fn parameters_lose_their_default_values() {
    let text = "__global__ void k(int a = f(1, 2), A<int, 3> b = A<int, 3>{1, 2}, float* c = nullptr, void (*d)(int)) {}";
    let register = kernel(1, "int a , A < int , 3 > b , float * c , void ( * d ) ( int )", "k", "0");
    let out = rewritten(text);
    assert!(out.ends_with(&register), "{out}");
    // A directive in the middle, as the preprocessor leaves it.
    let out = rewritten("__global__ void k(int a,\n# 3 \"k.hip\"\nint b) {}");
    assert!(out.ends_with(&kernel(1, "int a , int b", "k", "0")), "{out}");
}

#[test]
fn launch_bounds_become_a_number_of_the_registration() {
    for text in [
        "__global__ void __launch_bounds__(64) k() {}",
        "__launch_bounds__(64, 2) __global__ void k() {}",
        "__global__ __launch_bounds__(\n# 1 \"x\"\n64) void k() {}",
    ] {
        let out = rewritten(text);
        assert!(out.ends_with(&kernel(1, "", "k", "64")), "{out}");
        assert!(!out.contains("__launch_bounds__"), "{out}");
    }
    let out = rewritten("__global__ __launch_bounds__(max<2, 3>(4, 5), 1) void k() {}");
    assert!(out.ends_with("hiphost_rtc_1(max < 2 , 3 > ( 4 , 5 ));"), "{out}");
}

#[test]
fn launch_bounds_of_a_template_are_a_template() {
    let text =
        "namespace n { template <class T, int N = (4 > 2)> __launch_bounds__(N) __global__ void k(T) {} }";
    let done = rewrite(text);
    let variable = "template < class T , int N = ( 4 > 2 ) > constexpr unsigned hiphost_bounds_k = (N);";
    assert!(done.text.contains(variable), "{}", done.text);
    let lines = done.register(&[
        "n::k<int>".into(),
        "&n::k<A<int>, 2>".into(),
        "n::other<int>".into(),
        "( &v )".into(),
    ]);
    for expected in [
        "Expression<0, &n::k<int>> hiphost_expression_0(n::hiphost_bounds_k<int>);",
        "Expression<1, &n::k<A<int>, 2>> hiphost_expression_1(n::hiphost_bounds_k<A<int>, 2>);",
        "Expression<2, &n::other<int>> hiphost_expression_2(0);",
        "Expression<3, &v> hiphost_expression_3(0);",
        "# 1 \"name expression n::k<int>\"",
    ] {
        assert!(lines.contains(expected), "{lines}");
    }
}

#[test]
fn variables_are_registered() {
    let cases: [(&str, &[&str]); 20] = [
        ("__device__ int a;", &["a"]),
        ("__constant__ float a[4][2], b = 1, *c;", &["a", "b", "c"]),
        ("static __device__ const A<int, 3> a{1, 2};", &["a"]),
        ("__device__ __attribute__((aligned(16))) char a[32] = {0, (1, 2)};", &["a"]),
        ("alignas(16) __device__ n::A<3>::B a = f<int>(1), b;", &["a", "b"]),
        ("__device__ int (*a)(int, int) = nullptr;", &["a"]),
        ("__device__ int (&a)[3] = b;", &["a"]),
        ("__device__ A a(1, 2);", &["a"]),
        ("__device__ A a(\"x\"), b;", &["a", "b"]),
        ("extern \"C\" { __managed__ unsigned long long a; }", &["a"]),
        ("extern __device__ int a;", &[]),
        ("extern \"C\" __device__ int a = 3;", &["a"]),
        ("__device__ struct { int x; } a;", &["a"]),
        ("__device__ int f(int a); __device__ int f(int a) { return a; }", &[]),
        ("__device__ auto f() -> int { return 1; } __device__ A::A(int x) : y{x}, z(x) {} int a;", &[]),
        ("__device__ A& operator+=(A& a, A b) { return a; } __device__ bool operator<(A a, A b);", &[]),
        ("template <class T> __device__ T a = T(3);", &[]),
        ("struct A { __device__ int f(); static __device__ int g() { return 1; } };", &[]),
        ("int a = 3; void f() { auto g = [] __device__ (int a) { return a; }; }", &[]),
        ("__device__ int n::a = 3;", &[]),
    ];
    for (text, names) in cases {
        assert_eq!(registered(text), names, "{text}");
    }
}

#[test]
fn shared_arrays_belong_to_the_os_thread() {
    becomes("void f() { __shared__ int a[3]; }", "void f() { static thread_local int a[3]; }");
    becomes("void f() { static __shared__ int a; }", "void f() { static thread_local int a; }");
    becomes("void f() { __shared__ static int a; }", "void f() { thread_local static int a; }");
    becomes("void f() { volatile __shared__ int a; }", "void f() { volatile static thread_local int a; }");
    becomes("__shared__ int a[2];", "static thread_local int a[2];");
    becomes("void f() { __shared__ A<extern_t> a; }", "void f() { static thread_local A<extern_t> a; }");
}

#[test]
fn dynamic_shared_memory_is_a_reference() {
    let whole = |kind: &str, name: &str| {
        format!(
            "::hiphost::same_t<{kind}>& {name} = *(::hiphost::same_t<{kind}>*)::hiphost::dynamic_shared();"
        )
    };
    for text in [
        "extern __shared__ float a[];",
        "extern __shared__ __attribute__((aligned(16))) float a[];",
        "extern __attribute__((aligned(16))) __shared__ float a[];",
        "__shared__ extern float a[];",
        "alignas(16) extern __shared__ float a[];",
    ] {
        becomes(&format!("void f() {{ {text} }}"), &format!("void f() {{ {} }}", whole("float [ ]", "a")));
    }
    let two = format!("{} {}", whole("A < 3 > [ ] [ 4 ]", "a"), whole("A < 3 > *[ ]", "b"));
    becomes(
        "void f() { if (x) { extern __shared__ A<3> a[][4], *b[]; } }",
        &format!("void f() {{ if (x) {{ {two} }} }}"),
    );
}

#[test]
fn dynamic_shared_memory_of_a_namespace_is_declared_in_each_function() {
    let own = "::hiphost::same_t<int [ ]>& a = *(::hiphost::same_t<int [ ]>*)::hiphost::dynamic_shared();";
    becomes(
        "extern __shared__ int a[]; int f() { return a[0]; } int g() { return b.x; } int h(int a) { return a; }",
        &format!(
            "extern int a[]; int f() {{ {own} {{ return a[0]; }}}} int g() {{ return b.x; }} int h(int a) {{ return a; }}"
        ),
    );
    // In a function that precedes the declaration, the name means something else.
    becomes("int f() { return a; } extern __shared__ int a[];", "int f() { return a; } extern int a[];");
    becomes(
        "extern __shared__ int a[]; struct S { int f() { return a[1]; } };",
        &format!("extern int a[]; struct S {{ int f() {{ {own} {{ return a[1]; }}}} }};"),
    );
}

#[test]
fn inline_is_said_once() {
    becomes("__forceinline__ int f();", "INLINE int f();");
    becomes(
        "static inline __device__ __forceinline__ int f();",
        "static inline __attribute__((always_inline)) int f();",
    );
    becomes(
        "__forceinline__ constexpr inline int f();",
        "__attribute__((always_inline)) constexpr inline int f();",
    );
    becomes("__forceinline__ __global__ void k();", "INLINE __attribute__((always_inline)) void k();");
    becomes("__noinline__ int f();", "__attribute__((noinline)) int f();");
    // Words inside an attribute belong to the compiler.
    becomes("__attribute__((__noinline__)) int f();", "__attribute__((__noinline__)) int f();");
}

#[test]
fn other_text_is_unchanged() {
    let text = "# 1 \"a.hip\"\nint a = b < c ? 1'000 : d >> 2; /* { */ const char* s = R\"(__shared__)\";\n#pragma once\n\tint  f( );";
    assert_eq!(rewrite(text).text, text);
}

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Fragments that mean something to the rewriting, and some that break the text around them.
const PIECES: [&str; 44] = [
    "__global__",
    "__device__",
    "__constant__",
    "__shared__",
    "__launch_bounds__",
    "__forceinline__",
    "__noinline__",
    "extern",
    "static",
    "template",
    "<",
    ">",
    "void",
    "namespace",
    "struct",
    "enum",
    "operator",
    "inline",
    "k",
    "a",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "=",
    ":",
    "::",
    "*",
    "&",
    "\"",
    "'",
    "R\"(",
    "//",
    "/*",
    "*/",
    "\n# 1 \"x\"\n",
    "\\",
    "é",
    "1'0",
    "__attribute__((",
];

#[test]
fn no_text_is_too_strange() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3000 {
        let text: Vec<&str> = (0..random.below(60)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let text = text.join([" ", ""][random.below(2)]);
        rewrite(&text).register(std::slice::from_ref(&text));
    }
}

#[test]
fn damaged_kernel_text_causes_no_panic() {
    let whole = include_str!("../../tests/rtc/forms.hip");
    let offsets: Vec<usize> = whole.char_indices().map(|(at, _)| at).collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..400 {
        let mut offset = || offsets[random.below(offsets.len())];
        let (first, second) = (offset(), offset());
        let (start, end) = (first.min(second), first.max(second));
        // Remove a part, duplicate a part, truncate, or insert something.
        let piece = PIECES[random.below(PIECES.len())];
        for text in [
            format!("{}{}", &whole[..start], &whole[end..]),
            format!("{}{}", &whole[..end], &whole[start..]),
            whole[..end].to_owned(),
            format!("{}{piece}{}", &whole[..start], &whole[start..]),
        ] {
            rewrite(&text);
        }
    }
}
