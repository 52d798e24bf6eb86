//! The three forms of each function, `plain`, `batched` and `strided`, from one description of its arguments.

/// Makes the C functions of an operation, generic over the width of its sizes (`I`) and over its types.
///
/// `forms!("gemm", "" [T: Element] [T] gemm(m: int, alpha: *const T, [a: in T, lda, stride_a], batch))` makes
/// `plain::<I, T>(handle, m: I, alpha: *const T, a: *const T, lda: I)` and so on. Each calls `gemm::<T>` with sizes as i64 and with an
/// `Operand` in place of the arguments in brackets; `batch` is how many there are.
///
/// In brackets: `in T` and `out T` are matrices or vectors with a step; `one T` has none; `from t` and `into t` are untyped, with a type
/// `t` behind; `reads` and `writes` are untyped.
macro_rules! forms {
    ($name:literal, $end:literal [$($decl:tt)*] [$($given:tt)*] $body:ident($($args:tt)*)) => {
        $crate::c::forms::forms! { @go [$name, $end [$($decl)*] [$($given)*] $body] {} {} {} {} {} {} $($args)*, }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: in $t:ty, $step:ident, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *const $t, $step: I,} {$($pa)* Operand::one($n, I::wide($step)),}
            {$($bp)* $n: *const *const $t, $step: I,} {$($ba)* Operand::addresses($n, I::wide($step)),}
            {$($sp)* $n: *const $t, $step: I, $stride: i64,} {$($sa)* Operand::strided($n, I::wide($step), $stride),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: out $t:ty, $step:ident, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *mut $t, $step: I,} {$($pa)* Operand::one($n, I::wide($step)),}
            {$($bp)* $n: *const *mut $t, $step: I,} {$($ba)* Operand::addresses($n, I::wide($step)),}
            {$($sp)* $n: *mut $t, $step: I, $stride: i64,} {$($sa)* Operand::strided($n, I::wide($step), $stride),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: one $t:ty, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *mut $t,} {$($pa)* Operand::one($n, 1),}
            {$($bp)* $n: *const *mut $t,} {$($ba)* Operand::addresses($n, 1),}
            {$($sp)* $n: *mut $t, $stride: i64,} {$($sa)* Operand::strided($n, 1, $stride),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: from $t:ident, $step:ident, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *const c_void, $t: rocblas_datatype, $step: I,} {$($pa)* Operand::one($n, I::wide($step)), $t,}
            {$($bp)* $n: *const c_void, $t: rocblas_datatype, $step: I,} {$($ba)* Operand::addresses($n, I::wide($step)), $t,}
            {$($sp)* $n: *const c_void, $t: rocblas_datatype, $step: I, $stride: i64,}
            {$($sa)* Operand::strided($n, I::wide($step), $stride), $t,}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: into $t:ident, $step:ident, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *mut c_void, $t: rocblas_datatype, $step: I,} {$($pa)* Operand::one($n, I::wide($step)), $t,}
            {$($bp)* $n: *mut c_void, $t: rocblas_datatype, $step: I,} {$($ba)* Operand::addresses($n, I::wide($step)), $t,}
            {$($sp)* $n: *mut c_void, $t: rocblas_datatype, $step: I, $stride: i64,}
            {$($sa)* Operand::strided($n, I::wide($step), $stride), $t,}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: reads, $step:ident, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *const c_void, $step: I,} {$($pa)* Operand::one($n, I::wide($step)),}
            {$($bp)* $n: *const c_void, $step: I,} {$($ba)* Operand::addresses($n, I::wide($step)),}
            {$($sp)* $n: *const c_void, $step: I, $stride: i64,} {$($sa)* Operand::strided($n, I::wide($step), $stride),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}
        [$n:ident: writes, $step:ident, $stride:ident], $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: *mut c_void, $step: I,} {$($pa)* Operand::one($n, I::wide($step)),}
            {$($bp)* $n: *mut c_void, $step: I,} {$($ba)* Operand::addresses($n, I::wide($step)),}
            {$($sp)* $n: *mut c_void, $step: I, $stride: i64,} {$($sa)* Operand::strided($n, I::wide($step), $stride),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*} batch, $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)*} {$($pa)* 1,}
            {$($bp)* batch_count: I,} {$($ba)* I::wide(batch_count),}
            {$($sp)* batch_count: I,} {$($sa)* I::wide(batch_count),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*} $n:ident: int, $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: I,} {$($pa)* I::wide($n),}
            {$($bp)* $n: I,} {$($ba)* I::wide($n),}
            {$($sp)* $n: I,} {$($sa)* I::wide($n),}
            $($rest)* }
    };
    (@go $fixed:tt {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*} $n:ident: $t:ty, $($rest:tt)*) => {
        $crate::c::forms::forms! { @go $fixed
            {$($pp)* $n: $t,} {$($pa)* $n,}
            {$($bp)* $n: $t,} {$($ba)* $n,}
            {$($sp)* $n: $t,} {$($sa)* $n,}
            $($rest)* }
    };
    (@go [$name:literal, $end:literal [$($decl:tt)*] [$($given:tt)*] $body:ident]
        {$($pp:tt)*} {$($pa:tt)*} {$($bp:tt)*} {$($ba:tt)*} {$($sp:tt)*} {$($sa:tt)*}) => {
        /// The only operand.
        pub(crate) unsafe extern "C" fn plain<I: Int, $($decl)*>(handle: rocblas_handle, $($pp)*) -> rocblas_status {
            // SAFETY: S11: the C function's contract.
            status(begin(handle, concat!("rocblas_", $name, $end)).and_then(|call| unsafe { $body::<$($given)*>(call, $($pa)*) }))
        }

        /// The operands that an array of addresses names.
        pub(crate) unsafe extern "C" fn batched<I: Int, $($decl)*>(handle: rocblas_handle, $($bp)*) -> rocblas_status {
            // SAFETY: S11: the C function's contract.
            status(begin(handle, concat!("rocblas_", $name, "_batched", $end)).and_then(|call| unsafe { $body::<$($given)*>(call, $($ba)*) }))
        }

        /// The operands of a strided batch.
        pub(crate) unsafe extern "C" fn strided<I: Int, $($decl)*>(handle: rocblas_handle, $($sp)*) -> rocblas_status {
            // SAFETY: S11: the C function's contract.
            status(begin(handle, concat!("rocblas_", $name, "_strided_batched", $end)).and_then(|call| unsafe { $body::<$($given)*>(call, $($sa)*) }))
        }
    };
}

pub(crate) use forms;
