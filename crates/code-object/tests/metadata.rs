//! Metadata of code objects: real ones, built here where a compiler is at hand, and ten thousand broken ones.

use code_object::{CodeObject, Param};
use std::path::Path;
use std::process::Command;

const SOURCE: &str = r#"
#include <hip/hip_runtime.h>
struct Map { unsigned long count; unsigned rank; };
extern "C" __global__ void __launch_bounds__(128)
blend(const float* a, const float* b, float* out, Map map, unsigned char flag) {
    __shared__ float staged[64];
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    staged[threadIdx.x & 63] = i < map.count ? a[i] : 0.0f;
    __syncthreads();
    if (i < map.count) out[i] = flag ? staged[threadIdx.x & 63] : b[i];
}
extern "C" __global__ void nothing() {}
"#;

/// A code object for gfx90a, or `None` where no compiler builds one.
fn compiled(bundle: bool) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, target) = (folder.path().join("blend.hip"), folder.path().join("blend.co"));
    std::fs::write(&source, SOURCE).expect("the source is written");
    let compiler = std::env::var("HIPCC").unwrap_or_else(|_| "hipcc".into());
    let mut command = Command::new(compiler);
    command.args(["--genco", "--offload-arch=gfx90a", "-O2"]).arg(&source).arg("-o").arg(&target);
    if !bundle {
        command.arg("--no-gpu-bundle-output");
    }
    let built = command.output().is_ok_and(|output| output.status.success());
    if built { Some(read(&target)) } else { None }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("the compiler wrote it")
}

fn param(offset: usize, size: usize) -> Param {
    Param { offset, size }
}

#[test]
fn a_real_code_object_tells_its_kernels() {
    let Some(bytes) = compiled(false) else { return println!("skipped: no hipcc that builds for gfx90a") };
    let code = CodeObject::parse(&bytes).expect("it is whole").expect("it has metadata");
    assert!(code.arch.as_deref().is_some_and(|arch| arch.starts_with("gfx90a")), "{:?}", code.arch);
    let blend = code.kernel("blend").expect("it is there");
    // Three pointers, a struct of 12 bytes padded to 16, one byte; by the C rules of layout.
    assert_eq!(blend.params, [param(0, 8), param(8, 8), param(16, 8), param(24, 16), param(40, 1)]);
    assert_eq!((blend.shared_bytes, blend.max_threads_per_block, blend.wave_size), (256, 128, 64));
    assert!(blend.kernarg_bytes >= 41 && blend.vector_registers > 0 && blend.vector_spills == 0, "{blend:?}");
    let nothing = code.kernel("nothing").expect("it is there");
    assert_eq!(nothing.params, []);
    assert!(code.kernel("blen").is_none());
}

#[test]
fn a_code_object_cut_anywhere_is_no_panic() {
    let Some(bytes) = compiled(false) else { return println!("skipped: no hipcc that builds for gfx90a") };
    for length in 0..bytes.len() {
        let _ = CodeObject::parse(&bytes[..length]);
    }
    assert!(CodeObject::parse(&bytes[..bytes.len() - 1]).is_err(), "the section table is cut");
}

#[test]
fn ten_thousand_broken_code_objects_are_no_panic() {
    let original = compiled(false).unwrap_or_else(|| {
        println!("no hipcc that builds for gfx90a: the note is made by hand");
        by_hand(&[0x81, 0xa3, b'k', b'e', b'y', 0x91, 0xc0])
    });
    // Most of the file is code: half of the mutations go to the headers, and half of the rest to the note.
    let note = original.windows(7).position(|w| w == b"AMDGPU\0").expect("the note has its owner");
    let places =
        [0..64_usize, 64..note.clamp(65, 1024), note..(note + 1500).min(original.len()), 0..original.len()];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut whole, mut refused) = (0, 0);
    for round in 0..10_000 {
        let mut bytes = original.clone();
        for _ in 0..1 + random.below(4) {
            let place = &places[random.below(places.len())];
            let at = place.start + random.below(place.len());
            bytes[at] = match random.below(3) {
                0 => random.below(256) as u8,
                1 => bytes[at] ^ (1 << random.below(8)),
                _ => [0, 0x7f, 0x80, 0xff][random.below(4)],
            };
        }
        if round % 10 == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        match CodeObject::parse(&bytes) {
            Ok(_) => whole += 1,
            Err(reason) => {
                assert!(!reason.is_empty());
                refused += 1;
            }
        }
    }
    assert!(whole > 100 && refused > 1000, "{whole} passed, {refused} refused: the mutations miss");
}

#[test]
fn metadata_made_by_hand() {
    let refused = |note: &[u8]| CodeObject::parse(&by_hand(note)).expect_err("it is malformed");
    assert!(refused(&[0x80]).contains("no amdhsa.kernels"));
    assert!(refused(&[0xc1]).contains("malformed"));
    assert!(refused(&[0x91; 4000]).contains("malformed"), "deep nesting");
    let key = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
    let kernels = |value: &[u8]| [&[0x81], &key("amdhsa.kernels")[..], value].concat();
    assert!(refused(&kernels(&[0xc0])).contains("no list"));
    assert!(refused(&kernels(&[0x91, 0x80])).contains("no name"));
    let unsized_argument =
        [&[0x91, 0x82][..], &key(".name"), &key("k"), &key(".args"), &[0x91, 0x80]].concat();
    assert!(refused(&kernels(&unsized_argument)).contains("argument 0 of kernel k has no .value_kind"));
    let empty = CodeObject::parse(&by_hand(&kernels(&[0x90]))).expect("an empty list is well formed");
    assert_eq!(empty.expect("the note is there").kernels, []);
}

#[test]
fn what_is_no_amd_code_object() {
    assert!(CodeObject::parse(b"").is_err());
    assert!(CodeObject::parse(b"not an ELF file").is_err());
    // This program is an ELF file of another machine.
    let this = read(&std::env::current_exe().expect("this program has a path"));
    assert_eq!(CodeObject::parse(&this), Ok(None));
}

/// The least ELF file with one note segment: header, one program header, the note.
fn by_hand(description: &[u8]) -> Vec<u8> {
    let note = [
        &7_u32.to_le_bytes()[..],
        &(description.len() as u32).to_le_bytes(),
        &32_u32.to_le_bytes(),
        b"AMDGPU\0\0",
        description,
        &vec![0; description.len().next_multiple_of(4) - description.len()],
    ]
    .concat();
    let header = [
        &b"\x7fELF\x02\x01\x01\x40\x02\0\0\0\0\0\0\0"[..],
        &3_u16.to_le_bytes(),
        &224_u16.to_le_bytes(),
        &1_u32.to_le_bytes(),
        &0_u64.to_le_bytes(),
        &64_u64.to_le_bytes(),
        &0_u64.to_le_bytes(),
        &0_u32.to_le_bytes(),
        &[64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0],
    ]
    .concat();
    let place = [120_u64, 0, 0, note.len() as u64, note.len() as u64, 4].map(u64::to_le_bytes).concat();
    [&header[..], &4_u32.to_le_bytes(), &4_u32.to_le_bytes(), &place, &note].concat()
}

/// A xorshift generator: the same mutations every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}
