//! The arguments of a kernel, those that the runtime passes included.

use crate::words::words;

/// One argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name in the source, where the compiler kept it.
    pub name: Option<String>,
    /// Its type in the source, where the compiler kept it.
    pub type_name: Option<String>,
    /// Its offset in bytes from the first.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
    /// How it is passed, and by whom.
    pub kind: ValueKind,
    /// Where the memory behind a pointer lies; `None` too for a word that this version of the crate does not know.
    pub address_space: Option<AddressSpace>,
    /// What the source allows the kernel to do with the memory behind a pointer, where that is a word that is known.
    pub access: Option<Access>,
    /// What the kernel does with it, as the compiler found.
    pub actual_access: Option<Access>,
    /// The alignment in bytes of what a pointer into shared memory points to.
    pub pointee_align: Option<u64>,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// By the launch, as its bytes (`by_value`).
    ByValue,
    /// By the launch, as an address of device memory (`global_buffer`).
    GlobalBuffer,
    /// By the launch, as a number of bytes of shared memory (`dynamic_shared_pointer`).
    DynamicSharedPointer,
    /// By the launch, as an object of another kind: sampler, image, pipe or queue.
    Object(Object),
    /// By the runtime.
    Hidden(Hidden),
    /// By the launch, in a way that this version of the crate has no name for. No word is read as it.
    Other,
}

words! {
    /// An object that a kernel takes.
    Object {
        /// A sampler.
        Sampler = "sampler",
        /// An image.
        Image = "image",
        /// A pipe.
        Pipe = "pipe",
        /// A queue.
        Queue = "queue",
    }
}

words! {
    /// What the runtime passes by itself.
    Hidden {
        /// Nothing: the place is kept free.
        None = "hidden_none",
        /// The first thread's index along x.
        GlobalOffsetX = "hidden_global_offset_x",
        /// The first thread's index along y.
        GlobalOffsetY = "hidden_global_offset_y",
        /// The first thread's index along z.
        GlobalOffsetZ = "hidden_global_offset_z",
        /// Whole blocks along x.
        BlockCountX = "hidden_block_count_x",
        /// Whole blocks along y.
        BlockCountY = "hidden_block_count_y",
        /// Whole blocks along z.
        BlockCountZ = "hidden_block_count_z",
        /// Threads of a block along x.
        GroupSizeX = "hidden_group_size_x",
        /// Threads of a block along y.
        GroupSizeY = "hidden_group_size_y",
        /// Threads of a block along z.
        GroupSizeZ = "hidden_group_size_z",
        /// Threads of the last block along x, if it is not whole.
        RemainderX = "hidden_remainder_x",
        /// Threads of the last block along y, if it is not whole.
        RemainderY = "hidden_remainder_y",
        /// Threads of the last block along z, if it is not whole.
        RemainderZ = "hidden_remainder_z",
        /// Dimensions of the grid.
        GridDims = "hidden_grid_dims",
        /// Where printf writes.
        PrintfBuffer = "hidden_printf_buffer",
        /// Where calls of the host go.
        HostcallBuffer = "hidden_hostcall_buffer",
        /// The queue for kernels that this one starts.
        DefaultQueue = "hidden_default_queue",
        /// What is done after kernels that this one started.
        CompletionAction = "hidden_completion_action",
        /// What grids on several devices wait with.
        MultigridSync = "hidden_multigrid_sync_arg",
        /// Memory for the device's malloc.
        Heap = "hidden_heap_v1",
        /// Bytes of shared memory that the launch added.
        DynamicShared = "hidden_dynamic_lds_size",
        /// The upper half of addresses of private memory.
        PrivateBase = "hidden_private_base",
        /// The upper half of addresses of shared memory.
        SharedBase = "hidden_shared_base",
        /// The queue that the kernel was launched on.
        Queue = "hidden_queue_ptr",
        /// Something that this version of the crate has no name for.
        Unknown = "hidden_",
    }
}

words! {
    /// Where the memory behind a pointer lies.
    AddressSpace {
        /// With one thread.
        Private = "private",
        /// In device memory.
        Global = "global",
        /// In device memory that no kernel writes.
        Constant = "constant",
        /// With a block: shared memory.
        Local = "local",
        /// Anywhere: the address tells.
        Generic = "generic",
        /// In a region that blocks share.
        Region = "region",
    }
}

words! {
    /// What is done with the memory behind a pointer.
    Access {
        /// It is read.
        ReadOnly = "read_only",
        /// It is written.
        WriteOnly = "write_only",
        /// Both.
        ReadWrite = "read_write",
    }
}

impl ValueKind {
    /// The kind of a word; a word that begins with `hidden_` always is one.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "by_value" => Some(Self::ByValue),
            "global_buffer" => Some(Self::GlobalBuffer),
            "dynamic_shared_pointer" => Some(Self::DynamicSharedPointer),
            word if word.starts_with("hidden_") => {
                Some(Self::Hidden(Hidden::of(word).unwrap_or(Hidden::Unknown)))
            }
            word => Object::of(word).map(Self::Object),
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::ByValue => "by_value",
            Self::GlobalBuffer => "global_buffer",
            Self::DynamicSharedPointer => "dynamic_shared_pointer",
            Self::Object(object) => object.word(),
            Self::Hidden(hidden) => hidden.word(),
            Self::Other => "other",
        }
    }

    /// Whether the runtime passes it by itself.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_kinds_belong_together() {
        for word in ["by_value", "global_buffer", "dynamic_shared_pointer", "image", "hidden_heap_v1"] {
            assert_eq!(ValueKind::of(word).map(ValueKind::word), Some(word));
        }
        assert_eq!(ValueKind::of("hidden_of_tomorrow"), Some(ValueKind::Hidden(Hidden::Unknown)));
        assert_eq!(ValueKind::of("by_name"), None);
        assert!(ValueKind::Hidden(Hidden::None).is_hidden() && !ValueKind::ByValue.is_hidden());
        assert_eq!((AddressSpace::of("local"), Access::of("all")), (Some(AddressSpace::Local), None));
    }
}
