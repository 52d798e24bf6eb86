"""A model in llama.cpp, for the scripts that record what it computes.

LLAMA_CPP_LIB_PATH is the folder with libllama.so and its siblings, of the llama.cpp in llama-cpp-python 0.3.36, built for the CPU
alone: cmake -S vendor/llama.cpp -B build -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF && \\
cmake --build build --target llama. The library is called by the package's own bindings (llama_cpp/llama_cpp.py), whose folder has to
be in PYTHONPATH.

Keys and values are f32. Texts are tokenized by llama.cpp, with the token that begins a text where the model has one.
"""

import llama_cpp.llama_cpp as llama
import numpy

MADE_BY = "llama-cpp-python 0.3.36"


class Context:
    """Room for `length` tokens of a text."""

    def __init__(self, path, length, flash_attention=True):
        llama.llama_backend_init()
        self.model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = length
        parameters.n_threads = parameters.n_threads_batch = 1
        parameters.type_k = parameters.type_v = 0
        # -1 is llama.cpp's own choice, which is to use it.
        parameters.flash_attn_type = -1 if flash_attention else 0
        self.context = llama.llama_init_from_model(self.model, parameters)
        self.vocabulary = llama.llama_model_get_vocab(self.model)
        self.size = llama.llama_vocab_n_tokens(self.vocabulary)

    def tokenized(self, text):
        raw = text.encode()
        room = (llama.llama_token * (len(raw) + 8))()
        count = llama.llama_tokenize(self.vocabulary, raw, len(raw), room, len(room), True, False)
        assert count > 0
        return list(room[:count])

    def clear(self):
        llama.llama_memory_clear(llama.llama_get_memory(self.context), True)

    def logits(self, tokens, all=False):
        """The logits after these tokens, which follow those before: after the last, or after each."""
        batch = llama.llama_batch_init(len(tokens), 0, 1)
        start = llama.llama_memory_seq_pos_max(llama.llama_get_memory(self.context), 0) + 1
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index], batch.pos[index] = token, start + index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = all or index + 1 == len(tokens)
        assert llama.llama_decode(self.context, batch) == 0
        llama.llama_batch_free(batch)
        indices = range(len(tokens)) if all else [-1]
        rows = [llama.llama_get_logits_ith(self.context, index) for index in indices]
        return numpy.array([numpy.ctypeslib.as_array(row, (self.size,)) for row in rows])
