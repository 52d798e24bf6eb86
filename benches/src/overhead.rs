//! The host time of hip-safe itself: handles, the pool, launches beyond the raw call, passing a buffer
//! between streams.

use crate::throughput::host_time::{HostTimes, batches, host_times};
use crate::throughput::measure::Effort;
use crate::throughput::targets::Target;
use hip_safe::SharedBuffer;
use tensor_core::HipDevice;

/// A result and its target.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What was measured.
    pub what: &'static str,
    /// Nanoseconds of one.
    pub nanoseconds: f64,
    /// The target: the maximum in nanoseconds, if there is one.
    pub bar: Option<f64>,
}

/// Measures all rows. `large` is the size in bytes of the buffer whose sharing is measured.
///
/// # Errors
/// A description of what failed.
pub fn rows(device: &HipDevice, large: usize) -> Result<Vec<Row>, String> {
    let effort = Effort { warm_ups: 1000, repeats: 25, ..Effort::default() };
    let text = |error: hip_safe::Error| error.to_string();
    let (stream, wait) = (device.stream(), || device.synchronize());
    let mut rows = Vec::new();
    let mut row = |name, what, bar, seconds: f64| {
        rows.push(Row { name, what, nanoseconds: seconds * 1e9, bar });
    };

    let handle = device.device();
    let clone = batches(effort, wait, || cloned(handle))?;
    row("device_clone", "a device cloned and dropped", Some(20.0), clone);
    let clone = batches(effort, wait, || cloned(stream))?;
    row("stream_clone", "a stream cloned and dropped", Some(20.0), clone);
    // SAFETY: S15: nobody reads it.
    let shared = SharedBuffer::new(unsafe { stream.alloc_uninit::<u8>(large) }.map_err(text)?);
    let clone = batches(effort, wait, || cloned(&shared))?;
    row("shared_clone", "a large shared buffer cloned and dropped", Some(50.0), clone);
    drop(shared);

    for (name, what, bytes) in [
        ("alloc_free_4k", "4 KiB allocated and dropped on one stream", 4 << 10),
        ("alloc_free_8m", "8 MiB allocated and dropped on one stream", 8 << 20),
    ] {
        // SAFETY: S15: nobody reads it.
        let allocate = || unsafe { stream.alloc_uninit::<u8>(bytes) }.map(drop).map_err(text);
        row(name, what, Some(100.0), batches(effort, wait, allocate)?);
    }

    let HostTimes { rows: times, above } =
        host_times(device, Effort { warm_ups: 500, repeats: 15, ..Effort::default() })?;
    let most = |name| Target::of(name, "").us.map(|us| us * 1e3);
    let figure = |name: &str| times.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |row| row.1);
    let raw = figure("host_raw_launch");
    row("raw_launch", "hipModuleLaunchKernel of the table, its arguments ready", None, raw);
    let what = "Launch::submit above the raw call, its arguments ready";
    row("launch_above", what, Some(150.0), above.safe_launch);
    let what = "a launch put together and submitted, above the raw call";
    row("launch_built_above", what, None, above.safe_launch_built);
    let what = "16 x 16 elements added, from call to return, above the raw call";
    row("add_return_above", what, most("host_add_return_above_raw"), above.add_return);
    let what = "16 x 16 elements added and the result dropped, above the raw call";
    row("add_above", what, most("host_add_above_raw"), above.add);
    let what = "16 x 16 elements added in place, above the raw call";
    row("add_assign_above", what, None, above.add_assign);
    let pool = figure("pool_alloc_free");
    row("pool_alloc_free", "1 KiB allocated and dropped on one stream", most("pool_alloc_free"), pool);
    let (bare, graph) = (figure("graph_100_bare"), figure("graph_100_small_adds"));
    row("graph_100_bare", "a bare graph of 100 small additions, launched until it is done", None, bare);
    let bar = Some(1.5e9 * bare);
    row("graph_100_small_adds", "tensor-core's graph of 100 small additions, the same", bar, graph);
    let (bare, graph) = (figure("graph_100_bare_call"), figure("graph_100_small_adds_call"));
    row("graph_100_call", "the call that launches tensor-core's graph", Some(1.5e9 * bare), graph);

    let other = handle.new_stream().map_err(text)?;
    let mut buffer = stream.alloc_zeros::<u8>(512).map_err(text)?;
    let same = batches(effort, wait, || stream.memset(&mut buffer, 1).map_err(text))?;
    row("write", "a fill of 512 bytes on one stream", None, same);
    let mut turn = false;
    let both =
        || device.synchronize().map_err(|e| e.to_string()).and_then(|()| other.synchronize().map_err(text));
    let handed = batches(effort, both, || {
        turn = !turn;
        if turn { stream } else { &other }.memset(&mut buffer, 1).map_err(text)
    })?;
    row(
        "hand_over_above",
        "the same on two streams in turn, above it: an event and a wait",
        None,
        handed - same,
    );
    Ok(rows)
}

/// Clones a handle and drops the clone.
fn cloned<T: Clone>(handle: &T) -> Result<(), String> {
    drop(std::hint::black_box(handle.clone()));
    Ok(())
}

/// The rows as text, with missed targets marked.
pub fn table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let bar = row.bar.map_or(String::new(), |bar| format!("at most {bar:.0}"));
        let mark = if row.bar.is_some_and(|bar| row.nanoseconds > bar) { "  MISSED" } else { "" };
        format!("{:<20} {:>9.1} ns  {bar:<13} {}{mark}\n", row.name, row.nanoseconds, row.what)
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_above_their_limit_are_marked() {
        let row = |nanoseconds, bar| Row { name: "clone", what: "a handle cloned", nanoseconds, bar };
        let text = table(&[row(12.34, Some(20.0)), row(20.5, Some(20.0)), row(99.0, None)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("clone                     12.3 ns  at most 20    a handle cloned"),
            "{text}"
        );
        assert_eq!(
            lines.iter().map(|line| line.ends_with("MISSED")).collect::<Vec<_>>(),
            [false, true, false]
        );
    }
}
