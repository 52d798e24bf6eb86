//! The order of work that uses the same memory, on one stream or on several.
//!
//! Each stream numbers its submissions. Memory records its last write and each stream's last read since then, each as a [`Point`]: a
//! stream's timeline and a submission number. Work on the same stream is ordered by the stream, so it needs no event. Work on another stream
//! waits on the device for the points that it has to come after. The producer records an event when the first consumer needs one, and later
//! consumers use the same event. See [`Submission`] for the steps.

mod own_stream;
mod points;
mod submission;
mod timeline;
mod uses;

pub(crate) use own_stream::OwnStreamUses;
pub(crate) use points::{Point, Points};
pub use submission::Submission;
pub(crate) use submission::{Memory, Use, not_in_host_function, submit_sorted};
pub(crate) use timeline::{Producer, Timeline};
pub(crate) use uses::{Tracked, Uses, UsesGuard};
