//! Checks of a device that a fault broke.
#![allow(dead_code, reason = "each test file uses a part")]

use super::{Hip, shape};
use std::ffi::c_void;
use std::ptr::null_mut;

impl Hip {
    /// What the platform reports about a device's fault.
    pub(crate) fn last_fault(&self, device: i32) -> String {
        let ask = hip_host::platform().ext().last_fault.expect("hip-host says");
        let mut text = [0_u8; 512];
        // SAFETY: S1, S11: the size given is the buffer's.
        let length = unsafe { ask(device, text.as_mut_ptr().cast(), text.len()) };
        String::from_utf8_lossy(&text[..length.min(text.len() - 1)]).into_owned()
    }

    pub(crate) fn current_device(&self) -> i32 {
        let mut device = -1;
        ok!(self, hipGetDevice(&mut device));
        device
    }

    /// Runs a correct kernel on the current device.
    pub(crate) fn works(&self) {
        let out = self.zeros::<i32>(64);
        let mut po = out.pointer;
        self.launch(self.function("test_faults", "fine"), shape(1, 64), null_mut(), arguments![po]);
        assert_eq!(out.read(), [2; 64]);
        self.launch(
            self.function("test_plain_faults", "plain_fine"),
            shape(8, 64),
            null_mut(),
            arguments![po],
        );
        assert_eq!(out.read(), [2; 64]);
    }

    /// Checks that the current device is broken with a code: all calls return it, nothing hangs, the other
    /// device is healthy, and a reset clears it. Returns what the platform reports about the fault.
    pub(crate) fn is_broken_with(&self, code: u32) -> String {
        let device = self.current_device();
        let (mut memory, mut free, mut total) = (null_mut::<c_void>(), 0, 0);
        let (mut stream, mut event) = (null_mut(), null_mut());
        let mut own = [0_u8; 64];
        let codes = [
            ("synchronize", call!(self, hipDeviceSynchronize())),
            ("stream synchronize", call!(self, hipStreamSynchronize(null_mut()))),
            ("stream query", call!(self, hipStreamQuery(null_mut()))),
            ("malloc", call!(self, hipMalloc(&mut memory, 64))),
            ("managed", call!(self, hipMallocManaged(&mut memory, 64, 1))),
            ("register", call!(self, hipHostRegister(own.as_mut_ptr().cast(), own.len(), 0))),
            ("pinned", call!(self, hipHostMalloc(&mut memory, 64, 0))),
            ("stream", call!(self, hipStreamCreateWithFlags(&mut stream, 0))),
            ("event", call!(self, hipEventCreateWithFlags(&mut event, 0))),
            ("memory", call!(self, hipMemGetInfo(&mut free, &mut total))),
        ];
        for (what, seen) in codes {
            assert_eq!(seen, code, "{what}");
        }
        assert_eq!(call!(self, hipGetLastError()), code);
        let why = self.last_fault(device);
        assert!(why.starts_with("kernel ") || why.starts_with("allocation "), "{why}");
        // The other device is healthy, and so is this process.
        ok!(self, hipSetDevice(1 - device));
        assert_eq!(self.last_fault(1 - device), "");
        self.works();
        ok!(self, hipSetDevice(device));
        assert_eq!(call!(self, hipDeviceSynchronize()), code);
        assert_eq!(call!(self, hipDeviceReset()), 0);
        assert_eq!(self.last_fault(device), "");
        ok!(self, hipDeviceSynchronize());
        self.works();
        why
    }
}
