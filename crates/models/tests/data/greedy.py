"""Greedy continuations of prompts by llama.cpp, for tests/greedy.rs: writes greedy/NAME.json.

python3 greedy.py LIBRARY smollm2 SmolLM2-135M-Instruct.Q4_1.gguf
python3 greedy.py LIBRARY gemma3 gemma-3-270m-q4_k_m.gguf

LIBRARY is the folder with libllama.so and its siblings, of the llama.cpp in llama-cpp-python 0.3.36, built for the CPU alone:
cmake -S vendor/llama.cpp -B build -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF && \\
cmake --build build --target llama. The library is called by the package's own bindings (llama_cpp/llama_cpp.py), which find it
by LLAMA_CPP_LIB_PATH; the folder with llama_cpp has to be in PYTHONPATH.

Keys and values are f32. Prompts are tokenized by llama.cpp, with the token that begins a text where the model has one. A text
goes on for 64 tokens, through tokens that end it as well: only logits matter here. Of each step a file has the token with the
greatest logit, and how much greater it is than the second.
"""

import ctypes
import json
import os
import pathlib
import sys

LIBRARY, NAME, PATH = sys.argv[1:]
os.environ["LLAMA_CPP_LIB_PATH"] = LIBRARY
import llama_cpp.llama_cpp as llama  # noqa: E402

TOKENS = 64
PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village by the sea, there lived",
    "def fibonacci(n):\n    ",
    "The three laws of thermodynamics say that",
    "Dear Sir or Madam,\n\nI am writing to",
    "Ingredients:\n- 200 g flour\n- 2 eggs\n-",
    "In 1969, Apollo 11",
    "Photosynthesis is the process by which",
    "Q: What is the largest planet of the solar system?\nA:",
    "To be, or not to be, that is",
    "The train from Berlin to Munich leaves at",
    "#include <stdio.h>\n\nint main(void) {\n",
    "1, 2, 4, 8, 16,",
    "Die Hauptstadt von Deutschland ist",
    "Il était une fois",
    "She opened the door and saw",
    "The main difference between a list and a tuple in Python is",
    "Water boils at 100 degrees Celsius because",
    "SELECT name, age FROM users WHERE",
    "Yesterday the weather was cold and rainy, but today",
]


def tokenized(vocabulary, text):
    raw = text.encode()
    room = (llama.llama_token * (len(raw) + 8))()
    count = llama.llama_tokenize(vocabulary, raw, len(raw), room, len(room), True, False)
    assert count > 0
    return list(room[:count])


def decoded(context, tokens):
    """The logits after these tokens, which follow those before."""
    array = (llama.llama_token * len(tokens))(*tokens)
    assert llama.llama_decode(context, llama.llama_batch_get_one(array, len(tokens))) == 0
    return llama.llama_get_logits_ith(context, -1)


def continued(context, prompt, size):
    llama.llama_memory_clear(llama.llama_get_memory(context), True)
    row, chosen, margins = prompt, [], []
    for _ in range(TOKENS):
        logits = decoded(context, row)
        values = ctypes.cast(logits, ctypes.POINTER(ctypes.c_float * size)).contents[:]
        best = max(range(size), key=values.__getitem__)
        greatest, values[best] = values[best], float("-inf")
        chosen.append(best)
        margins.append(round(greatest - max(values), 4))
        row = [best]
    return {"prompt": prompt, "tokens": chosen, "margins": margins}


llama.llama_backend_init()
model = llama.llama_model_load_from_file(PATH.encode(), llama.llama_model_default_params())
parameters = llama.llama_context_default_params()
parameters.n_ctx, parameters.n_batch, parameters.n_threads, parameters.n_threads_batch = 256, 256, 1, 1
parameters.type_k = parameters.type_v = 0
context = llama.llama_init_from_model(model, parameters)
vocabulary = llama.llama_model_get_vocab(model)
size = llama.llama_vocab_n_tokens(vocabulary)
rows = [json.dumps(continued(context, tokenized(vocabulary, text), size)) for text in PROMPTS]
target = pathlib.Path(__file__).parent / "greedy" / f"{NAME}.json"
target.parent.mkdir(exist_ok=True)
head = f'"made_by": "llama-cpp-python 0.3.36", "file": {json.dumps(pathlib.Path(PATH).name)}'
target.write_text("{" + head + ', "prompts": [\n' + ",\n".join(rows) + "]}\n")
