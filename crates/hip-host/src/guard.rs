//! Guard mode, `HIPSTACK_HOST_GUARD=1`: every allocation has its own pages and ends at the end of the last
//! one, with inaccessible memory on both sides. An access one element past the end faults, and so does any
//! use after free.
//!
//! Some stray accesses do not fault: they hit the bytes before the base in the first page or, if a larger
//! alignment was asked for, those between the end and the next page. These bytes hold a pattern that is
//! checked at the free.

use crate::failure::ILLEGAL_ADDRESS;
use crate::memory::{self, Identity, Range};
use crate::system::page_bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Size of the guard zone on each side, in bytes; a multiple of every page size in use.
const ZONE: usize = 64 << 10;
/// The largest alignment that a base gets because of its size; HIP promises this much.
const MOST_ALIGNED: usize = 256;
/// Fill byte of fresh memory: all ones is NaN as a float, and out of range as an index.
const FRESH: u8 = 0xff;
/// Fill byte of the bytes around the allocation in its pages.
const SURROUNDINGS: u8 = 0xc5;
/// Limits of the quarantine of freed allocations: their number, and their address space in bytes.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 64 << 30;

/// The minimum alignment of a base in guard mode; `None` if guard mode is off. With the value 1 the size
/// alone decides.
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

/// Pages that end with an allocation.
pub(crate) struct Pages {
    /// Start of the guard zone before the pages, and the length up to the end of the guard zone after them.
    region: usize,
    region_len: usize,
    /// Bytes of the pages between the guard zones.
    usable: usize,
    base: usize,
    len: usize,
    identity: Identity,
}

/// The layout of a region.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    usable: usize,
    /// Offset of the base from the start of the pages.
    offset: usize,
}

/// Aligns the base to the largest power of two that divides the length, up to 256 bytes. A type's alignment
/// divides its size, so this is enough for any element type and leaves no padding after the end. A larger
/// `least` may leave padding.
fn plan(len: usize, least: usize, page: usize) -> Option<Plan> {
    let natural = (1 << len.trailing_zeros().min(31)).min(MOST_ALIGNED);
    let alignment = natural.max(least);
    let usable = len.checked_next_multiple_of(page)?;
    Some(Plan { usable, offset: (usable - len) & !(alignment - 1) })
}

impl Pages {
    /// Maps memory for `len` bytes, which are filled with 0xff. `None` if the process has none left.
    pub(crate) fn map(len: usize, least: usize, identity: Identity) -> Option<Self> {
        let Plan { usable, offset } = plan(len, least, page_bytes())?;
        let region_len = usable.checked_add(2 * ZONE)?;
        let region = reserve(region_len, usable).or_else(|| {
            // Gives up the quarantine to make room.
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

    /// Where the pattern around the allocation was overwritten, in words.
    fn damage(&self) -> Option<String> {
        let (start, end) = (self.region + ZONE, self.base + self.len);
        // SAFETY: S12: both are in the pages, outside the allocation; they were filled when they were mapped.
        let (before, behind) = unsafe {
            let before = std::slice::from_raw_parts(start as *const u8, self.base - start);
            (before, std::slice::from_raw_parts(end as *const u8, start + self.usable - end))
        };
        let touched = |byte: &u8| *byte != SURROUNDINGS;
        if let Some(position) = behind.iter().position(touched) {
            return Some(format!("{} past its end", bytes(position)));
        }
        let position = before.iter().rposition(touched)?;
        Some(format!("{} before its start", bytes(before.len() - position)))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if let Some(position) = self.damage() {
            let why =
                format!("{} was written {position}, as its free shows", self.identity.describe(self.len));
            self.identity.device().poison(ILLEGAL_ADDRESS, &why);
        }
        if memory::is_kept() {
            return;
        }
        let (access, flags) =
            (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        let start = (self.region + ZONE) as *mut libc::c_void;
        // SAFETY: S4: our own pages; their owner waited for the work that uses them; new mappings replace them.
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

/// A freed allocation: its addresses stay reserved, without memory.
struct Freed {
    region: usize,
    region_len: usize,
    base: usize,
    len: usize,
    identity: Identity,
}

impl Freed {
    fn unmap(&self) {
        // SAFETY: S4: our own region, which nobody uses.
        unsafe { libc::munmap(self.region as *mut libc::c_void, self.region_len) };
    }
}

/// Freed allocations, oldest first.
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

/// Describes the freed allocation that an address belongs to.
pub(crate) fn describe_freed(address: usize) -> Option<String> {
    let quarantine = FREED.lock();
    let freed =
        quarantine.freed.iter().rev().find(|f| (f.region..f.region + f.region_len).contains(&address))?;
    let range = Range::of(freed.base, freed.len);
    Some(format!(
        "{} {}, which was freed",
        range.describe_address(address),
        freed.identity.describe(freed.len)
    ))
}

/// Reserves address space for a region, with accessible pages between the guard zones.
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

/// Prints once how to raise the limit on mappings.
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
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
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
    fn a_guarded_allocation_ends_at_the_page_boundary() {
        let plan = |len, least| plan(len, least, 4096).map(|plan| (plan.usable, plan.offset));
        assert_eq!(plan(4, 1), Some((4096, 4092)));
        assert_eq!(plan(4096, 1), Some((4096, 0)));
        assert_eq!(plan(4100, 1), Some((8192, 4092)));
        // Seven bytes are aligned to one, twelve to four, and 768 to 256.
        assert_eq!(plan(7, 1), Some((4096, 4089)));
        assert_eq!(plan(12, 1), Some((4096, 4084)));
        assert_eq!(plan(768, 1), Some((4096, 3328)));
        // With alignment 16, seven bytes leave nine bytes of padding.
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
