"""`torch.nonzero(mask).size(0)` is `torch.count_nonzero(mask).item()`: a number of data, which needs no array as long as it says.

Also spelt `.shape[0]`, `.size()[0]` and `len(…)`, in the methods of classes with a forward.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree


def with_places_counted(node: Any) -> Any:
    """A class with its places counted; it is given back as it is where it is no module."""
    methods = {s.name.value for s in tree.body_statements(node) if isinstance(s, cst.FunctionDef)}
    return tree.rewrite(node, None, _counted, only={cst.Call, cst.Subscript}) if "forward" in methods else node


def _counted(node: Any) -> Any:
    places = _whose_length(node)
    if not isinstance(places, cst.Call):
        return node
    func: Any = places.func
    plain = all(a.keyword is None and not a.star for a in places.args)
    if tree.dotted(func) == "torch.nonzero":
        counts = len(places.args) == 1 and plain
    else:  # len of NumPy's would be the rank
        counts = isinstance(func, cst.Attribute) and func.attr.value == "nonzero" and not places.args and not isinstance(node.func if isinstance(node, cst.Call) else None, cst.Name)
    if not counts:
        return node
    counting = tree.replace(places, func=tree.replace(func, attr=cst.Name("count_nonzero")))
    return cst.Call(cst.Attribute(counting, cst.Name("item")))


def _whose_length(node: Any) -> Any:
    """The x of `len(x)`, `x.size(0)`, `x.size()[0]` or `x.shape[0]`."""
    if isinstance(node, cst.Call):
        if len(node.args) != 1 or node.args[0].keyword is not None:
            return None
        if isinstance(node.func, cst.Name):
            return node.args[0].value if node.func.value == "len" else None
        first = tree.code(node.args[0].value) == "0"
        return node.func.value if first and isinstance(node.func, cst.Attribute) and node.func.attr.value == "size" else None
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index) or tree.code(node.slice[0].slice.value) != "0":
        return None
    whole = node.value
    if isinstance(whole, cst.Attribute) and whole.attr.value == "shape":
        return whole.value
    sized = isinstance(whole, cst.Call) and not whole.args and isinstance(whole.func, cst.Attribute) and whole.func.attr.value == "size"
    return whole.func.value if sized else None
