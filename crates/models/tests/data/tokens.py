"""Writes tokens.json: what llama.cpp makes of hard texts with the vocabularies of two models.

    python3 tokens.py FOLDER        FOLDER has the two models that ci/fetch-models.sh fetches

It needs the package `llama-cpp-python` (0.3.36), and reads nothing of the models but their vocabularies. The tests need
neither: the file is committed.
"""

import ctypes
import json
import pathlib
import sys

import llama_cpp

MODELS = ["SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"]

TEXTS = [
    # Nothing, and spaces.
    "",
    " ",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "\n\n\n",
    "\t",
    "\t\t\n",
    "\r\n",
    " \n \n ",
    "a  b   c    d",
    "  leading and trailing  ",
    "line\n\nline\r\nline\n  indented\n\ttab",
    " " * 40 + "x",
    "\n" * 40,
    "\t" * 35 + "x",
    "a\u00a0b\u2003c\u3000d\u200be\u2028f\u0085g",
    # Words.
    "Hello, world!",
    "hello",
    " hello",
    "Hello  World",
    "I'll say we've done it, don't you think they're fine? I'd, he's, I'm.",
    "I'LL SAY WE'VE DONE IT, DON'T YOU THINK THEY'RE FINE?",
    "’s curly ‘quotes’ and “double ones” — dashes – and … dots",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "abababababababababababababab",
    # Digits.
    "0 1 12 123 1234 12345 1234567890",
    "3.14159265358979 -1e-10 0x1F 1_000_000 1,000,000.00 50%",
    "2024-02-29T23:59:59Z",
    "½ ² ⅷ ① 一二三 ١٢٣ १२३ ๑๒๓",
    # Code.
    "def f(x):\n    return {'a': [x ** 2 for _ in range(10)]}  # comment\n",
    "if (a != b && *p++ == 0x00) { printf(\"%d\\n\", c->d); }",
    "<html><body class=\"x\">\n  <p>Hi &amp; bye</p>\n</body></html>",
    "SELECT * FROM t WHERE a >= 1; -- no",
    "https://example.com/a_b?c=d&e=%20f#g",
    "```rust\nfn main() {}\n```",
    "========--------________########",
    "!@#$%^&*()_+-=[]{}|;':\",./<>?`~",
    # Other scripts, marks and characters of several parts.
    "Grüße aus Köln, où l'été naïf s'achève à São Tomé.",
    "Привет, мир! Γειά σου Κόσμε. שלום עולם. مرحبا بالعالم",
    "你好，世界。今天天气怎么样？",
    "こんにちは世界。カタカナとｶﾀｶﾅ。",
    "안녕하세요 세계",
    "नमस्ते दुनिया ไทยไม่มีเว้นวรรค ខ្មែរ",
    "e\u0301 vs é, n\u0303 vs ñ, Z\u0351\u036b\u0343a\u0322l\u0335g\u0321o",
    "😀😃🙈 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪🇫🇷 ❤️",
    "🦀 in the middle 🦀🦀",
    "𝕳𝖊𝖑𝖑𝖔 𐍈 𓀀 𠜎 🀄",
    "\u0000\u0001\u001f\u007f\u0080\u009f",
    "\ufeffbom \ufffd \ue000 \U0010ffff",
    "ﬁ ﬂ Ǆ ß ẞ İ ı ſ K Å",
    "▁ and ▁▁ are no spaces; Ġ and Ċ are none either",
    # What looks like tokens of control, and is.
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "<|endoftext|><|endoftext|> x <|endoftext|>",
    "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n",
    "<eos>a<pad>b<unk>c<mask>[multimodal]<unused42>",
    "<s>a</s><b>b</b><table><tr></tr></table><end_of_image>",
    "<0x41><0xE4> <0x0A> <|im_end <|im_start|",
    "<repo_name>x<file_sep>y<empty_output> <reponame>",
]


def tokenize(vocabulary, text, parse_special):
    """The ids of a text, with those that begin and end it."""
    text = text.encode()
    ids = (llama_cpp.llama_token * (len(text) + 16))()
    count = llama_cpp.llama_tokenize(vocabulary, text, len(text), ids, len(ids), True, parse_special)
    assert count >= 0, text
    return ids[:count]


def piece(vocabulary, token):
    """The bytes of a token, in hexadecimal."""
    buffer = ctypes.create_string_buffer(512)
    count = llama_cpp.llama_token_to_piece(vocabulary, token, buffer, len(buffer), 0, False)
    assert count >= 0, token
    return buffer.raw[:count].hex()


def record(path):
    parameters = llama_cpp.llama_model_default_params()
    parameters.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
    assert model, path
    vocabulary = llama_cpp.llama_model_get_vocab(model)
    count = llama_cpp.llama_vocab_n_tokens(vocabulary)
    # A token in a hundred or so, and all that texts seldom have.
    some = sorted({*range(0, 600), *range(600, count, 997), count - 1})
    return {
        "tokens": count,
        "bos": llama_cpp.llama_vocab_bos(vocabulary),
        "eos": llama_cpp.llama_vocab_eos(vocabulary),
        "ends": [token for token in range(count) if llama_cpp.llama_vocab_is_eog(vocabulary, token)],
        "plain": [tokenize(vocabulary, text, False) for text in TEXTS],
        "special": [tokenize(vocabulary, text, True) for text in TEXTS],
        "pieces": {str(token): piece(vocabulary, token) for token in some},
    }


def lines(value):
    """JSON with a line for each text and for each list of numbers."""
    if isinstance(value, dict) and any(isinstance(item, (dict, list)) for item in value.values()):
        items = (f"{json.dumps(key)}: {lines(item)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + "\n}"
    if isinstance(value, list) and not all(isinstance(item, int) for item in value):
        return "[\n" + ",\n".join(map(lines, value)) + "\n]"
    return json.dumps(value, separators=(",", ":"))


llama_cpp.llama_backend_init()
folder = pathlib.Path(sys.argv[1])
recorded = {"texts": TEXTS, "models": {name: record(folder / name) for name in MODELS}}
(pathlib.Path(__file__).parent / "tokens.json").write_text(lines(recorded) + "\n")
