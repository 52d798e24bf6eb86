//! The words that cases are written in.

/// Calls a function of HIP's table and gives its code. A function that this version of the library lacks skips the case.
macro_rules! call {
    ($bench:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::bench::Entry::entry(&$bench.hip().$name)?;
        // SAFETY: S1, S11: the case hands over live places, or what the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

/// Calls functions in order and expects the codes.
macro_rules! expect {
    ($bench:expr, $($name:ident($($argument:expr),* $(,)?) => $code:expr);+ $(;)?) => {
        $({
            let code = call!($bench, $name($($argument),*));
            $bench.expect(code, $code, stringify!($name($($argument),*)))?;
        })+
    };
}

/// Calls functions in order and expects success.
macro_rules! ok {
    ($bench:expr, $($name:ident($($argument:expr),* $(,)?));+ $(;)?) => {
        expect!($bench, $($name($($argument),*) => $crate::codes::SUCCESS);+)
    };
}

/// A list of cases: the name of each is the prefix and the function's name. `isolated` ones have a process each.
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
