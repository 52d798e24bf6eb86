//! Attention, forward, and what both directions share.

use crate::attention::{Found, Key};
use crate::convert;
use crate::owner::{OptionsObject, Owner, ProblemObject, SolutionObject};
use crate::raw::{attention, find};
use crate::tensor::{has_dims, is_packed};
use crate::work::{Scratch, Work};
use crate::{AttentionDesc, AttentionParams, Error, Handle, Result, SolutionStatistics};
use crate::{Tensor, TensorDesc, TensorMut};
use hip_sys::miopen::miopenTensorArgumentId_t as Id;
use hip_sys::miopen::{miopenProblemDirection_t, miopenTensorArgument_t};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

const FORWARD: &str = "an attention";
const SEARCH: &str = "the solutions of an attention";

/// Attention's outputs besides `o`, for the gradient and for the choice of factors. All are contiguous.
#[derive(Debug)]
pub struct AttentionStatistics<'a> {
    /// The greatest score of each query, `[n, heads, length, 1]`.
    pub m: TensorMut<'a, f32>,
    /// 1 / Σ e^(score − m) of each query, `[n, heads, length, 1]`.
    pub z_inv: TensorMut<'a, f32>,
    /// The greatest probability before dropout, `[1, 1, 1, 1]`.
    pub amax_s: TensorMut<'a, f32>,
    /// The greatest absolute value of the output before `scale_o`, `[1, 1, 1, 1]`.
    pub amax_o: TensorMut<'a, f32>,
}

/// One tensor of a call: the library's id, its layout, its address.
pub(super) type Argument<'a> = (Id, &'a TensorDesc, *mut c_void);

impl Handle {
    /// `o ← softmax(scale · q kᵀ) v` for each batch and head. Queries, keys, values and output are `[n, heads, length, width]`,
    /// all contiguous. The first call for a shape searches a solution, and cannot be part of a graph; the handle remembers the solution.
    /// On a handle a shape has one scale, that of its first call: MIOpen would use it for the next calls too.
    ///
    /// There is no mask and no bias: MIOpen ignores a mask, and reads past the end of a bias if there are few queries.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes and strides that do not match, [`Error::TooLarge`] for more scores than 32 bits count,
    /// [`Error::Unsupported`] where the library has no attention, and for a second scale of a shape; what memory, stream or library
    /// answer.
    #[doc(alias = "miopenFindSolutions")]
    #[doc(alias = "miopenRunSolution")]
    pub fn attention_forward(
        &self,
        desc: &AttentionDesc,
        params: &AttentionParams,
        [q, k, v]: [&Tensor<'_, f32>; 3],
        o: &mut TensorMut<'_, f32>,
        statistics: &mut AttentionStatistics<'_>,
    ) -> Result<()> {
        desc.on(self)?;
        let dims = shape(q.desc())?;
        fits("an attention's keys", &dims, k.desc())?;
        fits("an attention's values", &dims, v.desc())?;
        fits("an attention's output", &dims, o.desc())?;
        let rows = rows(dims);
        fits("an attention's greatest scores", &rows, statistics.m.desc())?;
        fits("an attention's inverse sums", &rows, statistics.z_inv.desc())?;
        fits("an attention's greatest probability", &[1; 4], statistics.amax_s.desc())?;
        fits("an attention's greatest output", &[1; 4], statistics.amax_o.desc())?;
        let key = Key { backward: false, scale: desc.scale().to_bits(), dims };
        let found = match self.attentions().solutions.get(&key) {
            Some(found) => found,
            None => {
                let mut work = searching(self);
                let arguments = arguments(&mut work, params, [q, k, v], o, statistics);
                self.find_attention(key, desc, &arguments, work)?
            }
        };
        let mut scratch = Scratch::new(self, found.workspace_bytes)?;
        let mut work = Work::new(self, FORWARD);
        let arguments = arguments(&mut work, params, [q, k, v], o, statistics);
        let space = work.scratch(&mut scratch);
        run(work, &found, &arguments, space)
    }

    /// The solutions of attention that the handle remembers. [`Handle::forget_solutions`] forgets them too.
    pub fn attention_statistics(&self) -> SolutionStatistics {
        self.attentions().solutions.statistics().into()
    }

    /// Searches a solution, and remembers it. The work declares the arguments' memory.
    pub(super) fn find_attention(
        &self,
        key: Key,
        desc: &AttentionDesc,
        arguments: &[Argument<'_>],
        work: Work<'_>,
    ) -> Result<Arc<Found>> {
        let (first, scale) = (self.attentions().first_scale(&key), f32::from_bits(key.scale));
        if first.to_bits() != key.scale {
            let reason = format!(
                "this handle computes attention of {:?} with the scale {first}: make another for {scale}",
                key.dims
            );
            return Err(Error::Unsupported { call: "miopenFindSolutions", doing: FORWARD, reason });
        }
        let found = self.search_attention(key, desc, arguments, work);
        self.attentions().note_search(&key, found.is_ok());
        let found = Arc::new(found?);
        self.attentions().solutions.put(key, Arc::clone(&found));
        Ok(found)
    }

    fn search_attention(
        &self,
        key: Key,
        desc: &AttentionDesc,
        arguments: &[Argument<'_>],
        work: Work<'_>,
    ) -> Result<Found> {
        let (operation, platform) = (desc.on(self)?, self.platform());
        let direction = if key.backward {
            miopenProblemDirection_t::miopenProblemDirectionBackward
        } else {
            miopenProblemDirection_t::miopenProblemDirectionForward
        };
        let mut raw = null_mut();
        // SAFETY: S1: the descriptor is live, and the out-pointer too.
        self.call(SEARCH, |m, _| unsafe {
            attention::create_mha_problem(m, &mut raw, operation, direction)
        })?;
        let problem = Owner::<ProblemObject>::of(platform, raw);
        let tensors: Vec<_> =
            arguments.iter().map(|(id, desc, _)| Ok((*id, desc.on(self)?))).collect::<Result<_>>()?;
        self.call(SEARCH, |m, _| {
            tensors.iter().try_for_each(|(id, desc)| {
                // SAFETY: S1: problem and descriptor are live; the problem takes a copy.
                unsafe { find::set_problem_tensor_descriptor(m, problem.raw(), *id, *desc) }
            })
        })?;
        // If the call provides the memory, the library allocates none.
        let options = Owner::<OptionsObject>::new(platform, |m, options| {
            arguments.iter().try_for_each(|(id, _, address)| {
                // SAFETY: S1, S2: the address is used by the search alone, which names its memory.
                unsafe { find::set_find_option_preallocated_tensor(m, options, *id, *address) }
            })
        })?;
        let found = work.run(|m, h| {
            let (mut solution, mut count) = (null_mut(), 0);
            // SAFETY: S1, S2: handle, problem and options are live, their memory is named, and there is room for one solution.
            unsafe {
                find::find_solutions(m, h, problem.raw(), options.raw(), &mut solution, &mut count, 1)
            }?;
            Ok((count > 0).then_some(solution))
        })?;
        let Some(raw) = found else {
            let reason = "it found no solution".to_owned();
            return Err(Error::Unsupported { call: "miopenFindSolutions", doing: FORWARD, reason });
        };
        let solution = Owner::<SolutionObject>::of(platform, raw);
        options.close()?;
        problem.close()?;
        let workspace_bytes = solution.ask(|m, solution| {
            // SAFETY: S1: the solution is live, and the out-pointer too.
            convert::out(|bytes| unsafe { find::get_solution_workspace_size(m, solution, bytes) })
        })?;
        Ok(Found { solution, workspace_bytes })
    }
}

/// A search, which needs the memory that the call will use.
pub(super) fn searching(handle: &Handle) -> Work<'_> {
    Work::new(handle, SEARCH).waits("run it once before the capture")
}

/// Runs a solution with these tensors, whose memory the work declares.
pub(super) fn run(
    work: Work<'_>,
    found: &Found,
    arguments: &[Argument<'_>],
    space: *mut c_void,
) -> Result<()> {
    let argument = |(id, _, buffer): &Argument<'_>| miopenTensorArgument_t {
        id: *id,
        descriptor: null_mut(),
        buffer: *buffer,
    };
    let list: Vec<_> = arguments.iter().map(argument).collect();
    let (solution, bytes) = (found.solution.raw(), found.workspace_bytes);
    // SAFETY: S1, S2: the solution is live and was found for tensors that lie as these do, their memory is named, the workspace has the
    // bytes asked for, and what the solution compiled stays with the handle.
    work.run(|m, h| unsafe { find::run_solution(m, h, solution, list.len(), list.as_ptr(), space, bytes) })
}

/// The common shape of all large tensors.
pub(super) fn shape(q: &TensorDesc) -> Result<[usize; 4]> {
    let [n, heads, length, width] = *q.dims() else {
        return Err(Error::mismatch("the dimensions of an attention's queries", 4, q.dims().len()));
    };
    is_packed("an attention's queries", q)?;
    convert::product("the number of an attention's scores", &[n, heads, length, length])?;
    Ok([n, heads, length, width])
}

/// The shape of a tensor with one number per query.
pub(super) fn rows([n, heads, length, _]: [usize; 4]) -> [usize; 4] {
    [n, heads, length, 1]
}

pub(super) fn fits(what: &'static str, dims: &[usize], desc: &TensorDesc) -> Result<()> {
    has_dims(what, dims, desc)?;
    is_packed(what, desc)
}

/// The numbers that a direction reads.
pub(super) fn numbers<'w>(
    work: &mut Work<'w>,
    params: &'w AttentionParams,
    backward: bool,
) -> Vec<Argument<'w>> {
    let (floats, draws) = (work.read_slice(params.floats()), work.read_slice(params.draws()));
    let address = |drawn: bool, at: usize| {
        if drawn { draws.wrapping_byte_add(8 * at) } else { floats.wrapping_byte_add(4 * at) }
    };
    let numbers = params.numbers(backward);
    numbers.map(|(id, desc, drawn, at)| (id, desc, address(drawn, at).cast_mut())).collect()
}

fn arguments<'w>(
    work: &mut Work<'w>,
    params: &'w AttentionParams,
    [q, k, v]: [&'w Tensor<'_, f32>; 3],
    o: &'w mut TensorMut<'_, f32>,
    statistics: &'w mut AttentionStatistics<'_>,
) -> Vec<Argument<'w>> {
    let mut all = numbers(work, params, false);
    for (id, tensor) in [(Id::miopenTensorMhaQ, q), (Id::miopenTensorMhaK, k), (Id::miopenTensorMhaV, v)] {
        all.push((id, tensor.desc(), work.read(tensor).cast_mut()));
    }
    all.push((Id::miopenTensorMhaO, o.desc(), work.write(o)));
    let AttentionStatistics { m, z_inv, amax_s, amax_o } = statistics;
    for (id, tensor) in [
        (Id::miopenTensorMhaM, m),
        (Id::miopenTensorMhaZInv, z_inv),
        (Id::miopenTensorMhaAmaxS, amax_s),
        (Id::miopenTensorMhaAmaxO, amax_o),
    ] {
        all.push((id, tensor.desc(), work.write(tensor)));
    }
    all
}
