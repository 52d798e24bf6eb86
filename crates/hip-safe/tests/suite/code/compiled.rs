//! Kernels that the platform compiled at run time are modules like others.

use crate::under_test::{device, ordinals, platform};
use hip_safe::{Error, LaunchConfig, Module, PlatformKind, Source};

#[test]
fn compiled_code_is_loaded_checked_and_launched() {
    let text = "extern \"C\" __global__ void scale(float* a, double by, unsigned count) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count) a[i] *= by;
    }";
    for ordinal in ordinals() {
        let device = device(ordinal);
        let code = Source::new(text).compile_for(&device).unwrap().into_code();
        let module = Module::load(&device, &code).unwrap();
        let scale = module.function("scale").unwrap();
        let stream = device.new_stream().unwrap();
        let mut a = stream.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
        let config = LaunchConfig::linear(3, 64);
        // SAFETY: S9: the kernel writes the first three elements, which there are.
        unsafe { stream.launch(&scale, config).arg_mut(&mut a).value(&0.5_f64).value(&3_u32).submit() }
            .unwrap();
        assert_eq!(stream.download(&a).unwrap(), [0.5, 1.0, 1.5]);
        // The sizes of the arguments are known: a float is no double.
        // SAFETY: S9: as above, were it launched.
        let wrong =
            unsafe { stream.launch(&scale, config).arg_mut(&mut a).value(&0.5_f32).value(&3_u32).submit() };
        let wrong = wrong.unwrap_err().to_string();
        assert!(
            wrong.ends_with("takes 3 arguments of 8, 8, 4 bytes and was given 3 arguments of 8, 4, 4 bytes"),
            "{wrong}"
        );
        // Cut short, it never reaches the platform, which says what is wrong in the words of its format.
        let cut = Module::load(&device, &code[..code.len() - 1]).unwrap_err();
        let words =
            if platform().kind == PlatformKind::Host { "cut short" } else { "no whole 64-bit ELF file" };
        assert!(matches!(&cut, Error::InvalidImage { reason, .. } if reason.contains(words)), "{cut}");
    }
}
