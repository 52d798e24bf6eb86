//! Calls that fail in the middle, when the library has given work to streams of its own.

use crate::under_test;
use hip_safe::{Device, Platform};
use hip_sys::hip::{hipDeviceSynchronize_fn, hipError_t};
use hip_sys::miopen::*;
use hip_sys::{LoadError, Miopen};
use miopen_safe::{Error, Handle, Rnn, RnnDesc, RnnMode, RnnSequence, RnnStates, RnnStatesMut};
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};

type Tensor = miopenTensorDescriptor_t;
type Tensors = *const miopenTensorDescriptor_t;
type In = *const c_void;
type Out = *mut c_void;

/// What was called since the list was taken.
static CALLED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
static SYNCHRONIZE: OnceLock<hipDeviceSynchronize_fn> = OnceLock::new();
static SET_STREAM: OnceLock<miopenSetStream_fn> = OnceLock::new();

fn note(what: &'static str) -> miopenStatus_t {
    CALLED.lock().push(what);
    miopenStatus_t::miopenStatusInternalError
}

unsafe extern "C" fn synchronize() -> hipError_t {
    note("synchronize");
    // SAFETY: S1: the real function, which takes nothing.
    unsafe { SYNCHRONIZE.get().expect("it was kept")() }
}

unsafe extern "C" fn set_stream(handle: miopenHandle_t, stream: miopenAcceleratorQueue_t) -> miopenStatus_t {
    note("set stream");
    // SAFETY: S1: the real function gets what it was called with.
    unsafe { SET_STREAM.get().expect("it was kept")(handle, stream) }
}

#[rustfmt::skip]
unsafe extern "C" fn inference(
    _: miopenHandle_t, _: miopenRNNDescriptor_t, _: c_int, _: Tensors, _: In, _: Tensor, _: In, _: Tensor, _: In, _: Tensor,
    _: In, _: Tensors, _: Out, _: Tensor, _: Out, _: Tensor, _: Out, _: Out, _: usize,
) -> miopenStatus_t {
    note("inference")
}

#[rustfmt::skip]
unsafe extern "C" fn training(
    _: miopenHandle_t, _: miopenRNNDescriptor_t, _: c_int, _: Tensors, _: In, _: Tensor, _: In, _: Tensor, _: In, _: Tensor,
    _: In, _: Tensors, _: Out, _: Tensor, _: Out, _: Tensor, _: Out, _: Out, _: usize, _: Out, _: usize,
) -> miopenStatus_t {
    note("training")
}

fn library() -> Result<Miopen, LoadError> {
    let real = under_test::platform();
    let library = miopen_safe::library(&real).map_err(Clone::clone)?;
    let mut table = library.table().clone();
    SET_STREAM.get_or_init(|| table.miopenSetStream);
    (table.miopenSetStream, table.miopenRNNForwardInference) = (set_stream, inference);
    table.miopenRNNForwardTraining = training;
    // SAFETY: S1: the functions are the real library's, call those, or answer an error.
    Ok(unsafe { Miopen::from_table(library.version(), "one that fails".into(), table) })
}

fn platform() -> Arc<Platform> {
    let real = under_test::platform();
    let mut hip = real.hip().clone();
    SYNCHRONIZE.get_or_init(|| hip.hipDeviceSynchronize);
    hip.hipDeviceSynchronize = synchronize;
    let rtc = Err(LoadError::NotProvided { library: "a compiler", reason: "none is needed" });
    // SAFETY: S1, S11: the functions are the real platform's, or call those; and so are the library's.
    unsafe {
        let platform = Platform::from_tables(real.kind, real.raw_version, hip, rtc, *real.ext());
        platform.library(library).expect("the platform has it");
        Arc::new(platform)
    }
}

/// The library's streams are waited for before the memory goes, and this thread's work goes to the handle's stream again.
#[test]
fn a_network_that_fails_restores_its_stream() {
    let stream = Device::new(&platform(), 0).unwrap().new_stream().unwrap();
    let handle = Handle::new(&stream).unwrap();
    let rnn = Rnn { layers: 2, ..Rnn::new(RnnMode::Lstm, 2) };
    let mut network = match RnnDesc::new::<f32>(&handle, rnn, None) {
        Err(Error::Unsupported { call, .. }) => return println!("skipped: {call}"),
        made => made.unwrap(),
    };
    let sequence = RnnSequence::new(&handle, &network, &[1, 1], 2).unwrap();
    let zeros = |len| stream.alloc_zeros::<f32>(len).unwrap();
    let (w, x, mut y) =
        (zeros(sequence.param_count()), zeros(sequence.input_count()), zeros(sequence.output_count()));
    stream.synchronize().unwrap();
    let check = |what, done: Result<(), Error>| {
        assert!(matches!(done, Err(Error::Miopen { .. })), "{done:?}");
        assert_eq!(std::mem::take(&mut *CALLED.lock()), [what, "synchronize", "set stream"]);
    };
    let (first, mut last) = (RnnStates::default(), RnnStatesMut::default());
    CALLED.lock().clear();
    let done =
        handle.rnn_inference(&network, &sequence, &w.view(), &x.view(), &first, &mut y.view_mut(), &mut last);
    check("inference", done);
    let done = handle.rnn_training(
        &mut network,
        &sequence,
        &w.view(),
        &x.view(),
        &first,
        &mut y.view_mut(),
        &mut last,
    );
    check("training", done.map(drop));
    // What is refused before the call is no reason to wait.
    let mut short = zeros(1);
    let done = handle.rnn_inference(
        &network,
        &sequence,
        &w.view(),
        &x.view(),
        &first,
        &mut short.view_mut(),
        &mut last,
    );
    assert!(matches!(done, Err(Error::Mismatch { .. })), "{done:?}");
    assert!(CALLED.lock().is_empty());
}
