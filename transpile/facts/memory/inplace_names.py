"""How torch says that a call writes in place: a name that ends in an underscore, `inplace=True`,
`out=`, a layer that was made to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...model.constants import is_constant, is_none
from ...model.effects import Read
from ...model.expressions import Attribute, Call, Name, Starred
from ...model.names import is_inplace
from ...model.node import Expression
from ...model.rulebook import Rulebook
from ..values.lattice import (
    FUNCTION,
    INITIALISER,
    UNKNOWN,
    Mapping,
    Method,
    Module,
    Sequence,
    Tensor,
    Torch,
    Value,
)
from .access_paths import of


@dataclass(frozen=True)
class Written:
    """A call that writes in place, and the expression that it writes."""

    form: str  # "method" `x.add_(y)`, "out", "function" `F.relu_(x)`, "module" `self.relu(x)`
    subject: Expression


class Spellings:
    """What the rules know of names of torch's that write, or give views."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.begins_in_place: Callable[[], bool] = lambda: True  # whether any Sequential does
        self.views: dict[str, str] = rulebook.table("VIEWS")
        self.keeping = frozenset(rulebook.table("KEEPING"))
        self.reshaping: dict[str, str] = rulebook.table("RESHAPING")
        self.last = frozenset(rulebook.table("INPLACE_LAST"))
        self.updates: dict[str, tuple[str, ...]] = rulebook.table("UPDATES")
        self.updates_if: dict[str, str] = rulebook.table("UPDATES_IF")

    # --- what a call writes ----------------------------------------------------------------------

    def written(self, node: Any) -> Written | None:
        """What a call of torch's writes in place; None where it writes nothing."""
        value = of(node.function) if isinstance(node, Call) else None
        if isinstance(value, Method) and isinstance(node.function, Attribute):
            return self._method(node, value)
        if isinstance(value, Torch):
            return self._function(node, value)
        if value == INITIALISER:
            first = first_argument(node)
            return Written("function", first) if first is not None else None
        if isinstance(value, Module) and node.arguments and self.gives_back(value):
            subject = node.arguments[0]
            return Written("module", subject) if is_tensor(subject) else None
        if isinstance(node, Call) and self.is_handed(node) and self.says_inplace(node):
            return Written("function", node.arguments[0])
        return None

    def _method(self, node: Call, value: Method) -> Written | None:
        assert isinstance(node.function, Attribute)
        receiver = value.receiver
        known = isinstance(receiver, (Tensor, Method)) or receiver == UNKNOWN
        if not is_inplace(value.name) or not (known or isinstance(node.function.object, Read)):
            return None
        if self.views.get(value.name) == "same" or not self.is_known_method(value.name):
            return None
        chained = self.written(node.function.object)  # x.mul_(a).add_(b)
        return Written("method", chained.subject if chained is not None else node.function.object)

    def _function(self, node: Call, value: Torch) -> Written | None:
        out = node.keyword("out")
        if out is not None and not is_none(out):
            return Written("out", out)
        in_place = is_inplace(value.name) or self.says_inplace(node)
        if in_place or self.is_old_spelling(value.name):
            first = first_argument(node)
            return Written("function", first) if first is not None else None
        return None

    def is_known_method(self, name: str) -> bool:
        """Whether there is a rule for an in-place method, or for the one without underscore."""
        find = self.rulebook.find
        return bool(find("torch.Tensor." + name) or find("torch.Tensor." + name[:-1]))

    def is_old_spelling(self, name: str) -> bool:
        """`nn.init.normal`, the old name of `nn.init.normal_`: one rule has both."""
        found = self.rulebook.find(name)
        return bool(found) and f"{name}_" in found[0].torch_names

    # --- flags -----------------------------------------------------------------------------------

    def flag_argument(self, call: Call) -> Expression | None:
        """What says whether a call writes its first argument: True of `inplace=True`, or the last
        of `F.relu6(x, self.inplace)`."""
        named = call.keyword("inplace")
        value = of(call.function)
        if named is not None or not isinstance(value, Torch) or value.name not in self.last:
            return named
        found = self.rulebook.find(value.name)
        limit = len(call.arguments)
        if found:
            limit = sum(1 for p in found[0].parameters if p.kind == "positional")
        plain = [
            a
            for w, a in zip(call.keywords, call.arguments)
            if w is None and not isinstance(a, Starred)
        ]
        return plain[limit] if len(plain) > limit else None

    def says_inplace(self, call: Call) -> bool:
        """`F.relu(x, inplace=True)`; anything but a literal False counts as True."""
        told = self.flag_argument(call)
        return told is not None and not is_constant(told, False)

    def is_handed(self, call: Call) -> bool:
        """Whether only the run tells which function is given `inplace`: `self.act(x, inplace=True)`
        of a table of torch's, which take none here."""
        value = of(call.function)
        unknown = value in (UNKNOWN, FUNCTION, Tensor(assumed=True))
        unknown = unknown or isinstance(value, Module) and value.open and not value.classes
        if not unknown or len(call.arguments) < 2 or not is_tensor(call.arguments[0]):
            return False
        told = self.flag_argument(call)
        return any(a is told for a in call.arguments[1:])

    def is_undecided(self, node: Any) -> bool:
        """Whether only the run tells if a call writes its argument: `F.relu(x, inplace=flag)`, a
        layer that may be of either kind."""
        if not isinstance(node, Call):
            return False
        value, told = of(node.function), self.flag_argument(node)
        neither = told is not None and not any(is_constant(told, c) for c in (True, False))
        if isinstance(value, Module):
            either = value.inplace is None and len(value.classes) == 1
            return either or self.is_handed(node) and neither
        return neither

    def flag(self, node: Any) -> Name | Attribute | None:
        """What tells the run if a call of a function writes its argument: `self.inplace`."""
        if not isinstance(node, Call) or isinstance(of(node.function), Module):
            return None
        told = self.flag_argument(node)
        named = isinstance(told, (Name, Attribute)) and self.is_undecided(node)
        return told if named else None  # type: ignore[return-value]

    # --- layers ----------------------------------------------------------------------------------

    def gives_back(self, value: Module) -> bool:
        """Whether a submodule that writes its argument returns it: an in-place activation, or a
        Sequential of nothing else."""
        if value.items:
            inner = [item for _, item in value.items]
            all_back = all(isinstance(i, Module) and self.gives_back(i) for i in inner)
            return self.module_writes(value) is not False and all_back
        return value.inplace is True or value.inplace is None and len(value.classes) == 1

    def module_writes(self, value: Value) -> bool | None:
        """Whether a submodule writes its argument: an in-place activation, or a Sequential that
        begins with one. None where only some that it may be do."""
        if not isinstance(value, Module):
            return False
        if value.items is None and value.inplace is not False:
            return value.inplace
        if not is_sequential(value):
            return False
        for _, item in value.items or ():
            if not self.passes_on(item):
                return self.module_writes(item)
        if value.items is None and not self.begins_in_place():
            return False
        inner = value.element if value.items is None else None
        return None if inner is not None and self.module_writes(inner) is not False else False

    def begins(self, node: Any) -> Expression | None:
        """The argument that a Sequential is certain to write, and does not give back."""
        value = of(node.function) if isinstance(node, Call) else None
        if not isinstance(value, Module) or not node.arguments or self.gives_back(value):
            return None
        return node.arguments[0] if self.module_writes(value) else None

    def leading(self, value: Module) -> int:
        """How many layers a Sequential begins with that write their argument, or are Identity
        before one that does; 0 where the first is a Sequential itself."""
        count = 0
        for i, (_, item) in enumerate(value.items or ()):
            if not isinstance(item, Module) or item.items:
                break
            if item.inplace:
                count = i + 1
            elif any(str(ref).rpartition(".")[2] != "Identity" for ref in item.classes):
                break
        return count

    def passes_on(self, value: Value) -> bool:
        """Whether a layer returns its argument as it is, or a view of it."""
        if not isinstance(value, Module) or value.inplace is not False:
            return False
        kinds = {r.rpartition(".")[2] for r in value.classes if isinstance(r, str)}
        viewing = "Identity", "Flatten", "Unflatten"
        return bool(kinds) and all(
            self.views.get(k.lower()) == "same" or k in viewing for k in kinds
        )

    # --- shapes ----------------------------------------------------------------------------------

    def reshapes(self, node: Any) -> str | None:
        """What a call in place does to its tensor where it changes the shape alone,
        `x.unsqueeze_(0)`: "shape", or "memory" where the order in memory counts; "elements" where a
        call in a chain of such does more, `x.unsqueeze_(0).add_(1)`. None of other calls."""
        found = set()
        while isinstance(node, Call) and isinstance(node.function, Attribute):
            if is_inplace(node.function.name):
                found.add(self.reshaping.get(node.function.name, "elements"))
            node = node.function.object
        return min(found) if found - {"elements"} else None


def is_sequential(value: Module) -> bool:
    """Whether a module may be a Sequential, which calls what it holds in order."""
    return any(isinstance(ref, str) and ref.endswith(".Sequential") for ref in value.classes)


def is_tensor(node: Expression) -> bool:
    held = isinstance(node, Read) and not isinstance(of(node), (Mapping, Sequence))
    return held or isinstance(of(node), Tensor)


def first_argument(call: Call) -> Expression | None:
    """What a function of torch's computes with first: by place, or as `input` or `tensor`."""
    for word, argument in zip(call.keywords, call.arguments):
        if (word is None or word in ("tensor", "input")) and not isinstance(argument, Starred):
            return argument
    return None
