"""The tables of the analysis: the value of every expression, attribute, parameter and result of a project."""

from __future__ import annotations

import functools
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from .. import tree
from ..callables import Callables
from ..callgraph import reachable, with_callers
from ..computed_names import HOLE, fitting
from ..host_code import is_host_code
from ..project import ClassInfo, FunctionInfo, ModuleInfo, Project
from ..results import Results
from ..rulebook import Definition, Rulebook
from ..values import (
    NONE,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Torch,
    Value,
    element_of,
    is_traced,
    join,
)
from .vocabulary import ORDINARY, torch_method


@dataclass(frozen=True)
class Round:
    """What one round finds of classes and parameters; the next starts from it."""

    attributes: dict[ClassInfo, dict[str, Value]] = field(default_factory=dict)
    parameters: dict[FunctionInfo, dict[str, Value]] = field(default_factory=dict)
    contents: dict[ClassInfo, Value] = field(default_factory=dict)
    dynamic: dict[ClassInfo, dict[str, Value]] = field(default_factory=dict)
    handed: dict[FunctionInfo, dict[str, Value]] = field(default_factory=dict)


class Inference:
    """Values of everything in a project, as far as rounds of interpretation have come."""

    def __init__(self, project: Project, rulebook: Rulebook) -> None:
        self.project = project
        self.rulebook = rulebook
        self.results = Results(rulebook)
        self.values: dict[int, Value] = {}
        self.kept: list[cst.CSTNode] = []
        self.attributes: dict[ClassInfo, dict[str, Value]] = {}
        self.parameters: dict[FunctionInfo, dict[str, Value]] = {}  # joined over call sites
        self.given_data: set[tuple[FunctionInfo, str]] = set()  # parameters for which some call in a forward pass gives what is traced
        self.returns: dict[FunctionInfo, Value] = {}
        self.returns_for: dict[Any, Value] = {}  # by function, and the modules and classes that it is given
        self.calls: dict[FunctionInfo, set[FunctionInfo]] = {}
        self.evidence: dict[FunctionInfo, frozenset[str]] = {}
        self.objects: dict[FunctionInfo, frozenset[str]] = {}
        self.dicts: dict[FunctionInfo, frozenset[str]] = {}
        self.numpy_names: dict[FunctionInfo, frozenset[int]] = {}
        self.module_env: dict[ModuleInfo, dict[str, Value]] = {}
        self.by_node: dict[int, FunctionInfo] = {}
        self.class_by_node: dict[int, ClassInfo] = {}
        self.contents: dict[ClassInfo, Value] = {}  # what a user's container class holds
        self.dynamic: dict[ClassInfo, dict[str, Value]] = {}  # attributes set under computed names, by their patterns
        self.handed: dict[FunctionInfo, dict[str, Value]] = {}  # to methods of plain classes, by calls on what is not known to be of one
        self.earlier = Round()
        self.running: set[FunctionInfo] = set()
        self._traced: set[FunctionInfo] = set()  # what forward calls, as far as the last round tells
        self._outside: set[FunctionInfo] = set()  # what runs outside of jit, as far as that
        self.wrapped: set[tuple[ClassInfo, str]] = set()  # attributes of unknown make that are called
        self.replaced: dict[tuple[ClassInfo, str], Value] = {}  # submodules given from outside of the class: `model.fc = nn.Identity()`
        self.makers: set[tuple[ClassInfo, str]] = set()  # attributes that may hold a class of modules
        self.origin: dict[int, cst.CSTNode] = {}
        self.in_place: set[int] = set()  # assignments that stand for a write in place: `self.weight.data.clamp_(0, 1)`
        self.owners: dict[str, list[ClassInfo]] = {}  # the classes that have a method of a name
        for module in project.modules.values():
            for function in module.all_functions:
                self.by_node[id(function.node)] = function
            for cls in module.all_classes:
                self.class_by_node[id(cls.node)] = cls
                for name in cls.methods:
                    self.owners.setdefault(name, []).append(cls)

    # ------------------------------------------------------------------ rounds

    def begin_round(self) -> None:
        """Start afresh, with what the last round found for what is not known yet."""
        self.earlier = self._found()
        functions = [f for m in self.project.modules.values() for f in m.all_functions]
        self._traced = reachable(self.calls, [f for f in functions if f.name == "forward"])
        self._outside = with_callers(self.calls, filter(is_host_code, functions), functions) - self._traced
        self.values, self.kept, self.returns, self.returns_for = {}, [], {}, {}
        self.attributes, self.parameters, self.contents, self.dynamic, self.handed, self.given_data = {}, {}, {}, {}, {}, set()

    def settled(self) -> bool:
        """Whether this round has found what the last one did."""
        return self.earlier == self._found()

    def _found(self) -> Round:
        return Round(self.attributes, self.parameters, self.contents, self.dynamic, self.handed)

    # ------------------------------------------------------------------ expressions

    def note(self, table: dict[Any, Value], key: Any, value: Value) -> None:
        """Join a value into a table."""
        table[key] = join(table.get(key), value)

    def set(self, node: cst.CSTNode, value: Value) -> Value:
        """Record the value of an expression, joined with what an earlier visit found."""
        key = id(node)
        old = self.values.get(key)
        if old is None:
            self.kept.append(node)
            self.values[key] = value
        elif old != value:
            self.values[key] = join(old, value)
        return value

    def tell(self, node: cst.CSTNode, value: Value) -> None:
        """Give the value of an expression that a pass made; the node is kept, so that its id stays its own."""
        self.kept.append(node)
        self.values[id(node)] = value

    def of(self, node: cst.CSTNode) -> Value:
        """The value of an expression, also of one that a pass rebuilt."""
        return self.values.get(id(node), UNKNOWN)

    def carry(self, old: cst.CSTNode, new: cst.CSTNode) -> None:
        """A rebuilt expression has the value of the one it comes from."""
        if new is old:
            return
        value = self.values.get(id(old))
        if value is not None and id(new) not in self.values:
            self.values[id(new)] = value
        self.kept.append(new)
        self.origin[id(new)] = self.origin.get(id(old), old)
        if id(old) in self.in_place:
            self.in_place.add(id(new))
        if id(old) in self.by_node:
            self.by_node[id(new)] = self.by_node[id(old)]
        if id(old) in self.class_by_node:
            self.class_by_node[id(new)] = self.class_by_node[id(old)]

    def counts_on_data(self, node: cst.BaseExpression) -> bool:
        """`range(n)` of a number that only the data tells."""
        if not isinstance(node, cst.Call) or tree.dotted(node.func) != "range":
            return False
        return any(is_traced(self.of(a.value)) for a in node.args)

    def numpy_on_arrays(self, name: str, values: list[Value]) -> bool:
        """Whether a call of numpy's computes with what is traced, by a function that jax.numpy has too."""
        if not name.startswith("numpy.") or name.removeprefix("numpy.") not in self.rulebook.table("TRACEABLE"):
            return False
        spread = [element_of(v) if isinstance(v, Sequence) else v for v in values]
        if name in ("numpy.array", "numpy.asarray"):  # of a list or of an array: jax.numpy makes the same of both
            return isinstance(spread[0], Tensor) if spread else False
        return any(is_traced(v) for v in spread)

    # ------------------------------------------------------------------ functions

    @functools.cached_property
    def callables(self) -> Callables:
        """The way from expressions to the functions that they may stand for; asked for when the rounds are over."""
        return Callables(self)

    def result(self, info: FunctionInfo) -> Value:
        """What a function returns, as far as it has been interpreted."""
        unseen = UNKNOWN if info.module in self.strangers else Tensor(assumed=True)
        return self.returns.get(info, unseen if info.name != "__init__" else NONE)

    @functools.cached_property
    def strangers(self) -> frozenset[ModuleInfo]:
        """The files that have nothing of torch's: no name of it, and no class of modules."""
        libraries = {name.partition(".")[0] for name in self.rulebook.by_torch}
        found = {m for m in self.project.modules.values() if not self._names_torch(m, libraries)}
        while taken := {m for m in found if any(self.project.modules.get(star) not in {None, *found} for star in m.stars)}:
            found -= taken
        return frozenset(found)

    def _names_torch(self, module: ModuleInfo, libraries: Set[str]) -> bool:
        if module.uses_torch or any(c.is_module or "forward" in c.methods for c in module.all_classes):
            return True
        meant = [(name, self.project.lookup(name)) for name in module.imports.values()]
        named = [name if found is None else found for name, found in meant]
        return any(isinstance(n, str) and n.partition(".")[0] in libraries for n in [*named, *module.stars])

    def untouched(self, module: ModuleInfo) -> bool:
        """Whether nothing in a file has to do with tensors or modules: it stays as it is."""
        if module not in self.strangers or not all(self.foreign(module, f) for f in module.all_functions):
            return False
        values = (self.of(n) for n in tree.nodes(module.tree, cst.Name, cst.Attribute, cst.Call, cst.Subscript))
        return not any(isinstance(v, (Module, Torch)) or isinstance(v, Tensor) and not v.assumed for v in values)

    def foreign(self, module: ModuleInfo, info: FunctionInfo | None) -> bool:
        """Whether code has nothing to do with tensors: its file names nothing of torch's, and nobody gives it a tensor."""
        if module not in self.strangers:
            return False
        return info is None or not any(map(_holds_tensors, self.known_parameters(info.outermost).values()))

    def in_forward(self, info: FunctionInfo | None) -> bool:
        """Whether a function runs in a forward pass, where it is traced; what no forward calls may ask arrays for their values."""
        return info is not None and info.outermost in self._traced

    def on_host(self, info: FunctionInfo | None) -> bool:
        """Whether code runs outside of jit: that of a file, and functions which train a model, or call what does."""
        return info is None or info.outermost in self._outside

    def known_parameters(self, info: FunctionInfo) -> dict[str, Value]:
        """What calls give for the parameters of a function: those of this round, and of the last where there are none yet."""
        return {**self.earlier.parameters.get(info, {}), **self.parameters.get(info, {})}

    def handed_over(self, info: FunctionInfo, name: str) -> Value | None:
        """What calls give for a parameter that may mean this method: `scaler.fit(data)`, of whatever scaler is."""
        return (self.handed.get(info) or self.earlier.handed.get(info, {})).get(name)

    def forward_of(self, ref: Any) -> FunctionInfo | None:
        return ref.find("forward") if isinstance(ref, ClassInfo) else None

    def by_property(self, base: Module, name: str) -> Value | None:
        """The property of a user's class that an attribute calls, if it is one."""
        for ref in base.refs:
            found = ref.find(name) if isinstance(ref, ClassInfo) else None
            if found is not None and found.is_property:
                return Function(found, ref)
        return None

    def is_method_of_modules(self, name: str, of_module: bool = False) -> bool:
        """Whether modules of the project have a method of this name, and no other class or container has one; nor tensors,
        unless it is asked of what is known for a module: `block.inverse(z)`."""
        owners = self.owners.get(name, [])
        if not owners or name in ORDINARY or name.startswith("__") or not of_module and self.rulebook.find("torch.Tensor." + name):
            return False
        return all(cls.is_module and not cls.methods[name].is_property for cls in owners)

    # ------------------------------------------------------------------ attributes of classes

    def makes_modules(self, value: Value) -> bool:
        """Whether a value is a class of modules."""
        if isinstance(value, Class):
            return isinstance(value.ref, ClassInfo) and value.ref.is_module
        layer = self.rulebook.layer(value.name) if isinstance(value, Torch) else None
        return layer is not None and self.rulebook.is_module(layer)

    def may_have_arrays(self, module: Module) -> bool:
        """Whether a module is none of torch's layers without params."""
        layers = [self.rulebook.layer(ref) if isinstance(ref, str) else None for ref in module.refs]
        return module.open or module.element is not None or any(layer is None or self.rulebook.arrays(layer.name) for layer in layers)

    def layer_of(self, cls: ClassInfo) -> Definition | None:
        """The definition that stands for the torch layer which a class extends, if it extends one."""
        base = cls.torch_base()
        return self.rulebook.layer(base) if base is not None else None

    def layers_of(self, cls: ClassInfo) -> list[Definition]:
        """The definition that stands for that; for a mixin those of the layers that it is put before."""
        layers = [self.layer_of(c) for c in ((cls,) if cls.torch_base() is not None else cls.descendants())]
        return [layer for layer in layers if layer is not None]

    def attribute(self, cls: ClassInfo, name: str) -> Value | None:
        """What `self.name` may be in a method of this class: over the class, its ancestors and its descendants."""
        found: Value | None = None
        for c in cls.family():
            value, before = self.attributes.get(c, {}).get(name), self.earlier.attributes.get(c, {}).get(name)
            if value is None or value == NONE:  # `self.pe = None` in the constructor: what comes later is not seen yet
                value = join(value, before) if before is not None else value
            if value is not None:
                found = join(found, value)
        if isinstance(found, Module) and self.replaced:
            for other in (self.replaced[c, name] for c in cls.family() if (c, name) in self.replaced):
                found = join(found, other)
        if found is not None:
            return found
        for c in cls.family():
            if name in c.methods:
                return Function(c.methods[name], cls)
            if name in c.assigned:
                return self.values.get(id(c.assigned[name]), UNKNOWN)
        if not torch_method(name):  # `self.stage2` after `setattr(self, f"stage{i}", …)`
            return next((found for c in cls.family() if (found := self.computed(c, name)) is not None), None)
        return None

    def is_module(self, node: Any) -> bool:
        """Whether something is a module, or an attribute of self that is called as one: `self.module` of a wrapper."""
        if isinstance(self.of(node), Module):
            return True
        owner = self.of(node.value) if isinstance(node, cst.Attribute) and self.wrapped else None
        family = [c for ref in owner.refs if isinstance(ref, ClassInfo) for c in ref.family()] if isinstance(owner, Module) and owner.is_self else []
        return any((c, node.attr.value) in self.wrapped for c in family)

    def attribute_values(self, cls: ClassInfo) -> dict[str, Value]:
        """What is set on self in a class: in this round, and in the last where this one has not come to it yet."""
        return {**self.earlier.attributes.get(cls, {}), **self.attributes.get(cls, {})}

    def computed(self, cls: ClassInfo, pattern: str = HOLE) -> Value | None:
        """What is set on self in a class under computed names that a name, or a pattern of names, may be of."""
        set_here = self.dynamic.get(cls) or self.earlier.dynamic.get(cls) or {}
        found: Value | None = None
        for fits in fitting(set_here, pattern) if set_here else ():
            found = join(found, set_here[fits])
        return found

    def held(self, cls: ClassInfo) -> Value | None:
        """What a user's container class holds."""
        return self.contents.get(cls) or self.earlier.contents.get(cls)

    def set_attribute(self, cls: ClassInfo, name: str, value: Value) -> None:
        self.note(self.attributes.setdefault(cls, {}), name, value)


def _holds_tensors(value: Value) -> bool:
    """Whether a value is a tensor, a module, or a list or dict of such."""
    return isinstance(value, (Tensor, Module)) or isinstance(value, (Sequence, Mapping)) and _holds_tensors(value.element)
