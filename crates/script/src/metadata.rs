//! Metadata of GGUF files as maps.

use rhai::{Array, Dynamic, Map};
use weights::gguf::{self, Metadata, Value};

use crate::argument::{Argument, array, described, is_a};
use crate::error::{Returned, failed};

/// Numbers become `u32`, or `i64` where they do not fit, and `f32`; arrays become those of texts, `i32` or `f32`.
///
/// # Errors
/// That a value is none of metadata.
pub(crate) fn of_map(map: &Map) -> Returned<Metadata> {
    map.iter().map(|(key, value)| Ok((key.to_string(), of_value(key, value)?))).collect()
}

fn of_value(key: &str, value: &Dynamic) -> Returned<Value> {
    if let Some(text) = String::of(value) {
        return Ok(Value::String(text));
    }
    match (value.as_bool(), value.as_int(), value.as_float()) {
        (Ok(value), ..) => return Ok(Value::Bool(value)),
        (_, Ok(value), _) => return Ok(u32::try_from(value).map_or(Value::I64(value), Value::U32)),
        (.., Ok(value)) => return Ok(Value::F32(value as f32)),
        _ => {}
    }
    let values = is_a::<Array>(value).and_then(|values| of_array(&values));
    values.map(Value::Array).ok_or_else(|| {
        let what = described(value);
        failed(format!(
            "the metadata {key:?} are {what}; expected a number, a text, true, false, or an array of them"
        ))
    })
}

fn of_array(values: &[Dynamic]) -> Option<gguf::Array> {
    let ints = values.iter().map(|value| i32::try_from(value.as_int().ok()?).ok());
    let ints: Option<Vec<i32>> = ints.collect();
    let floats = || values.iter().map(|value| Some(f64::of(value)? as f32)).collect::<Option<Vec<f32>>>();
    let texts = || values.iter().map(String::of).collect::<Option<Vec<String>>>();
    ints.map(gguf::Array::I32)
        .or_else(|| floats().map(gguf::Array::F32))
        .or_else(|| texts().map(|texts| gguf::Array::String(texts.iter().collect())))
}

/// A value of metadata as one of the language. Arrays of a vocabulary are long.
pub(crate) fn to_value(value: &Value) -> Dynamic {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(value) => (*value).into(),
        Value::I64(value) => (*value).into(),
        Value::I8(_) | Value::I16(_) | Value::I32(_) => {
            value.as_f64().map_or(Dynamic::UNIT, |value| (value as i64).into())
        }
        Value::F32(_) | Value::F64(_) => value.as_f64().map_or(Dynamic::UNIT, Dynamic::from_float),
        Value::Array(values) => {
            array((0..values.len()).filter_map(|index| values.get(index)).map(|value| to_value(&value)))
        }
        other => other
            .as_u64()
            .and_then(|value| i64::try_from(value).ok())
            .map_or(Dynamic::UNIT, Dynamic::from_int),
    }
}
