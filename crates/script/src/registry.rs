//! The functions of scripts: their names, and how they are made from methods.

use std::collections::BTreeSet;
use std::fmt::Display;

use rhai::{Dynamic, Engine};
use tensor_core::{Device, QTensor, Tensor};

use crate::argument::array;
use crate::error::{Returned, failed};

/// The engine, and the names of what was added to it.
pub(crate) struct Registry {
    pub engine: Engine,
    names: BTreeSet<String>,
}

impl Registry {
    pub(crate) fn new() -> Registry {
        Registry { engine: Engine::new(), names: BTreeSet::new() }
    }

    /// The engine, to which a function or property of that name is added.
    pub(crate) fn named(&mut self, name: &str) -> &mut Engine {
        self.names.insert(name.to_owned());
        &mut self.engine
    }

    pub(crate) fn into_parts(self) -> (Engine, BTreeSet<String>) {
        (self.engine, self.names)
    }
}

/// A result of an operation as a value.
pub(crate) trait IntoValue {
    fn into_value(self) -> Dynamic;
}

macro_rules! values {
    ($($type:ty, $value:ident => $made:expr;)+) => {
        $(impl IntoValue for $type {
            fn into_value(self) -> Dynamic {
                let $value = self;
                $made
            }
        })+
    };
}

values! {
    Tensor, value => Dynamic::from(value);
    QTensor, value => Dynamic::from(value);
    Device, value => Dynamic::from(value);
    Dynamic, value => value;
    (), _value => Dynamic::UNIT;
    bool, value => value.into();
    f64, value => value.into();
    usize, value => Dynamic::from_int(value.try_into().unwrap_or(i64::MAX));
    String, value => value.into();
    (Tensor, Tensor), pair => array([pair.0, pair.1].map(Dynamic::from));
    Vec<Tensor>, values => array(values.into_iter().map(Dynamic::from));
    Vec<String>, values => array(values);
    Vec<usize>, values => array(values.into_iter().map(IntoValue::into_value));
    Vec<u32>, values => array(values.into_iter().map(i64::from));
}

/// What a function returns of a result.
pub(crate) fn finish<T: IntoValue, E: Display>(result: Result<T, E>) -> Returned {
    result.map(T::into_value).map_err(failed)
}

/// Adds methods of a type under their names: a row is `name(argument: type, …);`, with the types of [`crate::argument`].
macro_rules! methods {
    ($registry:expr, $receiver:ty; $($name:ident($($argument:ident: $type:ty),*);)+) => {$(
        $registry.named(stringify!($name)).register_fn(
            stringify!($name),
            |this: &mut $receiver $(, $argument: rhai::Dynamic)*| -> crate::error::Returned {
                crate::operands::naming_operands(this, &[$(&$argument),*], |this| {
                    $(let $argument =
                        <$type as crate::argument::Argument>::take(&$argument, stringify!($name), stringify!($argument))?;)*
                    crate::registry::finish(this.$name($(crate::argument::Argument::pass(&$argument)),*))
                })
            },
        );
    )+};
}
pub(crate) use methods;

/// Adds functions: a row is `name(argument: type, …) => result;`.
macro_rules! functions {
    ($registry:expr; $($name:literal($($argument:ident: $type:ty),*) => $made:expr;)+) => {$(
        $registry.named($name).register_fn($name, {
            move |$($argument: rhai::Dynamic),*| -> crate::error::Returned {
                crate::operands::naming_operands(&mut (), &[$(&$argument),*], |()| {
                    $(let $argument =
                        <$type as crate::argument::Argument>::take(&$argument, $name, stringify!($argument))?;)*
                    crate::registry::finish($made)
                })
            }
        });
    )+};
}
pub(crate) use functions;

/// Adds properties: a row is `name => value;` for the receiver `this`.
macro_rules! properties {
    ($registry:expr, $receiver:ty, $this:ident; $($name:literal => $made:expr;)+) => {$(
        $registry.named($name).register_get($name, |$this: &mut $receiver| -> crate::error::Returned {
            crate::registry::finish(Ok::<_, std::convert::Infallible>($made))
        });
    )+};
}
pub(crate) use properties;

/// Adds functions that make tensors: a row is `name(argument: type, …) dtype => tensor;`, where the tensor is made with `with`: a dtype
/// and a device. The dtype of the row and the script's device are those of calls that give none. Methods have their receiver in
/// brackets.
macro_rules! creations {
    ($registry:expr, $context:expr, $with:ident, $receiver:tt;
     $($name:literal($($argument:ident: $type:ty),*) $dtype:ident => $made:expr;)+) => {
        $(crate::registry::creation!($registry, $context, $with, $receiver, $name, ($($argument: $type),*), $dtype, $made);)+
    };
}
pub(crate) use creations;

macro_rules! creation {
    ($registry:expr, $context:expr, $with:ident, [$($this:ident: $receiver:ty)?],
     $name:literal, ($($argument:ident: $type:ty),*), $dtype:ident, $made:expr) => {{
        use rhai::Dynamic;
        use tensor_core::{DType, Device};
        use crate::argument::Argument;

        let make = |$($this: &mut $receiver,)? $($argument: Dynamic,)* $with: (DType, &Device)| -> crate::error::Returned {
            $(let $argument = <$type as Argument>::take(&$argument, $name, stringify!($argument))?;)*
            crate::registry::finish($made)
        };
        let (one, two) = (std::rc::Rc::clone($context), std::rc::Rc::clone($context));
        $registry
            .named($name)
            .register_fn($name, move |$($this: &mut $receiver,)? $($argument: Dynamic),*| {
                make($($this,)? $($argument,)* (DType::$dtype, &one.device))
            })
            .register_fn($name, move |$($this: &mut $receiver,)? $($argument: Dynamic,)* dtype: Dynamic| {
                make($($this,)? $($argument,)* (DType::take(&dtype, $name, "dtype")?, &two.device))
            })
            .register_fn($name, move |$($this: &mut $receiver,)? $($argument: Dynamic,)* dtype: Dynamic, device: Device| {
                make($($this,)? $($argument,)* (DType::take(&dtype, $name, "dtype")?, &device))
            });
    }};
}
pub(crate) use creation;
