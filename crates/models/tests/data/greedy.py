"""Greedy continuations of prompts by llama.cpp, for tests/greedy.rs: writes greedy/NAME.json.

python3 greedy.py smollm2 SmolLM2-135M-Instruct.Q4_1.gguf
python3 greedy.py gemma3 gemma-3-270m-q4_k_m.gguf

What it needs: see llamacpp.py. A text goes on for 64 tokens, through tokens that end it as well: only logits matter here. Of each
step a file has the token with the greatest logit, and how much greater it is than the second.

With a third argument, "again", nothing is written: llama.cpp without flash attention, which adds in another order, gets the recorded
tokens. This prints how many it would not have chosen, and the greatest margins of those.
"""

import json
import pathlib
import sys

from llamacpp import MADE_BY, Context

NAME, PATH, *AGAIN = sys.argv[1:]
FILE = pathlib.Path(__file__).parent / "greedy" / f"{NAME}.json"
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


def continued(context, prompt):
    context.clear()
    row, chosen, margins = prompt, [], []
    for _ in range(TOKENS):
        values = context.logits(row)[0]
        best = int(values.argmax())
        greatest, values[best] = float(values[best]), float("-inf")
        chosen.append(best)
        margins.append(round(greatest - float(values.max()), 4))
        row = [best]
    return {"prompt": prompt, "tokens": chosen, "margins": margins}


def others(context, recorded):
    """The margins of the recorded tokens that this context would not have chosen."""
    margins = []
    for text in recorded["prompts"]:
        context.clear()
        row = text["prompt"]
        for token, margin in zip(text["tokens"], text["margins"]):
            if int(context.logits(row)[0].argmax()) != token:
                margins.append(margin)
            row = [token]
    return sorted(margins, reverse=True)


if AGAIN:
    margins = others(Context(PATH, 256, flash_attention=False), json.loads(FILE.read_text()))
    print(len(margins), margins[:4])
else:
    context = Context(PATH, 256)
    rows = [json.dumps(continued(context, context.tokenized(text))) for text in PROMPTS]
    FILE.parent.mkdir(exist_ok=True)
    head = f'"made_by": {json.dumps(MADE_BY)}, "file": {json.dumps(pathlib.Path(PATH).name)}'
    FILE.write_text("{" + head + ', "prompts": [\n' + ",\n".join(rows) + "]}\n")
