//! Dispatcher threads: each drains one stream at a time. An operation may wait for another stream or for the
//! program, so there are as many dispatchers as streams were ever busy at once. Idle ones are parked.

use crate::run::{Runner, THREAD_STACK};
use crate::stream::Stream;
use parking_lot::{Condvar, Mutex};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

/// How many idle dispatchers stay parked; further ones exit.
const KEPT: usize = 16;

struct State {
    ready: VecDeque<Arc<Stream>>,
    idle: usize,
}

static STATE: Mutex<State> = Mutex::new(State { ready: VecDeque::new(), idle: 0 });
static OFFERED: Condvar = Condvar::new();

/// Hands a stream that has operations to a dispatcher.
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
        // The machine has no thread left. The operations still run, including those that call the program,
        // but the caller waits for them.
        stream.drain(&mut Runner::new(), None);
    }
}

/// Runs operations of a stream on the calling thread, up to number `until`, if no dispatcher has taken the
/// stream yet. Stops before an operation that is [for dispatchers](crate::work::Work::is_for_dispatchers).
pub(crate) fn help(stream: &Arc<Stream>, until: u64) {
    thread_local! {
        static RUNNER: RefCell<Option<Runner>> = const { RefCell::new(None) };
    }
    // A thread that is exiting, or that already runs an operation, does not help.
    let _ = RUNNER.try_with(|runner| {
        let Ok(mut runner) = runner.try_borrow_mut() else { return };
        if take(stream) {
            stream.drain(runner.get_or_insert_with(Runner::new), Some(until));
        }
    });
}

/// Takes a stream out of the queue of those that wait for a dispatcher. Returns whether it was there.
fn take(stream: &Arc<Stream>) -> bool {
    let mut state = STATE.lock();
    let index = state.ready.iter().position(|ready| Arc::ptr_eq(ready, stream));
    index.and_then(|index| state.ready.remove(index)).is_some()
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
