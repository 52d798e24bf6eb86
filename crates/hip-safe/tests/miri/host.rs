//! Memory of the host that copies use when their call has returned, and functions that streams call.

use crate::toy::on_streams;
use hip_safe::{PinnedBuffer, drop_errors};
use std::sync::mpsc::channel;

#[test]
fn pinned_memory_waits_for_the_copies_that_use_it() {
    on_streams(|[stream, other]| {
        let mut pinned = PinnedBuffer::from_slice(stream.device(), &[1_u32, 2, 3, 4]).unwrap();
        let mut buffer = stream.alloc_zeros::<u32>(4).unwrap();
        for round in 0..2 {
            stream.copy_from_pinned(&pinned, &mut buffer).unwrap();
            // Reading it goes on meanwhile, writing waits.
            assert_eq!(pinned.as_slice().unwrap()[3], 4 + round);
            pinned.as_mut_slice().unwrap().iter_mut().for_each(|x| *x *= 10);
            other.copy_to_pinned(&buffer, &mut pinned).unwrap();
            assert_eq!(pinned.to_vec().unwrap(), [1 + round, 2 + round, 3 + round, 4 + round]);
            let next = [2 + round, 3 + round, 4 + round, 5 + round];
            pinned.copy_from_slice(&next).unwrap();
        }
        stream.copy_from_pinned(&pinned, &mut buffer).unwrap();
        // Freed when the copy has read it.
        drop(pinned);
        assert_eq!(other.download(&buffer).unwrap(), [3, 4, 5, 6]);
    });
}

#[test]
fn functions_have_pinned_memory_to_themselves() {
    on_streams(|[stream, other]| {
        let mut pinned = PinnedBuffer::<u32>::zeroed(stream.device(), 4).unwrap();
        stream.launch_host_with_mut(&mut pinned, |values| values.fill(3)).unwrap();
        let mut buffer = other.alloc_zeros::<u32>(4).unwrap();
        other.copy_from_pinned(&pinned, &mut buffer).unwrap();
        let (sender, receiver) = channel();
        stream
            .launch_host_with(&pinned, move |values| sender.send(values.iter().sum::<u32>()).unwrap())
            .unwrap();
        pinned.as_mut_slice().unwrap().fill(1);
        assert_eq!((receiver.recv(), pinned.as_slice().unwrap()), (Ok(12), &[1; 4][..]));
        assert_eq!(stream.download(&buffer).unwrap(), [3; 4]);
    });
}

#[test]
fn a_function_that_owns_the_last_references() {
    on_streams(|[stream, other]| {
        let mut buffer = Some(stream.upload(&[1_u8; 3]).unwrap());
        if stream.device().platform().ext().own_pages {
            // Its drop makes a call, which is not allowed there.
            buffer = None;
        }
        let before = drop_errors();
        other.launch_host(move || drop((buffer, stream))).unwrap();
        other.synchronize().unwrap();
        let (sender, receiver) = channel();
        other.launch_host(move || sender.send(1).unwrap()).unwrap();
        other.close().unwrap();
        assert_eq!((receiver.recv(), drop_errors()), (Ok(1), before));
    });
}
