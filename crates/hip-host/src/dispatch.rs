//! Dispatcher threads: each drains one stream at a time. There are as many as streams were ever busy at once, since
//! an operation may wait for another stream or for the program; idle ones are parked.

use crate::run::{Runner, THREAD_STACK};
use crate::stream::Stream;
use parking_lot::{Condvar, Mutex};
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
        // The machine has no thread left: the operations still run, but the caller waits for them.
        stream.drain(&mut Runner::new());
    }
}

fn serve(mut stream: Arc<Stream>) {
    let mut runner = Runner::new();
    loop {
        stream.drain(&mut runner);
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
