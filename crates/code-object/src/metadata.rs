//! What an AMD code object says of its kernels: the metadata note of its ELF file, which is MessagePack.
//!
//! The bytes come from files, so nothing here trusts them: what does not fit is an error with a reason.

use object::LittleEndian;
use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use rmpv::Value;

/// The note's type, and its owner.
const NT_AMDGPU_METADATA: u32 = 32;
const OWNER: &[u8] = b"AMDGPU";
/// Real metadata nests five deep.
const MAX_DEPTH: usize = 16;

/// What a code object holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CodeObject {
    /// The architecture it was built for with its features, e.g. `gfx90a:sramecc+`; `None` before code object version 4.
    pub arch: Option<String>,
    /// Its kernels.
    pub kernels: Vec<KernelInfo>,
}

/// What a code object says of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// Its arguments, without those that the runtime passes by itself.
    pub params: Vec<Param>,
    /// Bytes of its arguments in all, the runtime's included.
    pub kernarg_bytes: u64,
    /// Bytes of shared memory that it declares.
    pub shared_bytes: u64,
    /// Bytes of memory that each thread has for itself.
    pub private_bytes: u64,
    /// Threads that a block of it may have.
    pub max_threads_per_block: u64,
    /// The wave size it was built for.
    pub wave_size: u64,
    /// Vector registers.
    pub vector_registers: u64,
    /// Scalar registers.
    pub scalar_registers: u64,
    /// Vector registers that did not fit and went to memory.
    pub vector_spills: u64,
    /// Scalar registers that did not fit.
    pub scalar_spills: u64,
}

/// Where an argument of a kernel lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its offset in bytes from the first.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

impl CodeObject {
    /// Reads the metadata of a code object, a 64-bit ELF file.
    ///
    /// `Ok(None)`: it is an ELF file of another machine, or has no metadata. Every section and segment is known to lie
    /// inside `bytes` then, too.
    ///
    /// # Errors
    /// What is wrong with the file, in words.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, String> {
        let notes = check_elf(bytes).map_err(|e| format!("it is no whole 64-bit ELF file: {e}"))?;
        match notes {
            Some(note) => {
                read_note(note).map(Some).map_err(|e| format!("its kernel metadata is malformed: {e}"))
            }
            None => Ok(None),
        }
    }

    /// Whether an ELF file is for AMD's GPUs.
    pub fn is_for_amd(bytes: &[u8]) -> bool {
        let header = FileHeader64::<LittleEndian>::parse(bytes);
        header.is_ok_and(|header| header.endian().is_ok_and(|endian| header.e_machine(endian) == EM_AMDGPU))
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// Checks that every part lies inside the file, and finds the metadata.
fn check_elf(bytes: &[u8]) -> Result<Option<&[u8]>, String> {
    let words = |error: object::read::Error| error.to_string();
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(words)?;
    let endian = header.endian().map_err(words)?;
    let is_amd = header.e_machine(endian) == EM_AMDGPU;
    let mut found = None;
    for segment in header.program_headers(endian, bytes).map_err(words)? {
        segment.data(endian, bytes).map_err(|()| "a segment lies outside the file")?;
        let Some(mut notes) = segment.notes(endian, bytes).map_err(words)?.filter(|_| is_amd) else {
            continue;
        };
        while let Some(note) = notes.next().map_err(words)? {
            if note.n_type(endian) == NT_AMDGPU_METADATA && note.name() == OWNER {
                found = Some(note.desc());
            }
        }
    }
    // A loader that is not told the length reckons it from the section headers.
    if header.e_shoff(endian) == 0 && header.e_shnum(endian) != 0 {
        return Err("it counts section headers and has none".into());
    }
    for section in header.sections(endian, bytes).map_err(words)?.iter() {
        section.data(endian, bytes).map_err(words)?;
        if section.sh_offset(endian) > bytes.len() as u64 {
            return Err("a section lies outside the file".into());
        }
    }
    Ok(found)
}

fn read_note(mut note: &[u8]) -> Result<CodeObject, String> {
    let root = rmpv::decode::read_value_with_max_depth(&mut note, MAX_DEPTH).map_err(|e| e.to_string())?;
    let arch =
        text(&root, "amdhsa.target").and_then(|target| target.split_once("--")).map(|(_, a)| a.to_string());
    let kernels = match field(&root, "amdhsa.kernels") {
        Some(kernels) => kernels.as_array().ok_or("amdhsa.kernels is no list")?,
        None => return Err("it has no amdhsa.kernels".into()),
    };
    let kernels = kernels.iter().map(read_kernel).collect::<Result<_, _>>()?;
    Ok(CodeObject { arch, kernels })
}

fn read_kernel(kernel: &Value) -> Result<KernelInfo, String> {
    let name = text(kernel, ".name").ok_or("a kernel has no name")?.to_string();
    let number =
        |key: &str| field(kernel, key).and_then(Value::as_u64).ok_or(format!("kernel {name} has no {key}"));
    let optional = |key: &str| field(kernel, key).and_then(Value::as_u64).unwrap_or(0);
    let arguments = match field(kernel, ".args") {
        Some(list) => {
            list.as_array().ok_or(format!("the arguments of kernel {name} are no list"))?.as_slice()
        }
        None => &[],
    };
    let mut params = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let param = read_argument(argument)
            .map_err(|key| format!("argument {index} of kernel {name} has no {key}"))?;
        params.extend(param);
    }
    Ok(KernelInfo {
        params,
        kernarg_bytes: number(".kernarg_segment_size")?,
        shared_bytes: number(".group_segment_fixed_size")?,
        private_bytes: number(".private_segment_fixed_size")?,
        max_threads_per_block: number(".max_flat_workgroup_size")?,
        wave_size: number(".wavefront_size")?,
        vector_registers: optional(".vgpr_count"),
        scalar_registers: optional(".sgpr_count"),
        vector_spills: optional(".vgpr_spill_count"),
        scalar_spills: optional(".sgpr_spill_count"),
        name,
    })
}

/// One argument; `None` for one that the runtime passes. The error is the key that is missing.
fn read_argument(argument: &Value) -> Result<Option<Param>, &'static str> {
    let number =
        |key| field(argument, key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).ok_or(key);
    if text(argument, ".value_kind").ok_or(".value_kind")?.starts_with("hidden_") {
        return Ok(None);
    }
    Ok(Some(Param { offset: number(".offset")?, size: number(".size")? }))
}

fn field<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    map.as_map()?.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, value)| value)
}

fn text<'a>(map: &'a Value, key: &str) -> Option<&'a str> {
    field(map, key)?.as_str()
}
