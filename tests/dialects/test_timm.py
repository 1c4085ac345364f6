"""timm's blocks of vision transformers, which need not be installed: what timm 1.0 has for them
stands here in torch, and the converted programs are compared with that."""

import sys
import types

import pytest
import torch

from transpile.command import engine

from .verified import given, verify

TIMM = """
import torch
import torch.nn.functional as F
from torch import _assert, nn
from torch.nn import Linear


class LayerNorm(nn.LayerNorm):
    def __init__(self, num_channels, eps=1e-6, affine=True):
        super().__init__(num_channels, eps=eps, elementwise_affine=affine)


class LayerScale(nn.Module):
    def __init__(self, dim, init_values=1e-5, inplace=False):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((dim,), init_values))

    def forward(self, x):
        return x * self.gamma


class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, norm_layer=None,
                 bias=True, drop=0.0):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden_features or in_features, bias=bias)
        self.act = act_layer()
        self.drop1 = nn.Dropout(drop)
        self.fc2 = nn.Linear(hidden_features or in_features, out_features or in_features, bias=bias)
        self.drop2 = nn.Dropout(drop)

    def forward(self, x):
        return self.drop2(self.fc2(self.drop1(self.act(self.fc1(x)))))


class Attention(nn.Module):
    def __init__(self, dim, num_heads=8, qkv_bias=False, qk_norm=False, proj_bias=True, attn_drop=0.0, proj_drop=0.0,
                 norm_layer=None):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x, attn_mask=None):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        dropped = self.attn_drop.p if self.training else 0.0
        x = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v, attn_mask=attn_mask, dropout_p=dropped)
        return self.proj_drop(self.proj(x.transpose(1, 2).reshape(B, N, C)))


class Block(nn.Module):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, qkv_bias=False, qk_norm=False, proj_bias=True, proj_drop=0.0,
                 attn_drop=0.0, init_values=None, drop_path=0.0, act_layer=nn.GELU, norm_layer=LayerNorm):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, num_heads, qkv_bias, qk_norm, proj_bias, attn_drop, proj_drop, norm_layer)
        self.ls1 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), None, act_layer, bias=proj_bias, drop=proj_drop)
        self.ls2 = LayerScale(dim, init_values) if init_values else nn.Identity()

    def forward(self, x, attn_mask=None):
        x = x + self.ls1(self.attn(self.norm1(x), attn_mask=attn_mask))
        return x + self.ls2(self.mlp(self.norm2(x)))


class PatchEmbed(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768, norm_layer=None, flatten=True,
                 bias=True):
        super().__init__()
        self.img_size, self.patch_size = (img_size, img_size), (patch_size, patch_size)
        self.grid_size = (img_size // patch_size, img_size // patch_size)
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.flatten = flatten
        self.proj = nn.Conv2d(in_chans, embed_dim, patch_size, patch_size, bias=bias)

    def forward(self, x):
        x = self.proj(x)
        return x.flatten(2).transpose(1, 2) if self.flatten else x
"""
PROGRAMS = {
    "blocks": """
from functools import partial

import torch
from timm.models.vision_transformer import Block, PatchEmbed
from torch import nn


class Net(nn.Module):
    def __init__(self, dim=8, norm_layer=nn.LayerNorm):
        super().__init__()
        self.patch_embed = PatchEmbed(8, 4, 3, dim)
        self.pos = nn.Parameter(torch.zeros(1, self.patch_embed.num_patches, dim))
        self.blocks = nn.ModuleList([Block(dim, 2, 2.0, qkv_bias=True, norm_layer=norm_layer) for _ in range(2)])
        eps = partial(nn.LayerNorm, eps=1e-3)
        self.last = Block(dim, 4, qk_norm=True, init_values=0.5, act_layer=nn.SiLU, norm_layer=eps)
        self.plain = Block(dim, 2)
        self.norm = norm_layer(dim)

    def forward(self, x):
        x = self.patch_embed(x) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.norm(self.plain(self.last(x)))
""",
    "extended": """
from timm.models.vision_transformer import Block, PatchEmbed
from torch import nn


class Gated(Block):
    def __init__(self, dim, heads, norm):
        super().__init__(dim, heads, 2.0, qkv_bias=True, norm_layer=norm)
        self.gate = nn.Linear(dim, dim)

    def forward(self, x):
        return super().forward(x) * self.gate(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = PatchEmbed(8, 4, 3, 8)
        self.block = Gated(8, 2, nn.LayerNorm)

    def forward(self, x):
        return self.block(self.embed(x))
""",
    "parts": """
import torch
from timm.layers import LayerScale, Linear, Mlp, _assert
from timm.models.vision_transformer import Attention, PatchEmbed
from torch import nn


class Net(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        gelu = lambda: nn.GELU(approximate="tanh")
        self.embed = PatchEmbed(8, 4, 3, dim, bias=True)
        self.attn = Attention(dim, num_heads=2, qkv_bias=True)
        self.mlp = Mlp(in_features=dim, hidden_features=16, act_layer=gelu, drop=0)
        self.scale = LayerScale(dim, 0.1)
        self.head = Linear(dim, 2)
        nn.init.zeros_(self.attn.proj.bias)
        w = self.embed.proj.weight.data
        nn.init.xavier_uniform_(w.view([w.shape[0], -1]))

    def forward(self, x):
        _assert(x.shape[-1] == 8, f"a width of {x.shape[-1]}")
        p = self.embed.patch_size[0]
        x = self.attn(self.embed(x)) * p
        return self.head(self.scale(self.mlp(x)))
""",
}


@pytest.fixture
def timm(monkeypatch):
    """A module in the place of timm's."""
    names = "timm", "timm.layers", "timm.models", "timm.models.vision_transformer"
    made = types.ModuleType("timm")
    exec(TIMM, made.__dict__)
    for name in names:
        monkeypatch.setitem(sys.modules, name, made)


@pytest.mark.usefixtures("timm")
@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_beside_torch(name, target):
    torch.manual_seed(0)
    verify(PROGRAMS[name], "Net", "", [torch.randn(2, 3, 8, 8, dtype=torch.float64)], target)


@pytest.mark.parametrize("made", ["PatchEmbed(8, 4, 3, 8, norm_layer=norm)", "PatchEmbed(8, 4, 3, 8, norm)"])
def test_what_is_not_there_is_told(made):
    text = f"""
from timm.models.vision_transformer import PatchEmbed
from torch import nn


class Net(nn.Module):
    def __init__(self, norm=nn.LayerNorm):
        super().__init__()
        self.embed = {made}

    def forward(self, x):
        return self.embed(x)


class Extended(PatchEmbed):
    def __init__(self, norm=nn.LayerNorm):
        super().__init__({made[len("PatchEmbed(") :]}
"""
    (output,), _, _ = engine.convert([given(text)], "", "functional")
    assert [(d.id, d.line) for d in output.diagnostics] == [("unsupported", 9), ("unsupported", 17)]


COUNTED = """

class Counted(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__(dim)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return super().forward(x) * self.calls
"""


@pytest.mark.usefixtures("timm")
@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_a_block_has_a_state_where_a_norm_that_it_is_given_has(target):
    plain = PROGRAMS["blocks"]
    (made,), _, _ = engine.convert([given(plain)], "", target)
    assert "state" not in made.code
    counting = (plain + COUNTED).replace("norm_layer=eps", "norm_layer=Counted")
    torch.manual_seed(0)
    verify(counting, "Net", "", [torch.randn(2, 3, 8, 8, dtype=torch.float64)], target)
