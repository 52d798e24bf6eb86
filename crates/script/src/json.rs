//! Values as JSON.

use rhai::{Array, Dynamic, Map};
use serde_json::{Value as Json, json};
use tensor_core::Tensor;

use crate::argument::{DEEPEST, is_a};
use crate::tensors::numbers;

/// # Errors
/// Of the device that the numbers of a tensor are read from; arrays and maps that lie too deep in each other.
pub(crate) fn of(value: &Dynamic) -> Result<Json, String> {
    at(value, 0)
}

fn at(value: &Dynamic, depth: usize) -> Result<Json, String> {
    if let Some(tensor) = is_a::<Tensor>(value) {
        let data = numbers(&tensor).map_err(|error| error.to_string())?;
        let data: Vec<Json> = data.iter().map(of).collect::<Result<_, _>>()?;
        let device = tensor.device().to_string();
        return Ok(
            json!({ "dtype": tensor.dtype().name(), "shape": tensor.dims(), "device": device, "data": data }),
        );
    }
    if depth == DEEPEST && (value.is_array() || value.is_map()) {
        return Err(format!(
            "a value has arrays or maps in each other more than {DEEPEST} deep, the most that JSON of it has"
        ));
    }
    let of = |value: &Dynamic| at(value, depth + 1);
    if let Some(array) = value.read_lock::<Array>() {
        return array.iter().map(of).collect::<Result<_, _>>().map(Json::Array);
    }
    if let Some(map) = value.read_lock::<Map>() {
        let named = map.iter().map(|(name, value)| Ok((name.to_string(), of(value)?)));
        return named.collect::<Result<_, String>>().map(Json::Object);
    }
    Ok(match (value.as_bool(), value.as_int(), value.as_float()) {
        (Ok(value), ..) => value.into(),
        (_, Ok(value), _) => value.into(),
        // JSON has neither NaN nor infinities.
        (.., Ok(value)) => value.into(),
        _ if value.is_unit() => Json::Null,
        _ => crate::argument::text_of(value).into(),
    })
}
