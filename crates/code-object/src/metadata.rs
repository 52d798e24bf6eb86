//! The metadata note of a code object in MessagePack: a map with a list of kernels, each of which is a map.

use crate::{Access, AddressSpace, Argument, Error, KernelInfo, Param, TargetId, ValueKind};
use rmpv::ValueRef;
use std::collections::HashSet;
use std::fmt;

/// Maximum nesting depth accepted; real metadata nests five deep.
const MAX_DEPTH: usize = 16;

/// The contents of the notes of a file.
#[derive(Debug)]
pub(crate) struct Note {
    /// The target that the code was built for; notes before version 4 do not have it.
    pub(crate) target: Option<TargetId>,
    /// The version of the metadata: two numbers, if the note has them.
    version: Option<Vec<u64>>,
    pub(crate) kernels: Vec<KernelInfo>,
}

/// What is wrong, in words.
type Result<T, E = String> = std::result::Result<T, E>;

/// Reads notes and merges them: they must agree in everything but their kernels. `None` if there are none.
pub(crate) fn read(notes: &[&[u8]]) -> Result<Option<Note>, Error> {
    let mut whole: Option<Note> = None;
    let mut names = HashSet::new();
    for note in notes {
        let note = read_one(note)?;
        if let Some(kernel) = note.kernels.iter().find(|kernel| !names.insert(kernel.name.clone())) {
            return Err(Error::Metadata(format!("there are two kernels {}", kernel.name)));
        }
        match &mut whole {
            None => whole = Some(note),
            Some(whole) if (&whole.target, &whole.version) == (&note.target, &note.version) => {
                whole.kernels.extend(note.kernels);
            }
            Some(_) => {
                return Err(Error::Metadata("it has two notes of it, for other targets or versions".into()));
            }
        }
    }
    Ok(whole)
}

fn read_one(mut note: &[u8]) -> Result<Note, Error> {
    let root = rmpv::decode::read_value_ref_with_max_depth(&mut note, MAX_DEPTH)
        .map_err(|e| Error::Metadata(e.to_string()))?;
    let root = Map::of(&root, What::Note).map_err(Error::Metadata)?;
    let target = root.text("amdhsa.target").map_err(Error::Metadata)?;
    let version = root.numbers("amdhsa.version").map_err(Error::Metadata)?;
    let kernels = read_kernels(&root).map_err(Error::Metadata)?;
    let target = match target {
        Some(target) => Some(TargetId::of_triple(target).ok_or_else(|| {
            Error::Target(format!("the metadata calls it {target:?}, which names no GPU"))
        })??),
        None => None,
    };
    Ok(Note { target, version, kernels })
}

fn read_kernels(root: &Map) -> Result<Vec<KernelInfo>> {
    let list = root.list("amdhsa.kernels")?.ok_or("it has no amdhsa.kernels")?;
    let kernel = |(index, value)| read_kernel(&Map::of(value, What::Kernel(index))?);
    list.iter().enumerate().map(kernel).collect()
}

fn read_kernel(map: &Map) -> Result<KernelInfo> {
    let name = map.text(".name")?.filter(|name| !name.is_empty()).ok_or("a kernel has no name")?.to_string();
    let symbol = map.text(".symbol")?.map_or_else(|| format!("{name}.kd"), str::to_string);
    let map = &Map { what: What::Named(&name), ..*map };
    let mut arguments = Vec::new();
    for (index, argument) in map.list(".args")?.unwrap_or_default().iter().enumerate() {
        arguments.push(read_argument(&Map::of(argument, What::Argument(index, &name))?)?);
    }
    arguments.sort_by_key(|argument| (argument.offset, argument.size));
    let shown = arguments.iter().filter(|argument| !argument.kind.is_hidden());
    let kernel = KernelInfo {
        params: shown.map(|a| Param { offset: a.offset, size: a.size }).collect(),
        arguments,
        kernarg_bytes: map.required(".kernarg_segment_size")?,
        kernarg_align: map.number(".kernarg_segment_align")?.unwrap_or(8),
        shared_bytes: map.required(".group_segment_fixed_size")?,
        private_bytes: map.required(".private_segment_fixed_size")?,
        max_threads_per_block: map.required(".max_flat_workgroup_size")?,
        required_block: map.block(".reqd_workgroup_size")?,
        block_hint: map.block(".workgroup_size_hint")?,
        uniform_blocks: map.number(".uniform_work_group_size")?.unwrap_or(0) != 0,
        wave_size: map.required(".wavefront_size")?,
        vector_registers: map.number(".vgpr_count")?.unwrap_or(0),
        accumulation_registers: map.number(".agpr_count")?.unwrap_or(0),
        scalar_registers: map.number(".sgpr_count")?.unwrap_or(0),
        vector_spills: map.number(".vgpr_spill_count")?.unwrap_or(0),
        scalar_spills: map.number(".sgpr_spill_count")?.unwrap_or(0),
        dynamic_stack: map.flag(".uses_dynamic_stack")?.unwrap_or(false),
        workgroup_processor_mode: map.flag(".workgroup_processor_mode")?,
        symbol,
        name,
    };
    check(&kernel).map_err(|what| format!("kernel {}: {what}", kernel.name))?;
    Ok(kernel)
}

fn read_argument(map: &Map) -> Result<Argument> {
    let kind = map.text(".value_kind")?.ok_or_else(|| map.lacks(".value_kind"))?;
    let size =
        |key| usize::try_from(map.required(key)?).map_err(|_| format!("{key} of {} is too large", map.what));
    Ok(Argument {
        name: map.text(".name")?.map(str::to_string),
        type_name: map.text(".type_name")?.map(str::to_string),
        offset: size(".offset")?,
        size: size(".size")?,
        kind: ValueKind::of(kind).unwrap_or(ValueKind::Other),
        address_space: map.text(".address_space")?.and_then(AddressSpace::of),
        access: map.text(".access")?.and_then(Access::of),
        actual_access: map.text(".actual_access")?.and_then(Access::of),
        pointee_align: map.number(".pointee_align")?,
    })
}

/// Checks the properties that launching the kernel relies on.
fn check(kernel: &KernelInfo) -> Result<()> {
    let mut end = 0_u64;
    for (index, Argument { offset, size, .. }) in kernel.arguments.iter().enumerate() {
        let (offset, size) = (*offset as u64, *size as u64);
        if offset < end {
            return Err(format!(
                "argument {index} at byte {offset} lies over the one before, which ends at {end}"
            ));
        }
        end = offset.checked_add(size).filter(|&end| end <= kernel.kernarg_bytes).ok_or_else(|| {
            format!("argument {index} has {size} bytes at byte {offset}, of {} in all", kernel.kernarg_bytes)
        })?;
    }
    if !kernel.kernarg_align.is_power_of_two() {
        return Err(format!(
            "its arguments are aligned to {}, which is no power of two",
            kernel.kernarg_align
        ));
    }
    if ![32, 64].contains(&kernel.wave_size) {
        return Err(format!("it has waves of {}, and GPUs have 32 or 64", kernel.wave_size));
    }
    if kernel.max_threads_per_block == 0 {
        return Err("its blocks may have no threads".into());
    }
    if let Some(block) = kernel.required_block {
        let threads = block.iter().try_fold(1_u64, |product, &n| product.checked_mul(u64::from(n)));
        if !threads.is_some_and(|n| (1..=kernel.max_threads_per_block).contains(&n)) {
            return Err(format!(
                "it needs blocks of {block:?}, and has {} threads at most",
                kernel.max_threads_per_block
            ));
        }
    }
    Ok(())
}

/// A map with string keys, and its description for messages.
struct Map<'a> {
    entries: &'a [(ValueRef<'a>, ValueRef<'a>)],
    what: What<'a>,
}

/// The description of a map in messages. It is formatted only when a message is created: a kernel with a long
/// name may have many arguments.
#[derive(Clone, Copy)]
enum What<'a> {
    Note,
    Kernel(usize),
    Named(&'a str),
    Argument(usize, &'a str),
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note => f.write_str("the note"),
            Self::Kernel(index) => write!(f, "kernel {index}"),
            Self::Named(name) => write!(f, "kernel {name}"),
            Self::Argument(index, name) => write!(f, "argument {index} of kernel {name}"),
        }
    }
}

impl<'a> Map<'a> {
    fn of(value: &'a ValueRef<'a>, what: What<'a>) -> Result<Self> {
        match value {
            ValueRef::Map(entries) => Ok(Self { entries, what }),
            _ => Err(format!("{what} is no map")),
        }
    }

    /// The value of a key; an error if the key occurs twice.
    fn get(&self, key: &str) -> Result<Option<&'a ValueRef<'a>>> {
        let is_key = |k: &ValueRef| matches!(k, ValueRef::String(text) if text.as_str() == Some(key));
        let mut values = self.entries.iter().filter(|(k, _)| is_key(k)).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(format!("{} has {key} twice", self.what)),
        }
    }

    fn number(&self, key: &str) -> Result<Option<u64>> {
        let number = |value: &ValueRef| value.as_u64().ok_or_else(|| self.wrong(key, "natural number"));
        self.get(key)?.map(number).transpose()
    }

    fn required(&self, key: &str) -> Result<u64> {
        self.number(key)?.ok_or_else(|| self.lacks(key))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key)? {
            None => Ok(None),
            Some(ValueRef::Boolean(flag)) => Ok(Some(*flag)),
            Some(value) => value.as_u64().map(|n| Some(n != 0)).ok_or_else(|| self.wrong(key, "truth value")),
        }
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>> {
        match self.get(key)? {
            None => Ok(None),
            Some(ValueRef::String(text)) => {
                text.into_str().map_or_else(|| Err(self.wrong(key, "text")), |t| Ok(Some(t)))
            }
            Some(_) => Err(self.wrong(key, "text")),
        }
    }

    fn list(&self, key: &str) -> Result<Option<&'a [ValueRef<'a>]>> {
        match self.get(key)? {
            None => Ok(None),
            Some(ValueRef::Array(list)) => Ok(Some(list)),
            Some(_) => Err(self.wrong(key, "list")),
        }
    }

    fn numbers(&self, key: &str) -> Result<Option<Vec<u64>>> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let numbers: Option<_> = list.iter().map(ValueRef::as_u64).collect();
        numbers.map(Some).ok_or_else(|| self.wrong(key, "list of natural numbers"))
    }

    /// Three numbers: along x, y and z.
    fn block(&self, key: &str) -> Result<Option<[u32; 3]>> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let numbers: Option<Vec<u32>> = list.iter().map(|n| n.as_u64()?.try_into().ok()).collect();
        let block = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
        block.map(Some).ok_or_else(|| self.wrong(key, "list of three numbers"))
    }

    fn lacks(&self, key: &str) -> String {
        format!("{} has no {key}", self.what)
    }

    fn wrong(&self, key: &str, kind: &str) -> String {
        format!("{key} of {} is no {kind}", self.what)
    }
}
