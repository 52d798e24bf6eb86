//! All waits of this crate by name, so that a mutation build can leave one out. A test has to fail then:
//! `RUSTFLAGS="--cfg hip_safe_mutation" cargo test -p hipstack-hip-safe --test suite mutations` checks that for each of them. This is not a
//! cargo feature, because any crate of a program could enable it, and safe code would race.

/// A wait that soundness needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(hip_safe_mutation), allow(unreachable_pub))]
pub enum Wait {
    /// A read after the last write, on another stream.
    ReadAfterWrite,
    /// A write after earlier reads and writes, on other streams.
    WriteAfterUse,
    /// The first use by a new owner of memory, after the work of the former owner.
    AfterFormerOwner,
    /// A new record of the event if the last one does not cover the work.
    FreshEvent,
    /// The program's read of pinned memory, after the copy that writes it.
    HostRead,
    /// The program's write of pinned memory, after the copies that use it.
    HostWrite,
    /// The release of pinned memory, after the copies that use it.
    HostRelease,
    /// The return of a segment to the driver, after the work on it.
    SegmentRelease,
    /// The end of a stream, after its work.
    StreamEnd,
    /// The unloading of a module, after its launches.
    ModuleUnload,
    /// The program's read of managed memory, after the work that writes it.
    ManagedRead,
    /// The program's write of managed memory, after the work that uses it.
    ManagedWrite,
    /// The release of managed and imported memory, after the work that uses it.
    UnpooledRelease,
    /// The update of an executable graph, after its launches.
    GraphUpdate,
    /// The end of an executable graph, after its launches.
    GraphEnd,
    /// The host's wait during a capture for the work before the capture.
    BeforeCapture,
    /// The end of peer access, after the work that may use it.
    PeerAccess,
}

impl Wait {
    /// All of them.
    #[cfg(hip_safe_mutation)]
    pub const ALL: [Self; 17] = [
        Self::ReadAfterWrite,
        Self::WriteAfterUse,
        Self::AfterFormerOwner,
        Self::FreshEvent,
        Self::HostRead,
        Self::HostWrite,
        Self::HostRelease,
        Self::SegmentRelease,
        Self::StreamEnd,
        Self::ModuleUnload,
        Self::ManagedRead,
        Self::ManagedWrite,
        Self::UnpooledRelease,
        Self::GraphUpdate,
        Self::GraphEnd,
        Self::BeforeCapture,
        Self::PeerAccess,
    ];

    /// Whether this build leaves it out: never, except in a mutation build.
    #[cfg(not(hip_safe_mutation))]
    pub(crate) const fn is_dropped(self) -> bool {
        false
    }

    /// Whether this process leaves it out: `HIP_SAFE_DROP_WAIT` names it.
    #[cfg(hip_safe_mutation)]
    pub(crate) fn is_dropped(self) -> bool {
        static NAME: std::sync::LazyLock<Option<String>> =
            std::sync::LazyLock::new(|| std::env::var("HIP_SAFE_DROP_WAIT").ok());
        NAME.as_deref().is_some_and(|name| name == format!("{self:?}"))
    }
}
