"""Trims a copy of llama.cpp to what a Llama model in bf16, q8_0 or q4_k runs on an H200.

Kernels that remain are not changed. What is left out ends in an abort or is never chosen.
"""
import re, sys, pathlib
root = pathlib.Path(sys.argv[1])
cuda = root / "ggml/src/ggml-cuda"

def edit(path, *pairs):
    text = path.read_text()
    for pattern, new, count in pairs:
        text, n = re.subn(pattern, new, text, flags=re.S | re.M)
        assert n == count or (count is None and n), (path, pattern, n)
    path.write_text(text)

# Models other than Llama: their graphs are long to compile.
for f in (root / "src/models").glob("*.cpp"):
    if f.name != "llama.cpp":
        f.unlink()
edit(root / "src/llama-model.cpp",
     (r"^ *case LLM_ARCH_(?!LLAMA:)\w+:\n(?: *case LLM_ARCH_\w+:\n)* *return new llama_model_\w+\(params\);\n", "", None))

# No programs, tests or third-party code.
edit(root / "CMakeLists.txt", (r"^add_subdirectory\(vendor\)\n", "", 1))

# Flash attention: head sizes 64 and 128. The tile kernels are for GPUs without tensor cores.
inst = cuda / "template-instances"
for f in inst.glob("fattn-mma*.cu"):
    text = re.sub(r"^DECL_FATTN_MMA_F16_CASE\((?!64, 64|128, 128).*\n", "", f.read_text(), flags=re.M)
    f.write_text(text) if "DECL" in text else f.unlink()
for f in inst.glob("*.cu"):
    n = f.name
    if n.startswith(("fattn-tile", "mmf-")) or (n.startswith("fattn-vec") and "f16-f16" not in n.replace("bf16", "b")) \
            or (n.startswith("mmq-") and n not in ("mmq-instance-q8_0.cu", "mmq-instance-q4_k.cu")):
        f.unlink()
sizes = "80|96|112|192|256|320|512|576"
text = (cuda / "fattn.cu").read_text()
start = text.index("static void ggml_cuda_flash_attn_ext_mma_f16(")
end = text.index("#define FATTN_VEC_CASE", start)
body = text[start:end]
body, n = re.subn(r"^        case (?:%s):.*?(?=^        (?:case|default))" % sizes, "", body, flags=re.S | re.M)
assert n == 8, n
body = body.replace("    const int cc = ggml_cuda_info().devices[ggml_cuda_get_device()].cc;\n", "", 1)
(cuda / "fattn.cu").write_text(text[:start] + body + text[end:])
(cuda / "fattn-tile.cu").write_text('''#include "common.cuh"
#include "fattn-tile.cuh"

void ggml_cuda_flash_attn_ext_tile(ggml_backend_cuda_context &, ggml_tensor *) {
    GGML_ABORT("left out of this build");
}
''')

# Products of batches of 2 to 16 columns in floats: no run has such a batch.
text = (cuda / "mmf.cu").read_text()
start = text.index("void ggml_cuda_mul_mat_f("); end = text.index("bool ggml_cuda_should_use_mmf(")
text = text[:start] + '''void ggml_cuda_mul_mat_f(ggml_backend_cuda_context &, const ggml_tensor *, const ggml_tensor *, const ggml_tensor *, ggml_tensor *) {
    GGML_ABORT("left out of this build");
}

''' + text[end:]
head, tail = text.split("bool ggml_cuda_should_use_mmf(")
tail = re.sub(r"\{\n", "{\n    return false; // left out of this build\n\n", tail, count=1)
(cuda / "mmf.cu").write_text(head + "bool ggml_cuda_should_use_mmf(" + tail)

# Quantized products: q8_0 and q4_k.
keep = "Q8_0|Q4_K"
text = (cuda / "mmq.cu").read_text()
head, tail = text.split("bool ggml_cuda_should_use_mmq(")
head, n = re.subn(r"^        case GGML_TYPE_(?!(?:%s):)\w+:\n(?:            (?!break;$)[^\n]*\n|                [^\n]*\n)+            break;\n" % keep, "", head, flags=re.M)
assert n == 20, n
tail, n = re.subn(r"^        case GGML_TYPE_(?!(?:%s):)\w+:\n(?!            mmq_supported)" % keep, "", tail, flags=re.M)
tail = tail.replace("        case GGML_TYPE_NVFP4:\n            mmq_supported", "            mmq_supported")
(cuda / "mmq.cu").write_text(head + "bool ggml_cuda_should_use_mmq(" + tail)
edit(cuda / "mmvq.cu",
     (r"^        case GGML_TYPE_(?!(?:%s):)\w+:\n            mul_mat_vec_q_switch_ncols_dst<.*?^            break;\n" % keep, "", 21))
