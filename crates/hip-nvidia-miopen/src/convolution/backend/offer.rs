//! The solutions that the backend offers for a problem. A handle keeps them: plans are made once, and graphs that captured a run
//! still use the plan's contents.

use super::engine::{Engine, named};
use super::graph::Graph;
use super::is_on;
use super::plan::Plan;
use crate::convert::hip;
use crate::convolution::algorithm::{MOST_WORKSPACE, transforms_workspaces};
use crate::convolution::run::Workspace;
use crate::convolution::{Buffers, Direction, Problem, class};
use crate::entry::all_there;
use crate::handle::Session;
use crate::{BAD, NO_MEMORY, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys::{self, cudnnBackendHeurMode_t as Mode};
use hip_nvidia::library::{Device, RelaxedCapture};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::thread;

/// The offers of a handle. They live as long as the handle.
pub(crate) type Plans = HashMap<Key, Offers>;

/// The maximum number of problems; the backend offers nothing for further ones.
const MOST_PROBLEMS: usize = 4096;
/// Memory with this alignment can be read with the widest loads.
const ALIGNED: usize = 16;
/// The maximum number of engines that sum products, and of engines that use a transform.
const MOST: [usize; 2] = [8, 4];
/// An older algorithm may need this many more bytes than its engine.
const ROUNDED: usize = 256;
/// Stack size in bytes for cuDNN's compiler.
const STACK: usize = 16 << 20;
/// The index of the first engine of the second heuristics.
const SECOND: usize = 128;

/// A problem and the alignment of its memory.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Key {
    problem: Problem,
    alignment: usize,
}

/// The ways for a problem, the fastest first by cuDNN's estimate.
#[derive(Default)]
pub(crate) struct Offers {
    // Fields are dropped in this order: the plans before their graph.
    list: Vec<Offer>,
    _graph: Option<Graph>,
}

struct Offer {
    choice: Choice,
    plan: Plan,
    _engine: Engine,
}

/// One of the ways: its index in cuDNN's list, and its class in MIOpen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::convolution) struct Choice {
    pub(in crate::convolution) index: usize,
    pub(in crate::convolution) class: u32,
}

/// The ways for a problem whose memory is aligned, with their workspaces in bytes.
pub(in crate::convolution) fn offers(
    session: &mut Session,
    problem: &Problem,
) -> Outcome<Vec<(Choice, usize)>> {
    let known = known(session, problem, ALIGNED)?;
    Ok(known.iter().map(|offer| (offer.choice, offer.plan.memory)).collect())
}

/// The workspace of a way in bytes. Makes the way's plan.
pub(in crate::convolution) fn at_hand(
    session: &mut Session,
    problem: &Problem,
    choice: Choice,
) -> Outcome<usize> {
    let offer = known(session, problem, ALIGNED)?.iter().find(|offer| offer.choice == choice);
    offer.map(|offer| offer.plan.memory).ok_or(BAD)
}

/// Submits the problem to the session's stream in an offered way. If the memory has less alignment than that way needs, the first
/// way that accepts it is used; `false` if none fits the workspace.
///
/// # Safety
/// The buffers fit the problem's tensors, and the workspace has its size.
pub(in crate::convolution) unsafe fn run(
    session: &mut Session,
    problem: &Problem,
    choice: Choice,
    buffers: Buffers,
    workspace: Workspace,
) -> Outcome<bool> {
    all_there(&[buffers.x.cast_const(), buffers.w, buffers.y])?;
    let (handle, alignment) = (session.raw, alignment_of(buffers));
    let mut list = known(session, problem, alignment)?.iter_mut();
    let offer = if alignment == ALIGNED {
        let offer = list.find(|offer| offer.choice == choice).ok_or(BAD)?;
        if offer.plan.memory > workspace.size {
            return Err(BAD);
        }
        offer
    } else {
        let fits = |offer: &&mut Offer| {
            offer.plan.memory <= workspace.size && may_replace(offer.choice.class, choice.class)
        };
        let Some(offer) = list.find(fits) else { return Ok(false) };
        offer
    };
    // SAFETY: S11: the caller's memory, which is aligned as the plan has it.
    unsafe { offer.plan.run(handle, buffers, workspace.memory) }.map(|()| true)
}

/// Whether a way of one class may replace one of another: a transform may not, unless the caller asked for one.
fn may_replace(class: u32, asked: u32) -> bool {
    !class::transforms(class) || class::transforms(asked)
}

/// The greatest power of two that divides all addresses, up to the largest useful alignment.
fn alignment_of(buffers: Buffers) -> usize {
    let all = buffers.x as usize | buffers.w as usize | buffers.y as usize | ALIGNED;
    1 << all.trailing_zeros()
}

/// The ways for a problem and an alignment, searched the first time. Submits nothing. `None` while the backend is off.
fn known<'a>(session: &'a mut Session, problem: &Problem, alignment: usize) -> Outcome<&'a mut [Offer]> {
    if !is_on() {
        return Ok(&mut []);
    }
    let (handle, device, full) = (session.raw, session.device, session.plans.len() >= MOST_PROBLEMS);
    match session.plans.entry(Key { problem: problem.clone(), alignment }) {
        Entry::Occupied(known) => Ok(&mut known.into_mut().list),
        Entry::Vacant(_) if full => Ok(&mut []),
        Entry::Vacant(entry) => {
            // A refusal by the backend is final; the older functions may still compute the problem.
            let offers = or_none(Offers::with_room(handle, device, problem, alignment))?;
            Ok(&mut entry.insert(offers.unwrap_or_default()).list)
        }
    }
}

/// `None` for a refusal. A lack of memory is an error, since a later call may succeed.
fn or_none<R>(made: Outcome<R>) -> Outcome<Option<R>> {
    match made {
        Err(NO_MEMORY) => Err(NO_MEMORY),
        made => Ok(made.ok()),
    }
}

/// Work of another thread on a plan, which this thread waits for.
struct Lent<T>(T);

// SAFETY: S8: the lender has the handle's lock and waits; cuDNN ties a handle to no thread.
unsafe impl Send for Lent<sys::cudnnHandle_t> {}
// SAFETY: S8: as above: its maker ends, and whoever waited is the only owner.
unsafe impl Send for Lent<Outcome<Offers>> {}

impl<T> Lent<T> {
    fn take(self) -> T {
        self.0
    }
}

impl Offers {
    /// As [`Offers::new`], on a thread with a stack for cuDNN's compiler: some engines are compiled from source, and a Rust thread
    /// has only 2 MiB.
    fn with_room(
        handle: sys::cudnnHandle_t,
        device: &'static Device,
        problem: &Problem,
        alignment: usize,
    ) -> Outcome<Self> {
        let handle = Lent(handle);
        thread::scope(|scope| {
            let make = move || {
                let handle = handle.take();
                let made = device.enter().map_err(hip).and_then(|_| Self::new(handle, problem, alignment));
                Lent(made)
            };
            let maker = thread::Builder::new().name("hipstack-cudnn".to_owned()).stack_size(STACK);
            // The thread cannot start without memory for its stack.
            let made = maker.spawn_scoped(scope, make).map_err(|_| NO_MEMORY)?;
            made.join().map_err(|_| UNSUPPORTED)?.take()
        })
    }

    fn new(handle: sys::cudnnHandle_t, problem: &Problem, alignment: usize) -> Outcome<Self> {
        let _relaxed = RelaxedCapture::begin();
        let graph = Graph::new(handle, problem, alignment)?;
        let mut room = MOST;
        let (mut list, mut numbers) = (Vec::new(), Vec::new());
        let older = OnceCell::new();
        for (mode, first) in [(Mode::CUDNN_HEUR_MODE_A, 0), (Mode::CUDNN_HEUR_MODE_FALLBACK, SECOND)] {
            let engines = or_none(named(&graph, mode))?.unwrap_or_default();
            // The second heuristics return engines again that the first ones have with better settings.
            let before = numbers.clone();
            for (index, engine) in engines.into_iter().take(SECOND).enumerate() {
                let noted = engine.class();
                let of = |class| usize::from(class::transforms(class));
                if room[of(noted)] == 0 || !engine.is_permitted(problem) || before.contains(&engine.number) {
                    continue;
                }
                let Some(plan) = or_none(Plan::new(handle, &engine))? else { continue };
                let older = || older.get_or_init(|| Older::new(handle, problem));
                let hidden = !class::transforms(noted)
                    && plan.memory > 0
                    && older().has(plan.memory, engine.has_tensor_cores());
                let class = if hidden { class::WINOGRAD } else { noted };
                if plan.memory > MOST_WORKSPACE || room[of(class)] == 0 {
                    continue;
                }
                room[of(class)] -= 1;
                numbers.push(engine.number);
                list.push(Offer { choice: Choice { index: first + index, class }, plan, _engine: engine });
            }
        }
        Ok(Self { list, _graph: Some(graph) })
    }
}

/// The workspaces of the older algorithms that use a transform. An engine that uses the same transform is recognised by its
/// workspace: Winograd's engine for gradients by weights has no note for it (cuDNN 9.19).
struct Older {
    workspaces: Vec<usize>,
    /// The smallest workspace for contiguous tensors, if the problem's are not: the engine first copies them into its workspace, and
    /// the older algorithms do not accept them.
    packed: Option<usize>,
}

impl Older {
    fn new(handle: sys::cudnnHandle_t, problem: &Problem) -> Self {
        let packed = problem
            .packed()
            .ok()
            .filter(|packed| problem.direction == Direction::BackwardWeights && packed != problem);
        let packed = packed.and_then(|packed| transforms_workspaces(handle, &packed).into_iter().min());
        Self { workspaces: transforms_workspaces(handle, problem), packed }
    }

    /// Whether an engine with this workspace may use a transform. The size of the copies is unknown, so any larger workspace may be
    /// one, unless the engine uses tensor cores.
    fn has(&self, memory: usize, tensor_cores: bool) -> bool {
        let same = |older: &usize| (memory..=memory + ROUNDED).contains(older);
        let packs = |least: usize| !tensor_cores && memory > ROUNDED && memory + ROUNDED >= least;
        self.workspaces.iter().any(same) || self.packed.is_some_and(packs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::without_provenance_mut as address;

    #[test]
    fn memory_is_as_aligned_as_its_least_aligned_part() {
        let of = |x, w, y| alignment_of(Buffers { x: address(x), w: address(w), y: address(y) });
        assert_eq!(of(256, 4096, 16), 16);
        assert_eq!(of(256, 4096, 8), 8);
        assert_eq!(of(256, 4100, 64), 4);
        assert_eq!(of(258, 4100, 64), 2);
        assert_eq!(of(256, 4097, 64), 1);
    }

    /// 8 channels, 16 filters, 3x3 on 12x12 in f32 on an H200: workspaces of Winograd, FFT, and a sum of products.
    #[test]
    fn an_engine_s_transform_is_recognised_by_its_workspace() {
        let older = Older { workspaces: vec![80_640, 313_344], packed: None };
        assert!([80_640, 313_344, 80_384].iter().all(|memory| older.has(*memory, false)));
        assert!([24, 32_272, 80_641].iter().all(|memory| !older.has(*memory, false)));
        // With the channels innermost it first copies 32 256 bytes of tensors.
        let older = Older { workspaces: Vec::new(), packed: Some(80_640) };
        assert!(
            [80_640, 112_912].iter().all(|memory| older.has(*memory, false) && !older.has(*memory, true))
        );
        assert!([24, 32_272].iter().all(|memory| !older.has(*memory, false)));
        // A workspace that is only rounding matches no algorithm.
        assert!(!Older { workspaces: Vec::new(), packed: Some(64) }.has(24, false));
        assert!(!Older { workspaces: Vec::new(), packed: None }.has(80_640, false));
    }

    #[test]
    fn a_transform_never_replaces_a_sum_of_products() {
        let sums = [class::GEMM, class::DIRECT, class::IMPLICIT_GEMM];
        for asked in sums {
            assert!(sums.iter().all(|class| may_replace(*class, asked)));
            assert!(!may_replace(class::WINOGRAD, asked) && !may_replace(class::FFT, asked));
        }
        assert!(may_replace(class::FFT, class::WINOGRAD) && may_replace(class::GEMM, class::WINOGRAD));
    }
}
