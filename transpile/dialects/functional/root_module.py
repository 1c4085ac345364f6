"""The module that a plain function is given to read parts of, as a method reads those of `self`.

def step(net, x):                      def step(params, net, x):
    return net.fc(x) * net.scale   →       return net.fc(params["fc"], x) * params["scale"]
step(self.block, x)                    step(params["block"], self.block, x)
"""

from collections.abc import Iterable
from typing import NamedTuple

from ...facts.modules import Modules
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Module
from ...model.effects import Mode
from ...model.expressions import Attribute, Call, Name, Starred, Subscript
from ...model.names import is_called, is_name, names_assigned
from ...model.node import Expression
from ...model.program import Class, Function
from ..sharing.placement import parameter_for
from .indirect_modules import is_given

_ASKING = frozenset("isinstance hasattr type len".split())


class Root(NamedTuple):
    """A parameter, and the class of what it is given."""

    name: str
    at: int
    cls: Class

    def given(self, call: Call) -> Expression | None:
        """The argument of a call that is the root of what it runs."""
        if self.name in call.keywords:
            return call.arguments[call.keywords.index(self.name)]
        by_place = call.arguments[: self.at + 1]
        apart = any(isinstance(a, Starred) for a in by_place) or len(by_place) <= self.at
        return None if apart or call.keywords[self.at] is not None else by_place[self.at]


class Roots:
    """Those of functions that are run, before anything is written."""

    def __init__(self, functions: Iterable[Function], modules: Modules) -> None:
        self.modules = modules
        self._found: dict[Function, Root | None] = {}
        found = list(functions)
        self._parameters = {f: list(f.parameters) for f in found}
        self._plain = {f for f in found if not f.owner and not isinstance(f.scope, Function)}
        for function in self._plain:
            self.of(function)

    def of(self, function: Function) -> Root | None:
        """The parameter of a plain function whose parts alone are read, if it is the only one."""
        if function not in self._found:
            self._found[function] = None  # while it is found out
            self._found[function] = self._of(function) if function in self._plain else None
        return self._found[function]

    def parameter(self, call: Call, argument: Expression, function: Function) -> str:
        """The name of the parameter that an argument is for, also of what is written already."""
        return parameter_for(call, argument, function, self._parameters.get(function))

    def given(self, call: Call, targets: Iterable[Function] | None) -> Expression | None:
        """The argument of a call that is the root of all the functions that it may run."""
        roots = [self._found.get(target) for target in targets or ()]
        found = [root.given(call) if root is not None else None for root in roots]
        return found[0] if found and all(one is found[0] for one in found) else None

    def is_bound(self, call: Call) -> bool:
        """Whether a module is called that was given with its params: none of the root itself."""
        around = [n for n in call.ancestors() if isinstance(n, Function)]
        root = self._found.get(around[-1]) if around else None
        return is_given(call) and not (root is not None and is_name(call.function, root.name))

    def _of(self, function: Function) -> Root | None:
        read = list[Root]()
        for at, parameter in enumerate(function.parameters):
            name = parameter.name
            uses = [n for n in function.body.walk() if isinstance(n, Name) and n.id == name]
            parts = [n for n in uses if _is_part_read(n) or self._is_handed_on(n)]
            classes = {self._class(use) for use in parts}
            if not classes - {None} or parameter.kind not in ("", "/"):
                continue
            cls = classes.pop() if len(classes) == 1 else None
            if cls is None or not all(
                use in parts or _is_asked(use) or is_called(use) for use in uses
            ):
                return None
            read.append(Root(name, at, cls))
        only = len(read) == 1 and read[0].name not in names_assigned(function.body)
        return read[0] if only else None

    def _class(self, use: Name) -> Class | None:
        value = use.value
        if not isinstance(value, Module) or value.open or len(value.refs) != 1:
            return None
        return self.modules.class_of(value.refs[0])

    def _is_handed_on(self, use: Name) -> bool:
        """Whether another function is given it to read its parts."""
        call = use.parent
        if not isinstance(call, Call) or not isinstance(call.function.value, FunctionValue):
            return False
        root = self.of(call.function.value.function)
        return root is not None and root.given(call) is use


def _is_part_read(use: Name) -> bool:
    """`net.scale`, `net[0]`"""
    around = use.parent
    item = isinstance(around, Subscript) and around.object is use
    return item or isinstance(around, (Attribute, Mode))


def _is_asked(use: Name) -> bool:
    around = use.parent
    called = around.function if isinstance(around, Call) else None
    return isinstance(called, Name) and called is not use and called.id in _ASKING
