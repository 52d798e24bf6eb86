//! Strided forms of operations that cuBLAS has only for one operand: they call cuBLAS once for each.

/// `one, many<widths and types> = Trait.method |handle, count| (arguments) { checks }`, where the arguments are in BLAS's order; an
/// array of elements has its increment or leading dimension and its stride in brackets; `; result: type` is a result, of which there
/// is one for each.
macro_rules! adapt {
    (@none $stride:ident) => { 0 };
    (@hold $handle:ident, $array:ident, $stride:ident) => { aligned($array)? };
    (@hold $handle:ident, $scalar:ident) => { let $scalar = Hold::hold($scalar, $handle)?; };
    (@held $array:ident, $stride:ident) => { $array };
    (@held $scalar:ident) => { Hold::held(&$scalar) };
    (@into $handle:ident, $index:ident, $call:expr) => { $call? };
    (@into $handle:ident, $index:ident, $call:expr, $result:ident: $Result:ty) => {
        in_place($handle.on_host(), $result.at($index, 1), size_of::<$Result>(), |$result| $call)?
    };
    ($(
        $(#[$doc:meta])*
        $one:ident, $many:ident<$I:ident $(, $G:ident)*> = $Call:ident.$method:ident |$handle:ident, $count:ident|
        ($($name:ident: $type:ty $([$step:ident, $stride:ident])?),* $(; $result:ident: $Result:ty)?) { $($check:tt)* }
    )*) => {$(
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $many<$I: Int, $($G: Scalar),*>(
            handle: rocblas_handle,
            $($name: $type $(, $step: $I, $stride: rocblas_stride)?,)*
            $count: $I
            $(, $result: *mut $Result)?
        ) -> rocblas_status
        where
            Cublas: $Call<$I, $($G),*>,
        {
            // SAFETY: S2, S11: the caller's arguments, scalars live if they are on the host; the handle is live and its context current.
            with(handle, |$handle| unsafe {
                $($check)*
                $(
                    adapt!(@hold $handle, $name $(, $stride)?);
                )*
                $(
                    let $name: $type = adapt!(@held $name $(, $stride)?);
                )*
                let function = cublas().$method();
                for index in 0..$count.long() {
                    adapt!(@into $handle, index, done(function(
                        $handle.raw,
                        $($name $(.at(index, $stride))?.pass() $(, $step)?,)*
                        $($result,)?
                    )) $(, $result: $Result)?);
                }
                Ok(())
            })
        }

        $(#[$doc])*
        pub(super) unsafe extern "C" fn $one<$I: Int, $($G: Scalar),*>(
            handle: rocblas_handle,
            $($name: $type $(, $step: $I)?,)*
            $($result: *mut $Result)?
        ) -> rocblas_status
        where
            Cublas: $Call<$I, $($G),*>,
        {
            // SAFETY: S11: the caller's arguments; one is as many, whatever the stride.
            unsafe { $many(handle, $($name $(, $step, adapt!(@none $stride))?,)* $I::of(1) $(, $result)?) }
        }
    )*};
}

pub(super) use adapt;
