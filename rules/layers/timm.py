"""timm's blocks of vision transformers, as its version 1.0 has them."""

import jax
import jax.numpy as jnp

from transpile.layer import Module, Parameter, layer

from ..normalization import layer_norm
from .activation import GELU
from .convolution import Conv2d
from .dropout import Dropout, DropPath
from .linear import Identity, Linear


@layer("timm.layers.LayerScale")
class LayerScale(Module):
    """A trained factor for each channel."""

    def __init__(self, dim, init_values=1e-5, inplace=False):
        self.gamma = Parameter(jnp.full((dim,), init_values))

    def __call__(self, x):
        return x * self.gamma


@layer("timm.layers.LayerNorm")
class TokenNorm(Module):
    """A norm over the channels, with a smaller eps than torch's LayerNorm."""

    def __init__(self, num_channels, eps=1e-6, affine=True):
        self.eps = eps
        self.weight = Parameter(jnp.ones(num_channels)) if affine else None
        self.bias = Parameter(jnp.zeros(num_channels)) if affine else None

    def __call__(self, x):
        return layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)


@layer("timm.layers.Mlp")
class Mlp(Module):
    """Two linear layers, each with dropout, an activation between them."""

    def __init__(
        self,
        in_features,
        hidden_features=None,
        out_features=None,
        act_layer=GELU,
        *,
        bias=True,
        drop=0.0,
    ):
        hidden_features = hidden_features or in_features
        self.fc1 = Linear(in_features, hidden_features, bias)
        self.act = act_layer()
        self.drop1 = Dropout(drop)
        self.fc2 = Linear(hidden_features, out_features or in_features, bias)
        self.drop2 = Dropout(drop)

    def __call__(self, x):
        x = self.drop1(self.act(self.fc1(x)))
        return self.drop2(self.fc2(x))


@layer("timm.layers.Attention")
class Attention(Module):
    """Attention of tokens to each other, by one projection for queries, keys and values."""

    def __init__(
        self,
        dim,
        num_heads=8,
        *,
        qkv_bias=False,
        qk_norm=False,
        proj_bias=True,
        attn_drop=0.0,
        proj_drop=0.0,
        norm_layer=TokenNorm,
    ):
        self.num_heads = num_heads
        self.qkv = Linear(dim, dim * 3, qkv_bias)
        self.q_norm = norm_layer(dim // num_heads) if qk_norm else Identity()
        self.k_norm = norm_layer(dim // num_heads) if qk_norm else Identity()
        self.attn_drop = Dropout(attn_drop)
        self.proj = Linear(dim, dim, proj_bias)
        self.proj_drop = Dropout(proj_drop)

    def __call__(self, x, attn_mask=None):
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, self.num_heads, width // self.num_heads)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        q, k = self.q_norm(q), self.k_norm(k)
        scores = q @ k.swapaxes(-2, -1) / jnp.sqrt(width // self.num_heads).astype(q.dtype)
        if attn_mask is not None:
            scores = (
                jnp.where(attn_mask, scores, -jnp.inf)
                if attn_mask.dtype == bool
                else scores + attn_mask
            )
        x = self.attn_drop(jax.nn.softmax(scores, axis=-1)) @ v
        x = x.swapaxes(1, 2).reshape(batch, length, width)
        return self.proj_drop(self.proj(x))


@layer("timm.models.vision_transformer.Block")
class Block(Module):
    """Attention and an Mlp, each behind a norm, with a way around it."""

    def __init__(
        self,
        dim,
        num_heads,
        mlp_ratio=4.0,
        qkv_bias=False,
        *,
        qk_norm=False,
        proj_bias=True,
        proj_drop=0.0,
        attn_drop=0.0,
        init_values=None,
        drop_path=0.0,
        act_layer=GELU,
        norm_layer=TokenNorm,
    ):
        self.norm1 = norm_layer(dim)
        self.attn = Attention(
            dim,
            num_heads,
            qkv_bias=qkv_bias,
            qk_norm=qk_norm,
            proj_bias=proj_bias,
            attn_drop=attn_drop,
            proj_drop=proj_drop,
            norm_layer=norm_layer,
        )
        self.ls1 = LayerScale(dim, init_values) if init_values else Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0 else Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), None, act_layer, bias=proj_bias, drop=proj_drop)
        self.ls2 = LayerScale(dim, init_values) if init_values else Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path > 0 else Identity()

    def __call__(self, x, attn_mask=None):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x), attn_mask)))
        return x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))


@layer("timm.layers.PatchEmbed")
class PatchEmbed(Module):
    """The patches of an image as tokens."""

    def __init__(
        self,
        img_size=224,
        patch_size=16,
        in_chans=3,
        embed_dim=768,
        *,
        flatten=True,
        bias=True,
        strict_img_size=True,
    ):
        self.img_size = img_size if isinstance(img_size, tuple) else (img_size, img_size)
        self.patch_size = patch_size if isinstance(patch_size, tuple) else (patch_size, patch_size)
        self.grid_size = (
            self.img_size[0] // self.patch_size[0],
            self.img_size[1] // self.patch_size[1],
        )
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.flatten, self.strict_img_size = flatten, strict_img_size
        self.proj = Conv2d(in_chans, embed_dim, self.patch_size, self.patch_size, bias=bias)

    def __call__(self, x):
        if self.strict_img_size:
            assert x.shape[-2:] == self.img_size, f"an image of {x.shape[-2:]} for {self.img_size}"
        x = self.proj(x)
        return x.reshape(*x.shape[:2], -1).swapaxes(1, 2) if self.flatten else x
