//! Memory that processes share: one makes it, another opens it.

use crate::under_test::stream;
use crate::watched::{calls, device, fail_next, work_calls};
use crate::{again, is_child};
use hip_safe::{Error, IpcHandle};

const HANDLE: &str = "HIP_SAFE_TEST_HANDLE";
const LEN: usize = 1000;

fn text(handle: &IpcHandle) -> String {
    handle.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(text: &str) -> IpcHandle {
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("two digits");
    IpcHandle::from_bytes(&std::array::from_fn(byte))
}

#[test]
fn another_process_reads_and_writes_a_buffer() {
    if is_child() {
        return open_and_change(&std::env::var(HANDLE).expect("the parent gave it"));
    }
    let stream = stream();
    // Not the first piece of its allocation.
    let beside = stream.upload(&[9_u32; LEN]).unwrap();
    let buffer = stream.upload(&(0..LEN as u32).collect::<Vec<_>>()).unwrap();
    stream.synchronize().unwrap();
    let handle = match buffer.ipc_handle() {
        Err(Error::NotOffered { what, .. }) => return println!("skipped: no {what}"),
        answer => answer.unwrap(),
    };
    assert_eq!(handle.byte_len(), 4 * LEN as u64);
    let child = again("ipc::another_process_reads_and_writes_a_buffer", &[(HANDLE, &text(&handle))]);
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let seen = stream.download(&buffer).unwrap();
    assert_eq!((seen[0], seen[1], seen[LEN - 1]), (0x0505_0505, 1, LEN as u32 - 1));
    assert_eq!(stream.download(&beside).unwrap(), [9; LEN]);
}

fn open_and_change(handle: &str) {
    let stream = stream();
    // SAFETY: S5: the parent waits with its work until this process has ended.
    let mut buffer = unsafe { stream.open_ipc::<u32>(&read(handle)) }.unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), (0..LEN as u32).collect::<Vec<_>>());
    stream.memset(&mut buffer.slice_mut(..1).unwrap(), 5).unwrap();
    buffer.close().unwrap();
}

#[test]
fn a_platform_that_cannot_share_says_so() {
    let stream = device().new_stream().unwrap();
    let buffer = stream.upload(&[1_u32; 10]).unwrap();
    for call in ["hipIpcGetMemHandle", "hipIpcOpenMemHandle"] {
        fail_next(call, 801);
        let answer = match call {
            "hipIpcGetMemHandle" => buffer.ipc_handle().map(drop),
            // SAFETY: S1: nothing is opened.
            _ => unsafe { stream.open_ipc::<u32>(&IpcHandle::from_bytes(&[0; 80])) }.map(drop),
        };
        assert!(matches!(answer, Err(Error::NotOffered { .. })), "{answer:?}");
    }
}

#[test]
fn what_cannot_be_shared_or_opened() {
    let stream = device().new_stream().unwrap();
    let empty = stream.alloc_zeros::<u8>(0).unwrap();
    let mut bytes = [0; IpcHandle::BYTES];
    bytes[72] = 7;
    calls();
    assert!(matches!(empty.ipc_handle(), Err(Error::OutOfRange { .. })));
    // SAFETY: S1: nothing is opened: seven bytes are no whole number of elements.
    let odd = unsafe { stream.open_ipc::<u32>(&IpcHandle::from_bytes(&bytes)) };
    assert!(matches!(odd, Err(Error::Recast { bytes: 7, size: 4, .. })), "{odd:?}");
    assert_eq!(work_calls(), [""; 0]);
}
