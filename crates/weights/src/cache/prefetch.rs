//! The thread that loads the next layer.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use tensor_core::{Error, ErrorKind, Result, Upload};

use super::Shared;

/// A thread with an upload of its own. Dropping this ends it, after the weight that it loads.
pub(super) struct Prefetch {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Orders that are not carried out yet.
    open: AtomicUsize,
    stop: AtomicBool,
    /// The thread has panicked.
    gone: AtomicBool,
}

/// Load a layer, while another one is in use.
#[derive(Clone, Copy)]
struct Order {
    in_use: usize,
    next: usize,
}

impl Prefetch {
    pub(super) fn start(shared: Arc<Shared>, upload: Upload) -> Result<Self> {
        let (orders, received) = channel();
        let state = Arc::new(State::default());
        let its_state = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("weights".to_owned());
        let thread = thread.spawn(move || run(&shared, upload, &received, &its_state)).map_err(|error| {
            let what = format!("the system made no thread to load weights: {error}");
            Error::new("cache", ErrorKind::Argument { what })
        })?;
        Ok(Self { orders: Some(orders), thread: Some(thread), state })
    }

    /// Begins to load the layer that follows one in use.
    pub(super) fn next_of(&self, in_use: usize, shared: &Shared) {
        let after = (Bound::Excluded(in_use), Bound::Unbounded);
        let after = shared.layers.range(after).next().or_else(|| shared.layers.iter().next());
        let (Some((&next, _)), Some(orders)) = (after, &self.orders) else { return };
        if next == in_use {
            return;
        }
        self.state.open.fetch_add(1, Ordering::SeqCst);
        // A thread that is gone loads nothing; then weights are loaded when they are asked for.
        if orders.send(Order { in_use, next }).is_err() {
            self.state.open.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Waits until all orders are carried out.
    pub(super) fn wait(&self, shared: &Shared) {
        let mut store = shared.store.lock();
        // A thread that is gone carries out no order.
        while self.state.open.load(Ordering::SeqCst) > 0 && !self.state.gone.load(Ordering::SeqCst) {
            shared.changed.wait(&mut store);
        }
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // It has no results, and a panic in it was printed.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared, mut upload: Upload, orders: &Receiver<Order>, state: &State) {
    while let Ok(mut order) = orders.recv() {
        let mut done = 1;
        // The program went on meanwhile: only the last order is of use.
        while let Ok(later) = orders.try_recv() {
            (order, done) = (later, done + 1);
        }
        let _done = Done { shared, state, orders: done };
        load(shared, &mut upload, order, state);
    }
}

/// Says on drop that orders are carried out: after a panic too, for others wait for it.
struct Done<'a> {
    shared: &'a Shared,
    state: &'a State,
    orders: usize,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        // With the lock, so that a thread that is about to wait does not miss it.
        let _store = self.shared.store.lock();
        self.state.open.fetch_sub(self.orders, Ordering::SeqCst);
        self.state.gone.fetch_or(std::thread::panicking(), Ordering::SeqCst);
        self.shared.changed.notify_all();
    }
}

fn load(shared: &Shared, upload: &mut Upload, order: Order, state: &State) {
    let keep = |name: &str| {
        shared.layer_of.get(name).is_some_and(|&layer| layer == order.in_use || layer == order.next)
    };
    for (_, name) in shared.layers.get(&order.next).into_iter().flatten() {
        let Some(info) = shared.checkpoint.info(name).filter(|info| info.format.is_some()) else { continue };
        if state.stop.load(Ordering::SeqCst) || !shared.prefetch(name, info, upload, &keep) {
            return;
        }
    }
}
