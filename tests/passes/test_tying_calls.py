"""A function that ties what it is given is written out where it is called."""

from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.project import Project
from transpile.passes import tying_calls
from transpile.source.lower import lower
from transpile.source.splice import write

NET = """class Net:
    def __init__(self):
        {call}

    def tie(self, one, other):
        {body}

    def embeddings(self):
        return self.embed

    def head(self):
        return self.out.head
"""
TIE = "one.weight = other.weight"
# what the constructor calls, what `tie` does, and what then stands there; None where it stays
CASES = {
    "paths": ("self.tie(self.a, self.b.c)", TIE, "self.a.weight = self.b.c.weight"),
    "by name": ("self.tie(other=self.a, one=self.b)", TIE, "self.b.weight = self.a.weight"),
    "a weight": ("self.tie(self.a, self.b.weight)", "one.weight = other", "self.a.weight = self.b.weight"),
    "getters": ("self.tie(self.head(), self.embeddings())", TIE, "self.out.head.weight = self.embed.weight"),
    "a getter itself": ("self.a.weight = self.embeddings().weight", TIE, "self.a.weight = self.embed.weight"),
    "an item": ("self.tie(self.a[0], self.b)", TIE, None),
    "a value that it gives": ("self.tie(self.a, self.b)", f"{TIE}; return one", None),
    "of its own": ("self.tie(self.b.weight, 1)", "self.a.weight = one; self.n = other", None),
    "a name of its own": ("self.tie(self.a, self.b)", f"w = 1; {TIE}", "w = 1"),
    "no tie": ("self.tie(self.a, self.b)", "one.size = other.size", None),
}


@pytest.mark.parametrize("call, body, after", CASES.values(), ids=CASES)
def test_written_out(call, body, after):
    project = Project("")
    file = project.add(PurePosixPath("a.py"), lower(NET.format(call=call, body=body), PurePosixPath("a.py")))
    project.link()
    changes = tying_calls.run(project)
    commit_all(changes)
    assert [line.strip() for line in write(file).splitlines()][2] == (call if after is None else after)
    assert bool(changes) == (after is not None)


def test_a_name_of_before_stays():
    call = "e = self.embeddings()\n        self.embed = None\n        self.tie(self.a, e)"
    project = Project("")
    file = project.add(PurePosixPath("a.py"), lower(NET.format(call=call, body=TIE), PurePosixPath("a.py")))
    project.link()
    commit_all(tying_calls.run(project))
    assert "self.a.weight = e.weight" in write(file)
