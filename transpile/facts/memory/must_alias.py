"""Which piece of memory an expression is certain to be, or a view of, and what is not known of
it."""

from typing import Any

from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    NamedExpression,
    Subscript,
)
from ...model.names import is_inplace, names_assigned
from ...model.node import Expression
from ...model.operators import Binary, Conditional, Unary
from ..values import lattice
from ..values.lattice import (
    NUMPY,
    External,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    is_anything,
)
from .access_paths import of
from .call_effects import TAKING
from .flow_state import COMPUTED, read_names
from .indices import number
from .inplace_names import is_tensor
from .locations import Part, Places, closed, fresh
from .may_alias import HANDING_ON, Sharing

_OWN = frozenset("numpy math einops random itertools lambda".split())  # which keep no arrays


class Making(Sharing):
    """Which places an expression makes."""

    def made(self, value: Expression | Part) -> Places:
        if isinstance(value, Part):
            held = value.value
            unheld, foreign = self._taken_unheld(held), self._made_elsewhere(held)
            return fresh(*self.shares(value), unheld=unheld, foreign=foreign)
        if (path := self.path(value)) is not None:
            return self.places(path)
        if isinstance(value, NamedExpression):
            return self.made(value.target)
        if isinstance(value, Conditional):
            return self.made(value.body) | self.made(value.orelse)
        if self.repeats_memory(value):
            return fresh(*self.shares(value), repeated=True)
        if (written := self.written_by(value)) is not None:
            return self.made(written)  # an in-place call returns what it writes
        if (same := self.given_back(value)) is not None:
            return same
        if (base := self.view_base(value)) is not None:
            others = self._others(value, base)
            return fresh(*self.places(base), view=value, base=base, others=others)
        shared, holder = self.shares(value), self._holder_of(value)
        if holder is not None:
            others = self._others(value, holder)
            return fresh(*shared, base=holder, others=others, entry=value)
        return fresh(
            *shared,
            parts=self.gives_parts(value),
            foreign=self._made_elsewhere(value),
            computed=_computed_by(value),
        )

    def _others(self, value: Expression, base: str) -> tuple[tuple[str, Places], ...]:
        """The other names in an expression, and what they stand for now."""
        names = read_names(value) - {base, "torch", self.self_name or ""}
        return tuple((name, self.places(name)) for name in sorted(names))

    def gives_parts(self, node: Expression) -> bool:
        """Whether an expression is a tuple of different parts of a tensor: `x.chunk(2)`, or a name
        for that."""
        if (name := self.name(node)) is not None:
            place = self.only(name)
            return place is not None and place.parts
        value = of(node.function) if isinstance(node, Call) else None
        if not isinstance(value, (Method, Torch)):
            return False
        return self.views.get(value.name.rpartition(".")[2]) == "parts"

    def _taken_unheld(self, node: Expression) -> bool:
        """Whether a loop goes over what a dict holds that has no name here, and that others may
        have: `unwrap(m).state_dict().items()`."""
        if not isinstance(node, Call):
            return False
        function = of(node.function)
        if isinstance(function, External):
            handing = function.name.removeprefix("builtins.") in HANDING_ON
            return handing and any(map(self._taken_unheld, node.arguments))
        if not isinstance(node.function, Attribute):
            return False
        last, held = node.function.name, node.function.object
        if last.endswith("buffers"):
            return last in ("buffers", "named_buffers")
        if last not in ("items", "values") or self.name(held) is not None or self.shares(held):
            return False  # the write reaches what that name stands for
        if isinstance(held, Call):
            return not self._is_new(held)
        return isinstance(held, (Attribute, Subscript))

    def _made_elsewhere(self, node: Expression) -> bool:
        """Whether an expression is a call of nobody knows what, which may give what others hold."""
        if (name := self.name(node)) is not None:
            return any(p.foreign for p in self.env.get(name, ()))
        if not isinstance(node, Call):
            return False
        value = of(node.function)
        if isinstance(value, External):
            plain = value.name.removeprefix("builtins.")
            if plain in HANDING_ON:
                return any(map(self._made_elsewhere, node.arguments))
            own = plain != value.name or value.name.partition(".")[0] in _OWN
            return not own and not self.targets(node.function)
        if isinstance(value, Method):
            find = self.program.spellings.rulebook.find
            known = value.name in self.views or find("torch.Tensor." + value.name)
            unknown = is_anything(value.receiver) and not known
            return unknown and not self.targets(node.function)
        return False

    def _is_new(self, node: Call) -> bool:
        """Whether a call makes a dict of its own, as far as can be said: of the user's functions
        only those that give back a fresh one."""
        value = of(node.function)
        if isinstance(value, lattice.Function):
            passed = self.passes(self.functions_called(node)[0])
            made = of(node)
            shared = passed.parameters | passed.free | passed.left
            return isinstance(made, Mapping) and not shared
        if isinstance(value, (Torch, Module)) or self.name(node.function) is not None:
            return True  # `model(x)`: outputs
        plain = value.name.removeprefix("builtins.") if isinstance(value, External) else "vars"
        return plain not in ("vars", "getattr")

    def _holder_of(self, node: Expression) -> str | None:
        """The name of the dict, list or plain object that an expression takes something out of."""
        if isinstance(node, Subscript):
            held = of(node.object)
            one = not (isinstance(node.index, Display) and node.index.kind == "tuple")
            listed = isinstance(held, Sequence) and not held.tuple
            return self.name(node.object) if one and (isinstance(held, Mapping) or listed) else None
        if isinstance(node, Call):
            taken = isinstance(node.function, Attribute) and node.function.name in TAKING
            if taken and isinstance(of(node.function.object), Mapping):  # type: ignore[attr-defined]
                return self.name(node.function.object)  # type: ignore[attr-defined]
            return COMPUTED if self.is_computed(node) else None
        kept = isinstance(node, Attribute) and self.is_kept(node)
        return self.name(node.object) if kept and isinstance(node, Attribute) else None

    def repeats_memory(self, node: Expression) -> bool:
        """Whether an expression is a list that may have one tensor, or one list, in two places."""
        if isinstance(node, Binary) and node.operator == "*":
            sides = (node.left, node.right)
            held = [e for s in sides if isinstance(s, Display) for e in s.elements]
            if any(number(s) == 1 for s in sides):
                return False
            return any(not isinstance(of(e), Static) or of(e) == NUMPY for e in held)
        if isinstance(node, Call):
            if self.makes_object(node.function):
                return self._overlap(node.arguments)
            known = isinstance(of(node.function), (Torch, Method))
            return not known and any(self.passes(t).repeated for t in self.functions_called(node))
        if isinstance(node, Comprehension):
            if node.kind != "list" or not isinstance(of(node.element), Tensor):
                return False
            bound = {n for clause in node.clauses for n in names_assigned(clause)}
            bound |= set().union(*(read_names(c.target) for c in node.clauses))
            return self.name(node.element) is not None and not read_names(node.element) & bound
        if isinstance(node, Dictionary):
            return self._overlap([value for _, value in node.pairs])
        return isinstance(node, Display) and self._overlap(node.elements)

    def _overlap(self, values: list[Expression]) -> bool:
        """Whether two of several expressions may be the same memory."""
        held = [closed(self.shares(value)) for value in values]
        return any(a & b for i, a in enumerate(held) for b in held[:i])

    def written_by(self, node: Any) -> Expression | None:
        """What an in-place call is certain to write, and to give back: `x.add_(1)`."""
        if not isinstance(node, Call):
            return None
        value, spellings = of(node.function), self.program.spellings
        if isinstance(value, Method) and isinstance(node.function, Attribute):
            return node.function.object if is_inplace(value.name) else None
        if isinstance(value, Torch):
            out = node.keyword("out")
            if out is not None:
                return out if is_tensor(out) else None
            told = spellings.says_inplace(node) and not spellings.is_undecided(node)
            in_place = is_inplace(value.name) or told
            return node.arguments[0] if in_place and node.arguments else None
        if isinstance(value, Module):
            certain = value.inplace is True and len(value.classes) <= 1
            return node.arguments[0] if certain and len(node.arguments) == 1 else None
        handed = spellings.is_handed(node) and spellings.says_inplace(node)
        return node.arguments[0] if handed else None


def _computed_by(node: Expression) -> lattice.Value | None:
    made = of(node)
    return made if isinstance(node, (Binary, Unary)) and is_anything(made) else None


def is_flag(node: Expression) -> bool:
    """True, False or None as it is written, which `flag |= other` binds anew."""
    return isinstance(node, Constant) and node.constant in (True, False, None)
