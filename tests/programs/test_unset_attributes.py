"""What modules read of themselves, and nothing sets, is reported where it is read; what may be set is not."""

import pytest

from transpile import convert_source

from ..small_programs import HEAD

MODULE = "class M({base}):\n    def __init__(self, n=3):\n        super().__init__()\n        self.fc = nn.Linear(n, n)\n{more}\n    def forward(self, x):\n        return {value}\n"
SET = {
    "in a method": ("        self.scale = 2\n", "self.fc(x) * self.scale", "nn.Module"),
    "by another object": ("\n    def share(self, other):\n        other.scale = 2\n", "self.fc(x) * self.scale", "nn.Module"),
    "under a name in text": ("        setattr(self, 'scale', 2)\n", "self.fc(x) * self.scale", "nn.Module"),
    "under a computed name": ("        for name in ('sca', 'le'):\n            self.register_buffer('s' + name, torch.ones(n))\n", "self.fc(x) * self.ssca", "nn.Module"),
    "under a computed name, by another": ("\n    def share(self, other, name):\n        setattr(other, name, 2)\n", "self.fc(x) * self.scale", "nn.Module"),
    "by words": ("        self.__dict__.update(scale=2)\n", "self.fc(x) * self.scale", "nn.Module"),
    "in the class": ("    scale = 2\n", "self.fc(x) * self.scale", "nn.Module"),
    "by an annotation": ("    scale: float\n", "self.fc(x) * self.scale", "nn.Module"),
    "every module has it": ("", "self.fc(x) if self.training else x", "nn.Module"),
    "the layer may have it": ("", "self.fc(x) * self.out_features", "nn.Linear"),
}  # fmt: skip


@pytest.mark.parametrize("name", SET)
def test_what_may_be_set_is_not_reported(name):
    more, value, base = SET[name]
    assert "undefined-name" not in {d.id for d in convert_source(HEAD + MODULE.format(base=base, more=more, value=value)).diagnostics}


@pytest.mark.parametrize("value", ["self.fc(x) * self.scale", "self.fc(x) if self.scaled() else x", "self.fc(x) * self.trainer.max_epochs"])
def test_what_nothing_sets_is(value):
    other = "class Other(nn.Module):\n    def add(self, name, layer):\n        self.add_module(name, layer)\n\n\n"
    lines = (HEAD + other + MODULE.format(base="nn.Module", more="", value=value)).splitlines()
    found = [d for d in convert_source("\n".join(lines) + "\n").diagnostics if d.id == "undefined-name"]
    assert [d.line for d in found] == [len(lines)] and "is set nowhere" in found[0].message
