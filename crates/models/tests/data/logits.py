"""Tiny models with seeded weights in PyTorch's transformers: writes torch/NAME.json for tests/torch.rs.

Run with torch 2.9 and transformers 4.57 or later: python3 logits.py [NAME...]

Weights come from a linear congruential generator that the test computes as well, so that no weights are committed. A file has
the settings as a config.json has them, the name, shape, size and middle of each weight in the order in which their numbers are
drawn, tokens, and the logits after each token, computed in f32.
"""

import json
import pathlib
import sys

import torch
import transformers

FOLDER = pathlib.Path(__file__).parent / "torch"
VOCABULARY = 40
TOKENS = [(i * i + 7 * i + 3) % VOCABULARY for i in range(24)]
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
MODELS = {
    "llama3": {"model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 500.0, "rope_scaling": LLAMA3,
               "tie_word_embeddings": False},
    "llama": {"model_type": "llama", "head_dim": 12, "attention_bias": True, "mlp_bias": True,
              "tie_word_embeddings": True},
    "mistral": {"model_type": "mistral", "sliding_window": 7, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
                "tie_word_embeddings": False, "head_dim": 8},
    "qwen2": {"model_type": "qwen2", "rope_theta": 1000000.0, "tie_word_embeddings": True},
    "qwen2_windows": {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1,
                      "num_hidden_layers": 3, "tie_word_embeddings": False},
    "qwen3": {"model_type": "qwen3", "head_dim": 16, "rope_theta": 1000000.0, "tie_word_embeddings": True},
    # The pattern of windows and both bases are left out.
    "gemma3": {"model_type": "gemma3_text", "num_hidden_layers": 7, "head_dim": 16, "sliding_window": 6,
               "query_pre_attn_scalar": 24, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    "gemma3_caps": {"model_type": "gemma3_text", "num_hidden_layers": 3, "head_dim": 8, "sliding_window": 9,
                    "sliding_window_pattern": 2, "attn_logit_softcapping": 1.5, "final_logit_softcapping": 2.0,
                    "rope_theta": 5000.0, "rope_local_base_freq": 50.0},
}


class Numbers:
    """Numbers in [-1, 1): the high bits of a linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 40) / 2**23 - 1.0


def weights_of(model, gemma):
    """The weights of a model, by its name, and how each is drawn."""
    numbers, rows, state = Numbers(2026), [], {}
    tied = model.config.tie_word_embeddings
    for name, tensor in sorted(model.state_dict().items()):
        if name == "lm_head.weight" and tied:
            continue
        shape = list(tensor.shape)
        if "norm" in name:
            size, middle = 0.4, 0.0 if gemma else 1.0
        elif len(shape) == 1:
            size, middle = 0.3, 0.0
        elif name == "model.embed_tokens.weight":
            size, middle = 1.0, 0.0
        else:
            size, middle = 2.0 / shape[1] ** 0.5, 0.0
        drawn = [middle + size * numbers.next() for _ in range(tensor.numel())]
        state[name] = torch.tensor(drawn, dtype=torch.float64).to(torch.float32).reshape(shape)
        rows.append([name, shape, size, middle])
    if tied:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    return state, rows


def record(name):
    settings = {**COMMON, **MODELS[name]}
    arguments = {key: value for key, value in settings.items() if key != "model_type"}
    config = transformers.AutoConfig.for_model(settings["model_type"], **arguments)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    state, rows = weights_of(model, "gemma" in name)
    model.load_state_dict(state)
    # Gemma 3 has this setting in transformers, whose attention knows it as an argument alone.
    caps = {"softcap": settings["attn_logit_softcapping"]} if "attn_logit_softcapping" in settings else {}
    with torch.no_grad():
        logits = model(torch.tensor([TOKENS]), use_cache=False, **caps).logits[0]
    versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
    head = {"made_by": versions, "config": settings, "tokens": TOKENS}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines.append('"weights": [\n' + ",\n".join(json.dumps(row) for row in rows) + "]")
    shown = ",\n".join("[" + ",".join(f"{x:.7g}" for x in row) + "]" for row in logits.tolist())
    lines.append('"logits": [\n' + shown + "]")
    (FOLDER / f"{name}.json").write_text("{" + ",\n".join(lines) + "}\n")
    print(name, versions, f"{logits.abs().max():.3f} at most")


FOLDER.mkdir(exist_ok=True)
for name in sys.argv[1:] or MODELS:
    record(name)
