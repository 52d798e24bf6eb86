//! Queries of the operating system.

/// Page size in bytes.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: S1: a query of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// The maximum number of memory mappings of a process.
pub(crate) fn most_mappings() -> usize {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    text.trim().parse().unwrap_or(65_530)
}

/// Bytes of memory of this machine.
pub(crate) fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
