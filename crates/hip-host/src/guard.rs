//! Guard mode, `HIPSTACK_HOST_GUARD=1`: every allocation has pages of its own and ends where they end, with memory on
//! both sides that nobody may touch. One element too far is a fault, and so is any use after the free.
//!
//! What an access cannot hit as a fault, a pattern shows at the free: the bytes before the base in its first page and, where a
//! larger alignment was asked for, those between the end and the next page.

use crate::failure::ILLEGAL_ADDRESS;
use crate::memory::{Identity, Range};
use crate::system::page_bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes on each side that fault, at least; a multiple of any page size in use.
const ZONE: usize = 64 << 10;
/// The largest alignment that a base gets for its size's sake: what HIP promises.
const MOST_ALIGNED: usize = 256;
/// Fresh memory: all ones is NaN as a float and no index that fits anything.
const FRESH: u8 = 0xff;
/// Bytes around the allocation in its pages.
const SURROUNDINGS: u8 = 0xc5;
/// Freed allocations that stay out of use: so many, and so much address space.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 64 << 30;

/// The least alignment of a base in guard mode, `None` outside of it. The variable's value: 1 leaves it to the size.
pub(crate) fn least_alignment() -> Option<usize> {
    static ALIGNMENT: LazyLock<Option<usize>> = LazyLock::new(|| {
        let text = std::env::var("HIPSTACK_HOST_GUARD").ok()?;
        let value: usize = match text.trim() {
            "" | "0" => return None,
            number => number.parse().unwrap_or(0),
        };
        if value.is_power_of_two() && value <= MOST_ALIGNED {
            return Some(value);
        }
        eprintln!(
            "hip-host: HIPSTACK_HOST_GUARD={text} is not understood and taken as 1: set 1, or the least alignment \
             of buffers, a power of two up to {MOST_ALIGNED}"
        );
        Some(1)
    });
    *ALIGNMENT
}

/// Pages with an allocation at their end.
pub(crate) struct Pages {
    /// Where the zone before the pages begins, and the bytes from there to the end of the zone behind.
    region: usize,
    region_len: usize,
    /// The bytes of the pages in between.
    usable: usize,
    base: usize,
    len: usize,
    identity: Identity,
}

/// Where things are in a region.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    usable: usize,
    /// Of the base, from the start of the pages.
    offset: usize,
}

/// The base is aligned to the largest power of two that divides the length, up to 256 bytes: then a type's alignment, which divides
/// its size, is kept, and nothing is left behind the end. Where `least` is larger, there is.
fn plan(len: usize, least: usize, page: usize) -> Option<Plan> {
    let natural = (1 << len.trailing_zeros().min(31)).min(MOST_ALIGNED);
    let alignment = natural.max(least);
    let usable = len.checked_next_multiple_of(page)?;
    Some(Plan { usable, offset: (usable - len) & !(alignment - 1) })
}

impl Pages {
    /// Memory for `len` bytes, which are filled with 0xff. `None`: the process has none left.
    pub(crate) fn map(len: usize, least: usize, identity: Identity) -> Option<Self> {
        let Plan { usable, offset } = plan(len, least, page_bytes())?;
        let region_len = usable.checked_add(2 * ZONE)?;
        let region = reserve(region_len, usable).or_else(|| {
            // What is kept of the freed makes way.
            FREED.lock().trim(0, 0);
            reserve(region_len, usable)
        });
        let Some(region) = region else {
            warn_once();
            return None;
        };
        let pages = Self { region, region_len, usable, base: region + ZONE + offset, len, identity };
        // SAFETY: S15: fresh pages of that size, which nobody knows of yet.
        unsafe {
            ((region + ZONE) as *mut u8).write_bytes(SURROUNDINGS, usable);
            (pages.base as *mut u8).write_bytes(FRESH, len);
        }
        Some(pages)
    }

    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// What the pattern around the allocation says was written there.
    fn damage(&self) -> Option<String> {
        let (start, end) = (self.region + ZONE, self.base + self.len);
        // SAFETY: S12: both are in the pages, outside the allocation; they were filled when they were mapped.
        let (before, behind) = unsafe {
            let before = std::slice::from_raw_parts(start as *const u8, self.base - start);
            (before, std::slice::from_raw_parts(end as *const u8, start + self.usable - end))
        };
        let touched = |byte: &u8| *byte != SURROUNDINGS;
        if let Some(place) = behind.iter().position(touched) {
            return Some(format!("{} past its end", bytes(place)));
        }
        let place = before.iter().rposition(touched)?;
        Some(format!("{} before its start", bytes(before.len() - place)))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if let Some(place) = self.damage() {
            let why = format!("{} was written {place}, as its free shows", self.identity.describe(self.len));
            self.identity.device().poison(ILLEGAL_ADDRESS, &why);
        }
        let (access, flags) =
            (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        let start = (self.region + ZONE) as *mut libc::c_void;
        // SAFETY: S4: our own pages, whose owner waited for the work that uses them; new ones take their place.
        let mapped = unsafe { libc::mmap(start, self.usable, access, flags | libc::MAP_FIXED, -1, 0) };
        let (base, len, identity) = (self.base, self.len, self.identity);
        let freed = Freed { region: self.region, region_len: self.region_len, base, len, identity };
        if mapped == libc::MAP_FAILED {
            freed.unmap();
        } else {
            FREED.lock().keep(freed);
        }
    }
}

/// An allocation that was freed: no memory, only its addresses.
struct Freed {
    region: usize,
    region_len: usize,
    base: usize,
    len: usize,
    identity: Identity,
}

impl Freed {
    fn unmap(&self) {
        // SAFETY: S4: a region of ours, in nobody's use.
        unsafe { libc::munmap(self.region as *mut libc::c_void, self.region_len) };
    }
}

/// The freed, oldest first.
struct Quarantine {
    freed: VecDeque<Freed>,
    bytes: usize,
}

static FREED: Mutex<Quarantine> = Mutex::new(Quarantine { freed: VecDeque::new(), bytes: 0 });

impl Quarantine {
    fn keep(&mut self, freed: Freed) {
        self.bytes += freed.region_len;
        self.freed.push_back(freed);
        self.trim(KEPT, KEPT_BYTES);
    }

    fn trim(&mut self, count: usize, bytes: usize) {
        while self.freed.len() > count || self.bytes > bytes {
            let Some(oldest) = self.freed.pop_front() else { break };
            self.bytes -= oldest.region_len;
            oldest.unmap();
        }
    }
}

/// What freed allocation an address belongs to, in words.
pub(crate) fn describe_freed(address: usize) -> Option<String> {
    let quarantine = FREED.lock();
    let freed =
        quarantine.freed.iter().rev().find(|f| (f.region..f.region + f.region_len).contains(&address))?;
    let range = Range::of(freed.base, freed.len);
    Some(format!("{} {}, which was freed", range.place_of(address), freed.identity.describe(freed.len)))
}

/// Address space for a region, whose pages between the zones can be used.
fn reserve(region_len: usize, usable: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: S4: new mappings, and our own part of them.
    unsafe {
        let region = libc::mmap(null_mut(), region_len, libc::PROT_NONE, flags, -1, 0);
        if region == libc::MAP_FAILED {
            return None;
        }
        let pages = region.byte_add(ZONE);
        if libc::mprotect(pages, usable, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            libc::munmap(region, region_len);
            return None;
        }
        Some(region as usize)
    }
}

/// Says what to do about the limit, the first time it is met.
fn warn_once() {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        eprintln!(
            "hip-host: guard mode: out of memory or of memory mappings. Each live allocation takes two of the mappings \
             that vm.max_map_count allows: raise it with sysctl, or keep fewer buffers"
        );
    }
}

/// "1 byte", "1,024 bytes".
pub(crate) fn bytes(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + if count == 1 { " byte" } else { " bytes" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_leaves_nothing_behind_its_end() {
        let plan = |len, least| plan(len, least, 4096).map(|plan| (plan.usable, plan.offset));
        assert_eq!(plan(4, 1), Some((4096, 4092)));
        assert_eq!(plan(4096, 1), Some((4096, 0)));
        assert_eq!(plan(4100, 1), Some((8192, 4092)));
        // Seven bytes are aligned to one, twelve to four, and 768 to 256.
        assert_eq!(plan(7, 1), Some((4096, 4089)));
        assert_eq!(plan(12, 1), Some((4096, 4084)));
        assert_eq!(plan(768, 1), Some((4096, 3328)));
        // Aligned to 16, seven bytes leave nine.
        assert_eq!(plan(7, 16), Some((4096, 4080)));
        assert_eq!(plan(usize::MAX, 1), None);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1024), "1,024 bytes");
        assert_eq!(bytes(12_345_678), "12,345,678 bytes");
    }

    #[test]
    fn damage_is_seen() {
        let identity = Identity::of_test(0);
        let pages = Pages::map(10, 16, identity).expect("memory");
        assert_eq!(pages.base() % 16, 0);
        assert_eq!(pages.damage(), None);
        // SAFETY: S15: in the pages: two bytes behind the end.
        unsafe { ((pages.base() + 12) as *mut u8).write(1) };
        assert_eq!(pages.damage().as_deref(), Some("2 bytes past its end"));
        // SAFETY: S15: in the pages: as they were, and four bytes before the start.
        unsafe {
            ((pages.base() + 12) as *mut u8).write(SURROUNDINGS);
            ((pages.base() - 4) as *mut u8).write(1);
        }
        assert_eq!(pages.damage().as_deref(), Some("4 bytes before its start"));
        // SAFETY: S15: as it was.
        unsafe { ((pages.base() - 4) as *mut u8).write(SURROUNDINGS) };
        let freed = pages.base() + 3;
        drop(pages);
        let text = describe_freed(freed).expect("kept");
        assert!(text.starts_with("inside allocation "), "{text}");
        assert!(text.ends_with("(10 bytes of device 0), which was freed"), "{text}");
    }
}
