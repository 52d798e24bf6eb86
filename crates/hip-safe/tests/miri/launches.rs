//! Launches: arguments are copied, kept and read as they are, however many there are, and code stays while it runs.

use crate::toy::{IMAGE, SUMMED, on_streams};
use hip_safe::{BufferArgument, DeviceBuffer, Function, LaunchConfig, Module, Stream};

fn kernel(stream: &Stream, name: &str) -> Function {
    Module::load(stream.device(), IMAGE).unwrap().function(name).unwrap()
}

fn config() -> LaunchConfig {
    LaunchConfig::linear(4, 64)
}

#[test]
fn a_launch_has_its_arguments_in_place() {
    on_streams(|[stream, other]| {
        let add_one = kernel(&stream, "add_one");
        let mut first = other.upload(&[1_u32, 2, 3, 4]).unwrap();
        let mut second = stream.alloc_zeros::<u32>(4).unwrap();
        for _ in 0..2 {
            // SAFETY: S9: the kernel reads four elements of the first and writes four of the second.
            unsafe {
                let mut launch = stream.launch(&add_one, config());
                launch.arg(&first).arg_mut(&mut second).value(&4_u32).submit().unwrap();
            }
            other.copy(&second, &mut first).unwrap();
        }
        // The launches before may still run: the code stays.
        drop(add_one);
        assert_eq!(stream.download(&first).unwrap(), [3, 4, 5, 6]);
    });
}

#[test]
fn a_launch_has_more_arguments_than_fit_in_place() {
    on_streams(|[stream, other]| {
        let sum = kernel(&stream, "sum");
        let sources: Vec<DeviceBuffer<u32>> =
            (0..SUMMED as u32).map(|i| other.upload(&[i, 1, 10 * i, 2]).unwrap()).collect();
        // SAFETY: S15: the kernel writes all of it.
        let mut to = unsafe { stream.alloc_uninit::<u32>(4) }.unwrap();
        let mut launch = stream.launch(&sum, config());
        for source in &sources {
            launch.arg(source);
        }
        // SAFETY: S9: the kernel reads four elements of each source and writes four of the sum.
        unsafe { launch.arg_mut(&mut to).value(&4_u32).submit().unwrap() };
        drop(sources);
        assert_eq!(other.download(&to).unwrap(), [78, 13, 780, 26]);
    });
}

/// At home, away from home, and back; a part of a buffer; the same buffer read by two.
#[test]
fn a_launch_without_a_lock_records_its_uses() {
    on_streams(|[stream, other]| {
        let (add_one, sum) = (kernel(&stream, "add_one"), kernel(&stream, "sum"));
        let mut first = stream.upload(&[0_u32, 10, 20, 30]).unwrap();
        let mut second = stream.alloc_zeros::<u32>(4).unwrap();
        // SAFETY: S9: the kernel reads four elements of `from` and writes four of `to`.
        let launch = |on: &Stream, from: BufferArgument<'_>, to: BufferArgument<'_>| unsafe {
            on.launch_buffers(&add_one, config(), [from, to], &4_u32).unwrap();
        };
        for on in [&stream, &stream, &other, &stream] {
            launch(on, BufferArgument::read(&first), BufferArgument::write(&mut second));
            launch(on, BufferArgument::read(&second), BufferArgument::write(&mut first));
        }
        launch(&stream, BufferArgument::read(&first), BufferArgument::write(&mut second.view_mut()));
        let (left, right) = (first.view(), first.view());
        launch(&other, BufferArgument::read(&left), BufferArgument::write(&mut second));
        assert_eq!(stream.download(&right).unwrap(), [8, 18, 28, 38]);
        assert_eq!(other.download(&second).unwrap(), [9, 19, 29, 39]);
        let buffers = [BufferArgument::read(&first)];
        // SAFETY: S9: it is refused before any call: the kernel takes more than that.
        let refused = unsafe { stream.launch_buffers(&sum, config(), buffers, &4_u32) };
        assert!(refused.is_err());
    });
}

#[test]
fn values_of_any_size_are_copied_into_words() {
    on_streams(|[stream]| {
        let add_one = kernel(&stream, "add_one");
        let mut buffer = stream.upload(&[5_u32; 4]).unwrap();
        let mut launch = stream.launch(&add_one, config());
        launch.arg_mut(&mut buffer).value(&[1_u8; 13]).value(&[0.5_f64; 3]).value(&7_u16);
        // SAFETY: S9: it is refused before any call.
        let refused = unsafe { launch.submit() }.expect_err("the kernel takes two pointers and a number");
        assert!(refused.to_string().contains("13"), "{refused}");
    });
}
