//! The macros that cases are written with.

/// Calls a function of HIP's table and returns its code. Skips the case if this version of the library lacks
/// the function.
macro_rules! call {
    ($bench:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::bench::Entry::entry(&$bench.hip().$name)?;
        // SAFETY: S1, S11: the case passes live pointers, or arguments that the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

/// Calls functions in order and checks their codes.
macro_rules! expect {
    ($bench:expr, $($name:ident($($argument:expr),* $(,)?) => $code:expr);+ $(;)?) => {
        $({
            let code = call!($bench, $name($($argument),*));
            $bench.expect(code, $code, stringify!($name($($argument),*)))?;
        })+
    };
}

/// Calls functions in order and checks that they succeed.
macro_rules! ok {
    ($bench:expr, $($name:ident($($argument:expr),* $(,)?));+ $(;)?) => {
        expect!($bench, $($name($($argument),*) => $crate::codes::SUCCESS);+)
    };
}

/// A list of cases. Each name is the prefix and the function's name. `isolated` cases run in a process each.
macro_rules! cases {
    ($prefix:literal: $($name:ident),* $(,)? $(; isolated: $($alone:ident),* $(,)?)?) => {
        &[
            $($crate::case::Case { name: concat!($prefix, "/", stringify!($name)), run: $name, isolated: false },)*
            $($($crate::case::Case {
                name: concat!($prefix, "/", stringify!($alone)), run: $alone, isolated: false,
            }.isolated(),)*)?
        ]
    };
}

/// The arguments of a launch: buffers, pointers, numbers and plain structures, by value.
macro_rules! args {
    ($($argument:expr),* $(,)?) => {
        &mut [$($crate::bench::Arg::from($argument)),*]
    };
}
