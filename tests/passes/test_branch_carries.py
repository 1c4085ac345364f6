"""What branches on data carry, and the nodes that they become."""

import pytest

from tests.passes.control_helper import Facts, program, run
from transpile.model.carry import Carried
from transpile.model.control_flow import Cond
from transpile.model.copy import clone
from transpile.model.effects import Read, Unset, Write
from transpile.model.expressions import Name
from transpile.model.statements import Assign
from transpile.passes import branches
from transpile.source.show import show
from transpile.source.splice import write

BEGUN = """
def f(self, x: torch.Tensor):
    if x.sum() > 0:
        self.sum = x
    return x
"""


def written(place="sum"):
    """A program in which one side writes a buffer, as functionalise leaves it."""
    file = program(BEGUN, torch=True)
    store = next(n for n in file.walk() if isinstance(n, Assign))
    target = store.targets[0]
    store.replace(Write(Read(target.object, place, "buffer"), store.expression))
    return file


def test_an_array_that_one_side_begins_is_left_to_python():
    file = written()
    found = run(file, [branches], Facts(optional={"self.sum"}))
    assert [d.id for d in found] == ["traced-branch"] and "self.sum is None" in found[0].message
    assert not any(isinstance(n, Cond) for n in file.walk())


def test_what_is_written_comes_out_as_an_effect():
    file = written()
    assert not run(file, [branches])
    assert show(next(file.functions()).body).splitlines()[:2] == [
        "Cond x.sum() > 0                                              Writes{self.sum}",
        "    Write(self.sum, x)",
    ]


def test_the_text_stays_the_users():
    text = "if x.mean() > 0:  # why\n    t = ( x )*2\n    y = y + t\nreturn y"
    file = program(text, torch=True)
    before = write(file)
    run(file, [branches])
    assert any(isinstance(n, Cond) for n in file.walk())
    assert write(file) == before


def cond(body, **facts):
    file = program(body)
    run(file, [branches], Facts(**facts))
    return next(n for n in file.walk() if isinstance(n, Cond))


@pytest.mark.parametrize(
    "body, choosable",
    [
        ("x = torch.tanh(x).float()\nif y.sum() > 0:\n    x = x * 2\nreturn x", True),
        ("x = torch.tanh(x).float()\nif y.sum() > 0:\n    x = x * y\nreturn x", False),
        ("x = x > 0\nif y.sum() > 0:\n    x = x * 2\nreturn x", False),
    ],
)
def test_where_stands_for_it_only_where_no_shape_or_dtype_changes(body, choosable):
    made = cond(body, total=True)
    assert made.total and made.choosable is choosable
    assert not cond(body).choosable


def test_what_is_unset_needs_no_start():
    file = program("if x.sum() > 0:\n    z = x * 2\nreturn z", torch=True)
    function = next(file.functions())
    function.body.insert_before(function.body.body[0], [Assign([Name("z")], Unset())])
    assert not run(file, [branches])
    made = next(n for n in file.walk() if isinstance(n, Cond))
    assert made.carry.names["z"] == Carried("unset", None, False)
    assert made.carry.inputs == ["z"] and made.carry.reads == ["x"]


def test_copies_have_a_carry_of_their_own():
    made = cond("if x.sum() > 0:\n    y = x\nreturn y")
    copy = clone(made)
    copy.carry.outputs.append("z")
    assert isinstance(copy, Cond) and made.carry.outputs == ["y"]
