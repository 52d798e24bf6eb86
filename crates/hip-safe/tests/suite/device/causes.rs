//! An error contains what the platform knows of its cause. A fault poisons the device, so this runs in a separate process.

use crate::under_test::{device, is_host, module, stream};
use crate::{again, is_child};
use hip_safe::{Error, LaunchConfig};
use kernels_hip::args::Map1;

#[test]
fn a_fault_is_explained() {
    if !is_host() {
        return;
    }
    if !is_child() {
        let child = again("device::causes::a_fault_is_explained", &[("HIPSTACK_HOST_GUARD", "1")]);
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        return;
    }
    let module = module(&device(0));
    let negate = module.function("elementwise_neg_f32").expect("it is in the module");
    let stream = stream();
    let input = stream.alloc_zeros::<f32>(256).expect("memory");
    let mut output = stream.alloc_zeros::<f32>(256).expect("memory");
    let mut dims = [0; 8];
    let mut strides = [0; 8];
    (dims[0], strides[0]) = (1000, 1);
    let map = Map1 { count: 1000, rank: 1, contiguous: 1, dims, a: strides };
    let config = LaunchConfig::linear(1000, 256);
    // SAFETY: S9: the map spans more than the buffers have, which guard mode turns into a fault: that is the test.
    unsafe { stream.launch(&negate, config).arg(&input).arg_mut(&mut output).value(&map).submit() }
        .expect("it is queued");
    let error = stream.synchronize().expect_err("the kernel went too far");
    assert!(matches!(&error, Error::Poisoned { .. }), "{error:?}");
    assert_eq!(error.hip_code(), Some(700));
    let text = error.to_string();
    for piece in [
        "(700) while ",
        ": kernel elementwise_neg_f32, block (",
        ": illegal address 0x",
        " past the end of allocation ",
        "(1,024 bytes of device 0)",
    ] {
        assert!(text.contains(piece), "{piece:?} is not in {text}");
    }
}
