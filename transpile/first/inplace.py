"""How torch says that a call writes in place: a name that ends in an underscore, `inplace=True`, `out=`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import libcst as cst

from . import tree
from .beginnings import PLACES, Beginning
from .context import Context
from .rulebook import Rulebook
from .values import FUNCTION, UNKNOWN, Module, Tensor, Torch, Value, beginning, members


def is_inplace_name(name: str) -> bool:
    """Whether a name ends in one underscore: `add_`, not `__add__`."""
    return name.endswith("_") and not name.endswith("__")


def inplace_argument(context: Context, call: cst.Call) -> cst.Arg | None:
    """The argument that says whether a call writes its first one: `inplace=True`, or the last of `F.relu6(x, self.inplace)`."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == "inplace":
            return argument
    value = context.value(call.func)
    if not isinstance(value, Torch) or value.name not in context.rulebook.table("INPLACE_LAST"):
        return None
    found = context.rulebook.find(value.name)
    limit = sum(1 for p in found[0].parameters if p.kind == "positional") if found else len(call.args)
    extra = [a for a in call.args if a.keyword is None and not a.star][limit:]
    return extra[0] if extra else None


def says_inplace(context: Context, call: cst.Call) -> bool:
    """`F.relu(x, inplace=True)`; anything but a literal False counts as True."""
    argument = inplace_argument(context, call)
    return argument is not None and not (isinstance(argument.value, cst.Name) and argument.value.value == "False")


def is_handed(context: Context, call: cst.Call) -> bool:
    """Whether only the run tells which function is given `inplace`: `self.act(x, inplace=True)` of a table of torch's, which take none here."""
    value = context.value(call.func)
    unknown = value in (UNKNOWN, FUNCTION, Tensor(assumed=True)) or isinstance(value, Module) and value.open and not value.classes
    return unknown and isinstance(context.value(call.args[0].value), Tensor) if inplace_argument(context, call) in call.args[1:] else False


def is_undecided(context: Context, node: Any) -> bool:
    """Whether only the run tells if a call writes its argument: `F.relu(x, inplace=self.inplace)`, a layer that may be of either kind."""
    value = context.value(node.func) if isinstance(node, cst.Call) else None
    if isinstance(value, Module):
        return value.inplace is None and len(value.classes) == 1 or is_handed(context, node) and _says_neither(inplace_argument(context, node))
    argument = inplace_argument(context, node) if isinstance(node, cst.Call) else None
    return _says_neither(argument)


def _says_neither(argument: cst.Arg | None) -> bool:
    return argument is not None and tree.code(argument.value) not in ("True", "False")


def flag(context: Context, node: Any) -> Any:
    """What tells the run if a call of a function writes its argument: flag of `F.relu(x, inplace=flag)`, `self.inplace`; None for any other call."""
    argument = inplace_argument(context, node) if isinstance(node, cst.Call) and not isinstance(context.value(node.func), Module) else None
    told = argument.value if argument is not None else None
    return told if isinstance(told, (cst.Name, cst.Attribute)) and is_undecided(context, node) else None


def out_argument(call: cst.Call) -> cst.Arg | None:
    """The argument that a call is to write its result to: `torch.add(x, y, out=z)`."""
    return next((a for a in call.args if a.keyword is not None and a.keyword.value == "out"), None)


def is_old_spelling(context: Context, name: str) -> bool:
    """`nn.init.normal`, the old name of `nn.init.normal_`: one rule has both."""
    found = context.rulebook.find(name)
    return bool(found) and name + "_" in found[0].torch_names


def is_known_method(context: Context, name: str) -> bool:
    """Whether there is a rule for an in-place method, or for the method without the underscore."""
    find = context.rulebook.find
    return bool(find("torch.Tensor." + name) or find("torch.Tensor." + name[:-1]))


def may_reshape(rulebook: Rulebook, node: cst.CSTNode) -> bool:
    """Whether code may give a tensor another shape in place: `x.t_()`, `x.data = y`."""
    known = {*rulebook.table("RESHAPING"), "set_", "as_strided_"}
    if any(n.attr.value in known for n in tree.nodes(node, cst.Attribute)):
        return True
    targets: list[Any] = [n.target for n in tree.nodes(node, cst.AssignTarget)]
    return any(isinstance(t, cst.Attribute) and t.attr.value == "data" for t in targets)


def reshapes(context: Context, node: Any) -> str | None:
    """What a call in place does to its tensor where it changes the shape alone, `x.unsqueeze_(0)`: "shape", or "memory" where the order
    in memory counts; "elements" where a call in a chain of such does more, `x.unsqueeze_(0).add_(1)`. None of other calls."""
    known, found = context.rulebook.table("RESHAPING"), set()
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        if is_inplace_name(node.func.attr.value):
            found.add(known.get(node.func.attr.value, "elements"))
        node = node.func.value
    return min(found) if found - {"elements"} else None


def gives_back(views: Mapping[str, str], value: Module) -> bool:
    """Whether a submodule that writes its argument, also if only a flag of its own tells, returns it: an in-place activation, or a Sequential of nothing else."""
    if value.items:
        return module_writes(views, value) is not False and all(isinstance(item, Module) and gives_back(views, item) for _, item in value.items)
    return value.inplace is True or value.inplace is None and len(value.classes) == 1


def is_sequential(value: Module) -> bool:
    """Whether a module may be a Sequential, which calls what it holds in order."""
    return any(isinstance(ref, str) and ref.endswith(".Sequential") for ref in value.refs)


def module_writes(views: Mapping[str, str], value: Module) -> bool | None:
    """Whether a submodule writes its argument: an in-place activation, or a Sequential that begins with one. None where only some that it may be do."""
    if value.items is None and value.inplace is not False:
        return value.inplace
    if value.items is not None:
        return _one(_from_place(views, beginning(value), 0, members(value)[PLACES:]))
    if not is_sequential(value):
        return False
    anything = [value.element] if value.element is not None else []
    return _one(_from_place(views, value.beginning, 0 if value.beginning is not None else PLACES, anything))


def _from_place(views: Mapping[str, str], begins: Beginning | None, place: int, rest: Iterable[Value]) -> set[bool | None]:
    """What is found of the layers that may be the first to do anything, from a place on."""
    if begins is None or place == PLACES:
        return {None if module_writes(views, v) is not False else False for v in rest if isinstance(v, Module)} or {False}
    found: set[bool | None] = {False} if place in begins.lengths and max(begins.lengths) == place else set()  # a loop has turns
    for value in begins.places[place]:
        writes = module_writes(views, value) if isinstance(value, Module) else False
        found |= _from_place(views, begins, place + 1, rest) if writes is False and isinstance(value, Module) and _passes_on(views, value) else {writes}
    return found


def _one(found: set[bool | None]) -> bool | None:
    return found.pop() if len(found) == 1 else None


def _passes_on(views: Mapping[str, str], value: Module) -> bool:
    """Whether a layer returns its argument as it is, or a view of it."""
    kinds = {r.rpartition(".")[2] for r in value.classes if isinstance(r, str)}
    return bool(kinds) and all(views.get(k.lower()) == "same" or k == "Identity" for k in kinds)
