//! Values that another library's work needs: a graph keeps them. A blocking call is refused in a capture.

use crate::under_test::stream;
use hip_safe::{Error, Result, Stream};
use std::sync::Arc;

/// Fills through a submission that names what it needs.
fn fill(stream: &Stream, needed: &Arc<u8>, waits: bool) -> Result<()> {
    let mut buffer = stream.alloc_zeros::<u8>(3)?;
    let address = buffer.device_ptr_mut();
    let platform = Arc::clone(stream.device().platform());
    let needed: Arc<u8> = Arc::clone(needed);
    let mut work = stream.submission();
    work.keep(needed);
    if waits {
        work.not_captured("a call that waits", "do it before");
    }
    // SAFETY: S2, S5: the call writes the three bytes that it is said to write.
    let status = unsafe {
        let fill = |raw| (platform.hip().hipMemsetAsync)(address.cast(), 7, 3, raw);
        work.write(&mut buffer).submit("filling three bytes", fill)
    }?;
    assert_eq!(status.0, 0);
    Ok(())
}

#[test]
fn a_graph_keeps_what_its_work_needs() {
    let stream = stream();
    let needed = Arc::new(5_u8);
    fill(&stream, &needed, false).unwrap();
    assert_eq!(Arc::strong_count(&needed), 1, "without a capture nothing is kept");
    let graph = stream
        .capture(|stream| fill(stream, &needed, false).and_then(|()| fill(stream, &needed, false)))
        .unwrap();
    assert_eq!(Arc::strong_count(&needed), 2, "once");
    let exec = graph.instantiate().unwrap();
    drop(graph);
    exec.launch(&stream).unwrap();
    assert_eq!(Arc::strong_count(&needed), 2, "the executable graph keeps it too");
    exec.close().unwrap();
    assert_eq!(Arc::strong_count(&needed), 1);
}

#[test]
fn calls_that_wait_are_refused_in_a_capture() {
    let stream = stream();
    let needed = Arc::new(5_u8);
    fill(&stream, &needed, true).unwrap();
    let refused = stream.capture(|stream| fill(stream, &needed, true));
    assert!(matches!(refused, Err(Error::Capturing { what: "a call that waits", .. })));
    assert_eq!(Arc::strong_count(&needed), 1);
}
