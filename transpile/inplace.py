"""How torch says that a call writes in place: a name that ends in an underscore, `inplace=True`, `out=`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .values import Module, Torch


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


def is_undecided(context: Context, node: Any) -> bool:
    """Whether only the run tells if a call writes its argument: `F.relu(x, inplace=self.inplace)`."""
    argument = inplace_argument(context, node) if isinstance(node, cst.Call) else None
    return argument is not None and tree.code(argument.value) not in ("True", "False")


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


def gives_back(views: Mapping[str, str], value: Module) -> bool:
    """Whether a submodule that writes its argument also returns it: an in-place activation, or a Sequential of nothing else."""
    if value.items:
        return module_writes(views, value) and all(isinstance(item, Module) and gives_back(views, item) for _, item in value.items)
    return value.inplace


def module_writes(views: Mapping[str, str], value: Module) -> bool:
    """Whether a submodule writes its argument: an in-place activation, or a Sequential that begins with one."""
    if value.inplace and not value.items:
        return True
    if value.items:
        for _, item in value.items:
            if isinstance(item, Module) and module_writes(views, item):
                return True
            kinds = {r.rpartition(".")[2] for r in item.classes if isinstance(r, str)} if isinstance(item, Module) else set()
            if not kinds or not all(views.get(k.lower()) == "same" or k == "Identity" for k in kinds):
                return False
    return False
