"""A tied weight starts as torch's last initialiser leaves it, by whichever of its names that one
reached it."""

import jax
import pytest
import torch

from transpile import convert_source

from ..small_programs import both_modules

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
CLASS = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        {first}
        {second}
        {lines}

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.02)

    def forward(self, x):
        return self.head(self.emb(x))
"""
EMBEDDING, HEAD_LAYER = (
    "self.emb = nn.Embedding(80, 64)",
    "self.head = nn.Linear(64, 80, bias=False)",
)
TIE, TIED_BACK = "self.head.weight = self.emb.weight", "self.emb.weight = self.head.weight"
WALK = "for m in self.modules():\n            self.init_weights(m)"
INLINE = (
    "for m in self.modules():\n            if isinstance(m, {kind}):\n"
    "                nn.init.normal_(m.weight, std={std})"
)
CASES = {
    "a walk after the tie": [TIE, WALK],
    "apply after the tie": [TIE, "self.apply(self.init_weights)"],
    "a loop after the tie": [TIE, INLINE.format(kind="nn.Linear", std=0.02)],
    "a walk before the tie": [WALK, TIE],
    "a walk over the owner": [TIE, INLINE.format(kind="nn.Embedding", std=0.3)],
    "two walks, the head's last": [
        TIE,
        INLINE.format(kind="nn.Embedding", std=0.3),
        INLINE.format(kind="nn.Linear", std=0.02),
    ],
    "two walks, the owner's last": [
        TIE,
        INLINE.format(kind="nn.Linear", std=0.02),
        INLINE.format(kind="nn.Embedding", std=0.3),
    ],
    "a walk over both": [TIE, INLINE.format(kind="(nn.Linear, nn.Embedding)", std=0.1)],
    "tied the other way": [TIED_BACK, WALK],
    "no walk": [TIE],
}


@pytest.mark.parametrize(
    "order", [(EMBEDDING, HEAD_LAYER), (HEAD_LAYER, EMBEDDING)], ids=["emb", "head"]
)
@pytest.mark.parametrize("lines", CASES.values(), ids=CASES)
def test_a_tied_weight_starts_as_torchs(lines, order):
    source = HEAD + CLASS.format(first=order[0], second=order[1], lines="\n        ".join(lines))
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch.manual_seed(0)
    torch_module, module = both_modules(source, result)
    (param,) = jax.tree.leaves(module.init(jax.random.key(0)))
    want = torch_module.emb.weight.std().item()
    assert abs(float(param.std()) / want - 1) < 0.1, result.code


@pytest.mark.parametrize("dialect", ["functional", "flax", "equinox"])
def test_an_owner_that_is_replaced_later_is_reported(dialect):
    """Torch's head keeps the first embedding's weight then."""
    lines = f"{TIE}\n        {EMBEDDING}"
    source = HEAD + CLASS.format(first=EMBEDDING, second=HEAD_LAYER, lines=lines)
    assert {d.id for d in convert_source(source, dialect).diagnostics} == {"tied-weight"}


@pytest.mark.parametrize("dialect", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("replaced", [EMBEDDING, HEAD_LAYER], ids=["emb", "head"])
def test_a_class_below_that_replaces_one_of_the_two_is_reported(replaced, dialect):
    """The calls of the class above would read the owner's."""
    source = HEAD + CLASS.format(first=EMBEDDING, second=HEAD_LAYER, lines=TIE)
    below = f"\n\nclass Below(M):\n    def __init__(self):\n        super().__init__()\n        {replaced}\n"
    assert {d.id for d in convert_source(source + below, dialect).diagnostics} == {"tied-weight"}
