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
    let mut expected = count;
    for _ in 0..8 {
        if count > MOST {
            return Err(Error::TooLong { function, count });
        }
        let room = expected + 8;
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
            | amdsmi_status_t::AMDSMI_STATUS_MORE_DATA => {
                count = written;
                expected = written.max(room * 2).min(MOST);
            }
            status => return Err(Failure { function, status }.into()),
        }
    }
    Err(Error::Growing { function, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that is as long as `length` says, of the room that a call gives.
    fn read(length: impl Fn(u32) -> u32) -> Error {
        let ask = |count: &mut u32, _: *mut u8| {
            *count = length(*count);
            amdsmi_status_t::AMDSMI_STATUS_SUCCESS
        };
        grow("amdsmi_some_list", 0, ask).unwrap_err()
    }

    #[test]
    fn messages_say_how_long_it_was() {
        // First room for 10 entries, then each time for 2 n + 8: the eighth.
        let room = (1..8).fold(10, |room, _| 2 * room + 8);
        let text =
            format!("amdsmi_some_list: the list grew at each of 8 attempts (last {}): try again", room + 2);
        assert_eq!(read(|room| room + 2).to_string(), text);
        let error = read(|_| 70_000);
        assert!(matches!(error, Error::TooLong { count: 70_000, .. }), "{error}");
        let error = read(|room| if room == 0 { 60_000 } else { room + 1 });
        assert!(matches!(error, Error::TooLong { count: 65_545, .. }), "{error}");
    }
}
