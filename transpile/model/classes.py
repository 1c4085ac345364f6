"""Questions about classes: what they inherit from, and which methods they have."""

from collections.abc import Iterable, Iterator

from .constants import is_constant
from .expressions import Attribute, Call
from .node import Expression
from .program import Class, File, Function

Definition = Class | Function | File | Expression | str  # a dotted name is outside of the project

# what classes of layers outside begin with, and of modules
LAYERS = ("torch.nn.", "timm.layers.", "timm.models.vision_transformer.Block")
MODULES = (*LAYERS, "torch.jit.ScriptModule")

PLAIN_MODULE = frozenset(
    {"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"}
)
MODES = {"train": True, "eval": False}  # torch's methods that set the mode of a module

_ANSWERS = ("__new__", "__getattr__", "__getattribute__", "__setattr__")


class Classes:
    """The classes of a project, with their bases."""

    def __init__(self) -> None:
        self._bases: dict[Class, list[Class | str]] = {}
        self.unknown_bases: dict[Class, Expression] = {}  # `class Norm(norm)`, by what is given
        self._subclasses: dict[Class, list[Class]] = {}
        self._methods: dict[Class, dict[str, Function]] = {}
        self._assigned: dict[Class, dict[str, Expression]] = {}
        self._families: dict[Class, tuple[Class, ...]] = {}
        self._modules: dict[Class, bool] = {}
        self._orders: dict[Class, list[Class | str]] = {}

    def add_class(self, cls: Class) -> None:
        self._methods[cls] = {}
        self._assigned[cls] = {}

    def forget_classes(self) -> None:
        """Begin to link anew."""
        self._bases.clear()
        self.unknown_bases.clear()
        self._subclasses.clear()
        self._families.clear()
        self._modules.clear()
        self._orders.clear()

    def add_base(self, cls: Class, base: Definition | None) -> None:
        """Note a base of a class; one that would be its own ancestor is left out."""
        self._orders.clear()
        if isinstance(base, Class):
            if base is not cls and cls not in self.ancestors(base):
                self._bases.setdefault(cls, []).append(base)
                self._subclasses.setdefault(base, []).append(cls)
        elif isinstance(base, str):
            self._bases.setdefault(cls, []).append(base)

    def some_classes(self, classes: Iterable[Class]) -> "Classes":
        """What is known of some classes."""
        some = Classes()
        for cls in classes:
            some._bases[cls] = self._bases.get(cls, [])
            some._methods[cls], some._assigned[cls] = self._methods[cls], self._assigned[cls]
        return some

    def join_classes(self, some: "Classes") -> None:
        """Take the classes of another table."""
        self._families.clear()
        self._orders.clear()
        self._methods |= some._methods
        self._assigned |= some._assigned
        for cls, bases in some._bases.items():
            for base in bases:
                self.add_base(cls, base)

    # --- inheritance -----------------------------------------------------------------------------

    def bases(self, cls: Class) -> list[Class | str]:
        """The classes that it is made from; a dotted name for one outside of the project."""
        return self._bases.get(cls, [])

    def subclasses(self, cls: Class) -> list[Class]:
        return self._subclasses.get(cls, [])

    def ancestors(self, cls: Class) -> Iterator[Class]:
        """The user's classes it inherits from, itself first, nearest first."""
        seen: set[Class] = set()
        todo = [cls]
        while todo:
            current = todo.pop(0)
            if current not in seen:
                seen.add(current)
                yield current
                todo[0:0] = [b for b in self.bases(current) if isinstance(b, Class)]

    def descendants(self, cls: Class) -> Iterator[Class]:
        seen: set[Class] = set()
        todo = list(self.subclasses(cls))
        while todo:
            current = todo.pop(0)
            if current not in seen:
                seen.add(current)
                yield current
                todo.extend(self.subclasses(current))

    def family(self, cls: Class) -> tuple[Class, ...]:
        """Its ancestors and descendants, and what these have beside it: all that an object of it
        may be of."""
        found = self._families.get(cls)
        if found is None:
            below = list(self.descendants(cls))
            beside = (c for other in below for c in self.ancestors(other))
            known = dict.fromkeys([*self.ancestors(cls), *below, *beside])
            found = self._families[cls] = tuple(known)
        return found

    def foreign_bases(self, cls: Class) -> list[str]:
        """Dotted names of the classes outside the project that it inherits from."""
        return [b for c in self.ancestors(cls) for b in self.bases(c) if isinstance(b, str)]

    def order(self, cls: Class) -> list[Class | str]:
        """The classes in the order in which Python looks for a method: shared bases come last."""
        known = self._orders.get(cls)
        if known is not None:
            return known
        found: list[Class | str] = []

        def visit(one: Class | str) -> None:
            if one in found:
                found.remove(one)
            found.append(one)
            for base in self.bases(one) if isinstance(one, Class) else ():
                visit(base)

        visit(cls)
        self._orders[cls] = found
        return found

    # --- members ---------------------------------------------------------------------------------

    def methods(self, cls: Class) -> dict[str, Function]:
        """Its own methods by name, those below an `if` included, setters left out."""
        return self._methods.setdefault(cls, {})

    def rename_method(self, cls: Class, function: Function, name: str) -> None:
        """Give a method another name, in the text and here."""
        methods = self.methods(cls)
        kept = {name if f is function else known: f for known, f in methods.items()}
        methods.clear()
        methods.update(kept)
        function.rename(name)

    def assigned(self, cls: Class) -> dict[str, Expression]:
        """Its class attributes by name."""
        return self._assigned.setdefault(cls, {})

    def inner(self, cls: Class, name: str) -> Class | None:
        """A class that stands in the body of one, or of one above."""
        above = [c for c in self.order(cls) if isinstance(c, Class)]
        found = (s for c in above for s in c.body.body if isinstance(s, Class))
        return next((c for c in found if c.name == name), None)

    def find(self, cls: Class, method: str) -> Function | None:
        """A method, own or inherited from the user's classes."""
        found = self._first(self.order(cls), method)
        return found if isinstance(found, Function) else None

    def above(self, cls: Class, method: str, behind: object = None) -> Function | str | None:
        """What `super().method` is here: a function, or the torch layer that has it; for
        `super(Base, self)` what comes `behind` Base.

        In a mixin it is what comes next in the classes that inherit from it; None if they differ.
        """
        found, start = set(), cls
        if isinstance(behind, Class) and behind in self.order(cls):
            start = behind
        for c in (cls, *self.descendants(cls)):
            order = self.order(c)
            found.add(self._first(order[order.index(start) + 1 :], method))
        found.discard(None)
        order = self.order(cls)
        own = self._first(order[order.index(start) + 1 :], method)
        return own or (found.pop() if len(found) == 1 else None)

    def overriding(self, cls: Class, name: str) -> list[Function]:
        """The methods of a name that may run in the place of that of a class: of the classes below,
        and of the mixins that these have in front of it."""
        found: dict[Function, None] = {}
        for below in self.descendants(cls):
            order = self.order(below)
            for c in order[: order.index(cls)]:
                if isinstance(c, Class) and name in self.methods(c):
                    found[self.methods(c)[name]] = None
        return list(found)

    def _first(self, order: list[Class | str], method: str) -> Function | str | None:
        """The first class that has a method: torch's layers have a constructor and a forward."""
        for c in order:
            if isinstance(c, Class):
                if method in self.methods(c):
                    return self.methods(c)[method]
            elif method in ("__init__", "forward", "__call__") and is_layer(c):
                return c
        return None

    # --- torch -----------------------------------------------------------------------------------

    def is_module(self, cls: Class) -> bool:
        """Whether it is an nn.Module, or a mixin of one: its methods run on the module's params."""
        known = self._modules.get(cls)
        if known is None:
            known = any(map(self.extends_module, (cls, *self.descendants(cls))))
            self._modules[cls] = known
        return known

    def extends_module(self, cls: Class) -> bool:
        """Whether it is an nn.Module itself."""
        bases = self.foreign_bases(cls)
        return any(b.startswith(MODULES) for b in bases)

    def is_enum(self, cls: Class) -> bool:
        """Whether its members are objects of its own, and no numbers or strings as well."""
        return self.bases(cls) == ["enum.Enum"]

    def is_plain(self, cls: Class) -> bool:
        """Whether its objects are all that its own code makes of them: no base that is not the
        project's, no decorator, no method that answers for attributes."""
        if self.is_enum(cls):
            return True
        lineage = [c for c in self.order(cls) if isinstance(c, Class)]
        foreign = set(self.foreign_bases(cls)) - {"object", "builtins.object", "abc.ABC"}
        asked = any(name in self.methods(c) for c in lineage for name in _ANSWERS)
        return not foreign and not asked and not any(c.decorators for c in lineage)

    def is_autograd_function(self, cls: Class) -> bool:
        """Whether it has a forward and a backward of its own: a torch.autograd.Function."""
        named = self.foreign_bases(cls)
        return any(b.startswith("torch.autograd.") and b.endswith("Function") for b in named)

    def torch_base(self, cls: Class) -> str | None:
        """The torch layer that it extends, other than the plain Module."""
        return next((name for name in self.foreign_bases(cls) if is_layer(name)), None)


def is_layer(name: str) -> bool:
    """Whether a dotted name is that of a layer: of torch's, or of a library's built on it."""
    return name.startswith(LAYERS) and name not in PLAIN_MODULE


def mode_set(call: Call) -> bool | None:
    """The mode that a call sets: `net.eval()`, `net.train(False)`; None where that is computed, or
    it sets none."""
    word = call.function.name if isinstance(call.function, Attribute) else ""
    if word != "train" or not call.arguments:
        return MODES.get(word)
    return next((mode for mode in (True, False) if is_constant(call.arguments[0], mode)), None)
