//! candle's ids. The largest number of an id's type stands for no element: reading it gives 0, writing it does nothing.
//! tensor-core has no such id; here masks stand for it.

use candle_core::Result;
use tensor_core::{DType, Tensor};

use super::super::error::Candles;
use super::Operand;

/// Ids, and which of them stand for no element.
pub(super) struct Ids {
    /// The ids, of a type that tensor-core takes. 0 where one stood for no element.
    pub(super) at: Tensor,
    /// 1 where an id stood for no element, as `u8`.
    pub(super) none: Tensor,
}

/// Reads ids, with 0 where one stands for no element.
pub(super) fn ids((ids, l): Operand) -> Result<Ids> {
    let ids = taken(ids.tensor(l)?)?;
    let none = no_element(&ids)?;
    let at = ids.masked_fill(&none, 0).candles()?;
    Ok(Ids { at: wide(at)?, none })
}

/// As [`ids`], with `instead` where one stands for no element. Ids are then wide enough for any length.
pub(super) fn ids_or((ids, l): Operand, instead: usize) -> Result<Tensor> {
    let ids = taken(ids.tensor(l)?)?;
    let none = no_element(&ids)?;
    let instead = i64::try_from(instead).unwrap_or(i64::MAX);
    ids.to_dtype(DType::I64).candles()?.masked_fill(&none, instead).candles()
}

fn no_element(ids: &Tensor) -> Result<Tensor> {
    let largest = match ids.dtype() {
        DType::U8 => i64::from(u8::MAX),
        DType::U32 => i64::from(u32::MAX),
        DType::I16 => i64::from(i16::MAX),
        DType::I32 => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    let largest = Tensor::full(largest, (), ids.dtype(), &ids.device()).candles()?;
    ids.eq(&largest).candles()
}

/// Ids are integers.
fn taken(ids: Tensor) -> Result<Tensor> {
    if ids.dtype().is_int() {
        return Ok(ids);
    }
    Err(super::super::dtype::unsupported(super::super::dtype::candles(ids.dtype()), "ids"))
}

/// tensor-core takes no ids of 16 bits.
fn wide(ids: Tensor) -> Result<Tensor> {
    if ids.dtype() == DType::I16 {
        ids.to_dtype(DType::I32).candles()
    } else {
        Ok(ids)
    }
}
