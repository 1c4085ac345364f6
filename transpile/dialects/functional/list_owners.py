"""The module that holds what is in a list of modules, whatever was done to the list.

flows = self.flows[::2] + [self.flows[1]]   flows = …
for flow in flows:                      →  for flow in flows:
    x = flow(x)                             x = flow(params["flows"][nn.place(self.flows, flow)], x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ...facts.values.lattice import Module
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    ForClause,
    Lambda,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import dotted, target_names
from ...model.node import Expression, Node
from ...model.operators import Binary, Conditional
from ...model.program import Class, Function
from ...model.statements import Assign, For, Return
from .loop_containers import ZIPS
from .plan import Plan

LISTS = frozenset(("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict"))
_SAME = frozenset(("list", "tuple", "reversed", "iter", "sorted"))  # give what they are given
_COUNTING = frozenset("len zip enumerate range any all".split()) | _SAME

_SELF_MADE = ""  # `flows = flows[1:]` has what it had before
_ITSELF = "itself"  # the same, handed to a function


class Holders:
    """What is known of the lists of one function; `given`: the holders of what it is given lists
    of, by its parameters; `calling`: the functions that are asked what they choose."""

    def __init__(
        self,
        function: Function,
        plan: Plan,
        given: Mapping[str, str | None],
        calling: frozenset[Function] = frozenset(),
    ) -> None:
        self.function, self.plan, self.given, self.calling = function, plan, given, calling
        self.me: str | None = None
        self.owner: Class | None = None
        self._asked: set[tuple[str, Node]] = set()
        self._known: dict[tuple[str, Node], str | None] = {}

    def of_method(self, me: str | None, owner: Class | None) -> Holders:
        """Those of a method, which has a module itself."""
        self.me, self.owner = me, owner
        return self

    def element(self, node: Expression) -> str | None:
        """The path of the module that holds a module, as a part of its own."""
        return self._solved("element", node, self._element)

    def listed(self, node: Expression) -> str | None:
        """The path of the module that holds all the modules of a list."""
        return self._solved("list", node, self._listed)

    def _solved(
        self, kind: str, node: Expression, ask: Callable[[Expression], str | None]
    ) -> str | None:
        key = kind, node
        if key in self._known:
            return self._known[key]
        if key in self._asked:
            return _SELF_MADE
        self._asked.add(key)
        found = ask(node)
        self._asked.discard(key)
        if not self._asked:  # what was found on the way depends on what was being asked
            self._known[key] = found = found or None
        return found

    def _element(self, node: Expression) -> str | None:
        if isinstance(node, Attribute):
            path = dotted(node)
            own = path is not None and self.me is not None and path.startswith(f"{self.me}.")
            return path.rpartition(".")[0] if own and isinstance(node.value, Module) else None  # type: ignore[union-attr]
        if isinstance(node, Subscript) and not isinstance(node.index, Slice):
            return self.listed(node.object)
        if isinstance(node, Conditional):
            return _same([self.element(node.body), self.element(node.orelse)])
        if isinstance(node, Name):
            return self._name(node, self._element_bound)
        return None

    def _listed(self, node: Expression) -> str | None:
        if isinstance(node, Name):
            return _same([self._name(node, self._list_bound), *self._added(node)])
        if isinstance(node, Attribute):
            return self._attribute(node)
        if isinstance(node, Subscript):
            return self.listed(node.object) if isinstance(node.index, Slice) else None
        if isinstance(node, Conditional):
            return _same([self.listed(node.body), self.listed(node.orelse)])
        if isinstance(node, Binary):
            both = [self.listed(node.left), self.listed(node.right)]
            return _same(both) if node.operator == "+" else None
        if isinstance(node, Display):
            return _same(map(self._part, node.elements))
        if isinstance(node, Dictionary):
            same = [self.listed(v) if k is None else self.element(v) for k, v in node.pairs]
            return _same(same)
        if isinstance(node, Comprehension):
            return self.element(node.element)
        return self._call(node) if isinstance(node, Call) else None

    def _part(self, node: Expression) -> str | None:
        return self.listed(node.expression) if isinstance(node, Starred) else self.element(node)

    def _attribute(self, node: Attribute) -> str | None:
        path, value = dotted(node), node.value
        if path is None or self.me is None or not path.startswith(f"{self.me}."):
            return None
        if isinstance(value, Module):
            return path if not value.open and value.refs and LISTS.issuperset(value.refs) else None
        name = path.partition(".")[2]
        return self.plan.holder_of_list(self.owner, name, self.me)

    def _call(self, node: Call) -> str | None:
        word = node.function
        if isinstance(word, Name) and word.id in _SAME and node.arguments:
            return self.listed(node.arguments[0])
        if isinstance(word, Attribute) and word.name in ("values", "children"):
            if isinstance(word.object.value, Module):
                path = dotted(word.object)
                own = path is not None and self.me is not None
                return path if own and f"{path}.".startswith(f"{self.me}.") else None
            return self.listed(word.object)
        return self.chosen(node)

    # --- names ------------------------------------------------------------------------------------

    def _name(self, node: Name, bound: Callable[[Expression, Node, str], str | None]) -> str | None:
        binders = list(self._binders(node))
        found = [bound(target, value, node.id) for target, value in binders]
        if node.id in {p.name for p in self.function.parameters}:
            found.append(self.given.get(node.id))
        return _same(found)

    def _binders(self, node: Name) -> Iterator[tuple[Expression, Node]]:
        """The targets that bind a name, with what they are given; a loop's is what it goes over."""
        for around in node.ancestors():
            if isinstance(around, Comprehension):
                for clause in around.clauses:
                    if node.id in target_names(clause.target):
                        yield clause.target, clause
                        return
            if isinstance(around, For) and node.id in target_names(around.target):
                if not any(True for _ in _bound_in(around.body, node.id)):
                    yield around.target, around
                    return
            if isinstance(around, (Function, Lambda)):
                if node.id in {p.name for p in around.parameters}:
                    return
                found = (
                    list(_bound_in(around.body, node.id)) if isinstance(around, Function) else []
                )
                yield from found
                if found or around is self.function and isinstance(around, Function):
                    return

    def _element_bound(self, target: Expression, value: Node, name: str) -> str | None:
        if isinstance(value, (For, ForClause)):
            return self._turn(target, value.iterable, name)
        assert isinstance(value, Expression)
        if isinstance(target, Name):
            return self.element(value)
        if isinstance(target, Display) and isinstance(value, Display):
            pairs = list(zip(target.elements, value.elements))
            if len(target.elements) == len(value.elements):
                inside = [(t, v) for t, v in pairs if name in target_names(t)]
                return _same(self._element_bound(t, v, name) for t, v in inside)
        if isinstance(target, Display) and all(isinstance(t, Name) for t in target.elements):
            return self.listed(value)  # `first, second = self.layers`
        return None

    def _list_bound(self, target: Expression, value: Node, name: str) -> str | None:
        if isinstance(value, (For, ForClause)):  # over lists
            over = value.iterable
            if isinstance(target, Name) and isinstance(over, Display) and over.elements:
                return _same(map(self.listed, over.elements))
            return None
        assert isinstance(value, Expression)
        return self.listed(value) if isinstance(target, Name) else None

    def _turn(self, target: Expression, over: Expression, name: str) -> str | None:
        """The holder of what a loop binds a name to."""
        if isinstance(target, Name):
            return self.listed(over)
        parts = target.elements if isinstance(target, Display) else []
        at = next((i for i, part in enumerate(parts) if name in target_names(part)), None)
        if at is None:
            return None
        if isinstance(over, Display):
            rows = [e.elements for e in over.elements if isinstance(e, Display)]
            if len(rows) == len(over.elements) and all(len(row) == len(parts) for row in rows):
                return _same(self._element_bound(parts[at], row[at], name) for row in rows)
        if not isinstance(over, Call):
            return None
        if isinstance(over.function, Attribute) and over.function.name in (
            "items",
            "named_children",
        ):
            words = Call(Attribute(clone(over.function.object), "values"), [])
            return self._call(words) if at == 1 and len(parts) == 2 else None
        kind = over.function.id if isinstance(over.function, Name) else ""
        if kind == "enumerate" and at == 1 and over.arguments:
            return self._turn(parts[1], over.arguments[0], name)
        if kind in ZIPS and len(parts) == len(over.arguments):
            return self._turn(parts[at], over.arguments[at], name)
        return None

    def _added(self, node: Name) -> Iterator[str | None]:
        """What is put into a list under a name."""
        for call in (n for n in self.function.body.walk() if isinstance(n, Call)):
            word = call.function
            if isinstance(word, Attribute) and isinstance(word.object, Name) and call.arguments:
                if word.object.id == node.id and word.name in ("append", "insert"):
                    yield self.element(call.arguments[-1])
                elif word.object.id == node.id and word.name == "extend":
                    yield self.listed(call.arguments[0])
        for assign in (n for n in self.function.body.walk() if isinstance(n, Assign)):
            for target in assign.targets:
                if isinstance(target, Subscript) and dotted(target.object) == node.id:
                    yield None

    # --- functions that choose among layers -------------------------------------------------------

    def chosen(self, call: Call) -> str | None:
        """The holder of what a function gives that chooses among the layers that it is given."""
        targets = self.plan.conventions.targets(call)
        if not targets or len(targets) != 1 or targets[0].owner is not None:
            return None
        function = targets[0]
        if function in self.calling:  # it calls itself
            return None
        words = [p.name for p in function.parameters]
        given = {}
        for at, (argument, word) in enumerate(zip(call.arguments, call.keywords)):
            if word in words or word is None and at < len(words):
                held = self.listed(argument)
                given[word or words[at]] = _ITSELF if held == _SELF_MADE else held
        inside = Holders(function, self.plan, given, self.calling | {function})
        returned = [r.expression for r in function.nodes(Return)]
        if not returned or any(r is None for r in returned) or not inside._only_chooses():
            return None
        found = _same(inside.listed(r) for r in returned if r is not None)
        return _SELF_MADE if found == _ITSELF else found

    def _only_chooses(self) -> bool:
        """Whether a function does nothing with layers but choose among them, and count."""
        for name in (n for n in self.function.body.walk() if isinstance(n, Name)):
            around = name.parent
            asked = isinstance(around, (Attribute, Read)) and around.object is name
            if isinstance(around, Call):
                asked = around.function is name or dotted(around.function) not in _COUNTING
            called = isinstance(around, Subscript) and isinstance(around.parent, (Attribute, Call))
            if asked or called:
                if self.element(name) is not None or self.listed(name) is not None:
                    return False
        return True


def _bound_in(body: Node, name: str) -> Iterator[tuple[Expression, Node]]:
    """What binds a name in a block; comprehensions and functions inside have their own."""
    for node in body.walk((Function, Lambda, Class, Comprehension)):
        if isinstance(node, Assign) and node.expression is not None:
            for target in node.targets:
                if name in target_names(target):
                    yield target, node.expression
        elif isinstance(node, For) and name in target_names(node.target):
            yield node.target, node


def _same(found: Iterable[str | None]) -> str | None:
    each = set(found)
    if len(each) > 1:
        each.discard(_SELF_MADE)
    return each.pop() if len(each) == 1 else None
