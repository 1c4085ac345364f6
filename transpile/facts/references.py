"""Where the functions of a project are named: all calls of one, where nothing else may call it.

grid(8, x.device)      `_grid`, and `grid` where other files could be seen, have their calls;
jobs = [grid, mask]    what is handed on, computed by its name or known outside has not
"""

import collections
from collections.abc import Iterator

from ..model.classes import PLAIN_MODULE
from ..model.expressions import Attribute, Call, Constant, Name
from ..model.names import dotted, everywhere
from ..model.node import Expression, Node
from ..model.program import Class, File, Function
from ..model.project import Project
from .values.class_values import functions_of
from .values.computed_names import may_be, pattern
from .values.lattice import Class as ClassValue
from .values.lattice import Method, Module, Package, Static, Tensor, Torch, Value, classes_of

_PLAIN = frozenset({"staticmethod", "classmethod", "torch.no_grad", "torch.inference_mode"})
_OBJECTS = PLAIN_MODULE | {"object", "builtins.object"}
_TABLES = frozenset({"globals", "vars", "locals"})  # by which names of a file are computed


class References:
    """The names, attributes and strings of a program as it stands, by what they may mean."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._named: dict[str, list[Expression]] = collections.defaultdict(list)
        self._valued: dict[Node, list[Expression]] = collections.defaultdict(list)
        self._computed: list[tuple[bool, str]] = []  # `getattr(self, f"step_{i}")`: own, pattern
        self._open: set[File] = set()  # files whose functions are asked for by computed names
        for file in project.ordered:
            for node in everywhere(file, Name, Attribute, Constant, Call):
                self._note(node)
        self._foreign = set(self._imported_from_nowhere())
        self._defined = collections.Counter((f.scope, f.name) for f in project.functions())

    def calls(self, function: Function) -> list[Call] | None:
        """All calls of a function, or of the class whose constructor it is; None where it may be
        called from elsewhere, or in another way."""
        if not self._is_closed(function) or self._is_computed(function):
            return None
        target = _called(function)
        found: list[Call] = []
        for node in dict.fromkeys([*self._named[target.name], *self._valued[target]]):
            meant = _meant(node.value)
            call = node.parent
            if meant == [target] and isinstance(call, Call) and call.function is node:
                found.append(call)
            elif target in meant or not _is_other(node):
                return None
        return found

    # --- who may call -----------------------------------------------------------------------------

    def _is_closed(self, function: Function) -> bool:
        """Whether a function can be told from others, and only the project calls it."""
        project, owner, name = self.project, function.owner, function.name
        if not set(project.decorators(function)) <= _PLAIN or name in self._foreign:
            return False
        if self._defined[function.scope, name] > 1:  # `if fast: def grid(): ...`
            return False
        if owner is not None and not self._is_alone(owner, name):
            return False
        if name.startswith("__") and name.endswith("__"):  # modules are made as in torch
            made = owner is not None and name == "__init__" and not project.is_module(owner)
            return made and len(project.files) > 1
        inner = project.outer(function) is not None
        return inner or name.startswith("_") or len(project.files) > 1

    def _is_alone(self, cls: Class, method: str) -> bool:
        """Whether a method stands in for no other, nor another for it, and no class that is not the
        project's may call it."""
        project = self.project
        family = [c for c in project.order(cls) if isinstance(c, Class)]
        foreign = set(project.foreign_bases(cls)) - _OBJECTS
        if foreign or any(c.decorators or c in project.unknown_bases for c in family):
            return False
        if cls.name in self._foreign or any(method in project.methods(c) for c in family[1:]):
            return False
        if method == "__init__":
            return not project.subclasses(cls)
        return all(f.owner is cls for f in project.overriding(cls, method))

    def _is_computed(self, function: Function) -> bool:
        if function.owner is None or function.name == "__init__":
            return function.file in self._open
        private = function.name.startswith("_")
        return any(may_be(function.name, p) for own, p in self._computed if own or not private)

    # --- what is named ----------------------------------------------------------------------------

    def _note(self, node: Node) -> None:
        if isinstance(node, Constant) and isinstance(node.constant, str):
            self._named[node.constant].append(node)
        elif isinstance(node, (Name, Attribute)):
            self._named[node.id if isinstance(node, Name) else node.name].append(node)
            for meant in _meant(node.value):
                self._valued[meant].append(node)
            self._note_table(node)
        elif isinstance(node, Call) and dotted(node.function) == "getattr":
            self._note_computed(node)

    def _note_table(self, node: Name | Attribute) -> None:
        if isinstance(node, Name):
            if node.id in _TABLES and node.file is not None:
                self._open.add(node.file)
        elif node.name == "__dict__" and isinstance(node.object.value, Package):
            self._open.add(node.object.value.file)

    def _note_computed(self, call: Call) -> None:
        owner, name = call.arguments[0], pattern(call.arguments[1])
        if isinstance(call.arguments[1], Constant):
            return
        around = call.nearest(Function)
        if isinstance(owner.value, Package):
            self._open.add(owner.value.file)
        elif not isinstance(owner.value, (Tensor, Torch, Static)):
            own = around is not None and dotted(owner) == around.receiver
            self._computed.append((own, name))

    def _imported_from_nowhere(self) -> Iterator[str]:
        """The names that are imported from what is not here: it may be the project by another
        path."""
        for file in self.project.ordered:
            for name in self.project.names[file].imports.values():
                if name.partition(".")[0] != "torch" and self.project.lookup(name) is None:
                    yield name.rpartition(".")[2]


def _called(function: Function) -> Function | Class:
    """What is named where a function is called: of a constructor its class."""
    owner = function.owner
    return owner if owner is not None and function.name == "__init__" else function


def _meant(value: Value | None) -> list[Node]:
    """The functions and classes of the user's that a value may be."""
    if isinstance(value, ClassValue):
        return [cls for cls in classes_of(value) if isinstance(cls, Class)]
    return [one.function for one in functions_of(value)]


def _is_other(node: Expression) -> bool:
    """Whether what has the same name is known to be something else: a method of arrays; a string
    may be what it is asked for by."""
    value = None if isinstance(node, Constant) else node.value
    if isinstance(value, Method):
        return isinstance(value.receiver, (Tensor, Torch, Static))
    known = Tensor, Torch, Static, Module, Package
    return isinstance(value, known) or bool(_meant(value))
