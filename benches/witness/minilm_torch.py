"""The embeddings of all-MiniLM-L6-v2 by PyTorch, in f64, for crates/models/tests/data/minilm.json.

    python3 benches/witness/minilm_torch.py FOLDER crates/models/tests/data/minilm.json

FOLDER has model.safetensors and tokenizer.json (ci/fetch-weights.sh puts them into target/ci/weights). Needs torch, tokenizers, safetensors.
The model is written out here from BERT's paper and the names in the file: it shares no code with crates/models.
"""

import json
import sys

import torch
from safetensors.numpy import load_file
from tokenizers import Tokenizer

SENTENCES = [
    "A man is playing a guitar on stage.",
    "Someone performs music on a guitar.",
    "The stock market fell sharply today.",
    "Shares dropped on Wall Street this afternoon.",
    "A cat sleeps on the warm windowsill.",
    "The kitten naps by the sunny window.",
    "How do I reset my password?",
    "I forgot my login and cannot sign in.",
]
LAYERS, HEADS, HIDDEN = 6, 12, 384
EPS = 1e-12


def linear(weights, name, x):
    return torch.nn.functional.linear(x, weights[name + ".weight"], weights[name + ".bias"])


def norm(weights, name, x):
    return torch.nn.functional.layer_norm(x, [HIDDEN], weights[name + ".weight"], weights[name + ".bias"], EPS)


def embed(weights, ids, mask):
    batch, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(weights, "embeddings.LayerNorm", x)
    hidden_keys = (mask == 0)[:, None, None, :]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."

        def heads(name):
            y = linear(weights, at + "attention.self." + name, x)
            return y.reshape(batch, length, HEADS, HIDDEN // HEADS).transpose(1, 2)

        scores = heads("query") @ heads("key").transpose(2, 3) / (HIDDEN // HEADS) ** 0.5
        weight = torch.softmax(scores.masked_fill(hidden_keys, float("-inf")), dim=-1)
        y = (weight @ heads("value")).transpose(1, 2).reshape(batch, length, HIDDEN)
        x = norm(weights, at + "attention.output.LayerNorm", x + linear(weights, at + "attention.output.dense", y))
        y = torch.nn.functional.gelu(linear(weights, at + "intermediate.dense", x))
        x = norm(weights, at + "output.LayerNorm", x + linear(weights, at + "output.dense", y))
    taken = mask[:, :, None].to(x.dtype)
    mean = (x * taken).sum(1) / taken.sum(1)
    return torch.nn.functional.normalize(mean, dim=1)


def main():
    folder, out = sys.argv[1:]
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.no_padding()
    encoded = [tokenizer.encode(sentence).ids for sentence in SENTENCES]
    longest = max(map(len, encoded))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in encoded])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in encoded])
    arrays = load_file(folder + "/model.safetensors")
    weights = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    weights = {name: w.double() if w.is_floating_point() else w for name, w in weights.items()}
    with torch.no_grad():
        embeddings = embed(weights, ids, mask)
    rows = [
        {"sentence": sentence, "ids": row, "embedding": [float(f"{x:.9g}") for x in embedding.tolist()]}
        for sentence, row, embedding in zip(SENTENCES, encoded, embeddings)
    ]
    head = {"model": "all-MiniLM-L6-v2", "made_by": f"PyTorch {torch.__version__}, f64, benches/witness/minilm_torch.py"}
    with open(out, "w") as file:
        json.dump({**head, "rows": rows}, file, separators=(",", ":"))
        file.write("\n")
    for row in (embeddings @ embeddings.T).tolist():
        print(" ".join(f"{x:6.3f}" for x in row))


main()
