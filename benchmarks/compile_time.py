"""Time to trace and compile converted code: `python -m benchmarks.compile_time`.

A stack of 4, 16 and 64 equal transformer blocks, and a recurrence over 16, 256 and 4096 steps; the model itself, and its
gradient. Each figure is the least of three runs in a fresh jit; what is wanted is that it hardly grows. The gradient of a stack
has to: its params are apart, and each of them is an output of its own.
"""

import time

import jax
import jax.numpy as jnp

from tests.small_programs import HEAD, load
from transpile import convert_source

SOURCE = """
class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        x = x + self.proj(y)
        return x + self.mlp(self.ln2(x))


class Stack(nn.Module):
    def __init__(self, dim, heads, layers):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Recurrence(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.cell = nn.Linear(2 * dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        h = x.new_zeros(B, D)
        outputs = []
        for t in range(T):
            h = torch.tanh(self.cell(torch.cat([x[:, t], h], dim=1)))
            outputs.append(h)
        return torch.stack(outputs, dim=1)
"""


def seconds(module, x, function):
    """Trace and compile a function of a model's params, the least of three."""
    params = module.init(jax.random.key(0))
    times = []
    for _ in range(3):
        jax.clear_caches()
        start = time.perf_counter()
        jax.jit(function(lambda params: module(params, x))).lower(params).compile()
        times.append(time.perf_counter() - start)
    return min(times)


def gradient(model):
    """The gradient of a sum of squares."""
    return jax.grad(lambda params: (model(params) ** 2).sum())


def main():
    scope = load(convert_source(HEAD + SOURCE))
    x = jnp.ones((2, 16, 32))
    for kind, function in (("model", lambda model: model), ("gradient", gradient)):
        stacks = {n: seconds(scope["Stack"](32, 4, n), x, function) for n in (4, 16, 64)}
        steps = {n: seconds(scope["Recurrence"](16), jnp.ones((2, n, 16)), function) for n in (16, 256, 4096)}
        for what, figures in (("blocks", stacks), ("steps", steps)):
            first, *_, last = figures.values()
            row = ", ".join(f"{n} {what}: {t:.2f} s" for n, t in figures.items())
            print(f"{kind}: {row}; grows {last / first:.2f} times")


if __name__ == "__main__":
    main()
