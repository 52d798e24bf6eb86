"""What PyTorch makes of the small convnet in crates/tensor-core/tests/suite/convnet.rs, in f64: the table in that file.

    python3 benches/witness/convnet_torch.py
"""

import torch

F = torch.nn.functional


def numbers(seed, *shape):
    """Numbers in ±0.5 that f32 holds: a linear congruential generator, as in the test."""
    count = torch.Size(shape).numel()
    state, out = (seed * 2654435761 + 1) % 2**32, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append((state >> 8) / 2**24 - 0.5)
    return torch.tensor(out, dtype=torch.float64).reshape(shape)


x = numbers(1, 3, 1, 28, 28)
x = F.relu(F.conv2d(x, numbers(2, 8, 1, 3, 3), numbers(3, 8), padding=1))
x = F.max_pool2d(x, 2)
x = F.conv2d(x, numbers(4, 8, 1, 3, 3), numbers(5, 8), padding=1, groups=8)
x = F.batch_norm(x, numbers(6, 8), numbers(7, 8) + 1, numbers(8, 8), numbers(9, 8), eps=1e-5)
x = F.silu(x)
x = F.conv2d(x, numbers(10, 16, 4, 3, 3), numbers(11, 16), stride=2, padding=2, dilation=2, groups=2)
x = F.relu(x)
x = F.conv_transpose2d(x, numbers(12, 16, 4, 3, 3), numbers(13, 4), stride=2, padding=1, output_padding=1)
x = F.interpolate(x, scale_factor=2, mode="nearest")
x = F.avg_pool2d(x, 3, stride=2, padding=1)
x = F.group_norm(x, 2, numbers(14, 4), numbers(15, 4), eps=1e-5)
x = F.adaptive_avg_pool2d(x, (3, 3)).flatten(1)
x = x @ numbers(16, 36, 5) * 4
for row in torch.softmax(x, 1).tolist():
    print("[" + ", ".join(f"{value:.10f}" for value in row) + "],")
