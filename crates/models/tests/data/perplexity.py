"""How well llama.cpp predicts a text, for tests/perplexity.rs: writes perplexity/NAME.json.

python3 perplexity.py smollm2 SmolLM2-135M-Instruct.Q4_1.gguf
python3 perplexity.py gemma3 gemma-3-270m-q4_k_m.gguf

What it needs: see llamacpp.py, and numpy. The text is perplexity/alice.txt: the first two chapters of Lewis Carroll's "Alice's
Adventures in Wonderland" (1865), which is in the public domain. Its tokens are cut into windows, and nothing is remembered from one
window to the next. The losses are -log of the probability of each token but the first of a window.
"""

import json
import pathlib
import sys

import numpy

from llamacpp import MADE_BY, Context

NAME, PATH = sys.argv[1:]
WINDOW = 256
FOLDER = pathlib.Path(__file__).parent / "perplexity"

context = Context(PATH, WINDOW)
tokens = context.tokenized((FOLDER / "alice.txt").read_text())
tokens = tokens[: len(tokens) // WINDOW * WINDOW]
losses = []
for start in range(0, len(tokens), WINDOW):
    window = tokens[start : start + WINDOW]
    context.clear()
    logits = context.logits(window, all=True)[:-1].astype(numpy.float64)
    most = logits.max(axis=1)
    total = most + numpy.log(numpy.exp(logits - most[:, None]).sum(axis=1))
    losses += [round(float(loss), 4) for loss in total - logits[numpy.arange(WINDOW - 1), window[1:]]]
    print(start, numpy.exp(numpy.mean(losses)), flush=True)
head = {"made_by": MADE_BY, "file": pathlib.Path(PATH).name, "window": WINDOW}
text = json.dumps(head)[:-1] + ',\n"tokens": ' + json.dumps(tokens) + ',\n"losses": ' + json.dumps(losses) + "}\n"
(FOLDER / f"{NAME}.json").write_text(text)
