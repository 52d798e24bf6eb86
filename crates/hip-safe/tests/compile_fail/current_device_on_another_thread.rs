//! The current device is a thread's.
use hip_safe::Device;

fn elsewhere(device: &Device) {
    let current = device.make_current().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(current));
    });
}

fn main() {}
