"""Modules that are built for their params alone, which a constructor makes others of: they are
drawn where those are made, and no module is kept.

layer = nn.Linear(4, 4)                        layer = nn.Linear(4, 4).init(key)
self.weight = nn.Parameter(layer.weight * 2)   params["weight"] = layer["weight"] * 2
"""

from typing import Any

from ....facts.shapes.asked_shapes import is_measured
from ....facts.values.lattice import UNKNOWN
from ....model.copy import clone
from ....model.edits import block_of
from ....model.effects import PARAM, Declare, Key, New, Read, Write
from ....model.expressions import Attribute, Call, Constant, Name, Subscript
from ....model.fresh_names import Names
from ....model.names import bound_once, everywhere
from ....model.node import Expression, Statement
from ....model.operators import Compare, asks_for_none
from ....model.program import Function
from ....model.statements import Assign, Block
from .init_methods import METHODS


def draw_lent(function: Function) -> None:
    """Draw the params of such modules where they are built."""
    once = bound_once(function)
    for new in function.nodes(New):
        around, uses = new.parent, list[Expression]([new])
        if isinstance(around, Assign) and isinstance(around.targets[0], Name):
            target = around.targets[0]
            uses = [n for n in everywhere(function, Name) if n.id == target.id and n is not target]
            if target.id not in once or around.expression is not new or around.targets[1:]:
                continue
        reads = [_lent(use, function) for use in uses]
        drawn = [read for read in reads if read is not None and not _is_asked(read)]
        if not drawn or None in reads:
            continue
        if len(drawn) < len(reads):  # it stays for what is asked of it
            assert isinstance(around, Assign)
            _apart(function, around, uses, drawn)
        else:
            _drawn(new)
        for read in drawn:
            _entry(read)


def _drawn(new: Expression) -> None:
    made = new.wrap(lambda new: Call(Attribute(new, "init"), [Key()]))
    assert isinstance(made, Expression)
    made.value = UNKNOWN


def _apart(function: Function, assign: Assign, uses: list[Expression], drawn: list[Read]) -> None:
    """Give the params of a module a name of their own."""
    made = clone(assign)
    name = Names(function).fresh(f"{assign.targets[0].id}_params")  # type: ignore[attr-defined]
    block_of(assign).insert_after(assign, [made])
    made.targets[0].replace(Name(name))
    assert made.expression is not None
    _drawn(made.expression)
    for use in uses:
        if any(read in drawn for read in use.ancestors()):
            use.replace(Name(name))


def _lent(module: Expression, function: Function) -> Read | None:
    """The param that is asked of a module: `layer.weight`, `block.fc.weight`."""
    around = module.parent
    while type(around) is Attribute and around.object is module:
        module, around = around, around.parent
    param = isinstance(around, Read) and around.kind == PARAM
    return around if param and around.nearest(Function) is function else None  # type: ignore


def _is_asked(read: Read) -> bool:
    """Whether a module is asked for a size alone, or whether it has a param, while it is built."""
    at = next(n for n in read.ancestors() if isinstance(n, Statement))
    made = isinstance(at, Write) or isinstance(at, Declare) and at.kind in METHODS
    return (is_measured(read) or asks_for_none(read.parent)) and not made


def _entry(read: Read) -> None:
    """Read, or set, an entry of what was drawn, or ask for it."""
    entry, write = _path(read), read.parent
    if asks_for_none(write):
        missing = write.operators[0] in ("is", "==")
        write.replace(Compare([Constant(read.name), entry.object], ["not in" if missing else "in"]))
        return
    if isinstance(write, Write) and write.target is read:
        block = write.parent
        assert isinstance(block, Block)
        block.substitute(write, [Assign([entry], write.value)])
    else:
        read.replace(entry)


def _path(node: Expression) -> Any:
    if isinstance(node, Attribute):
        return Subscript(_path(node.object), Constant(node.name))
    node.value = UNKNOWN
    return node
