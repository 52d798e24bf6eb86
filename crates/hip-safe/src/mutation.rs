//! The places where work or the host waits, by name, so that a build for tests can leave one out. A test has to fail then:
//! `RUSTFLAGS="--cfg hip_safe_mutation" cargo test -p hipstack-hip-safe --test suite mutations` shows it for each of them. It is no feature:
//! any crate of a program could switch that on, and safe code would race.

/// A wait that cannot be left out without harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(hip_safe_mutation), allow(unreachable_pub))]
pub enum Wait {
    /// A read behind the last write, on another stream.
    ReadAfterWrite,
    /// A write behind earlier reads and writes, on other streams.
    WriteAfterUse,
    /// A new owner of memory behind the former one's work.
    AfterFormerOwner,
    /// A new event where the last one does not cover the work.
    FreshEvent,
    /// The program's read of host memory behind the copy that writes it.
    HostRead,
    /// The program's write of host memory behind the copies that use it.
    HostWrite,
    /// The release of host memory behind the copies that use it.
    HostRelease,
    /// The release of device memory to the driver behind the work on it.
    SegmentRelease,
    /// The end of a stream behind its work.
    StreamEnd,
    /// The unloading of a module behind its launches.
    ModuleUnload,
    /// The program's read of managed memory behind the work that writes it.
    ManagedRead,
    /// The program's write of managed memory behind the work that uses it.
    ManagedWrite,
    /// The release of managed and imported memory behind the work that uses it.
    UnpooledRelease,
    /// The update of an executable graph behind its launches.
    GraphUpdate,
    /// The end of an executable graph behind its launches.
    GraphEnd,
    /// The host's wait for what a stream had before it captured.
    BeforeCapture,
    /// The end of the access to another device behind the work that has it.
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

    /// Whether this build leaves it out: never, outside of a build for that test.
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
