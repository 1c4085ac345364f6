"""What a constructor keeps under one name on all ways, and under another on some."""

from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.program import Function
from transpile.passes import hoisted_names
from transpile.source.lower import lower
from transpile.source.splice import write

HEAD = "class M:\n    def __init__(self, v, n):\n"
# the constructor, and what it is then; None where it stays
CASES = {
    "on both ways": (
        ["if n:", "    self.a = v", "    self.b = v", "else:", "    self.b = v"],
        ["self.b = v", "if n:", "    self.a = v"],
    ),
    "behind": (["if n:", "    self.a = v", "self.b = v"], ["self.b = v", "if n:", "    self.a = v"]),
    "by elif": (
        ["if n:", "    self.b = v", "elif n is None:", "    self.b = v", "else:", "    self.a = v",
         "    self.b = v"],
        ["self.b = v", "if n:", "    pass", "elif n is None:", "    pass", "else:", "    self.a = v"],
    ),
    "one name": (["if n:", "    self.b = v", "else:", "    self.b = v"], None),
    "not on all ways": (["if n:", "    self.a = v", "    self.b = v"], None),
    "another thing": (["if n:", "    self.a = v", "    self.b = v", "else:", "    self.b = n"], None),
    "made in the branch": (
        ["if n:", "    v = n", "    self.a = v", "    self.b = v", "else:", "    self.b = v"], None
    ),
    "asked for in the branch": (
        ["if n:", "    self.a = v", "    print(self.b)", "    self.b = v", "else:", "    self.b = v"],
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("before, after", CASES.values(), ids=CASES)
def test_hoisted(before, after):
    body = HEAD + "".join(f"        {line}\n" for line in before)
    file = lower(body, PurePosixPath("m.py"))
    init = next(f for f in file.scopes() if isinstance(f, Function))
    changes = hoisted_names.run(init)
    assert bool(changes) == (after is not None)
    commit_all([changes])
    assert write(file) == HEAD + "".join(f"        {line}\n" for line in after or before)
