"""What code does to the host besides computing: it prints, draws from Python's generators, moves
iterators on, fills lists of others."""

import functools

from ..model.expressions import Attribute, Call, Name
from ..model.names import is_own
from ..model.node import Node
from ..model.program import Class, Function, within
from ..model.project import Project
from ..model.statements import Assign, Declaration
from .values.lattice import UNKNOWN, External, Method, Module, Sequence, Tensor
from .values.lattice import Function as FunctionValue

_SPEAKING = frozenset({"builtins.print", "builtins.input", "builtins.open"})
_DRAWING = ("random.", "numpy.random.")
_CHANGES = "changes an object"
_FILLING = frozenset("append extend insert pop remove clear update setdefault add".split())


def does(node: Node) -> str | None:
    """What one call does to the host, in words; None where it only computes, as far as is known."""
    if not isinstance(node, Call):
        return None
    value = node.function.value
    if isinstance(value, External):
        if value.name in _SPEAKING:
            return f"{value.name.removeprefix('builtins.')} speaks to the world outside"
        if draws(node):
            return f"{value.name} draws from a generator of Python's"
        if value.name == "builtins.next" and not _begins(node):
            return "an iterator moves on"
    if isinstance(value, Method) and isinstance(node.function, Attribute):
        if value.name in _FILLING and not isinstance(value.receiver, Sequence):
            return f".{value.name}() {_CHANGES}"
    return None


def _begins(call: Call) -> bool:
    """`next(self.parameters())`, of a walk that begins here."""
    walk = call.arguments[0] if call.arguments else None
    value = walk.function.value if isinstance(walk, Call) else None
    return isinstance(value, Method) and isinstance(value.receiver, Module)


def draws(call: Call) -> bool:
    """Whether a call draws from a generator of Python or NumPy, rather than makes one."""
    value = call.function.value
    drawing = isinstance(value, External) and value.name.startswith(_DRAWING)
    return drawing and call.value != value


class Host:
    """What calls of the user's functions do to the host: a counter moves on."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._known: dict[Function, tuple[int, str | None]] = {}
        self._drawing: dict[Function, bool] = {}

    def does(self, node: Node) -> str | None:
        """What a call does to the host, in words, itself or by what it runs."""
        found = does(node)
        if found is not None or not isinstance(node, Call):
            return found
        value = node.function.value
        if isinstance(value, FunctionValue):
            owner = value.owner
            plain = owner is not None and not self.project.is_module(owner)
            counts = plain and value.function.name in self._counting
            return f".{value.function.name}() {_CHANGES}" if counts else self._runs(value.function)
        if isinstance(value, Method) and value.name in self._counting:
            receiver = value.receiver
            if receiver == UNKNOWN or isinstance(receiver, Tensor) and receiver.assumed:
                return f".{value.name}() {_CHANGES}"
        return None

    def draws(self, call: Call) -> bool:
        """Whether a call draws from a generator of Python or NumPy, itself or by what it runs."""
        value = call.function.value
        if not isinstance(value, FunctionValue):
            return draws(call)
        if value.function not in self._drawing:
            self._drawing[value.function] = False  # for a function that calls itself
            inner = (n for n in within([value.function.body]) if isinstance(n, Call))
            self._drawing[value.function] = any(map(self.draws, inner))
        return self._drawing[value.function]

    def _runs(self, function: Function) -> str | None:
        """What running a function does to the host."""
        known = self._known.get(function)
        if known is None or known[0] != function.version:
            self._known[function] = function.version, None  # for a function that calls itself
            found = next(filter(None, map(self.does, within([function.body]))), None)
            for declared in function.nodes(Declaration) if found is None else ():
                found = f"{function.name} changes {', '.join(declared.names)}"
            known = self._known[function] = function.version, found
        return known[1]

    @functools.cached_property
    def _counting(self) -> frozenset[str]:
        """The methods of plain classes that set what their object holds, by all their names."""
        found: set[str] = set()
        for cls in self.project.classes():
            if not self.project.is_module(cls):
                methods = self.project.methods(cls)
                own = {n for n, m in methods.items() if n != "__init__" and _sets_own(m)}
                found |= own | _other_names(cls, own)
        return frozenset(found)


def _sets_own(method: Function) -> bool:
    me = method.receiver
    return any(is_own(target, me) for assign in method.nodes(Assign) for target in assign.targets)


def _other_names(cls: Class, methods: set[str]) -> set[str]:
    """`draw = next` in the body of a class."""
    return {
        t.id
        for node in cls.body.body
        if isinstance(node, Assign)
        and isinstance(node.expression, Name)
        and node.expression.id in methods
        for t in node.targets
        if isinstance(t, Name)
    }
