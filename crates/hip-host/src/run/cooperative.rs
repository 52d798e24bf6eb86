//! Cooperative launches: all blocks of the grid run at once, so that they can wait for each other.
//!
//! Each block has an OS thread of its own, because `__shared__` memory is thread-local. A block that waits
//! for the others blocks its thread. A wait that cannot end, because a block has ended without reaching it,
//! fails the launch.

use super::workers::THREAD_STACK;
use super::{Launch, Runner, sanitizer, stacks};
use crate::code::Code;
use crate::failure::{Failure, NOT_SUPPORTED, OUT_OF_RESOURCES};
use parking_lot::{Condvar, Mutex};
use std::thread;

/// The barrier of a cooperative launch's grid.
pub(crate) struct GridBarrier {
    blocks: u64,
    state: Mutex<State>,
    changed: Condvar,
    /// Two addresses that ThreadSanitizer knows the barrier by.
    sanitizer_addresses: [u64; 2],
}

#[derive(Default)]
struct State {
    /// Blocks that wait at the current sync, and blocks that have ended.
    waiting: u64,
    ended: u64,
    /// The line at which the last block reached it.
    line: u32,
    /// Number of completed syncs.
    round: u64,
    /// Why no sync can succeed any more.
    broken: Option<String>,
}

impl GridBarrier {
    pub(crate) fn new(blocks: u64) -> Self {
        Self { blocks, state: Mutex::default(), changed: Condvar::new(), sanitizer_addresses: [0; 2] }
    }

    /// Waits until every block has called this.
    ///
    /// # Errors
    /// The reason why that cannot happen.
    pub(super) fn wait(&self, line: u32) -> Result<(), String> {
        let mut state = self.state.lock();
        if let Some(why) = &state.broken {
            return Err(why.clone());
        }
        state.waiting += 1;
        state.line = line;
        if state.waiting == self.blocks {
            state.waiting = 0;
            state.round += 1;
            self.changed.notify_all();
            return Ok(());
        }
        self.break_if_stuck(&mut state);
        let round = state.round;
        self.changed.wait_while(&mut state, |state| state.round == round && state.broken.is_none());
        if state.round != round { Ok(()) } else { Err(state.broken.clone().unwrap_or_default()) }
    }

    /// Notes that a block has ended.
    pub(super) fn leave(&self) {
        let mut state = self.state.lock();
        state.ended += 1;
        self.break_if_stuck(&mut state);
    }

    /// Notes that a block has failed: the others must not wait for it.
    pub(super) fn give_up(&self) {
        self.state.lock().broken.get_or_insert_with(|| "another block of the grid failed".to_owned());
        self.changed.notify_all();
    }

    /// The address that stands for a sync in ThreadSanitizer. Two addresses alternate, because some threads
    /// may reach the next sync before others have gone on from the last.
    pub(super) fn sanitizer_address(&self, syncs: u64) -> *const u64 {
        &raw const self.sanitizer_addresses[(syncs & 1) as usize]
    }

    fn break_if_stuck(&self, state: &mut State) {
        let State { waiting, ended, line, .. } = *state;
        if waiting > 0 && ended > 0 && waiting + ended == self.blocks {
            state.broken.get_or_insert(format!(
                "a grid sync is not reached by all blocks: {waiting} wait at line {line}, {ended} ended without it"
            ));
            self.changed.notify_all();
        }
    }
}

/// Runs all blocks of a cooperative launch, one of them on the calling thread.
pub(super) fn run(launch: &Launch, runner: &mut Runner) {
    if sanitizer::watches_addresses() {
        let why =
            "cooperative launches do not run under AddressSanitizer, where __shared__ memory exists once";
        let message = format!("kernel {}: {why}", launch.kernel.name);
        return launch.fail(Failure { code: NOT_SUPPORTED, message });
    }
    // All stacks are reserved at once: two launches that each had reserved a part would deadlock.
    let stacks = match launch.kernel.code {
        Code::Threads(_) => launch.blocks() as usize * launch.threads_per_block() as usize,
        Code::Plain(_) => 0,
    };
    let reservation = stacks::reserve(stacks);
    thread::scope(|scope| {
        for block in 1..launch.blocks() {
            let builder = thread::Builder::new().name(format!("hip-host block {block}"));
            let work = || Runner::new().work_on(launch);
            if let Err(error) = builder.stack_size(THREAD_STACK).spawn_scoped(scope, work) {
                let message = format!("kernel {}: no thread for a block: {error}", launch.kernel.name);
                launch.fail(Failure { code: OUT_OF_RESOURCES, message });
                break;
            }
        }
        runner.work_on(launch);
    });
    drop(reservation);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_waits_for_the_last_thread() {
        let grid_barrier = GridBarrier::new(3);
        let rounds = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..5 {
                        rounds.lock().push(round);
                        grid_barrier.wait(7).expect("all come");
                    }
                    grid_barrier.leave();
                });
            }
        });
        assert_eq!(rounds.into_inner(), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    }

    #[test]
    fn a_sync_without_a_block_breaks() {
        let grid_barrier = GridBarrier::new(3);
        let answers: Vec<_> = thread::scope(|scope| {
            let waiting = [7, 7].map(|line| {
                scope.spawn({
                    let grid_barrier = &grid_barrier;
                    move || grid_barrier.wait(line)
                })
            });
            grid_barrier.leave();
            waiting.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let why = "a grid sync is not reached by all blocks: 2 wait at line 7, 1 ended without it";
        assert_eq!(answers, [Err(why.to_owned()), Err(why.to_owned())]);
        assert!(grid_barrier.wait(9).is_err());
    }

    #[test]
    fn a_failure_ends_all_waits() {
        let grid_barrier = GridBarrier::new(2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| grid_barrier.wait(7));
            grid_barrier.give_up();
            assert!(waiting.join().expect("no panic").is_err());
        });
    }
}
