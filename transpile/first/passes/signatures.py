"""`forward(self, x)` becomes `__call__(self, params, state, x, *, key=None, training=False)`, with what is needed."""

from __future__ import annotations

import itertools
from typing import Any

import libcst as cst

from .. import tree
from ..effects import ALL
from ..emit import add_keywords, method_name
from ..project import FunctionInfo

DROPPED_DECORATORS = ("torch.", "jit.", "autocast", "custom_fwd", "custom_bwd")


def run(node: cst.FunctionDef, info: FunctionInfo, needs: frozenset[str], renames: dict[str, str]) -> cst.FunctionDef:
    """Give a function the parameters that its effects need."""
    is_forward = info.name == "forward" and info.owner is not None and info.owner.is_module
    if not needs and not renames and not is_forward:
        return node
    parameters = node.params
    positional = [_renamed(p, renames) for p in parameters.params]
    kwonly = [_renamed(p, renames) for p in parameters.kwonly_params]
    added = [cst.Param(cst.Name(n)) for n in ("params", "state") if n in needs]
    at = 1 if info.takes_self else 0
    if info.owner is not None or info.outer is None:
        positional = [*positional[:at], *added, *positional[at:]]
    positional = [_spaced(p) for p in positional]
    starred = {
        field: _renamed(p, renames) for field in ("star_arg", "star_kwarg") if isinstance(p := getattr(parameters, field), cst.Param)
    }
    new = tree.replace(node, params=tree.replace(parameters, params=positional, kwonly_params=kwonly, **starred))
    new = add_keywords(new, [n for n in ("key", "training") if n in needs and n not in {p.name.value for p in kwonly}])
    if is_forward:
        new = tree.replace(new, name=cst.Name(method_name(info.name)))
    if new.returns is not None and "state" in needs:
        new = tree.replace(new, returns=None)
    if info.is_property and needs:
        kept = [d for d in new.decorators if (tree.dotted(d.decorator) or "").rpartition(".")[2] not in ("property", "cached_property")]
        new = tree.replace(new, decorators=kept)
    return new


def _renamed(parameter: cst.Param, renames: dict[str, str]) -> cst.Param:
    name = parameter.name.value
    return tree.replace(parameter, name=cst.Name(renames[name])) if name in renames else parameter


def _spaced(parameter: cst.Param) -> cst.Param:
    if isinstance(parameter.comma, cst.Comma) and isinstance(parameter.comma.whitespace_after, cst.ParenthesizedWhitespace):
        return parameter
    return tree.replace(parameter, comma=cst.MaybeSentinel.DEFAULT)


def renames(info: FunctionInfo, node: cst.FunctionDef, needs: frozenset[str]) -> dict[str, str]:
    """The user's names that clash with the effects: `key` becomes `key_`."""
    parameters = tree.parameter_names(node)
    local = _assigned(node) | parameters
    # A top-level call passes key and training by name: those of forward are always kept apart.
    clash = (local & needs) | (parameters & ALL if info.name == "forward" and info.owner is not None else set())
    taken = tree.names_read(node) | local
    return {name: next(n for i in itertools.count(1) if (n := name + "_" * i) not in taken) for name in sorted(clash)}


def _assigned(node: cst.FunctionDef) -> set[str]:
    found: set[str] = set()
    for n in tree.nodes(node.body, cst.Assign, cst.For, cst.AugAssign, cst.AnnAssign, cst.CompFor):
        targets: list[Any] = []
        if isinstance(n, cst.Assign):
            targets = [t.target for t in n.targets]
        elif isinstance(n, (cst.For, cst.AugAssign, cst.AnnAssign, cst.CompFor)):
            targets = [n.target]
        while targets:
            target = targets.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                targets.extend(e.value for e in target.elements)
            elif isinstance(target, cst.Name):
                found.add(target.value)
    return found
