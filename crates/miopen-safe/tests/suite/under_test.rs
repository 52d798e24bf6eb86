//! The platform under test: hip-host, or the one that `HIPSTACK_TEST_PLATFORM` names (`amd`, `nvidia`), and what it does not offer.

use crate::numbers::Real;
use hip_safe::{Device, DeviceBuffer, Platform, Stream};
use miopen_safe::{Error, Handle, Result, TensorDesc};
use parking_lot::{RwLock, RwLockReadGuard};
use std::sync::{Arc, LazyLock};

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| match name().as_str() {
    "host" => hip_host::platform(),
    "amd" => Arc::new(Platform::load_amd().expect("AMD's library is on this machine")),
    "nvidia" => hip_nvidia::platform().expect("NVIDIA's driver is on this machine"),
    other => panic!("HIPSTACK_TEST_PLATFORM={other}: there are host, amd and nvidia"),
});

/// What a platform does not offer: the C function, the case of the test (all that name none, if empty), and why.
pub(crate) type Lack = (&'static str, &'static str, &'static str);

pub(crate) const HOST_LACKS: &[Lack] = &[];

const NO_NORM: &str = "cuDNN has layer normalisation in its graphs alone";

pub(crate) const NVIDIA_LACKS: &[Lack] = &[
    ("miopenActivationForward", "SoftRelu", "cuDNN has no such function"),
    ("miopenActivationForward", "Power", "cuDNN has no such function"),
    ("miopenLRNForward", "WithinChannel", "within a channel cuDNN's sums are others than MIOpen's"),
    ("miopenLayerNormForward", "", NO_NORM),
    ("miopenAddLayerNormForward", "", NO_NORM),
    ("miopenGroupNormForward", "", NO_NORM),
    ("miopenT5LayerNormForward", "", NO_NORM),
    ("miopenCreateMhaDescriptor", "", "cuDNN has attention in its graphs alone"),
];

/// What cuDNN's older functions lack beside that: they are all there is where `HIPSTACK_CUDNN_BACKEND` is `0`.
pub(crate) const NVIDIA_OLDER_LACKS: &[Lack] = &[(
    "miopenConvolutionBackwardDataGetSolutionCount",
    "F16",
    "of less than whole eights of channels they round the sums of f16 on the way",
)];

/// AMD's library chooses by the card: what it has no kernel for, it says.
pub(crate) const AMD_LACKS: &[Lack] = &[];

/// Where a platform's results are farther off than a unit in the last place: a part of the result's name, how many units, and why.
type Coarse = (&'static str, f64, &'static str);

const NVIDIA_COARSE: &[Coarse] = &[
    (" Channel F16", 2.0, "cuDNN's softmax over channels rounds more than once"),
    (" Channel BF16", 2.0, "cuDNN's softmax over channels rounds more than once"),
];

/// How many units in the last place a result may be off beside its sum's error: one, unless the platform is known for more.
pub(crate) fn units(what: &str) -> f64 {
    let list = if name() == "nvidia" { NVIDIA_COARSE } else { &[] };
    list.iter().find(|(part, ..)| what.contains(part)).map_or(1.0, |(_, units, _)| *units)
}

fn name() -> String {
    std::env::var("HIPSTACK_TEST_PLATFORM").unwrap_or_else(|_| "host".to_owned())
}

fn lacks() -> impl Iterator<Item = &'static Lack> {
    let older = std::env::var_os("HIPSTACK_CUDNN_BACKEND").is_some_and(|value| value == "0");
    let [lacks, more] = match name().as_str() {
        "host" => [HOST_LACKS, &[]],
        "nvidia" if older => [NVIDIA_LACKS, NVIDIA_OLDER_LACKS],
        "nvidia" => [NVIDIA_LACKS, &[]],
        _ => [AMD_LACKS, &[]],
    };
    lacks.iter().chain(more)
}

pub(crate) fn platform() -> Arc<Platform> {
    Arc::clone(&PLATFORM)
}

/// What the operation gave; nothing, with a word, if the platform is known not to offer it. Every other failure fails the test.
pub(crate) fn offered<T>(result: Result<T>) -> Option<T> {
    offered_case("", result)
}

/// As [`offered`], for one case of several that a platform has or lacks.
pub(crate) fn offered_case<T>(case: &str, result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Unsupported { call, doing, reason }) => {
            match lacks().find(|(lack, of, _)| *lack == call && *of == case) {
                Some((_, _, why)) => println!("skipped: {call} for {doing} {case}: {why}"),
                None => panic!("{call} for {doing} {case} is not among what the platform lacks: {reason}"),
            }
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A stream that waits for a host function may hold up whoever makes or ends a handle, which waits for the whole device, and that
/// one whoever calls the driver, the thread that the function waits for too. So who holds a stream is alone.
static BESIDE: RwLock<()> = RwLock::new(());

/// A handle on a stream of its own.
pub(crate) struct Machine {
    pub(crate) stream: Stream,
    pub(crate) handle: Handle,
    _beside: Option<RwLockReadGuard<'static, ()>>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::on(0)
    }

    /// Gives the closure one while no other test has any.
    pub(crate) fn alone(test: impl FnOnce(&Self)) {
        let _alone = BESIDE.write();
        test(&Self::beside(0, None));
    }

    pub(crate) fn on(ordinal: usize) -> Self {
        // A test may have two of them.
        Self::beside(ordinal, Some(BESIDE.read_recursive()))
    }

    fn beside(ordinal: usize, beside: Option<RwLockReadGuard<'static, ()>>) -> Self {
        let device = Device::new(&platform(), ordinal).expect("the platform has such a device");
        let stream = device.new_stream().expect("a stream can be made");
        let handle = Handle::new(&stream).expect("a handle can be made");
        Self { stream, handle, _beside: beside }
    }

    /// A packed descriptor.
    pub(crate) fn desc<T: Real>(&self, dims: &[usize]) -> TensorDesc {
        TensorDesc::packed::<T>(&self.handle, dims).expect("a descriptor can be made")
    }

    /// Numbers on the device, each rounded into the type.
    pub(crate) fn up<T: Real>(&self, values: &[f64]) -> DeviceBuffer<T> {
        let values: Vec<T> = values.iter().map(|x| T::of(*x)).collect();
        self.stream.upload(&values).expect("memory can be had")
    }

    /// A buffer for an output, filled with a value that is no result.
    pub(crate) fn scratch<T: Real>(&self, len: usize) -> DeviceBuffer<T> {
        self.up(&vec![-77.0; len])
    }

    /// What the device has.
    pub(crate) fn down<T: Real>(&self, buffer: &DeviceBuffer<T>) -> Vec<f64> {
        let values = self.stream.download(buffer).expect("the work succeeds");
        values.into_iter().map(Real::value).collect()
    }
}
