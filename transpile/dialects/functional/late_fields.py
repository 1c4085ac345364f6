"""What may be another thing by the time that `init` runs, when the whole model has been built.

self.gain = 2.; self.w = Parameter(full(3, self.gain)); self.gain = 5.     a field that is set again
self.a = A(); self.a.v = 4.                                                one that others set
self.dims.append(4); self.config["n"] = 2                                  one that grows
"""

from collections import Counter
from collections.abc import Iterator

from ...facts.modules import Modules
from ...facts.values.lattice import Module
from ...model.effects import Apply
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted, is_called, statements
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign

_GROWING = frozenset("append insert extend update pop remove clear setdefault add".split())


class Unsettled:
    """The fields of a project that change, as it was before anything was edited."""

    def __init__(self, project: Project, modules: Modules) -> None:
        self.project, self.modules = project, modules
        self.grown: set[str] = set()  # lists and dicts that are written
        self._outside: set[str] = set()
        for function in project.functions():
            self._look(function)
        self._again: dict[Class, set[str]] = {}

    def _look(self, function: Function) -> None:
        me = self.project.self_name(function)
        for assign in function.nodes(Assign):
            for target in (t for whole in assign.targets for t in whole.walk()):
                if isinstance(target, Subscript) and isinstance(target.object, Attribute):
                    self._grows(target.object)
                elif type(target) is Attribute and dotted(target.object) != me:
                    self._outside.add(target.name)
        for call in function.nodes(Apply, Call):
            word = call.function
            if isinstance(word, Attribute) and word.name in _GROWING:
                if isinstance(word.object, Attribute):
                    self._grows(word.object)

    def _grows(self, held: Attribute) -> None:
        if not isinstance(held.value, Module):
            self.grown.add(held.name)

    def of(self, cls: Class | None) -> set[str]:
        """The fields that are set more than once, by the class or others, or that grow."""
        if cls is None:
            return self._outside | self.grown
        if cls not in self._again:
            found = Counter(self._set(cls))
            again = {name for name, n in found.items() if n > 1}
            self._again[cls] = again | self._outside | self.grown
        return self._again[cls]

    def is_settled(self, name: str) -> bool:
        """Whether nobody but the class itself changes a field of this name."""
        return name not in self._outside | self.grown

    def is_others(self, read: Attribute) -> bool:
        """Whether it is a field of another object that changes: `config.n`."""
        if self.is_settled(read.name) or not isinstance(read.object, Name):
            return False
        called = is_called(read)
        return not called and not isinstance(read.value, Module)

    def _set(self, cls: Class) -> Iterator[str]:
        """The names, once for each statement of a method's body that sets them."""
        home = self.modules.home(cls)
        for one in {*self.modules.lineage(cls), *home.descendants(cls)}:
            own = self.modules.home(one)
            yield from own.assigned(one)
            for method in own.methods(one).values():
                for statement in method.body.body:
                    assigns = (n for n in statements(statement) if isinstance(n, Assign))
                    targets = (t for a in assigns for t in a.targets)
                    yield from {t.name for t in targets if isinstance(t, Attribute)}

    def reach(self, read: Expression) -> Expression:
        """What is asked of a list, a dict or an object that changes: `dims[0]` of `self.dims[0]`,
        `len(self.dims)`."""
        while True:
            around = read.parent
            taken = isinstance(around, (Attribute, Subscript)) and around.object is read
            called = isinstance(around, Call) and around.function is read
            counted = isinstance(around, Call) and dotted(around.function) in ("len", "tuple")
            if not taken and not called and not (counted and not isinstance(read, Name)):
                return read
            assert isinstance(around, Expression)
            read = around
