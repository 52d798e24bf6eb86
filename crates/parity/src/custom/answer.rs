//! The reference of a user's operation: exact values, and what their rounding errors are relative to.

use std::borrow::Cow;
use std::sync::Arc;

use reference::{Array, DType, Dd, Error, Expected, Judge, Outcome, Value};

use crate::record::Form;

/// The exact value of an element. An `f64` or a [`Dd`] becomes one with `into`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The value. For integer results it is truncated and saturated, as a cast does.
    pub value: Dd,
    /// What the bound's `t` is multiplied with: the sum of the magnitudes that are rounded on the way. 0 if not used.
    pub scale: f64,
    /// Whether a step on the way may overflow, so that an infinity or a NaN is also right.
    pub overflow: bool,
}

impl Answer {
    /// With what the bound's `t` is multiplied with.
    pub fn scale(self, scale: f64) -> Answer {
        Answer { scale, ..self }
    }

    /// Whether a step on the way may overflow.
    pub fn overflow(self, overflow: bool) -> Answer {
        Answer { overflow, ..self }
    }

    fn expected(self, dtype: DType, judge: Judge) -> Expected {
        let rounded = match dtype.is_int() {
            true => Expected::exact(dtype, dtype.encode(Value::Float(self.value.hi))),
            false => Expected::rounded(dtype, self.value, self.scale),
        };
        let expected = if judge == Judge::Exact { Expected::exact(dtype, rounded.bits) } else { rounded };
        Expected { overflow: self.overflow, ..expected }
    }
}

impl From<Dd> for Answer {
    fn from(value: Dd) -> Answer {
        Answer { value, scale: 0.0, overflow: false }
    }
}

impl From<f64> for Answer {
    fn from(value: f64) -> Answer {
        Dd::from(value).into()
    }
}

type Element = dyn Fn(&[f64]) -> Answer + Send + Sync;
type Whole = dyn Fn(&[&Array], &Form) -> Vec<Answer> + Send + Sync;

/// A user's reference.
#[derive(Clone)]
pub(super) enum Reference {
    /// Of one element, from an element of each operand.
    Element(Arc<Element>),
    /// Of all elements, from the operands.
    Whole(Arc<Whole>),
}

impl Reference {
    /// The expected result.
    ///
    /// # Errors
    /// Shapes that do not broadcast to the result's, or a wrong number of elements.
    pub(super) fn outcome<'a>(
        &self,
        arrays: &[&'a Array],
        form: Form,
        judge: Judge,
    ) -> Result<Outcome<'a>, Error> {
        let Form { dtype, shape } = form;
        match self {
            Reference::Element(element) => {
                let element = element.clone();
                let broadcast = |array: &&'a Array| match array.shape() == shape {
                    true => Ok(Cow::Borrowed(*array)),
                    false => array.broadcast_to(&shape).map(Cow::Owned),
                };
                let arrays = arrays.iter().map(broadcast).collect::<Result<Vec<Cow<'a, Array>>, _>>()?;
                Ok(Outcome::new(dtype, shape, judge, move |index| {
                    let values: Vec<f64> = arrays.iter().map(|array| number(array, index)).collect();
                    element(&values).expected(dtype, judge)
                }))
            }
            Reference::Whole(whole) => {
                let form = Form { dtype, shape };
                let answers = whole(arrays, &form);
                let (got, expected) = (answers.len(), form.shape.iter().product());
                if got != expected {
                    return Err(Error::Length { dtype, shape: form.shape, unit: "values", expected, got });
                }
                Ok(Outcome::new(dtype, form.shape, judge, move |i| answers[i].expected(dtype, judge)))
            }
        }
    }
}

fn number(array: &Array, index: usize) -> f64 {
    match array.get(index) {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    }
}
