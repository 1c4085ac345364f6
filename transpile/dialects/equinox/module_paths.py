"""Where the modules stand that a function changes, and how a new one gets there.

`self.net` is an attribute that is set, `self.net[0].conv` a part of one, `m` a name of the
function's own, and `last = self.fc` another name for a place.
"""

from __future__ import annotations

from collections.abc import Callable

from ...model.copy import clone
from ...model.effects import Support, Write
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Lambda,
    Name,
    Starred,
    Subscript,
)
from ...model.functions import is_static
from ...model.names import (
    bound_name,
    dotted,
    everywhere,
    is_called,
    is_name,
    is_own,
    is_target,
    names_in,
    root,
    target_names,
)
from ...model.node import Expression, Node, Statement
from ...model.operators import Compare
from ...model.program import Function, Parameter
from ...model.statements import Assign, ExpressionStatement, For, Return
from ...model.unpacking import pairs
from ..threading.evaluation_order import CHANGING
from .fresh_modules import is_made, is_new
from .list_places import is_added, place_in_list

_ASKING = frozenset("isinstance issubclass hasattr getattr type len print id repr str".split())


class Unplaced(Exception):
    """A change for which there is no place to put what is new."""


class Places:
    """The places of one function. `own`: the names whose modules are the function's to give."""

    def __init__(
        self,
        function: Function,
        building: bool,
        changed: str | None = None,
        gives_back: Callable[[Call, Name], bool] = lambda call, name: False,
    ) -> None:
        self.function, self.gives_back = function, gives_back
        names = [p.name for p in function.parameters]
        owner = function.owner
        bound = owner is not None and not is_static(function, owner)
        self.self_name = names[0] if bound and names else None
        self.building = building
        outer, calls = self._calls() if owner is None else (None, [])
        if outer is not None and outer.owner is not None and calls and outer.receiver not in names:
            self.self_name = outer.receiver or None
        self.own = {changed} if changed is not None else set[str]()
        if function.name == "__init__":
            self.own |= set(names[1:])
        self._parameters = set(names)
        self.around = set[str]()  # names of the function around this one, which are bound anew
        self._bound: dict[str, list[Expression | None]] = {}
        for node in function.body.walk():
            if isinstance(node, Assign):
                for target in node.targets:
                    apart = pairs(target, node.expression) if node.expression is not None else ()
                    whole: dict[str | None, Expression | None]
                    whole = {dotted(t): v for t, v in apart if v is not node.expression}
                    whole[dotted(target)] = node.expression
                    for name in target_names(target):
                        self._bound.setdefault(name, []).append(whole.get(name))
            elif isinstance(node, For):
                for name in target_names(node.target):
                    self._bound.setdefault(name, []).append(None)

    # --- questions --------------------------------------------------------------------------------

    def has(self, node: Expression) -> bool:
        """Whether there is a place for what is new: not in a module that has been built."""
        name = root(node)
        if name is None:
            return False
        if name.id == self.self_name:
            return self.building
        if name.id in self.own:
            return True
        if name.id in self._parameters:
            return False
        self._alias(name.id, node)
        resolved = root(self._resolved(node))
        assert resolved is not None
        return resolved.id != self.self_name or self.building

    def stands_for(self, node: Expression) -> Expression | None:
        """The one value that a name of the function's has."""
        values = self._bound.get(node.id, []) if isinstance(node, Name) else []
        return values[0] if len(values) == 1 else None

    def is_own_attribute(self, target: Expression) -> bool:
        """`self.bias`"""
        return is_own(target, self.self_name)

    def changes_self(self, body: Node) -> bool:
        """Whether something is set on self, or put in what it holds: a walk would undo that."""
        for node in body.walk():
            targets = node.targets if isinstance(node, Assign) else []
            if isinstance(node, Write):
                targets = [node.target]
            if isinstance(node, Call) and isinstance(node.function, Attribute):
                targets = [node.function.object] if node.function.name in CHANGING else []
            for target in targets:
                name = root(target)
                if name is not None and name.id == self.self_name:
                    return True
        return False

    # --- other names for places -------------------------------------------------------------------

    def _alias(self, name: str, at: Node) -> Expression | None:
        """What else a name stands for: `self.fc` after `last = self.fc`."""
        if name in self.own or name == self.self_name or name in self._parameters:
            return None
        values = self._bound.get(name, [])
        if not values and self._is_around(name):
            self.around.add(name)
            return None
        if not values:
            raise Unplaced("a module is changed that the function does not own")
        paths = [v for v in values if isinstance(v, (Name, Attribute, Subscript))]
        if paths and len(values) == 1:
            return paths[0]
        if paths or not all(v is not None and is_new(v, self._is_only_here) for v in values):
            raise Unplaced("a module is changed of which it is not known where it stands")
        return self._given_to(name, at)

    def _is_only_here(self, name: Name) -> bool:
        """Whether what a name stands for was made, and is handed on at this place alone."""
        values, named = self._bound.get(name.id, []), self.function.body.walk()
        uses = [n for n in named if isinstance(n, Name) and n.id == name.id]
        alone = [n for n in uses if self._is_handed_on(n)] == [name]
        return alone and all(v is not None and is_made(v) for v in values)

    def _is_around(self, name: str) -> bool:
        """Whether a name is of the function around this one, which alone calls it, and keeps what
        the name stands for until then: `def add(n): net.append(nn.Linear(n, n))`."""
        outer, calls = self._calls()
        if outer is None or not calls:
            return False
        places = Places(outer, self.building)
        return name in places._bound and places._alias(name, calls[-1]) is None

    def _calls(self) -> tuple[Function | None, list[Name]]:
        """The function around this one, and the names by which it calls it, if it alone does and
        does nothing else with it."""
        outer = self.function.nearest(Function) if self.building else None
        if outer is None:
            return None, []
        asked = [n for n in everywhere(outer, Name) if n.id == self.function.name]
        calls = [n for n in outer.nodes(Name) if n in asked and is_called(n)]
        return outer, calls if len(calls) == len(asked) else []

    def _given_to(self, name: str, at: Node) -> Expression | None:
        """Where a module has been put before it is changed: `self.fc = fc`, `fcs.append(fc)`."""
        found: Expression | None = None
        for node in self.function.body.walk():
            if node is at:
                break
            if (
                isinstance(node, Assign)
                and node.start >= 0
                and name in [n for t in node.targets for n in target_names(t)]
            ):
                anew = bound_name(node) == name and name in names_in(node.expression or node)
                found = found if anew else None
            if not isinstance(node, Name) or node.id != name or not self._is_handed_on(node):
                continue
            around = node.parent
            target = around.targets[0] if isinstance(around, Assign) else None
            anew = bound_name(next(n for n in node.ancestors() if isinstance(n, Statement))) == name
            if anew and found is None:
                continue  # `layers = nn.Sequential(*layers)`: it is a name for what is new
            own = target if isinstance(target, Attribute) else None
            place = own or place_in_list(node, at, self.function)
            if found is not None or place is None:
                raise Unplaced("a module is changed after it has been handed on")
            found = place
        return found

    def _is_handed_on(self, name: Name) -> bool:
        """Whether somebody else has a module after this: it is kept, or given to a call."""
        node: Expression = name
        while isinstance(node.parent, (Starred, Subscript)):
            node = node.parent  # `first = modules[0]`, `nn.Sequential(*modules)`
        around = node.parent
        if is_added(around, node):
            return True
        if around is None or around.start < 0:
            return False  # it was made here
        if isinstance(around, Assign):
            return around.expression is node
        if isinstance(around, (Display, Return)):
            return not isinstance(around, Display) or not is_target(around)
        if not isinstance(around, Call) or around.function is node:
            return False
        if self.gives_back(around, name):
            return False
        return not isinstance(around.function, Name) or around.function.id not in _ASKING

    def _resolved(self, node: Expression, at: Node | None = None) -> Expression:
        """A path with the place that its first name stands for."""
        at = node if at is None else at
        name = root(node)
        alias = self._alias(name.id, at) if name is not None else None
        if alias is None:
            return clone(node)
        return self._resolved(_from(node, name, clone(alias)), at)  # type: ignore[arg-type]

    # --- what is new ------------------------------------------------------------------------------

    def store(self, place: Expression, value: Expression, none: bool = False) -> list[Statement]:
        """The statements that put a value in a place. `none`: there may be None."""
        name, target = root(place), self._resolved(place)
        alias = self._alias(name.id, place) if name is not None else None
        again = name is not None and alias is not None and self._is_read_after(name.id, place)
        made = [self._set(target, value, none)]  # which takes the place, where that is given on
        if again and name is not None and alias is not None:
            made.append(Assign([Name(name.id)], clone(alias)))
        return made

    def _is_read_after(self, name: str, place: Expression) -> bool:
        statement = (
            next(n for n in place.ancestors() if isinstance(n, Statement)) if place.parent else None
        )
        if statement is None or any(isinstance(n, For) for n in statement.ancestors()):
            return True
        inside, seen = {n for n in statement.walk()}, False
        for node in self.function.body.walk():
            seen = seen or node in inside
            if seen and node not in inside and isinstance(node, Name) and node.id == name:
                return True
        return False

    def _set(self, target: Expression, value: Expression, none: bool) -> Statement:
        if is_name(target, self.self_name):
            return ExpressionStatement(Call(Support("assign_fields"), [target, value]))
        base = self._base(target)
        if base is target:
            plain = (
                Attribute(target.object, target.name) if isinstance(target, Attribute) else target
            )
            return Assign([plain], value)  # a read of what is held there is no target
        where = Lambda([Parameter("m")], _from(target, base, Name("m")))
        call = Call(Attribute(Name("eqx"), "tree_at"), [where, clone(base), value])
        if none:
            is_none = Lambda([Parameter("x")], Compare([Name("x"), Constant(None)], ["is"]))
            call.append(is_none, "is_leaf")
        return Assign([clone(base)], call)

    def _base(self, target: Expression) -> Expression:
        """What is replaced as a whole: `self.fc` of `self.fc.bias`, `fc` of `fc.bias`."""
        node = target
        while isinstance(node, (Attribute, Subscript)) and not is_name(node.object, self.self_name):
            node = node.object
        return node


def _from(node: Expression, base: Expression, root: Expression) -> Expression:
    """The way from a base to a node, from another root: `m.bias` for `self.fc.bias`."""
    if node is base:
        return root
    if isinstance(node, Attribute):
        return Attribute(_from(node.object, base, root), node.name)
    assert isinstance(node, Subscript)
    return Subscript(_from(node.object, base, root), clone(node.index))
