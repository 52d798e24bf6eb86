//! Modules: loading, functions, variables, and errors.

use super::prelude::*;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const CASES: &[Case] = cases!(
    "module/load": missing_file, text_file, empty_name, null_name, null_output, null_image, null_output_for_an_image,
    text_as_image, noise_as_image, unload_nothing
);
pub(crate) const CODE: &[Case] = cases!(
    "module/code": an_image, a_file, a_cut_image, unload_twice, loaded_twice, a_null_output
);
pub(crate) const FUNCTIONS: &[Case] = cases!(
    "module/function": is_found, the_same_each_time, absent, empty, no_name, null_function_output, null_module,
    a_variable_is_none
);
pub(crate) const GLOBALS: &[Case] = cases!(
    "module/global": size_and_address, absent_global, empty_global, null_module_of_a_global, a_function_is_none,
    bytes_alone, address_alone, read_at_first, written_by_the_host, written_by_a_kernel, constants_at_first,
    constants_from_the_host, each_load_has_its_own, is_device_memory
);

fn missing_file(b: &Bench) -> Outcome {
    let mut module = null_mut();
    expect!(b, hipModuleLoad(&mut module, c"/no/such/folder/module.hsaco".as_ptr()) => NO_FILE);
    Ok(())
}

/// A file in the folder for temporary files, removed when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(contents: &[u8]) -> Result<Self, Failure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("conformance-{}-{number}", std::process::id()));
        std::fs::write(&path, contents).map_err(|e| Failure::wrong(format!("{}: {e}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A leftover temporary file does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn c_path(path: &Path) -> Result<CString, Failure> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| Failure::wrong("a path with a zero byte"))
}

fn text_file(b: &Bench) -> Outcome {
    let (file, mut module) = (Temporary::new(b"this is not a code object\n")?, null_mut());
    let path = c_path(&file.0)?;
    expect!(b, hipModuleLoad(&mut module, path.as_ptr()) => IMAGE);
    Ok(())
}

fn empty_name(b: &Bench) -> Outcome {
    let mut module = null_mut();
    expect!(b, hipModuleLoad(&mut module, c"".as_ptr()) => VALUE);
    Ok(())
}

fn null_name(b: &Bench) -> Outcome {
    let mut module = null_mut();
    expect!(b, hipModuleLoad(&mut module, null()) => VALUE);
    Ok(())
}

fn null_output(b: &Bench) -> Outcome {
    let file = Temporary::new(b"text")?;
    let path = c_path(&file.0)?;
    expect!(b, hipModuleLoad(null_mut(), path.as_ptr()) => VALUE);
    Ok(())
}

fn null_image(b: &Bench) -> Outcome {
    let mut module = null_mut();
    expect!(b, hipModuleLoadData(&mut module, null()) => VALUE);
    Ok(())
}

fn null_output_for_an_image(b: &Bench) -> Outcome {
    let bytes = [0_u8; 4096];
    expect!(b, hipModuleLoadData(null_mut(), bytes.as_ptr().cast()) => VALUE);
    Ok(())
}

fn text_as_image(b: &Bench) -> Outcome {
    // Padded: an image has no length, so a reader may read beyond the end of the text.
    let (mut module, mut bytes) = (null_mut(), [0_u8; 4096]);
    bytes[..17].copy_from_slice(b"not a code object");
    expect!(b, hipModuleLoadData(&mut module, bytes.as_ptr().cast()) => IMAGE);
    Ok(())
}

fn noise_as_image(b: &Bench) -> Outcome {
    let mut module = null_mut();
    let bytes: Vec<u8> = (0..65_536_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    expect!(b, hipModuleLoadData(&mut module, bytes.as_ptr().cast()) => IMAGE);
    Ok(())
}

fn unload_nothing(b: &Bench) -> Outcome {
    expect!(b, hipModuleUnload(null_mut()) => HANDLE);
    Ok(())
}

fn an_image(b: &Bench) -> Outcome {
    let (code, mut module) = (b.code("basic")?, null_mut());
    ok!(b, hipModuleLoadData(&mut module, code.as_ptr().cast()));
    ensure(!module.is_null(), "no handle")?;
    ok!(b, hipModuleUnload(module));
    Ok(())
}

fn a_file(b: &Bench) -> Outcome {
    let (file, mut module, mut function) = (Temporary::new(&b.code("basic")?)?, null_mut(), null_mut());
    let path = c_path(&file.0)?;
    ok!(b, hipModuleLoad(&mut module, path.as_ptr()));
    ok!(b, hipModuleGetFunction(&mut function, module, c"add".as_ptr()); hipModuleUnload(module));
    Ok(())
}

/// The first half of a valid image, followed by zeros.
fn a_cut_image(b: &Bench) -> Outcome {
    let (mut code, mut module) = (b.code("basic")?.to_vec(), null_mut());
    let half = code.len() / 2;
    code[half..].fill(0);
    let status = call!(b, hipModuleLoadData(&mut module, code.as_ptr().cast()));
    ensure(status != SUCCESS, "half an image was loaded")
}

fn unload_twice(b: &Bench) -> Outcome {
    let (code, mut module) = (b.code("basic")?, null_mut());
    ok!(b, hipModuleLoadData(&mut module, code.as_ptr().cast()); hipModuleUnload(module));
    expect!(b, hipModuleUnload(module) => NOT_FOUND);
    Ok(())
}

/// Unloading the first module does not affect the second.
fn loaded_twice(b: &Bench) -> Outcome {
    let (first, second) = (b.load(&b.code("basic")?)?, b.load(&b.code("basic")?)?);
    ensure(first.raw != second.raw, "two loads have one handle")?;
    drop(first);
    let mut function = null_mut();
    ok!(b, hipModuleGetFunction(&mut function, second.raw, c"nothing".as_ptr()));
    let (none, list) = (null_mut(), null_mut());
    ok!(b, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, list, none); hipDeviceSynchronize());
    Ok(())
}

fn a_null_output(b: &Bench) -> Outcome {
    let code = b.code("basic")?;
    expect!(b, hipModuleLoadData(null_mut(), code.as_ptr().cast()) => VALUE);
    Ok(())
}

fn is_found(b: &Bench) -> Outcome {
    ensure(!b.function("basic", "add")?.raw.is_null(), "no handle")
}

fn the_same_each_time(b: &Bench) -> Outcome {
    same("the handle", b.function("basic", "add")?.raw, b.function("basic", "add")?.raw)
}

fn absent(b: &Bench) -> Outcome {
    let (module, mut function) = (b.module("basic")?, null_mut());
    expect!(b, hipModuleGetFunction(&mut function, module.raw, c"no_such_kernel".as_ptr()) => NOT_FOUND);
    Ok(())
}

fn empty(b: &Bench) -> Outcome {
    let (module, mut function) = (b.module("basic")?, null_mut());
    expect!(b, hipModuleGetFunction(&mut function, module.raw, c"".as_ptr()) => VALUE);
    Ok(())
}

fn no_name(b: &Bench) -> Outcome {
    let (module, mut function) = (b.module("basic")?, null_mut());
    expect!(b, hipModuleGetFunction(&mut function, module.raw, null()) => VALUE);
    Ok(())
}

fn null_function_output(b: &Bench) -> Outcome {
    let module = b.module("basic")?;
    expect!(b, hipModuleGetFunction(null_mut(), module.raw, c"add".as_ptr()) => VALUE);
    Ok(())
}

fn null_module(b: &Bench) -> Outcome {
    let mut function = null_mut();
    expect!(b, hipModuleGetFunction(&mut function, null_mut(), c"add".as_ptr()) => HANDLE);
    Ok(())
}

fn a_variable_is_none(b: &Bench) -> Outcome {
    let (module, mut function) = (b.module("basic")?, null_mut());
    expect!(b, hipModuleGetFunction(&mut function, module.raw, c"scale".as_ptr()) => NOT_FOUND);
    Ok(())
}

fn size_and_address(b: &Bench) -> Outcome {
    let module = b.module("basic")?;
    for (name, expected) in [("scale", 4), ("plain", 32), ("table", 32)] {
        let (pointer, bytes) = b.global(&module, name)?;
        same(&format!("bytes of {name}"), bytes, expected)?;
        ensure(!pointer.is_null(), format!("{name} has no address"))?;
    }
    Ok(())
}

fn absent_global(b: &Bench) -> Outcome {
    let (module, mut pointer, mut bytes) = (b.module("basic")?, null_mut(), 0);
    expect!(b, hipModuleGetGlobal(&mut pointer, &mut bytes, module.raw, c"absent".as_ptr()) => NOT_FOUND);
    Ok(())
}

fn empty_global(b: &Bench) -> Outcome {
    let (module, mut pointer, mut bytes) = (b.module("basic")?, null_mut(), 0);
    expect!(b, hipModuleGetGlobal(&mut pointer, &mut bytes, module.raw, c"".as_ptr()) => VALUE);
    Ok(())
}

fn null_module_of_a_global(b: &Bench) -> Outcome {
    let (mut pointer, mut bytes) = (null_mut(), 0);
    expect!(b, hipModuleGetGlobal(&mut pointer, &mut bytes, null_mut(), c"scale".as_ptr()) => HANDLE);
    Ok(())
}

fn a_function_is_none(b: &Bench) -> Outcome {
    let (module, mut pointer, mut bytes) = (b.module("basic")?, null_mut(), 0);
    expect!(b, hipModuleGetGlobal(&mut pointer, &mut bytes, module.raw, c"add".as_ptr()) => NOT_FOUND);
    Ok(())
}

fn bytes_alone(b: &Bench) -> Outcome {
    let (module, mut bytes) = (b.module("basic")?, 0);
    ok!(b, hipModuleGetGlobal(null_mut(), &mut bytes, module.raw, c"table".as_ptr()));
    same("the bytes", bytes, 32)
}

fn address_alone(b: &Bench) -> Outcome {
    let (module, mut pointer) = (b.module("basic")?, null_mut());
    ok!(b, hipModuleGetGlobal(&mut pointer, null_mut(), module.raw, c"table".as_ptr()));
    same("the address", pointer, b.global(&module, "table")?.0)
}

fn read_at_first(b: &Bench) -> Outcome {
    let (module, mut value, mut zeros) = (b.module("basic")?, 0_i32, [1_i32; 8]);
    let ((scale, _), (plain, _)) = (b.global(&module, "scale")?, b.global(&module, "plain")?);
    ok!(b, hipMemcpy((&raw mut value).cast(), scale, 4, D2H));
    ok!(b, hipMemcpy(zeros.as_mut_ptr().cast(), plain, 32, D2H));
    same("the variable", value, 3)?;
    same("the one without a value", zeros, [0; 8])
}

fn written_by_the_host(b: &Bench) -> Outcome {
    let (module, out, value) = (b.module("basic")?, b.zeros::<i32>(4)?, -5_i32);
    let (scale, _) = b.global(&module, "scale")?;
    ok!(b, hipMemcpy(scale, (&raw const value).cast(), 4, H2D));
    b.launch(&b.function("basic", "scaled")?, grid(1, 4), args![&out])?;
    same_all("what the kernel saw", &out.read()?, &[0, -5, -10, -15])
}

fn written_by_a_kernel(b: &Bench) -> Outcome {
    let (module, mut values) = (b.module("basic")?, [0_i32; 8]);
    b.launch(&b.function("basic", "to_plain")?, grid(1, 8), args![])?;
    let (plain, _) = b.global(&module, "plain")?;
    ok!(b, hipMemcpy(values.as_mut_ptr().cast(), plain, 32, D2H));
    same("the variable", values, [100, 101, 102, 103, 104, 105, 106, 107])
}

fn constants_at_first(b: &Bench) -> Outcome {
    let out = b.zeros::<f64>(4)?;
    b.launch(&b.function("basic", "from_table")?, grid(1, 4), args![&out])?;
    same_all("what the kernel saw", &out.read()?, &[1.0, 2.0, 4.0, 8.0])
}

/// Constant memory is constant only for kernels; the host may write it.
fn constants_from_the_host(b: &Bench) -> Outcome {
    let (module, out, values) = (b.module("basic")?, b.zeros::<f64>(4)?, [0.5, -0.25, 1e300, 7.0]);
    let (table, _) = b.global(&module, "table")?;
    ok!(b, hipMemcpy(table, values.as_ptr().cast(), 32, H2D));
    b.launch(&b.function("basic", "from_table")?, grid(1, 4), args![&out])?;
    same_all("what the kernel saw", &out.read()?, &values)
}

fn each_load_has_its_own(b: &Bench) -> Outcome {
    let (x, y) = (b.load(&b.code("basic")?)?, b.load(&b.code("basic")?)?);
    let ((first, _), (second, _)) = (b.global(&x, "scale")?, b.global(&y, "scale")?);
    let (value, mut other) = (99_i32, 0_i32);
    ok!(b, hipMemcpy(first, (&raw const value).cast(), 4, H2D));
    ok!(b, hipMemcpy((&raw mut other).cast(), second, 4, D2H));
    same("the other load's variable", other, 3)
}

fn is_device_memory(b: &Bench) -> Outcome {
    let (module, mut raw) = (b.module("basic")?, hipPointerAttribute_t::default());
    let (table, _) = b.global(&module, "table")?;
    ok!(b, hipPointerGetAttributes(&mut raw, table));
    let kind = hip_sys::MemoryKind::from_raw(raw.type_, b.platform().version());
    same("the kind and the device", (kind, raw.device), (hip_sys::MemoryKind::Device, b.device()))
}
