//! IPC: one process makes a buffer, another opens it.

use crate::under_test::{self, stream};
use crate::watched::{calls, changed_platform, device, drop_errors, fail_next, work_calls};
use crate::{again, is_child};
use hip_safe::{Device, Error, IpcHandle};
use hip_sys::hip::{hipError_t, hipIpcMemHandle_t, hipStreamNonBlocking};
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
    let child = again("memory::ipc::another_process_reads_and_writes_a_buffer", &[(HANDLE, &text(&handle))]);
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
fn a_platform_without_shared_memory_is_an_error() {
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
fn invalid_ipc_handles_are_errors() {
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

/// What the next close answers.
static CLOSE: AtomicU32 = AtomicU32::new(0);
static CLOSED: AtomicU32 = AtomicU32::new(0);

/// Memory that stands for another process': a thousand and 256 bytes, all of them the handle's first byte.
unsafe extern "C" fn open(out: *mut *mut c_void, handle: hipIpcMemHandle_t, _: c_uint) -> hipError_t {
    let platform = under_test::platform();
    let byte = i32::from(handle.reserved[0]);
    let mut stream = null_mut();
    // SAFETY: S1, S2: the caller's out-pointer, memory that was just allocated, and a live stream of its own: waiting for the device would
    // invalidate what other tests capture.
    unsafe {
        let hip = platform.hip();
        let codes = [
            (hip.hipMalloc)(out, 1256),
            (hip.hipStreamCreateWithFlags)(&mut stream, hipStreamNonBlocking),
            (hip.hipMemsetAsync)(*out, byte, 1256, stream),
            (hip.hipStreamSynchronize)(stream),
            (hip.hipStreamDestroy)(stream),
        ];
        codes.into_iter().find(|code| code.0 != 0).unwrap_or(hipError_t(0))
    }
}

unsafe extern "C" fn close(pointer: *mut c_void) -> hipError_t {
    CLOSED.fetch_add(1, Ordering::SeqCst);
    match CLOSE.swap(0, Ordering::SeqCst) {
        // SAFETY: S1: it was allocated in `open`, and is not used any more.
        0 => unsafe { (under_test::platform().hip().hipFree)(pointer) },
        code => hipError_t(code),
    }
}

/// The same on a platform that opens memory of its own, so that it runs everywhere.
#[test]
fn opened_memory_is_closed_once_and_after_its_work() {
    let platform = changed_platform(|table| {
        (table.hipIpcOpenMemHandle, table.hipIpcCloseMemHandle) = (open, close);
    });
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    let mut bytes = [0; IpcHandle::BYTES];
    bytes[0] = 7;
    bytes[64..72].copy_from_slice(&256_u64.to_le_bytes());
    bytes[72..].copy_from_slice(&1000_u64.to_le_bytes());
    let handle = IpcHandle::from_bytes(&bytes);
    // SAFETY: S4: it is this process' own memory, which nobody else uses.
    let open = || unsafe { stream.open_ipc::<u32>(&handle) }.unwrap();
    let mut buffer = open();
    assert_eq!(
        (buffer.len(), stream.device().memory_statistics().allocated),
        (250, 0),
        "it is not the pool's"
    );
    assert_eq!(stream.download(&buffer).unwrap(), [0x0707_0707; 250]);
    stream.memset(&mut buffer, 1).unwrap();
    let before = CLOSED.load(Ordering::SeqCst);
    calls();
    buffer.close().unwrap();
    assert_eq!((work_calls(), CLOSED.load(Ordering::SeqCst)), (vec!["hipStreamSynchronize"], before + 1));

    CLOSE.store(1999, Ordering::SeqCst);
    drop(open());
    let errors = drop_errors();
    assert!(errors.len() == 1 && errors[0].contains("while closing another process' memory"), "{errors:?}");

    // After a sticky error nothing is closed any more.
    let (lost, before) = (open(), CLOSED.load(Ordering::SeqCst));
    fail_next("hipStreamSynchronize", 700);
    stream.synchronize().unwrap_err();
    drop(lost);
    assert_eq!((CLOSED.load(Ordering::SeqCst), drop_errors().len()), (before, 0));
}
