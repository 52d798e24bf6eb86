//! Plans that are used again.

use crate::under_test;
use rocfft_safe::{Direction, PlanCache, Spec};
use std::sync::Arc;

#[test]
fn a_plan_is_made_once() {
    let cache = PlanCache::new(&under_test::device(0), 8);
    assert!(cache.is_empty());
    let spec = Spec::complex(Direction::Forward, &[16]);
    let first = cache.plan::<f32>(&spec).unwrap();
    assert!(Arc::ptr_eq(&first, &cache.plan::<f32>(&spec).unwrap()));
    // Whatever else a plan is made of makes another one.
    cache.plan::<f64>(&spec).unwrap();
    cache.plan::<f32>(&spec.clone().batch(2)).unwrap();
    cache.plan::<f32>(&spec.clone().in_place()).unwrap();
    cache.plan::<f32>(&Spec::complex(Direction::Inverse, &[16])).unwrap();
    assert_eq!(cache.len(), 5);
    assert!(cache.plan::<f32>(&spec.batch(0)).is_err());
    assert_eq!(cache.len(), 5);
}

#[test]
fn the_plan_that_was_not_used_longest_goes() {
    let cache = PlanCache::new(&under_test::device(0), 2);
    let spec = |length| Spec::complex(Direction::Forward, &[length]);
    let first = cache.plan::<f32>(&spec(4)).unwrap();
    let second = cache.plan::<f32>(&spec(5)).unwrap();
    cache.plan::<f32>(&spec(4)).unwrap();
    cache.plan::<f32>(&spec(6)).unwrap();
    assert_eq!(cache.len(), 2);
    assert!(Arc::ptr_eq(&first, &cache.plan::<f32>(&spec(4)).unwrap()));
    assert!(!Arc::ptr_eq(&second, &cache.plan::<f32>(&spec(5)).unwrap()));
}
