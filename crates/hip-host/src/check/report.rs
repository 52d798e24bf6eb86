//! Reports of the checker: two operations that nothing orders, or a use of freed memory.

use std::fmt;
use std::ops::Range;

/// The rule that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conflict {
    /// Two writes that are not ordered.
    WriteAfterWrite,
    /// A read that is not ordered after an earlier write.
    ReadAfterWrite,
    /// A write that is not ordered after an earlier read.
    WriteAfterRead,
    /// Memory was freed while an operation may still use it.
    FreeInUse,
    /// Memory was used after it was freed.
    UseAfterFree,
    /// Memory was freed twice.
    DoubleFree,
}

/// An operation, as reports name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Operation {
    /// What it does, such as `kernel elementwise_add_f32` or `copy to the device`.
    pub what: String,
    /// Where it was submitted.
    pub origin: Origin,
}

/// Where an operation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// On a stream.
    Stream {
        /// Streams are numbered from 1 in the order of their creation; 0: the null stream of the device.
        stream: u64,
        /// The stream's device.
        device: usize,
        /// Operations of a stream are numbered from 1 in the order of their submission.
        number: u64,
    },
    /// On a thread of the program.
    Host {
        /// Threads are numbered from 1 by their first call. All are 0 if they count as one.
        thread: u64,
    },
}

/// Two operations that use the same memory without the order that they need.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The rule that was broken.
    pub conflict: Conflict,
    /// The one that was submitted first.
    pub first: Operation,
    /// The other.
    pub second: Operation,
    /// The addresses that both use, in increasing order.
    pub extents: Vec<Range<usize>>,
    /// The allocation that contains the first of these addresses, if it still exists.
    pub allocation: Option<Range<usize>>,
}

impl Report {
    /// How many bytes both operations use.
    pub fn bytes(&self) -> usize {
        self.extents.iter().map(Range::len).sum()
    }

    /// Advice on how to order them.
    fn remedy(&self) -> String {
        let name = |origin: Origin| match origin {
            Origin::Stream { stream: 0, device, .. } => format!("the null stream of device {device}"),
            Origin::Stream { stream, .. } => format!("stream {stream}"),
            Origin::Host { .. } => "the host".to_owned(),
        };
        let (first, second) = (name(self.first.origin), name(self.second.origin));
        match (self.conflict, self.first.origin, self.second.origin) {
            (Conflict::UseAfterFree, ..) => "free the memory behind its last use".to_owned(),
            (Conflict::DoubleFree, ..) => "free it once".to_owned(),
            (_, Origin::Stream { .. }, Origin::Stream { .. }) => format!(
                "no event or synchronisation orders them: record an event on {first} behind the first and let \
                 {second} wait for it"
            ),
            (_, Origin::Stream { .. }, Origin::Host { .. }) => {
                format!("nothing orders them: synchronise with {first} between the two")
            }
            (_, Origin::Host { .. }, _) => "nothing orders the threads that did this".to_owned(),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WriteAfterWrite => "race: two writes without order",
            Self::ReadAfterWrite => "race: a read that is not ordered behind a write",
            Self::WriteAfterRead => "race: a write that is not ordered behind a read",
            Self::FreeInUse => "memory freed while an operation may use it",
            Self::UseAfterFree => "use after free",
            Self::DoubleFree => "memory freed twice",
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, origin } = self;
        match origin {
            Origin::Stream { stream: 0, device, number } => {
                write!(f, "{what}, operation {number} of the null stream of device {device}")
            }
            Origin::Stream { stream, device, number } => {
                write!(f, "{what}, operation {number} of stream {stream} (device {device})")
            }
            Origin::Host { thread: 0 } => write!(f, "{what}, by the host"),
            Origin::Host { thread } => write!(f, "{what}, by host thread {thread}"),
        }
    }
}

/// Several lines: the rule, both operations with the bytes, and how to order them.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.conflict)?;
        writeln!(f, "  first:  {}", self.first)?;
        writeln!(f, "  second: {}", self.second)?;
        write!(f, "  both use {} bytes at {:#x}", self.bytes(), self.extents.first().map_or(0, |e| e.start))?;
        if self.extents.len() > 1 {
            write!(f, " and {} more ranges", self.extents.len() - 1)?;
        }
        if let (Some(allocation), Some(extent)) = (&self.allocation, self.extents.first()) {
            let offset = extent.start - allocation.start;
            write!(f, ", offset {offset} of an allocation of {} bytes", allocation.len())?;
        }
        write!(f, "\n  {}", self.remedy())
    }
}
