//! Arguments of functions: values of the language as what an operation takes.

use rhai::{Array, Dynamic, Map};
use tensor_core::{DType, Device, QTensor, Scalar, Shape, ShapeWithHole, Tensor};

use crate::error::{Returned, failed};
use crate::text::{Encoder, Language, Session, SharedTokenizer};
use crate::weights::SharedLayer;

/// What an operation takes.
pub(crate) trait Argument: Sized {
    /// As the operation takes it.
    type Passed<'a>
    where
        Self: 'a;

    /// What it must be, for messages.
    const EXPECTED: &'static str;

    /// `None` if the value is something else.
    fn of(value: &Dynamic) -> Option<Self>;

    fn pass(&self) -> Self::Passed<'_>;

    /// # Errors
    /// That names the operation, the argument and what it is.
    fn take(value: &Dynamic, operation: &str, name: &str) -> Returned<Self> {
        Self::of(value).ok_or_else(|| {
            failed(format!("{operation}: {name} is {}; expected {}", described(value), Self::EXPECTED))
        })
    }
}

/// The value, if it is of that type. Cloning it counts a reference.
pub(crate) fn is_a<T: Clone + 'static>(value: &Dynamic) -> Option<T> {
    value.read_lock::<T>().map(|value| value.clone())
}

/// An axis; a negative one counts from the end.
pub(crate) type Axis = isize;
/// One axis or several.
pub(crate) type Axes = Vec<isize>;
/// Lengths, all of them known.
pub(crate) type Sizes = Vec<usize>;

/// Lengths for `reshape`, of which one may be -1: it follows from the others.
#[derive(Debug, Clone)]
pub(crate) struct Lengths(Vec<Option<usize>>);

impl ShapeWithHole for Lengths {
    fn into_shape(self, elements: usize, operation: &'static str) -> tensor_core::Result<Shape> {
        let known: Vec<usize> = self.0.iter().copied().flatten().collect();
        let missing = match self.0.len() - known.len() {
            0 => 1,
            1 => elements.checked_div(Shape::from(known).elements(operation)?).unwrap_or(0),
            _ => {
                let what = "more than one length is -1".to_owned();
                return Err(tensor_core::Error::new(operation, tensor_core::ErrorKind::Argument { what }));
            }
        };
        Ok(self.0.into_iter().map(|length| length.unwrap_or(missing)).collect())
    }
}

macro_rules! arguments {
    ($($type:ty as $passed:ty, $expected:literal, $value:ident => $of:expr, $this:ident => $pass:expr;)+) => {$(
        impl Argument for $type {
            type Passed<'a> = $passed;
            const EXPECTED: &'static str = $expected;

            fn of($value: &Dynamic) -> Option<Self> {
                $of
            }

            fn pass(&self) -> Self::Passed<'_> {
                let $this = self;
                $pass
            }
        }
    )+};
}

arguments! {
    Tensor as &'a Tensor, "a tensor", value => is_a(value), this => this;
    QTensor as &'a QTensor, "a quantized tensor", value => is_a(value), this => this;
    Option<Tensor> as Option<&'a Tensor>, "a tensor or ()",
        value => if value.is_unit() { Some(None) } else { is_a(value).map(Some) }, this => this.as_ref();
    Vec<Tensor> as &'a [Tensor], "an array of tensors", value => all(value), this => this;
    usize as usize, "a whole number, 0 or more",
        value => value.as_int().ok().and_then(|number| number.try_into().ok()), this => *this;
    Axis as isize, "an axis: a whole number",
        value => value.as_int().ok().and_then(|number| number.try_into().ok()), this => *this;
    i64 as i64, "a whole number", value => value.as_int().ok(), this => *this;
    u32 as u32, "a whole number from 0 to 2^32 - 1",
        value => value.as_int().ok().and_then(|number| number.try_into().ok()), this => *this;
    f64 as f64, "a number", value => Scalar::of(value).map(Scalar::to_f64), this => *this;
    Option<f64> as Option<f64>, "a number or ()",
        value => if value.is_unit() { Some(None) } else { f64::of(value).map(Some) }, this => *this;
    bool as bool, "true or false", value => value.as_bool().ok(), this => *this;
    String as &'a str, "a text", value => value.clone().into_string().ok(), this => this;
    Vec<String> as &'a [String], "a text or an array of texts", value => one_or_all(value), this => this;
    Vec<u32> as &'a [u32], "an array of whole numbers from 0 to 2^32 - 1", value => all(value), this => this;
    Scalar as Scalar, "a number", value => match (value.as_int(), value.as_float()) {
        (Ok(number), _) => Some(Scalar::Int(number)),
        (_, Ok(number)) => Some(Scalar::Float(number)),
        _ => None,
    }, this => *this;
    Axes as &'a [isize], "an axis or an array of axes", value => one_or_all(value), this => this;
    Sizes as &'a [usize], "a length or an array of lengths, 0 or more", value => one_or_all(value), this => this;
    Lengths as Lengths, "an array of lengths, of which one may be -1", value => {
        let lengths: Vec<i64> = one_or_all(value)?;
        let length = |&length: &i64| if length == -1 { Some(None) } else { usize::try_from(length).ok().map(Some) };
        lengths.iter().map(length).collect::<Option<_>>().map(Lengths)
    }, this => this.clone();
    DType as DType, "a dtype: \"u8\" \"u32\" \"i16\" \"i32\" \"i64\" \"f8e4m3\" \"bf16\" \"f16\" \"f32\" \"f64\"",
        value => String::of(value)?.parse().ok(), this => *this;
    Device as &'a Device, "a device, such as device(\"host:0\")", value => is_a(value), this => this;
    Map as &'a Map, "a map", value => is_a(value), this => this;
}

fn all<T: Argument>(value: &Dynamic) -> Option<Vec<T>> {
    value.as_array_ref().ok()?.iter().map(T::of).collect()
}

fn one_or_all<T: Argument>(value: &Dynamic) -> Option<Vec<T>> {
    if value.is_array() { all(value) } else { T::of(value).map(|value| vec![value]) }
}

/// The values of an array that a message shows.
pub(crate) const FEW: usize = 8;

/// How deep arrays and maps may lie in each other to be printed.
pub(crate) const DEEPEST: usize = 64;

/// What a value is, for messages: of tensors the shape, dtype and device.
pub(crate) fn described(value: &Dynamic) -> String {
    described_at(value, 0)
}

fn described_at(value: &Dynamic, depth: usize) -> String {
    if let Some(tensor) = is_a::<Tensor>(value) {
        return format!("the tensor {} {} on {}", tensor.shape(), tensor.dtype(), tensor.device());
    }
    if let Some(tensor) = is_a::<QTensor>(value) {
        return format!("the quantized tensor {} {} on {}", tensor.shape(), tensor.dtype(), tensor.device());
    }
    if let Some(array) = value.read_lock::<Array>().filter(|array| array.len() <= FEW) {
        if depth == DEEPEST {
            return "[…]".to_owned();
        }
        let inner = array.iter().map(|value| described_at(value, depth + 1));
        return format!("[{}]", inner.collect::<Vec<_>>().join(", "));
    }
    if value.is_array() {
        return "an array".to_owned();
    }
    if value.is_map() {
        return "a map".to_owned();
    }
    let named = NAMES.iter().find(|(_, is, _)| is(value)).map(|(_, _, article)| *article);
    named.map_or_else(|| format!("{value:?}"), str::to_owned)
}

/// Whether a value is of a type.
type Is = fn(&Dynamic) -> bool;

/// The types of scripts that are not rhai's: name, test, and name with an article.
pub(crate) const NAMES: [(&str, Is, &str); 9] = [
    ("tensor", |value| value.is::<Tensor>(), "a tensor"),
    ("quantized tensor", |value| value.is::<QTensor>(), "a quantized tensor"),
    ("model", |value| value.is::<::weights::Model>(), "a model"),
    ("layer", |value| value.is::<SharedLayer>(), "a layer"),
    ("language model", |value| value.is::<Language>(), "a language model"),
    ("session", |value| value.is::<Session>(), "a session"),
    ("tokenizer", |value| value.is::<SharedTokenizer>(), "a tokenizer"),
    ("encoder", |value| value.is::<Encoder>(), "an encoder"),
    ("generator", |value| value.is::<tensor_core::Generator>(), "a generator"),
];

/// An array of numbers or texts, or of arrays of them.
pub(crate) fn array<T: Into<Dynamic>>(values: impl IntoIterator<Item = T>) -> Dynamic {
    Dynamic::from_array(values.into_iter().map(Into::into).collect::<Array>())
}

/// A value as `print` prints it; texts in arrays and maps have quotes.
pub(crate) fn text_of(value: &Dynamic) -> String {
    text_at(value, 0)
}

fn text_at(value: &Dynamic, depth: usize) -> String {
    if let Some(tensor) = is_a::<Tensor>(value) {
        return tensor.to_string();
    }
    if let Some(device) = is_a::<Device>(value) {
        return device.to_string();
    }
    if depth == DEEPEST && (value.is_array() || value.is_map()) {
        return "…".to_owned();
    }
    let inner =
        |value: &Dynamic| if value.is_string() { format!("{value:?}") } else { text_at(value, depth + 1) };
    if let Some(array) = value.read_lock::<Array>() {
        return format!("[{}]", array.iter().map(inner).collect::<Vec<_>>().join(", "));
    }
    if let Some(map) = value.read_lock::<Map>() {
        let named = map.iter().map(|(name, value)| format!("{name}: {}", inner(value)));
        return format!("#{{{}}}", named.collect::<Vec<_>>().join(", "));
    }
    if value.is_variant() { described(value) } else { value.to_string() }
}
