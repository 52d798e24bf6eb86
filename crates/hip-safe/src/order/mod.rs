//! The order of work that uses the same memory, on one stream or on several.
//!
//! A stream counts its submissions. Memory remembers its last writer and every stream's last read since, each as a
//! [`Point`]: a stream's timeline and a count on it. Work on one stream needs nothing more, so nothing is recorded there.
//! Work on another stream waits on the device for the points it has to come after: the producer records an event when the
//! first consumer needs one, and the next consumer takes the same event. See [`Submission`] for the steps.

mod own_stream;
mod points;
mod submission;
mod timeline;
mod uses;

pub(crate) use own_stream::Home;
pub(crate) use points::{Point, Points};
pub use submission::Submission;
pub(crate) use submission::{Memory, Use, not_in_host_function, submit_sorted};
pub(crate) use timeline::{Producer, Timeline};
pub(crate) use uses::{Taken, Tracked, Uses};
