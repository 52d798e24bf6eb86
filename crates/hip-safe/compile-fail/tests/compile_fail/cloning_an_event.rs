//! An event has one owner, which destroys it.
use hip_safe::Event;

fn twice(event: Event) -> (Event, Event) {
    (event.clone(), event)
}

fn main() {}
