"""Where the arrays of a module stand among the params: `params["blocks"]["0"]` of `self.blocks[0]`.

A name that a loop binds gets a companion, the name of the module in its container:

    for block in self.blocks:     →     for name, block in self.blocks.layers():
        x = block(x)                        x = block(params["blocks"][name], x)
"""

import itertools
from collections.abc import Callable, Iterator

from ...facts.values.lattice import Module, Value
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    ForClause,
    Name,
    Slice,
    Subscript,
)
from ...model.fresh_names import taken
from ...model.functions import is_static
from ...model.names import own_names, target_names
from ...model.node import Expression
from ...model.operators import Conditional
from ...model.program import Class, Function
from ...model.statements import Assign, For
from ...source.lower_ast import expression
from .indirect_modules import has_own_index
from .item_names import bind_name
from .list_owners import Holders
from .loop_containers import Loop, are_apart, counts, element, source
from .module_names import Bound, bindings
from .param_path import Path
from .plan import Plan

NUMBERED = ("torch.nn.ModuleList", "torch.nn.ParameterList")
NAMED = ("torch.nn.ModuleDict", "torch.nn.ParameterDict")


class Paths:
    """The paths in one function."""

    def __init__(self, function: Function, fresh: Callable[[str], str], plan: Plan) -> None:
        self.function, self.fresh, self.plan = function, fresh, plan
        around = [function]
        while isinstance(outer := around[-1].scope, Function):
            around.append(outer)
        self.whole = around[-1]  # the function that a function inside of it stands in
        self.owner = self.whole.owner
        method = self.owner is not None and not is_static(self.whole, self.owner)
        names = [p.name for p in self.whole.parameters]
        inside = {p.name for f in around[:-1] for p in f.parameters}
        own = names[0] if method and names else None
        if (root := plan.conventions.roots.of(self.whole)) is not None:
            own, self.owner = root.name, root.cls
        self.self_name = own if own not in inside else None
        self._parameters = {*names, *inside}
        self.bound = bindings(function)
        self.holders = Holders(self.whole, plan, {}).of_method(self.self_name, self.owner)
        # each, and who asked: a function inside of a loop asks for what that binds
        self._named = plan.companions.setdefault(self.whole, {})

    def of(self, node: Expression) -> Path | None:
        """The path of a module; None where it is not known from here."""
        found = self._of(node)
        if found is None and isinstance(node, (Name, Subscript)):
            return self._placed(node)
        return found

    def _placed(self, node: Expression) -> Path | None:
        """Where what is in some list of modules stands: the one that has them all is asked."""
        value = node.value
        if not isinstance(value, Module) or value.is_self or value.function:
            return None
        path = self.holders.element(node)
        if path is None or (above := self._of(expression(path))) is None:
            return None
        return above.below(Call(Support("place"), [expression(path), clone(node)]))

    def _of(self, node: Expression) -> Path | None:
        if isinstance(node, Name):
            return self._name(node)
        if isinstance(node, Attribute):
            above = self.of(node.object)
            if above is None:
                return None
            owner = self.owner if not above.keys else None
            asked = self.plan.property(owner, node.name) if owner is not None else None
            if asked is not None and asked.receiver == self.self_name:
                return self.of(asked.body.body[-1].expression)  # type: ignore[attr-defined]
            return above.below(self.plan.entry(owner, node.name, self.self_name or ""))
        if isinstance(node, Subscript):
            return self._item(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Conditional) and is_none(node.orelse):
            return self.of(node.body)
        return None

    def _name(self, node: Name) -> Path | None:
        if node.id == self.self_name:
            return Path()
        if node in self.bound:
            return self._assigned(self.bound[node])
        if (loop := self._loop(node)) is not None:
            return self._turn(loop, node.id)
        if node.id in self._parameters:
            return None
        values = list(itertools.islice(self._values(node.id), 2))
        if len(values) == 1 and values[0] is not None and not isinstance(values[0], Name):
            return self.of(values[0])
        return None

    def _assigned(self, given: Bound | None) -> Path | None:
        """The path of what an assignment binds."""
        path = self._of(given.value) if given is not None else None
        if given is not None and path is None and (given.at or self._stays(given.value)):
            path = self.of(given.value)  # else the name has a place of its own: `last = layer`
        if given is None or path is None:
            return None
        return self._taken_apart(path, given.value, given.value.value, given.at)

    def _values(self, name: str) -> Iterator[Expression | None]:
        """What a name is bound to, all over the function; None for what is no plain value."""
        for node in self.whole.body.walk():
            if isinstance(node, Assign):
                for target in node.targets:
                    if name in target_names(target):
                        plain = isinstance(target, Name)
                        yield node.expression if plain else element(name, target, node.expression)
            elif isinstance(node, (For, ForClause)) and name in target_names(node.target):
                yield None

    def _loop(self, node: Name) -> Loop | None:
        """The loop around a name that binds it."""
        for inner, around in itertools.pairwise((node, *node.ancestors())):
            if isinstance(around, Function) and inner is around.body:  # not a default of it
                if around is self.whole or node.id in own_names(around):
                    break
            if isinstance(around, For) and node.id in target_names(around.target):
                return around
            if isinstance(around, Comprehension):
                for clause in around.clauses:
                    if node.id in target_names(clause.target):
                        return clause
        return None

    def _call(self, node: Call) -> Path | None:
        function = node.function
        if not isinstance(function, Name):
            return None
        if function.id == "super":
            return Path()
        others = node.arguments[2:]  # who calls it has asked whether it is None
        if function.id == "getattr" and all(map(is_none, others)):
            above = self.of(node.arguments[0])
            return None if above is None else above.below(node.arguments[1])
        return None

    # --- items of containers ----------------------------------------------------------------------

    def _item(self, node: Subscript) -> Path | None:
        above, value = self.of(node.object), node.object.value
        if (
            above is None
            or not isinstance(value, Module)
            or has_own_index(value, self.plan.modules)
        ):
            return None
        if isinstance(node.index, Slice):
            return above  # a part has the names of the whole
        key = self.key(node, self._is_repeated(above))
        return None if key is None else above.below(key)

    def _is_repeated(self, path: Path) -> bool:
        """Whether one module may have two places in this container."""
        words = [key.constant for key in path.keys if isinstance(key, Constant)]
        return not self.plan.repeated.isdisjoint(words)

    def key(self, node: Subscript, repeated: bool = False) -> Expression | None:
        """The name of an item in its container; that of its first place in one that may have it
        several times."""
        value = node.object.value
        if not isinstance(value, Module) or isinstance(node.index, Slice):
            return None
        base = self.plan.project.torch_base
        bases = [base(ref) if isinstance(ref, Class) else ref for ref in value.refs]
        if bases and all(one in NAMED for one in bases):
            if repeated:
                return Call(Support("place"), [clone(node.object), clone(node)])
            return node.index
        return self._number(node, value, repeated)

    def _number(self, node: Subscript, value: Module, repeated: bool) -> Expression:
        """The name of what stands at a number."""
        index = node.index
        if repeated:
            return Call(Attribute(clone(node.object), "name"), [clone(index)])
        numbered = self._is_numbered(value) and not self._is_part(node.object)
        if isinstance(index, Constant) and isinstance(index.constant, int):
            if value.items is not None and -len(value.items) <= index.constant < len(value.items):
                return Constant(value.items[index.constant][0])
            if numbered and index.constant >= 0:
                return Constant(str(index.constant))
        if numbered and isinstance(index, Name) and self._counts(index):
            return Call(Name("str"), [clone(index)])
        return Call(Attribute(clone(node.object), "name"), [clone(index)])

    def _is_numbered(self, value: Module) -> bool:
        return bool(value.refs) and all(ref in NUMBERED for ref in value.refs)

    def _counts(self, index: Name) -> bool:
        """Whether a name counts turns from 0."""
        loop = self._loop(index)
        return loop is not None and counts(loop, index)

    # --- turns of loops ---------------------------------------------------------------------------

    def _turn(self, loop: Loop, name: str) -> Path | None:
        """The path of what a turn binds a name to."""
        found = source(loop.target, loop.iterable, name)
        above = self.of(found.container) if found is not None else None
        if found is None or above is None:
            return None
        word = found.word
        if word is None:
            first = (loop, found.container)
            if first not in self._named:
                self._named[first] = Name(self._word(loop)), name
            word = self._named[first][0]
        held = found.container.value
        element = held.element if isinstance(held, Module) else None
        return self._taken_apart(above.below(Name(word.id)), None, element, found.at)

    def _word(self, loop: Loop) -> str:
        """A name for the places of modules: that of loops which this one is apart from."""
        made = self._named.items()
        for word in dict.fromkeys(name.id for _, (name, _) in made):
            if all(are_apart(loop, other) for (other, _), (name, _) in made if name.id == word):
                return word
        word = self.fresh("name")
        if self.function is not self.whole:  # where it is read alone
            used = taken(self.whole).union(companion.id for companion, _ in self._named.values())
            while word in used:
                word = self.fresh("name")
        return word

    def _taken_apart(
        self, path: Path, whole: Expression | None, value: Value | None, at: tuple[int, ...]
    ) -> Path | None:
        """The path of an item, by its place in what holds it; `whole` says what that is."""
        for i in at:
            if not isinstance(value, Module):
                return None
            key: Expression
            repeated = self._is_repeated(path)
            if repeated and whole is not None and self._stays(whole):
                key, value = Call(Attribute(clone(whole), "name"), [Constant(i)]), value.element
            elif repeated:
                return None
            elif value.items is not None and i < len(value.items):
                key, value = Constant(value.items[i][0]), value.items[i][1]
            elif self._is_numbered(value) and (whole is None or not self._is_part(whole)):
                key, value = Constant(str(i)), value.element
            elif whole is not None and self._stays(whole):
                key, value = Call(Attribute(clone(whole), "name"), [Constant(i)]), value.element
            else:
                return None
            path, whole = path.below(key), None
        return path

    def _is_part(self, node: Expression) -> bool:
        """Whether a container may be a slice of one, in which names do not begin with 0."""
        if isinstance(node, Name):
            given = self.bound.get(node)
            if given is not None:
                return bool(given.at) or self._is_part(given.value)
            return self._loop(node) is None
        if isinstance(node, Subscript):
            return isinstance(node.index, Slice)
        return not isinstance(node, Attribute)

    def _stays(self, node: Expression) -> bool:
        """Whether an expression means the same all over the function."""
        for name in (n for n in node.walk() if isinstance(n, Name) and n.id != self.self_name):
            if len(list(self._values(name.id))) != 1 or self._loop(name):
                return False
        return True

    def write(self) -> None:
        """Let the loops bind the companions that were asked for."""
        for (loop, _), (companion, name) in self._named.items():
            if loop.nearest(Function) is self.function:
                bind_name(loop.target, loop.iterable, name, companion)
