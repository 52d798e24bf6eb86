//! The engines that cuDNN's heuristics return for a graph, and their numerical notes.

use super::descriptor::{Descriptor, Note};
use super::graph::Graph;
use crate::Outcome;
use crate::convolution::{Problem, class};
use cudarc::cudnn::sys;
use hip_sys::miopen::miopenDataType_t;
use sys::cudnnBackendAttributeName_t as Name;
use sys::cudnnBackendDescriptorType_t as Kind;
use sys::cudnnBackendHeurMode_t as Mode;
use sys::cudnnBackendNumericalNote_t as N;

/// More notes than any engine has.
const NOTES: usize = 64;

/// An engine with its settings.
pub(super) struct Engine {
    pub(super) config: Descriptor,
    /// cuDNN's global index of the engine.
    pub(super) number: i64,
    notes: Vec<Note>,
}

/// The engines that a mode of the heuristics returns, the fastest first by cuDNN's estimate.
pub(super) fn named(graph: &Graph, mode: Mode) -> Outcome<Vec<Engine>> {
    let heuristics = Descriptor::new(Kind::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)?
        .with(Name::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, &[graph.graph.reference()])?
        .with(Name::CUDNN_ATTR_ENGINEHEUR_MODE, &[mode])?
        .finalized()?;
    let results = Name::CUDNN_ATTR_ENGINEHEUR_RESULTS;
    let count = heuristics.count::<super::descriptor::Reference>(results)?;
    let mut configs = (0..count)
        .map(|_| Descriptor::new(Kind::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR))
        .collect::<Outcome<Vec<_>>>()?;
    // cuDNN writes into the descriptors in the list.
    let mut list: Vec<_> = configs.iter().map(Descriptor::reference).collect();
    let count = if list.is_empty() { 0 } else { heuristics.read(results, &mut list)? };
    configs.truncate(count);
    Ok(configs.into_iter().filter_map(|config| Engine::of(config).ok()).collect())
}

impl Engine {
    fn of(config: Descriptor) -> Outcome<Self> {
        let engine = Descriptor::new(Kind::CUDNN_BACKEND_ENGINE_DESCRIPTOR)?;
        config.read(Name::CUDNN_ATTR_ENGINECFG_ENGINE, &mut [engine.reference()])?;
        let mut number = [-1_i64];
        engine.read(Name::CUDNN_ATTR_ENGINE_GLOBAL_INDEX, &mut number)?;
        let mut notes = vec![Note(u32::MAX); NOTES];
        let count = engine.read(Name::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, &mut notes)?;
        notes.truncate(count);
        Ok(Self { config, number: number[0], notes })
    }

    /// Whether it computes with the required precision.
    pub(super) fn is_permitted(&self, problem: &Problem) -> bool {
        let whole = !problem.wants_tensor_cores() || self.has_tensor_cores();
        whole && permitted(&self.notes, problem.x.kind, problem.conv.is_deterministic())
    }

    /// Whether it uses tensor cores.
    pub(super) fn has_tensor_cores(&self) -> bool {
        has(&self.notes, &[N::CUDNN_NUMERICAL_NOTE_TENSOR_CORE])
    }

    /// The class that MIOpen has for it.
    pub(super) fn class(&self) -> u32 {
        class_of(&self.notes)
    }
}

fn has(notes: &[Note], wanted: &[N]) -> bool {
    notes.iter().any(|note| wanted.iter().any(|wanted| *wanted as u32 == note.0))
}

/// f32 must not be rounded before multiplication, as tensor cores do, and sums must have 32 bits. A nondeterministic engine
/// adds to the output, which rounds each addition if the output has 16 bits.
fn permitted(notes: &[Note], kind: miopenDataType_t, deterministic: bool) -> bool {
    let single = kind == miopenDataType_t::miopenFloat;
    let rounding =
        [N::CUDNN_NUMERICAL_NOTE_TENSOR_CORE, N::CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, REDUCED];
    let rounds = single && has(notes, &rounding);
    let varies = (deterministic || !single) && has(notes, &[N::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC]);
    !rounds && !varies
}

/// cuDNN's note for sums of fewer than 32 bits, which an engine has if it may round any of them.
const REDUCED: N = N::CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;

/// Sums of fewer bits count as Winograd's transform: both round in another way, so only callers who allow that get either.
fn class_of(notes: &[Note]) -> u32 {
    let winograd = [
        REDUCED,
        N::CUDNN_NUMERICAL_NOTE_WINOGRAD,
        N::CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
        N::CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
        N::CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13,
    ];
    if has(notes, &winograd) {
        class::WINOGRAD
    } else if has(notes, &[N::CUDNN_NUMERICAL_NOTE_FFT]) {
        class::FFT
    } else {
        class::IMPLICIT_GEMM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT: miopenDataType_t = miopenDataType_t::miopenFloat;
    const HALF: miopenDataType_t = miopenDataType_t::miopenHalf;

    fn notes(numbers: &[u32]) -> Vec<Note> {
        numbers.iter().map(|number| Note(*number)).collect()
    }

    /// Notes by the numbers of cuDNN's header: 0 tensor cores, 1 converted inputs, 2 sums of fewer bits, 3 FFT, 4
    /// nondeterministic, 5 to 8 Winograd, 9 NaNs, and one that a later version may have.
    #[test]
    fn floats_are_never_rounded_first_nor_summed_in_few_bits() {
        for (number, float, half) in [
            (0, false, true),
            (1, false, true),
            (2, false, true),
            (3, true, true),
            (5, true, true),
            (9, true, true),
            (77, true, true),
        ] {
            let list = notes(&[9, number]);
            assert_eq!(
                (permitted(&list, FLOAT, true), permitted(&list, HALF, true)),
                (float, half),
                "{number}"
            );
        }
    }

    #[test]
    fn nondeterministic_engines_are_permitted_only_for_32_bit_outputs() {
        assert!(!permitted(&notes(&[0, 4]), HALF, false) && !permitted(&notes(&[0, 4]), HALF, true));
        assert!(permitted(&notes(&[4]), FLOAT, false) && !permitted(&notes(&[4]), FLOAT, true));
    }

    #[test]
    fn transforms_are_told() {
        for (numbers, expected) in [
            (&[][..], class::IMPLICIT_GEMM),
            (&[0, 9][..], class::IMPLICIT_GEMM),
            (&[3][..], class::FFT),
            (&[5, 8][..], class::WINOGRAD),
            (&[6][..], class::WINOGRAD),
            (&[0, 7][..], class::WINOGRAD),
            // Engines with sums of fewer bits are not offered to callers that asked for sums of products.
            (&[0, 2][..], class::WINOGRAD),
            (&[2, 3][..], class::WINOGRAD),
        ] {
            assert_eq!(class_of(&notes(numbers)), expected, "{numbers:?}");
        }
    }
}
