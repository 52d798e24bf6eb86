//! Lists that are longer at the second call.

use crate::fake::whole;
use amd_smi_safe::{Error, Gpu, PageStatus};

#[test]
fn processors_that_are_cut_off_silently_are_asked_for_again() {
    let sockets = whole("cut_off").sockets().expect("two");
    let processors = sockets[1].processors().expect("all");
    assert_eq!(processors.len(), 12);
    assert!(
        processors.iter().enumerate().all(|(i, gpu)| !processors[..i].contains(gpu)),
        "each is once there"
    );
}

#[test]
fn pages_that_do_not_fit_are_asked_for_again() {
    let odd = whole("pages").processors().expect("some")[1];
    let pages = odd.bad_pages().expect("told");
    assert_eq!(pages.len(), 30);
    for (i, page) in (0_u32..).zip(&pages) {
        assert_eq!((page.address, page.bytes, page.status), (0x1000 * u64::from(i), 4096, PageStatus(i % 4)));
    }
    let names = pages[..4].iter().map(|page| page.status.to_string()).collect::<Vec<_>>();
    assert_eq!(names, ["reserved", "pending", "cannot be reserved", "unknown (3)"]);
}

#[test]
fn processes_that_are_refused_are_asked_for_again() {
    let processors = whole("processes").processors().expect("some");
    let processes = processors[1].processes().expect("told");
    let pids: Vec<u32> = processes.iter().map(|process| process.pid).collect();
    assert_eq!(pids, (4000..4070).collect::<Vec<_>>());
}

#[test]
fn a_list_that_never_fits_is_an_error() {
    let processors = whole("endless").processors().expect("some");
    let error = processors[2].processes().unwrap_err();
    assert!(matches!(error, Error::Growing { function: "amdsmi_get_gpu_process_list", .. }), "{error}");
}
