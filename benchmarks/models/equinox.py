"""The five models by hand in Equinox: its layers take one example, and the model is mapped over the batch."""

import equinox as eqx
import jax
import jax.numpy as jnp
from equinox import nn


class Block(eqx.Module):
    heads: int = eqx.field(static=True)
    causal: bool = eqx.field(static=True)
    ln1: nn.LayerNorm
    ln2: nn.LayerNorm
    qkv: nn.Linear
    proj: nn.Linear
    fc: nn.Linear
    out: nn.Linear

    def __init__(self, dim, heads, causal, key):
        k = jax.random.split(key, 4)
        self.heads, self.causal = heads, causal
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim, key=k[0]), nn.Linear(dim, dim, key=k[1])
        self.fc, self.out = nn.Linear(dim, 4 * dim, key=k[2]), nn.Linear(4 * dim, dim, key=k[3])

    def __call__(self, x):
        T, C = x.shape
        qkv = jax.vmap(self.qkv)(jax.vmap(self.ln1)(x)).reshape(T, 3 * self.heads, -1)
        y = jax.nn.dot_product_attention(*jnp.split(qkv, 3, axis=1), is_causal=self.causal)
        x = x + jax.vmap(self.proj)(y.reshape(T, C))
        y = jax.nn.gelu(jax.vmap(self.fc)(jax.vmap(self.ln2)(x)), approximate=False)
        return x + jax.vmap(self.out)(y)


class GPT(eqx.Module):
    tokens: nn.Embedding
    positions: nn.Embedding
    blocks: list[Block]
    norm: nn.LayerNorm
    head: nn.Linear

    def __init__(self, key, vocab=512, context=128, dim=256, heads=8, layers=6):
        k = jax.random.split(key, layers + 3)
        self.tokens = nn.Embedding(vocab, dim, key=k[0])
        self.positions = nn.Embedding(context, dim, key=k[1])
        self.blocks = [Block(dim, heads, True, key) for key in k[3:]]
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, use_bias=False, key=k[2])

    def __call__(self, idx, state):
        x = jax.vmap(self.tokens)(idx) + jax.vmap(self.positions)(jnp.arange(len(idx)))
        for block in self.blocks:
            x = block(x)
        return jax.vmap(self.head)(jax.vmap(self.norm)(x)), state


class ViT(eqx.Module):
    patches: nn.Conv2d
    cls: jax.Array
    positions: jax.Array
    blocks: list[Block]
    norm: nn.LayerNorm
    head: nn.Linear

    def __init__(self, key, size=64, patch=8, dim=384, heads=6, layers=12, classes=100):
        k = jax.random.split(key, layers + 3)
        self.patches = nn.Conv2d(3, dim, patch, patch, key=k[0])
        self.cls = jnp.zeros((1, dim))
        self.positions = jax.random.normal(k[1], ((size // patch) ** 2 + 1, dim)) * 0.02
        self.blocks = [Block(dim, heads, False, key) for key in k[3:]]
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes, key=k[2])

    def __call__(self, image, state):
        x = self.patches(image)
        x = jnp.concatenate([self.cls, x.reshape(len(x), -1).T]) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[0])), state


class Unit(eqx.Module):
    """A convolution and a batch norm."""

    conv: nn.Conv2d
    bn: nn.BatchNorm

    def __init__(self, before, after, key, size=3, stride=1):
        self.conv = nn.Conv2d(before, after, size, stride, size // 2, use_bias=False, key=key)
        self.bn = nn.BatchNorm(after, "batch", mode="batch", momentum=0.9)

    def __call__(self, x, state):
        return self.bn(self.conv(x), state)


class Residual(eqx.Module):
    a: Unit
    b: Unit
    down: Unit | None

    def __init__(self, before, after, stride, key):
        k = jax.random.split(key, 3)
        self.a, self.b = Unit(before, after, k[0], 3, stride), Unit(after, after, k[1])
        self.down = Unit(before, after, k[2], 1, stride) if stride != 1 else None

    def __call__(self, x, state):
        y, state = self.a(x, state)
        y, state = self.b(jax.nn.relu(y), state)
        if self.down is not None:
            x, state = self.down(x, state)
        return jax.nn.relu(y + x), state


class ResNet18(eqx.Module):
    stem: Unit
    blocks: list[Residual]
    fc: nn.Linear

    def __init__(self, key, classes=10):
        k = jax.random.split(key, 10)
        self.stem = Unit(3, 64, k[0])
        pairs = [
            (64, 64),
            (64, 64),
            (64, 128),
            (128, 128),
            (128, 256),
            (256, 256),
            (256, 512),
            (512, 512),
        ]
        self.blocks = [Residual(a, b, 1 if a == b else 2, key) for (a, b), key in zip(pairs, k[2:])]
        self.fc = nn.Linear(512, classes, key=k[1])

    def __call__(self, x, state):
        x, state = self.stem(x, state)
        x = jax.nn.relu(x)
        for block in self.blocks:
            x, state = block(x, state)
        return self.fc(x.mean((1, 2))), state


class Double(eqx.Module):
    a: Unit
    b: Unit

    def __init__(self, before, after, key):
        k = jax.random.split(key)
        self.a, self.b = Unit(before, after, k[0]), Unit(after, after, k[1])

    def __call__(self, x, state):
        x, state = self.a(x, state)
        x, state = self.b(jax.nn.relu(x), state)
        return jax.nn.relu(x), state


class UNet(eqx.Module):
    pool: nn.MaxPool2d
    downs: list[Double]
    ups: list[nn.ConvTranspose2d]
    convs: list[Double]
    head: nn.Conv2d

    def __init__(self, key, width=16, depth=3, classes=2):
        k = iter(jax.random.split(key, 16))
        widths = [width * 2**i for i in range(depth + 1)]
        pairs = list(zip(widths, widths[1:]))
        self.pool = nn.MaxPool2d(2, 2)
        self.downs = [Double(a, b, next(k)) for a, b in [(3, width), *pairs]]
        self.ups = [nn.ConvTranspose2d(b, a, 2, 2, key=next(k)) for a, b in pairs[::-1]]
        self.convs = [Double(b, a, next(k)) for a, b in pairs[::-1]]
        self.head = nn.Conv2d(width, classes, 1, key=next(k))

    def __call__(self, x, state):
        skips = []
        for down in self.downs:
            y, state = down(self.pool(skips[-1]) if skips else x, state)
            skips.append(y)
        x = skips.pop()
        for up, conv in zip(self.ups, self.convs):
            x, state = conv(jnp.concatenate([skips.pop(), up(x)]), state)
        return self.head(x), state


class Tagger(eqx.Module):
    tokens: nn.Embedding
    lstm: list[nn.LSTMCell]
    head: nn.Linear

    def __init__(self, key, vocab=1000, dim=128, tags=16):
        k = jax.random.split(key, 4)
        self.tokens = nn.Embedding(vocab, dim, key=k[0])
        self.lstm = [nn.LSTMCell(dim, dim, key=key) for key in k[1:3]]
        self.head = nn.Linear(dim, tags, key=k[3])

    def __call__(self, idx, state):
        x = jax.vmap(self.tokens)(idx)
        for cell in self.lstm:

            def step(carry, x, cell=cell):
                carry = cell(x, carry)
                return carry, carry[0]

            x = jax.lax.scan(step, (jnp.zeros(x.shape[-1]),) * 2, x)[1]
        return jax.vmap(self.head)(x), state


MODELS = {cls.__name__: cls for cls in (GPT, ResNet18, ViT, UNet, Tagger)}
