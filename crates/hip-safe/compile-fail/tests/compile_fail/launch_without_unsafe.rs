//! A kernel's body cannot be checked.
use hip_safe::{Function, LaunchConfig, Stream};

fn launch(stream: &Stream, kernel: &Function) {
    stream.launch(kernel, LaunchConfig::linear(1, 1)).submit().unwrap();
}

fn main() {}
