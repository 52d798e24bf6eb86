//! Dispatcher threads: each drains one stream at a time. There are as many as streams were ever busy at once, since
//! an operation may wait for another stream or for the program; idle ones are parked.

use crate::run::{Runner, THREAD_STACK};
use crate::stream::Stream;
use parking_lot::{Condvar, Mutex};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

/// Dispatchers that stay when there is nothing to do; others end.
const KEPT: usize = 16;

struct State {
    ready: VecDeque<Arc<Stream>>,
    idle: usize,
}

static STATE: Mutex<State> = Mutex::new(State { ready: VecDeque::new(), idle: 0 });
static OFFERED: Condvar = Condvar::new();

/// Finds a dispatcher for a stream that has operations.
pub(crate) fn start(stream: Arc<Stream>) {
    let mut state = STATE.lock();
    if state.ready.len() < state.idle {
        state.ready.push_back(stream);
        drop(state);
        OFFERED.notify_one();
        return;
    }
    drop(state);
    let ours = Arc::clone(&stream);
    let builder = thread::Builder::new().name("hip-host stream".to_owned()).stack_size(THREAD_STACK);
    if builder.spawn(move || serve(ours)).is_err() {
        // The machine has no thread left: the operations still run, those that call the program too, but the caller waits for them.
        stream.drain(&mut Runner::new(), None);
    }
}

/// Runs operations of a stream up to that number on the calling thread, but none that is [for dispatchers](crate::work::Work::is_for_dispatchers),
/// if no dispatcher has the stream yet.
pub(crate) fn help(stream: &Arc<Stream>, until: u64) {
    thread_local! {
        static RUNNER: RefCell<Option<Runner>> = const { RefCell::new(None) };
    }
    // A thread that is ending, or that runs an operation already, only waits.
    let _ = RUNNER.try_with(|runner| {
        let Ok(mut runner) = runner.try_borrow_mut() else { return };
        if take(stream) {
            stream.drain(runner.get_or_insert_with(Runner::new), Some(until));
        }
    });
}

/// Takes a stream that waits for a dispatcher.
fn take(stream: &Arc<Stream>) -> bool {
    let mut state = STATE.lock();
    let place = state.ready.iter().position(|ready| Arc::ptr_eq(ready, stream));
    place.and_then(|place| state.ready.remove(place)).is_some()
}

fn serve(mut stream: Arc<Stream>) {
    let mut runner = Runner::new();
    loop {
        stream.drain(&mut runner, None);
        drop(stream);
        let mut state = STATE.lock();
        if state.ready.is_empty() && state.idle >= KEPT {
            return;
        }
        state.idle += 1;
        OFFERED.wait_while(&mut state, |state| state.ready.is_empty());
        state.idle -= 1;
        let Some(next) = state.ready.pop_front() else { return };
        stream = next;
    }
}
