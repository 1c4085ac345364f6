"""Which attributes of self may hold the local values of a constructor: none that another class of the family has for a value of its own.

    class Base(nn.Module):                              class Wide(Base):
        def __init__(self, n):                              def __init__(self, n):
            super().__init__()                                  super().__init__(n * 2)
            self.a = nn.Parameter(torch.ones(n))                self.b = nn.Parameter(torch.ones(n))

Both constructors run on one `self`: with `self.n` in each, `init` of Base would read what Wide set last.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays
from ...callgraph import reachable
from ...host_effects import GROWING
from ...infer import Inference
from ...project import ClassInfo, FunctionInfo
from ...values import Module, Tensor
from .bindings import unsteady


class AttributeNames:
    """The attributes of all classes: those that the user set, and those that hold local values."""

    def __init__(self, facts: Inference, arrays: Arrays) -> None:
        self.facts, self.arrays = facts, arrays
        self._stored: dict[ClassInfo, dict[str, str]] = {}  # by class: attribute -> the local name that it holds
        self._counts: dict[ClassInfo, collections.Counter[str]] = {}
        self._changes: dict[tuple[ClassInfo, str], bool] = {}
        self._elsewhere: set[str] | None = None  # attributes that constructors set of their submodules

    def note(self, cls: ClassInfo, stored: dict[str, str]) -> None:
        """Remember which attributes hold the local names of a constructor."""
        self._stored[cls] = {attribute: name for name, attribute in stored.items()}

    def free(self, cls: ClassInfo, attribute: str, name: str) -> bool:
        """Whether a constructor may keep a local name under an attribute: no other class has that, or has the same value there."""
        own = self.arrays.own[cls].arrays.get(attribute) if cls in self.arrays.own else None
        if attribute in self.facts.rulebook.methods("Module") or own is not None and own.plain:
            return False  # `self.scale = 2.0` where it is no parameter: that value is there
        return self._free_in_layer(cls, attribute, name) and all(self._same(cls, attribute, name, other) for other in _relatives(cls) if self._has(other, attribute))

    def kept(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether an attribute that a constructor has set, or inherits, is not set again to another value by a class below it."""
        name = self.holds(cls, attribute)
        setting = [other for other in cls.descendants() if attribute in self.set_while_built(other)]
        return all(name is not None and self._same(cls, attribute, name, other) for other in setting)

    def changes(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether an attribute may have several values while an object is built: set again, by a class below, from outside, or what it holds grows."""
        key = cls, attribute
        if key not in self._changes:
            above = [c for c in cls.ancestors() if c.is_module]
            times = sum(self.set_while_built(c)[attribute] for c in above) + any(attribute in c.assigned for c in above)
            self._changes[key] = times > 1 or self.set_again(cls, attribute) or self.grows(cls, attribute)
        return self._changes[key]

    def grows(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether a constructor changes what an attribute holds in place: `self.dims.append(3)`, `self.config["n"] = 2`."""
        return any(attribute in self._grown(f) for c in cls.family() for f in self._building(c))

    def keeping(self, cls: ClassInfo | None, code: str) -> str:
        """What keeps the present value of `self.dims`: a copy where that grows."""
        return f"{code}.copy()" if cls is not None and self.grows(cls, code.rpartition(".")[2]) else code

    def set_again(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether an attribute, or what it holds, may change once the constructor of a class is done."""
        getter = cls.find(attribute)
        if getter is not None:
            if not getter.is_property:
                return False
            asked = {n.attr.value for c in cls.family() if attribute in c.methods for n in tree.nodes(c.methods[attribute].node, cst.Attribute)}
            return any(self.set_again(cls, name) for name in asked - {attribute})
        below = (f for c in cls.descendants() for f in self._building(c))
        return not self.kept(cls, attribute) or attribute in self.set_elsewhere() or any(attribute in self._grown(f) for f in below)

    def _grown(self, info: FunctionInfo) -> set[str]:
        held: list[Any] = [n.func.value for n in tree.nodes(info.node.body, cst.Call) if isinstance(n.func, cst.Attribute) and n.func.attr.value in GROWING]
        for target in (n.target for n in tree.nodes(info.node.body, cst.AssignTarget, cst.AugAssign)):  # type: ignore[attr-defined]
            while isinstance(target, cst.Subscript):
                target = target.value
                held.append(target)
        found = [n for n in held if isinstance(n, cst.Attribute) and tree.dotted(n.value) == info.self_name]
        return {n.attr.value for n in found if not isinstance(self.facts.of(n), (Module, Tensor))}

    def set_elsewhere(self) -> set[str]:
        """The attributes that constructors give submodules: `self.block.scale = 2.0`."""
        if self._elsewhere is None:
            inits = [c.methods["__init__"] for c in self.arrays.own if "__init__" in c.methods]
            targets = [t.target for init in inits for n in tree.nodes(init.node.body, cst.Assign) for t in n.targets]
            foreign = [t for t in targets if isinstance(t, cst.Attribute) and not isinstance(t.value, cst.Name) and isinstance(self.facts.of(t.value), Module)]
            self._elsewhere = {t.attr.value for t in foreign}
        return self._elsewhere

    def set_while_built(self, cls: ClassInfo) -> collections.Counter[str]:
        """The attributes that a class's constructor sets, and the methods of the class that it calls, each with how often."""
        if cls not in self._counts:
            self._counts[cls] = collections.Counter(name for f in self._building(cls) for name, _ in _settings(f))
        return self._counts[cls]

    def _building(self, cls: ClassInfo) -> set[FunctionInfo]:
        init = cls.find("__init__")
        return {f for f in reachable(self.facts.calls, [init]) if f.owner is cls} if init is not None else set()

    def _has(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether a class has an attribute of this name, whatever it is."""
        own = self.arrays.own.get(cls)
        found = own is not None and (attribute in own.assigned or attribute in own.arrays)
        known = self.facts.attributes.get(cls, {})
        return found or attribute in cls.methods or attribute in cls.assigned or attribute in known or attribute in self._stored.get(cls, {})

    def holds(self, cls: ClassInfo, attribute: str) -> str | None:
        """The parameter of a class's constructor whose value an attribute surely has."""
        init = cls.methods.get("__init__")
        if init is None or attribute in cls.assigned or attribute in cls.methods:
            return None
        values = [(f, value) for f in self._building(cls) for set_, value in _settings(f) if set_ == attribute]
        stored = self._stored.get(cls, {}).get(attribute)
        if not values:
            return stored if stored in _steady_parameters(init) else None
        function, value = values[0]
        certain = len(values) == 1 and function is init and isinstance(value, cst.Name) and value.value in _steady_parameters(init)
        return value.value if certain else None

    def _same(self, cls: ClassInfo, attribute: str, name: str, other: ClassInfo) -> bool:
        """Whether another class has the same value under an attribute: the one constructor hands the very parameter to the other."""
        held = self.holds(other, attribute)
        if held is None:
            return False
        if other in cls.descendants():
            return name in self._handed_on(other, held, cls)
        return held in self._handed_on(cls, name, other)

    def _handed_on(self, cls: ClassInfo, name: str, to: ClassInfo) -> set[str]:
        """The parameters by which the constructor of an ancestor gets a parameter as it is."""
        names = {name}
        while cls is not to:
            call, above = _super_call(cls), cls.above("__init__")
            if call is None or not isinstance(above, FunctionInfo) or above.owner is None:
                return set()
            names &= _steady_parameters(cls.methods["__init__"])
            names = {p for p, value in above.given(call).items() if isinstance(value, cst.Name) and value.value in names}
            cls = above.owner
        return names & _steady_parameters(to.methods["__init__"])

    def _free_in_layer(self, cls: ClassInfo, attribute: str, name: str) -> bool:
        """The same for a layer of torch's that a class extends: `self.stride` of nn.Conv1d."""
        layer = self.facts.layer_of(cls)
        if layer is None:
            return True
        held = self.facts.rulebook.fields(layer.name)
        if attribute not in held:
            return attribute not in self.facts.rulebook.methods(layer.name)
        call = _super_call(cls)
        if call is None or isinstance(cls.above("__init__"), FunctionInfo) or name not in _steady_parameters(cls.methods["__init__"]):
            return False
        parameters = [p.name for p in self.facts.rulebook.constructor(layer)]
        given = {a.keyword.value if a.keyword is not None else parameters[i] if i < len(parameters) else "": a.value for i, a in enumerate(call.args)}
        value = given.get(held[attribute] or "")
        return isinstance(value, cst.Name) and value.value == name


def _relatives(cls: ClassInfo) -> list[ClassInfo]:
    """The other classes whose code may run on the same object: ancestors, descendants, and what these inherit beside."""
    found = dict.fromkeys(a for c in (cls, *cls.descendants()) for a in c.ancestors())
    return [c for c in found if c is not cls]


def _settings(info: FunctionInfo) -> Iterator[tuple[str, Any]]:
    """Each `self.name = value` of a method; None for a value in a tuple, or changed in place."""
    node: Any
    for node in tree.nodes(info.node.body, cst.Assign, cst.AnnAssign, cst.AugAssign):
        for target in [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]:
            parts = [e.value for e in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else [target]
            value = node.value if parts == [target] and not isinstance(node, cst.AugAssign) else None
            for part in parts:
                if isinstance(part, cst.Attribute) and tree.dotted(part.value) == info.self_name:
                    yield part.attr.value, value


def _steady_parameters(init: FunctionInfo) -> set[str]:
    """The parameters that keep the value which a constructor is given."""
    return {p.name.value for p in init.parameters()} - unsteady(init.node)


def _super_call(cls: ClassInfo) -> cst.Call | None:
    """The one call of the constructor above, without stars: `super().__init__(n)`."""
    init = cls.methods.get("__init__")
    calls = [n for n in tree.nodes(init.node.body, cst.Call) if tree.code(n.func).endswith(".__init__")] if init is not None else []
    plain = len(calls) == 1 and tree.code(calls[0].func).startswith("super(") and not any(a.star for a in calls[0].args)
    return calls[0] if plain else None
