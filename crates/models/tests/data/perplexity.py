"""How well llama.cpp predicts a text, for tests/perplexity.rs: writes perplexity/NAME.json.

python3 perplexity.py smollm2 SmolLM2-135M-Instruct.Q4_1.gguf
python3 perplexity.py gemma3 gemma-3-270m-q4_k_m.gguf

What it needs: see llamacpp.py, and numpy. The text is perplexity/alice.txt: the first two chapters of Lewis Carroll's "Alice's
Adventures in Wonderland" (1865), which is in the public domain. Its tokens are cut into windows, and nothing is remembered from one
window to the next. The losses are -log of the probability of each token but the first of a window.

With a third argument nothing is written: llama.cpp computes the recorded tokens in another way, and this prints how far it is from itself.
"again" is without flash attention, which adds in another order; a number is how many tokens it gets at once. The file may be another one with
the same vocabulary: the same weights dequantized, for which no activations are rounded.
"""

import json
import pathlib
import sys

import numpy

from llamacpp import MADE_BY, Context

NAME, PATH, *AGAIN = sys.argv[1:]
WINDOW = 256
FOLDER = pathlib.Path(__file__).parent / "perplexity"
FILE = FOLDER / f"{NAME}.json"


def losses_of(context, window, together):
    """-log of the probability of each token but the first."""
    context.clear()
    parts = [context.logits(window[start : start + together], all=True) for start in range(0, len(window), together)]
    logits = numpy.concatenate(parts)[:-1].astype(numpy.float64)
    most = logits.max(axis=1)
    total = most + numpy.log(numpy.exp(logits - most[:, None]).sum(axis=1))
    return [round(float(loss), 4) for loss in total - logits[numpy.arange(len(logits)), window[1:]]]


if AGAIN:
    recorded = json.loads(FILE.read_text())
    context = Context(PATH, WINDOW, flash_attention=AGAIN[0] != "again")
    together = WINDOW if AGAIN[0] == "again" else int(AGAIN[0])
    tokens, losses = recorded["tokens"], []
    for start in range(0, len(tokens), WINDOW):
        losses += losses_of(context, tokens[start : start + WINDOW], together)
        theirs = numpy.array(recorded["losses"][: len(losses)])
        now, then = numpy.exp(numpy.mean(losses)), numpy.exp(theirs.mean())
        apart = numpy.std(numpy.array(losses) - theirs)
        print(f"{len(losses)} tokens: {now:.4f}, recorded {then:.4f}, {100 * (now / then - 1):+.2f} %; a loss +-{apart:.2f}", flush=True)
else:
    context = Context(PATH, WINDOW)
    tokens = context.tokenized((FOLDER / "alice.txt").read_text())
    tokens = tokens[: len(tokens) // WINDOW * WINDOW]
    losses = []
    for start in range(0, len(tokens), WINDOW):
        losses += losses_of(context, tokens[start : start + WINDOW], WINDOW)
        print(start, numpy.exp(numpy.mean(losses)), flush=True)
    head = {"made_by": MADE_BY, "file": pathlib.Path(PATH).name, "window": WINDOW}
    text = json.dumps(head)[:-1] + ',\n"tokens": ' + json.dumps(tokens) + ',\n"losses": ' + json.dumps(losses) + "}\n"
    FILE.write_text(text)
