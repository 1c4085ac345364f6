"""Attributes that a module's methods set while it runs, and ask for: they are state, None until they are set.

    if not hasattr(self, "mask"):                        ->     if self.mask is None:
        self.register_buffer("mask", self.make(n))                  self.mask = self.make(n)

It runs before the analysis, which takes what methods assign for state.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..arrays import registered_value

_MODULES = ("Module", "Sequential", "ModuleList")


def run(module: cst.Module) -> cst.Module:
    """Rewrite the methods of the modules of one file."""
    return tree.rewrite(module, None, lambda n: _class(n) if n.__class__ is cst.ClassDef else n, only={cst.ClassDef})  # type: ignore[no-any-return]


def _class(node: cst.ClassDef) -> cst.ClassDef:
    body = tree.body_statements(node)
    methods = [s for s in body if isinstance(s, cst.FunctionDef)]
    based = any((tree.dotted(b.value) or "").rpartition(".")[2] in _MODULES for b in node.bases)
    if not based and not any(m.name.value == "forward" for m in methods):
        return node
    late = [m for m in methods if m.name.value != "__init__" and _self_name(m)]
    found = {name: value for m in late for name, value in _set(m).items()}
    plain = {name for name, value in found.items() if not _makes_modules(value)}
    plain -= {name for m in methods if m.name.value == "__init__" and _self_name(m) for name in _set_on_some_way(m)}
    if not plain:
        return node
    return tree.with_body(node, [_method(s, _self_name(s), plain) if s in late else s for s in body])


def _self_name(method: cst.FunctionDef) -> str:
    static = any(tree.code(d.decorator) in ("staticmethod", "classmethod") for d in method.decorators)
    return method.params.params[0].name.value if method.params.params and not static else ""


def _set(method: cst.FunctionDef) -> dict[str, Any]:
    """The attributes of self that a method sets, with a value of each."""
    own, found = _self_name(method), {}
    for node in tree.nodes(method.body, cst.Assign, cst.Call):
        if isinstance(node, cst.Call):
            if (registered := _registered(node, own)) is not None:
                found[registered[0]] = registered[1]
        elif isinstance(node, cst.Assign):
            for target in node.targets:
                if isinstance(target.target, cst.Attribute) and tree.dotted(target.target.value) == own:
                    found[target.target.attr.value] = node.value
    return found


def _set_on_some_way(constructor: cst.FunctionDef) -> set[str]:
    """The attributes that a constructor sets under a branch alone: where it does not, they are not there."""
    lines = [s for s in tree.body_statements(constructor) if isinstance(s, cst.SimpleStatementLine)]
    always = _set(tree.with_body(constructor, lines))
    return _set(constructor).keys() - always.keys()


def _registered(node: cst.Call, own: str) -> tuple[str, Any] | None:
    """The name and the value of `self.register_buffer("mask", mask, persistent=False)`."""
    if tree.dotted(node.func) != f"{own}.register_buffer" or any(a.star for a in node.args):
        return None
    name = next((a.value for i, a in enumerate(node.args) if (a.keyword.value == "name" if a.keyword is not None else i == 0)), None)
    value = registered_value(node)
    return (str(name.evaluated_value), value) if isinstance(name, cst.SimpleString) and value is not None else None


def _makes_modules(value: Any) -> bool:
    """`nn.Linear(n, n)`: an attribute that is a module, or a parameter, once it is set."""
    return isinstance(value, cst.Call) and (tree.dotted(value.func) or "").rpartition(".")[2][:1].isupper()


def _method(method: cst.FunctionDef, own: str, names: set[str]) -> cst.FunctionDef:
    def after(node: Any) -> Any:
        if node.__class__ is cst.Expr:
            registered = _registered(node.value, own) if isinstance(node.value, cst.Call) else None
            return node if registered is None or registered[0] not in names else tree.assignment(f"{own}.{registered[0]}", registered[1]).body[0]
        if node.__class__ is cst.UnaryOperation:
            return _negated(node)
        asked = _asked(node, own)
        if asked is None or asked[1] not in names:
            return node
        attribute = tree.expression(f"{own}.{asked[1]}")
        if asked[0] == "getattr":
            return attribute
        return tree.replace(tree.expression("(x is not None)"), left=attribute)

    return tree.rewrite(method, None, after, only={cst.Expr, cst.Call, cst.UnaryOperation})  # type: ignore[no-any-return]


def _negated(node: cst.UnaryOperation) -> Any:
    """`x is None` for `not (x is not None)`."""
    test: Any = node.expression
    if not isinstance(node.operator, cst.Not) or not isinstance(test, cst.Comparison) or not test.lpar or len(test.comparisons) != 1:
        return node
    target = test.comparisons[0]
    if not isinstance(target.operator, cst.IsNot) or tree.code(target.comparator) != "None":
        return node
    return tree.replace(test, lpar=node.lpar, rpar=node.rpar, comparisons=[tree.replace(target, operator=cst.Is())])


def _asked(node: Any, own: str) -> tuple[str, str] | None:
    """The function and the name of `hasattr(self, "mask")` and `getattr(self, "mask", None)`."""
    function = tree.dotted(node.func)
    values = [a.value for a in node.args if a.keyword is None and not a.star]
    if function not in ("hasattr", "getattr") or len(values) != len(node.args) or len(values) != (2 if function == "hasattr" else 3):
        return None
    if tree.dotted(values[0]) != own or not isinstance(values[1], cst.SimpleString) or len(values) == 3 and tree.code(values[2]) != "None":
        return None
    return function, str(values[1].evaluated_value)
