"""Which expressions may carry a gradient, and which are constant: made of buffers, detached tensors, integers and numbers alone."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .host_draws import HostDraws
from .infer import Inference
from .inplace import is_inplace_name
from .project import ClassInfo, FunctionInfo
from .values import External, Mapping, Method, Module, Sequence, Static, Tensor, Torch, Value

STOPPED = ("lax.stop_gradient", "nn.constant")
_LIKE = frozenset("zeros ones empty full rand randn randint".split())
# of torch's functions, those whose result has no history, whatever they are given
_MADE = _LIKE | {f"{name}_like" for name in _LIKE} | frozenset("arange eye from_numpy linspace logspace normal randperm tensor".split())

_ANEW = frozenset("detach item new new_empty new_full new_ones new_tensor new_zeros".split())  # and of methods


class Carriers:
    """What is asked of the functions of a project; their local names that are constant are found once for each."""

    def __init__(self, facts: Inference, host: HostDraws, running: set[FunctionInfo], forward: set[FunctionInfo]) -> None:
        self.facts, self.host, self.running, self.forward = facts, host, running, forward
        self.found: Arrays | None = None
        self.names: dict[int, set[str]] = {}  # id of a function -> its local names that are constant
        self.asked: set[tuple[FunctionInfo, str]] = set()  # attributes that are being found out

    def concern(self, info: FunctionInfo) -> bool:
        """Whether a function, or the one that it is in, computes with models: other functions build them, or fill params."""
        return info.outermost in self.running

    def is_forward(self, info: FunctionInfo) -> bool:
        """Whether a function, or the one that it is in, runs in a forward pass."""
        return info.outermost in self.forward

    def carries(self, value: Any, info: FunctionInfo, function: Any) -> bool:
        """Whether an expression of a function may carry a gradient."""
        if id(function) not in self.names:
            self.facts.kept.append(function)
            self.names[id(function)] = self._local(info, function)
        return self._carries(value, info, self.names[id(function)])

    def where(self, attribute: cst.Attribute, info: FunctionInfo) -> str | None:
        """Where the array lives that an attribute of a module is: "params", "state" or "constant"; None where that is not known."""
        owner = self.facts.of(attribute.value)
        if not isinstance(owner, Module):
            return None
        refs = [info.owner] if owner.is_self and info.owner is not None else owner.refs
        places = {self._place(ref, attribute.attr.value) for ref in refs}
        return "params" if "params" in places else places.pop() if len(places) == 1 else None

    def is_parameter(self, attribute: cst.Attribute) -> bool | None:
        """Whether an attribute of a module is an nn.Parameter; None where a constructor makes it on some ways only."""
        owner, known, name = self.facts.of(attribute.value), self.facts.of(attribute), attribute.attr.value
        if not isinstance(owner, Module) or owner.open or not isinstance(known, Tensor) or known.none:
            return None
        own = [
            self.arrays.own[c]
            for ref in owner.refs
            if isinstance(ref, ClassInfo)
            for c in ref.family()
            if c in self.arrays.own
        ]
        places = {self._place(ref, name) for ref in owner.refs}
        if len(places) != 1 or None in places or any(name in c.branching | c.plain for c in own):
            return None
        return places == {"params"}

    def becomes_part(self, attribute: cst.Attribute, info: FunctionInfo) -> bool:
        """Whether a buffer is assigned what carries a gradient while the model runs: `self.hidden = self.cell(x, self.hidden)`."""
        name, owner = attribute.attr.value, self.facts.of(attribute.value)
        if not isinstance(owner, Module) or not owner.is_self or info.owner is None:
            return False
        methods = {f for cls in info.owner.family() for f in cls.methods.values() if f in self.running}
        for method in sorted(methods, key=lambda f: f.qualname):
            if (method, name) in self.asked:
                continue
            self.asked.add((method, name))
            values = [n.value for n in tree.nodes(method.node.body, cst.Assign) for t in n.targets if tree.dotted(t.target) == f"{method.self_name}.{name}"]
            part = any(self.carries(value, method, method.node) for value in values)
            self.asked.discard((method, name))
            if part:
                return True
        return False

    @property
    def arrays(self) -> Arrays:
        """Where the attributes of modules live, as the source has them."""
        self.found = self.found or Arrays(self.facts, self.host, self.running, self.forward)
        return self.found

    def _place(self, ref: Any, name: str) -> str | None:
        if isinstance(ref, str):
            layer = self.facts.rulebook.layer(ref)
            return self.facts.rulebook.arrays(layer.name).get(name) if layer is not None else None
        array, layer = self.arrays.find(ref, name), self.facts.layer_of(ref)
        return array.where if array is not None else self.facts.rulebook.arrays(layer.name).get(name) if layer is not None else None

    def _local(self, info: FunctionInfo, function: Any) -> set[str]:
        assigned: dict[str, list[Any]] = {}
        spoilt = {p.name.value for p in info.parameters()}
        for node in tree.nodes(function.body, cst.Assign, cst.AugAssign, cst.For, cst.CompFor, cst.With, cst.NamedExpr, cst.AnnAssign, cst.Call):
            if isinstance(node, cst.Call):
                assigned.setdefault(_written(node), []).extend(a.value for a in node.args)
            elif isinstance(node, cst.Assign) and all(isinstance(t.target, cst.Name) for t in node.targets):
                for target in node.targets:
                    assigned.setdefault(target.target.value, []).append(node.value)  # type: ignore[attr-defined]
            elif not _is_of_data(node):
                spoilt |= {n.value for n in tree.walk(node) if isinstance(n, cst.Name)} if not isinstance(node, (cst.For, cst.With)) else tree.names_read(node)
        names = set(assigned) - spoilt
        while True:
            kept = {n for n in names if not any(self._carries(v, info, names) for v in assigned[n])}
            if kept == names:
                return names
            names = kept

    def _carries(self, value: Any, info: FunctionInfo, names: set[str]) -> bool:
        known = self.facts.of(value)
        if isinstance(value, cst.BaseExpression) and not may_carry(known):
            return False
        if isinstance(value, cst.Name):
            return value.value not in names
        if isinstance(value, cst.Attribute):
            if value.attr.value == "data" and isinstance(self.facts.of(value.value), Tensor):
                return False
            owner = self.facts.of(value.value)
            if isinstance(owner, Module) and owner.is_self and info.owner is not None:
                array = self.arrays.find(info.owner, value.attr.value)
                return array is None or array.where == "params"
            return self._carries(value.value, info, names) if isinstance(owner, Tensor) else True
        if isinstance(value, cst.Call):
            inputs = self._inputs(value)
            return inputs is None or any(self._carries(n, info, names) for n in inputs)
        if isinstance(value, cst.Subscript):
            return self._carries(value.value, info, names)
        if isinstance(value, cst.IfExp):
            return self._carries(value.body, info, names) or self._carries(value.orelse, info, names)
        if isinstance(value, cst.Lambda):
            return self._carries(value.body, info, names | {p.name.value for p in value.params.params})
        below = [n for n in tree.children(value) if isinstance(n, (cst.BaseExpression, cst.ComparisonTarget, cst.Element))]
        return not below or any(self._carries(n, info, names) for n in below)

    def _inputs(self, value: cst.Call) -> list[Any] | None:
        """What the gradient of a call's result comes from; None where that is not known."""
        function, name, arguments = (self.facts.of(value.func), tree.dotted(value.func) or "", [a.value for a in value.args])
        if isinstance(function, Method) and isinstance(value.func, cst.Attribute) and isinstance(function.receiver, Tensor):
            return [] if function.name in _ANEW else [value.func.value, *arguments]
        if name in STOPPED or isinstance(function, External) and not arguments:  # `deque()`
            return []
        if isinstance(function, Torch) and (function.name.removeprefix("torch.") in _MADE or function.name.endswith("Tensor")):
            return []
        if isinstance(function, External) and function.name.partition(".")[0] in _PLAIN:
            return []
        if isinstance(function, Torch) or name.startswith(("jnp.", "lax.", "nn.")) or isinstance(function, External) and _is_imported(function.name):
            return arguments
        base = value.func.value if isinstance(value.func, cst.Attribute) else None  # of `x.at[i].set(v)`
        if isinstance(base, cst.Subscript) and isinstance(base.value, cst.Attribute) and base.value.attr.value == "at":
            return [base.value.value, *arguments]
        return None


_PLAIN = frozenset("os pathlib json numpy re sys time glob shutil".split())  # libraries whose results have no history


def _is_imported(name: str) -> bool:
    """Whether a name is a function of a library, `get_tokenizer` of one for texts: what it is not given is in none of its results.

    A container, `deque(maxlen=3)`, may be given more later.
    """
    library, _, rest = name.partition(".")
    return bool(rest) and ":" not in name and library not in ("builtins", "collections") and rest.rpartition(".")[2][:1].islower()


def may_carry(value: Value) -> bool:
    """Whether a value may be, or hold, a tensor with a gradient."""
    if isinstance(value, Tensor):
        return value.kind not in ("i", "b", "u")
    if isinstance(value, Sequence):
        return any(map(may_carry, value.items)) if value.items is not None else may_carry(value.element)
    if isinstance(value, Mapping):
        return may_carry(value.element)
    return not isinstance(value, (Static, Module, Torch, External))


def _written(call: cst.Call) -> str:
    """The name that an in-place call makes part of what its arguments come from: w of `w.view(-1).add_(x)`; "" for other calls.

    A write through `w.data` changes the value of w alone.
    """
    node: Any = call.func
    if not isinstance(node, cst.Attribute) or not is_inplace_name(node.attr.value) or node.attr.value == "requires_grad_":
        return ""
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Call):
            node = node.func
        elif isinstance(node, cst.Attribute) and node.attr.value not in ("data", "detach") or isinstance(node, cst.Subscript):
            node = node.value
        else:
            return ""
    return node.value


def _is_of_data(node: cst.CSTNode) -> bool:
    """`y.data[0] = x`, `y.data += x`: a write of the value alone."""
    targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target] if isinstance(node, cst.AugAssign) else [None]
    return all(_through_data(t) for t in targets)


def _through_data(target: Any) -> bool:
    while isinstance(target, cst.Subscript):
        target = target.value
    return isinstance(target, cst.Attribute) and target.attr.value == "data"
