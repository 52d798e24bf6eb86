//! Lists of the library, which may grow while they are read.

use crate::raw::Failure;
use crate::{Error, Result};
use hip_sys::amdsmi::amdsmi_status_t;
use std::ptr::null_mut;

/// The most elements that a list may have. The longest real one, of bad pages, has some thousands.
const MOST: u32 = 1 << 16;

/// A list whose length is asked for first. It may be longer at the second call. Some functions then say so, some only fill the room they got: a list
/// that leaves no room is asked for again.
pub(crate) fn grow<T: Clone>(
    function: &'static str,
    empty: T,
    mut ask: impl FnMut(&mut u32, *mut T) -> amdsmi_status_t,
) -> Result<Vec<T>> {
    let mut count = 0;
    let status = ask(&mut count, null_mut());
    if status != amdsmi_status_t::AMDSMI_STATUS_SUCCESS {
        return Err(Failure { function, status }.into());
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    for _ in 0..8 {
        if count > MOST {
            break;
        }
        let room = count + 8;
        let mut list = vec![empty.clone(); room as usize];
        let mut written = room;
        match ask(&mut written, list.as_mut_ptr()) {
            amdsmi_status_t::AMDSMI_STATUS_SUCCESS if written < room => {
                list.truncate(written as usize);
                return Ok(list);
            }
            amdsmi_status_t::AMDSMI_STATUS_SUCCESS
            | amdsmi_status_t::AMDSMI_STATUS_OUT_OF_RESOURCES
            | amdsmi_status_t::AMDSMI_STATUS_INSUFFICIENT_SIZE
            | amdsmi_status_t::AMDSMI_STATUS_MORE_DATA => count = written.max(room.saturating_mul(2)),
            status => return Err(Failure { function, status }.into()),
        }
    }
    Err(Error::Growing { function, count })
}
