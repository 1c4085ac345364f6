"""The five models by hand in Flax NNX, with its own layers; convolutions of images are NCHW, as the sources are."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax


class Block(nnx.Module):
    def __init__(self, dim, heads, causal, rngs):
        self.heads, self.causal = heads, causal
        self.ln1, self.ln2 = (nnx.LayerNorm(dim, epsilon=1e-5, rngs=rngs) for _ in range(2))
        self.qkv = nnx.Linear(dim, 3 * dim, rngs=rngs)
        self.proj = nnx.Linear(dim, dim, rngs=rngs)
        self.fc = nnx.Linear(dim, 4 * dim, rngs=rngs)
        self.out = nnx.Linear(4 * dim, dim, rngs=rngs)

    def __call__(self, x):
        B, T, C = x.shape
        q, k, v = jnp.split(self.qkv(self.ln1(x)).reshape(B, T, 3 * self.heads, -1), 3, axis=2)
        y = jax.nn.dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.proj(y.reshape(B, T, C))
        return x + self.out(nnx.gelu(self.fc(self.ln2(x)), approximate=False))


class GPT(nnx.Module):
    def __init__(self, rngs, vocab=512, context=128, dim=256, heads=8, layers=6):
        self.tokens = nnx.Embed(vocab, dim, rngs=rngs)
        self.positions = nnx.Embed(context, dim, rngs=rngs)
        self.blocks = nnx.List([Block(dim, heads, True, rngs) for _ in range(layers)])
        self.norm = nnx.LayerNorm(dim, epsilon=1e-5, rngs=rngs)
        self.head = nnx.Linear(dim, vocab, use_bias=False, rngs=rngs)

    def __call__(self, idx):
        x = self.tokens(idx) + self.positions(jnp.arange(idx.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class ViT(nnx.Module):
    def __init__(self, rngs, size=64, patch=8, dim=384, heads=6, layers=12, classes=100):
        self.patches = Conv(3, dim, patch, rngs, stride=patch, padding=0, bias=True)
        self.cls = nnx.Param(jnp.zeros((1, 1, dim)))
        self.positions = nnx.Param(rngs.params.normal(((size // patch) ** 2 + 1, dim)) * 0.02)
        self.blocks = nnx.List([Block(dim, heads, False, rngs) for _ in range(layers)])
        self.norm = nnx.LayerNorm(dim, epsilon=1e-5, rngs=rngs)
        self.head = nnx.Linear(dim, classes, rngs=rngs)

    def __call__(self, images):
        x = self.patches(images)
        x = x.reshape(*x.shape[:2], -1).swapaxes(1, 2)
        cls = jnp.broadcast_to(self.cls[...], (len(x), 1, x.shape[-1]))
        x = jnp.concatenate([cls, x], axis=1) + self.positions[...]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Conv(nnx.Module):
    """A convolution in NCHW: nnx.Conv has its channels last."""

    def __init__(self, before, after, size, rngs, stride=1, padding=None, bias=False):
        init = nnx.initializers.he_normal(in_axis=1, out_axis=0)
        self.kernel = nnx.Param(init(rngs.params(), (after, before, size, size)))
        self.bias = nnx.Param(jnp.zeros((after, 1, 1))) if bias else None
        self.stride, self.padding = stride, size // 2 if padding is None else padding

    def __call__(self, x):
        pads = [(self.padding, self.padding)] * 2
        y = lax.conv_general_dilated(x, self.kernel[...], (self.stride, self.stride), pads)
        return y if self.bias is None else y + self.bias[...]


class Unit(nnx.Module):
    """A convolution and a batch norm."""

    def __init__(self, before, after, rngs, size=3, stride=1):
        self.conv = Conv(before, after, size, rngs, stride)
        self.bn = nnx.BatchNorm(after, momentum=0.9, axis=1, rngs=rngs)

    def __call__(self, x):
        return self.bn(self.conv(x))


class Residual(nnx.Module):
    def __init__(self, before, after, stride, rngs):
        self.a, self.b = Unit(before, after, rngs, 3, stride), Unit(after, after, rngs)
        self.down = Unit(before, after, rngs, 1, stride) if stride != 1 else None

    def __call__(self, x):
        y = self.b(nnx.relu(self.a(x)))
        return nnx.relu(y + (x if self.down is None else self.down(x)))


class ResNet18(nnx.Module):
    def __init__(self, rngs, classes=10):
        self.stem = Unit(3, 64, rngs)
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
        self.blocks = nnx.List([Residual(a, b, 1 if a == b else 2, rngs) for a, b in pairs])
        self.fc = nnx.Linear(512, classes, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.fc(x.mean((2, 3)))


class Double(nnx.Module):
    def __init__(self, before, after, rngs):
        self.a, self.b = Unit(before, after, rngs), Unit(after, after, rngs)

    def __call__(self, x):
        return nnx.relu(self.b(nnx.relu(self.a(x))))


class Up(nnx.Module):
    def __init__(self, before, after, rngs):
        self.kernel = nnx.Param(rngs.params.normal((before, after, 2, 2)) * 0.05)
        self.bias = nnx.Param(jnp.zeros((after, 1, 1)))

    def __call__(self, x):
        words = ("NCHW", "IOHW", "NCHW")
        y = lax.conv_transpose(x, self.kernel[...], (2, 2), "VALID", dimension_numbers=words)
        return y + self.bias[...]


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


class UNet(nnx.Module):
    def __init__(self, rngs, width=16, depth=3, classes=2):
        widths = [width * 2**i for i in range(depth + 1)]
        pairs = list(zip(widths, widths[1:]))
        self.downs = nnx.List([Double(a, b, rngs) for a, b in [(3, width), *pairs]])
        self.ups = nnx.List([Up(b, a, rngs) for a, b in pairs[::-1]])
        self.convs = nnx.List([Double(b, a, rngs) for a, b in pairs[::-1]])
        self.head = Conv(width, classes, 1, rngs, bias=True)

    def __call__(self, x):
        skips = []
        for down in self.downs:
            skips.append(down(max_pool(skips[-1]) if skips else x))
        x = skips.pop()
        for up, conv in zip(self.ups, self.convs):
            x = conv(jnp.concatenate([skips.pop(), up(x)], axis=1))
        return self.head(x)


class Tagger(nnx.Module):
    def __init__(self, rngs, vocab=1000, dim=128, tags=16):
        self.tokens = nnx.Embed(vocab, dim, rngs=rngs)
        cells = [nnx.OptimizedLSTMCell(dim, dim, rngs=rngs) for _ in range(2)]
        self.lstm = nnx.List([nnx.RNN(cell) for cell in cells])
        self.head = nnx.Linear(dim, tags, rngs=rngs)

    def __call__(self, idx):
        x = self.tokens(idx)
        for layer in self.lstm:
            x = layer(x)
        return self.head(x)


MODELS = {cls.__name__: cls for cls in (GPT, ResNet18, ViT, UNet, Tagger)}
