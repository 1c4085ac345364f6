"""The five models by hand in plain JAX: each a pair of `init(key)`, which returns params and state, and
`forward(params, state, x)`, in training, which returns the output and the new state."""

import jax
import jax.numpy as jnp
from jax import lax


def dense(key, before, after):
    return {"w": jax.random.normal(key, (before, after)) * 0.02, "b": jnp.zeros(after)}


def apply_dense(p, x):
    return x @ p["w"] + p["b"]


def norm(dim):
    return {"scale": jnp.ones(dim), "bias": jnp.zeros(dim)}


def apply_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * p["scale"] + p["bias"]


def block(key, dim):
    k = jax.random.split(key, 4)
    return {
        "ln1": norm(dim),
        "ln2": norm(dim),
        "qkv": dense(k[0], dim, 3 * dim),
        "proj": dense(k[1], dim, dim),
        "fc": dense(k[2], dim, 4 * dim),
        "out": dense(k[3], 4 * dim, dim),
    }


def apply_block(p, x, heads, causal=False):
    B, T, C = x.shape
    qkv = apply_dense(p["qkv"], apply_norm(p["ln1"], x)).reshape(B, T, 3, heads, C // heads)
    q, k, v = (a.swapaxes(1, 2) for a in jnp.moveaxis(qkv, 2, 0))
    scores = q @ k.mT / (C // heads) ** 0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((T, T), bool)), scores, -jnp.inf)
    y = (jax.nn.softmax(scores) @ v).swapaxes(1, 2).reshape(B, T, C)
    x = x + apply_dense(p["proj"], y)
    y = jax.nn.gelu(apply_dense(p["fc"], apply_norm(p["ln2"], x)), approximate=False)
    return x + apply_dense(p["out"], y)


def init_gpt(key, vocab=512, context=128, dim=256, layers=6):
    k = jax.random.split(key, layers + 3)
    return {
        "tokens": jax.random.normal(k[0], (vocab, dim)),
        "positions": jax.random.normal(k[1], (context, dim)),
        "head": jax.random.normal(k[2], (dim, vocab)) * 0.02,
        "norm": norm(dim),
        "blocks": [block(key, dim) for key in k[3:]],
    }, {}


def gpt(params, state, idx):
    x = params["tokens"][idx] + params["positions"][: idx.shape[1]]
    for p in params["blocks"]:
        x = apply_block(p, x, heads=8, causal=True)
    return apply_norm(params["norm"], x) @ params["head"], state


def init_vit(key, size=64, patch=8, dim=384, layers=12, classes=100):
    k = jax.random.split(key, layers + 3)
    return {
        "patches": jax.random.normal(k[0], (dim, 3, patch, patch)) * 0.02,
        "bias": jnp.zeros(dim),
        "cls": jnp.zeros(dim),
        "positions": jax.random.normal(k[1], ((size // patch) ** 2 + 1, dim)) * 0.02,
        "norm": norm(dim),
        "head": dense(k[2], dim, classes),
        "blocks": [block(key, dim) for key in k[3:]],
    }, {}


def vit(params, state, images):
    x = lax.conv_general_dilated(images, params["patches"], (8, 8), "VALID")
    x = x.reshape(*x.shape[:2], -1).swapaxes(1, 2) + params["bias"]
    cls = jnp.broadcast_to(params["cls"], (len(x), 1, x.shape[-1]))
    x = jnp.concatenate([cls, x], axis=1) + params["positions"]
    for p in params["blocks"]:
        x = apply_block(p, x, heads=6)
    return apply_dense(params["head"], apply_norm(params["norm"], x)[:, 0]), state


def conv(key, before, after, size):
    std = (2 / (before * size**2)) ** 0.5
    return jax.random.normal(key, (after, before, size, size)) * std


def apply_conv(w, x, stride=1):
    pad = w.shape[-1] // 2
    return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2)


def batch_norm(dim):
    return norm(dim), {"mean": jnp.zeros(dim), "var": jnp.ones(dim)}


def apply_batch_norm(p, s, x):
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    n = x.size // x.shape[1]
    new = {"mean": 0.9 * s["mean"] + 0.1 * mean, "var": 0.9 * s["var"] + 0.1 * var * n / (n - 1)}
    scale = p["scale"] * lax.rsqrt(var + 1e-5)
    return (x - mean[:, None, None]) * scale[:, None, None] + p["bias"][:, None, None], new


def init_unit(key, before, after, size=3):
    """A convolution and a batch norm."""
    p, s = batch_norm(after)
    return {"w": conv(key, before, after, size), "bn": p}, s


def unit(p, s, x, stride=1):
    return apply_batch_norm(p["bn"], s, apply_conv(p["w"], x, stride))


def several(units):
    """Params and states by name, of pairs of them."""
    return {n: p for n, (p, _) in units.items()}, {n: s for n, (_, s) in units.items()}


def init_resnet(key, classes=10):
    k = iter(jax.random.split(key, 32))
    units, before = {"stem": init_unit(next(k), 3, 64)}, 64
    for i, after in enumerate((64, 64, 128, 128, 256, 256, 512, 512)):
        units[f"{i}a"] = init_unit(next(k), before, after)
        units[f"{i}b"] = init_unit(next(k), after, after)
        if before != after:
            units[f"{i}down"] = init_unit(next(k), before, after, 1)
        before = after
    params, state = several(units)
    return params | {"fc": dense(next(k), 512, classes)}, state


def resnet(params, state, x):
    new = {}

    def run(name, x, stride=1):
        y, new[name] = unit(params[name], state[name], x, stride)
        return y

    x = jax.nn.relu(run("stem", x))
    for i in range(8):
        stride = 2 if i in (2, 4, 6) else 1
        y = run(f"{i}b", jax.nn.relu(run(f"{i}a", x, stride)))
        x = jax.nn.relu(y + (run(f"{i}down", x, stride) if stride == 2 else x))
    return apply_dense(params["fc"], x.mean((2, 3))), new


def init_unet(key, width=16, depth=3, classes=2):
    k = iter(jax.random.split(key, 32))
    widths = [width * 2**i for i in range(depth + 1)]
    sizes = [(3, width), *zip(widths, widths[1:])]
    units, ups = {}, []
    for i, (a, b) in enumerate(sizes):
        units[f"down{i}a"], units[f"down{i}b"] = init_unit(next(k), a, b), init_unit(next(k), b, b)
    for i, (a, b) in enumerate(sizes[:0:-1]):
        ups.append({"w": jax.random.normal(next(k), (b, a, 2, 2)) * 0.05, "b": jnp.zeros(a)})
        units[f"up{i}a"], units[f"up{i}b"] = init_unit(next(k), b, a), init_unit(next(k), a, a)
    params, state = several(units)
    return params | {
        "ups": ups,
        "head": conv(next(k), width, classes, 1),
        "bias": jnp.zeros(classes),
    }, state


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def up(p, x):
    y = lax.conv_transpose(x, p["w"], (2, 2), "VALID", dimension_numbers=("NCHW", "IOHW", "NCHW"))
    return y + p["b"][:, None, None]


def unet(params, state, x):
    new, skips = {}, []

    def run(name, x):
        for n in (f"{name}a", f"{name}b"):
            x, new[n] = unit(params[n], state[n], x)
            x = jax.nn.relu(x)
        return x

    depth = len(params["ups"])
    for i in range(depth + 1):
        skips.append(run(f"down{i}", max_pool(skips[-1]) if i else x))
    x = skips.pop()
    for i, p in enumerate(params["ups"]):
        x = run(f"up{i}", jnp.concatenate([skips.pop(), up(p, x)], axis=1))
    return apply_conv(params["head"], x) + params["bias"][:, None, None], new


def init_tagger(key, vocab=1000, dim=128, tags=16):
    k = jax.random.split(key, 6)
    lstm = [
        {"x": dense(k[i], dim, 4 * dim), "h": jax.random.normal(k[i + 2], (dim, 4 * dim)) * 0.05}
        for i in range(2)
    ]
    tokens = jax.random.normal(k[4], (vocab, dim))
    return {"tokens": tokens, "lstm": lstm, "head": dense(k[5], dim, tags)}, {}


def tagger(params, state, idx):
    xs = params["tokens"][idx].swapaxes(0, 1)
    for p in params["lstm"]:

        def step(carry, x, w=p["h"]):
            h, c = carry
            i, f, g, o = jnp.split(x + h @ w, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros(xs.shape[1:])
        xs = lax.scan(step, (zeros, zeros), apply_dense(p["x"], xs))[1]
    return apply_dense(params["head"], xs.swapaxes(0, 1)), state


MODELS = {
    "GPT": (init_gpt, gpt),
    "ResNet18": (init_resnet, resnet),
    "ViT": (init_vit, vit),
    "UNet": (init_unet, unet),
    "Tagger": (init_tagger, tagger),
}
