//! The arguments of a kernel, including those that the runtime passes.

use crate::words::words;

/// One argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name in the source, if the compiler kept it.
    pub name: Option<String>,
    /// Its type in the source, if the compiler kept it.
    pub type_name: Option<String>,
    /// Its offset in bytes from the start of the arguments.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
    /// How it is passed, and by whom.
    pub kind: ValueKind,
    /// The address space of a pointer; also `None` for a keyword that this version of the crate does not
    /// know.
    pub address_space: Option<AddressSpace>,
    /// What the source allows the kernel to do with the memory behind a pointer, if the keyword is known.
    pub access: Option<Access>,
    /// What the kernel actually does with it, as the compiler determined.
    pub actual_access: Option<Access>,
    /// For a pointer into shared memory, the alignment in bytes of its target.
    pub pointee_align: Option<u64>,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Passed by the launch, as its bytes (`by_value`).
    ByValue,
    /// Passed by the launch, as an address of device memory (`global_buffer`).
    GlobalBuffer,
    /// Passed by the launch, as a number of bytes of shared memory (`dynamic_shared_pointer`).
    DynamicSharedPointer,
    /// Passed by the launch, as another kind of object: sampler, image, pipe or queue.
    Object(Object),
    /// Passed by the runtime.
    Hidden(Hidden),
    /// Passed by the launch, in a way that this version of the crate has no name for. No keyword is parsed as
    /// this.
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
    /// What the runtime passes implicitly.
    Hidden {
        /// Nothing: padding.
        None = "hidden_none",
        /// Index offset of the grid along x.
        GlobalOffsetX = "hidden_global_offset_x",
        /// Index offset of the grid along y.
        GlobalOffsetY = "hidden_global_offset_y",
        /// Index offset of the grid along z.
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
        /// The buffer that printf writes to.
        PrintfBuffer = "hidden_printf_buffer",
        /// The buffer for calls of the host.
        HostcallBuffer = "hidden_hostcall_buffer",
        /// The queue for kernels that this one launches.
        DefaultQueue = "hidden_default_queue",
        /// The action that runs after kernels that this one launched.
        CompletionAction = "hidden_completion_action",
        /// The synchronisation object of grids on several devices.
        MultigridSync = "hidden_multigrid_sync_arg",
        /// The heap of the device's malloc.
        Heap = "hidden_heap_v1",
        /// Bytes of shared memory added by the launch.
        DynamicShared = "hidden_dynamic_lds_size",
        /// The upper half of addresses of private memory.
        PrivateBase = "hidden_private_base",
        /// The upper half of addresses of shared memory.
        SharedBase = "hidden_shared_base",
        /// The queue that the kernel was launched on.
        Queue = "hidden_queue_ptr",
        /// An argument that this version of the crate has no name for.
        Unknown = "hidden_",
    }
}

words! {
    /// The address space of a pointer.
    AddressSpace {
        /// Private to one thread.
        Private = "private",
        /// Device memory.
        Global = "global",
        /// Device memory that no kernel writes.
        Constant = "constant",
        /// Shared memory of a block.
        Local = "local",
        /// Any of these: the address decides.
        Generic = "generic",
        /// A region shared between blocks.
        Region = "region",
    }
}

words! {
    /// How the memory behind a pointer is used.
    Access {
        /// It is only read.
        ReadOnly = "read_only",
        /// It is only written.
        WriteOnly = "write_only",
        /// It is read and written.
        ReadWrite = "read_write",
    }
}

impl ValueKind {
    /// The kind for a keyword; every keyword that begins with `hidden_` has one.
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

    /// Its keyword.
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

    /// Whether the runtime passes it implicitly.
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
