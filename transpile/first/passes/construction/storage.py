"""What moved code reads of a constructor's local values: it is stored on `self` where it was known, and read from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst

from ... import tree
from ...values import Module
from .bindings import assigned, has_key, surely_assigned
from .constructors import Constructor, Original
from .local_values import Locals
from .questions import ASKING
from .statements import Mark, returned


def resolve(original: Original, locals_: Locals, made: Constructor) -> None:
    """Store what moved code reads, and rewrite it to read from `self`."""
    made.params = locals_.with_definitions(made.params)
    made.state = locals_.with_definitions(made.state)
    for name, (line, value) in made.constants.items():
        result = returned(line, value)
        locals_.places.put(result, locals_.places.of(line, locals_.here))
        made.properties[name] = locals_.with_definitions([result])
    _report_drawn_twice(original, made)
    storage = Storage(original, locals_, made)
    needed = storage.needed()
    attributes = {name: storage.attribute_for(name) for name in needed}
    attributes |= {f"{original.self_name}.{name}": storage.attribute_instead(name) for name in storage.set_again()}
    made.params = _from_self(original, made.params, attributes)
    made.state = _from_self(original, made.state, attributes)
    made.properties = {name: _from_self(original, body, attributes) for name, body in made.properties.items()}
    storage.store()
    original.names.note(original.cls, made.stored)


def _report_drawn_twice(original: Original, made: Constructor) -> None:
    """`w = torch.randn(3, 3)` that both a parameter and a buffer are made of: `init` and `init_state` draw apart."""
    for statement in made.state:
        if any(statement is other for other in made.params) and has_key(statement):
            original.context.report("random-in-init", statement, "params and state are both made of this draw, which init and init_state make apart: they agree in a checkpoint alone")


def _from_self(original: Original, statements: list[Any], attributes: Mapping[str, str]) -> list[Any]:
    """Statements that read local names, and attributes that are set again, from the attributes that hold them."""
    bound: set[str] = set()

    def from_self(node: Any) -> Any:
        name = tree.dotted(node) or ""  # without the parentheses of `torch.ones((dim))`
        return original.holding(node, attributes[name]) if name in attributes and name not in bound else None

    again = any("." in name for name in attributes)
    out: list[Any] = []
    for s in statements:
        bound |= assigned(s)
        moved = tree.with_names(s, from_self)
        out.append(tree.rewrite(moved, from_self, only={cst.Attribute}) if again else moved)
    return out


def _assignments(statement: Any) -> list[Any]:
    """`self.n = n`, `self.n: int = n`"""
    return list(tree.nodes(statement, cst.Assign, cst.AnnAssign))


class Storage:
    """The attributes of self that hold local values of one constructor."""

    def __init__(self, original: Original, locals_: Locals, made: Constructor) -> None:
        self.original, self.locals, self.made = original, locals_, made
        self.copied: set[str] = set()  # locals that hold what grows later, by way of an attribute: `self.config = config`
        kept = [s for s in made.kept if not isinstance(s, Mark)]
        self._set = {name for statement in (*original.statements, *kept) for node in _assignments(statement) for name in self._set_by(node)}

    def needed(self) -> list[str]:
        """The local names that moved code reads before it binds them, in order."""
        found: dict[str, None] = {}
        for statements in (self.made.params, self.made.state, *self.made.properties.values()):
            bound: set[str] = set()
            for s in statements:
                bound |= assigned(s)
                found.update(dict.fromkeys(sorted(tree.names_read(s) & self.locals.names - {self.original.self_name} - bound)))
        return list(found)

    def attribute_for(self, name: str) -> str:
        """The attribute of self that holds a local: one that the user made, or a new one."""
        holder = self._holder(name)
        cls, names = self.original.cls, self.original.names
        once = holder is not None and len(self.locals.places.changed[holder]) == 1 and names.set_while_built(cls)[holder] <= 1
        if holder is not None and once and name not in self.locals.unsteady and holder not in self.original.own and not names.set_again(cls, holder):
            return holder
        if holder is not None and names.grows(cls, holder):
            self.copied.add(name)
        attribute = name
        while self._is_taken(attribute) or not names.free(cls, attribute, name):
            attribute += "_"
        self.made.stored[name] = attribute
        return attribute

    def set_again(self) -> list[str]:
        """The attributes that moved code reads and that a subclass gives other values, once the constructor here is done."""
        cls, names, moved = self.original.cls, self.original.names, (self.made.params, self.made.state, *self.made.properties.values())
        read = {name for statements in moved for s in statements for n in tree.nodes(s, cst.Attribute) if (name := self.original.attribute(n)) is not None}
        kept_here = {name for c in cls.ancestors() for name in (*names.set_while_built(c), *c.assigned, *c.methods)} - self.made.properties.keys()
        held = {name for name in read & kept_here if isinstance(self.original.context.facts.attribute(cls, name), Module) or self.original.arrays.find(cls, name) is not None}
        return sorted(name for name in (read & kept_here) - held if names.set_again(cls, name))

    def attribute_instead(self, attribute: str) -> str:
        """The attribute that holds for good what another one holds where the constructor reads it."""
        name = self.original.names.holds(self.original.cls, attribute)
        if name is not None:
            return self.made.stored.get(name) or self.attribute_for(name)
        instead = f"{attribute}_"
        while self._is_taken(instead) or not self.original.names.free(self.original.cls, instead, instead):
            instead += "_"
        self.made.stored[f"{self.original.self_name}.{attribute}"] = instead
        return instead

    def _is_taken(self, attribute: str) -> bool:
        """Whether the class itself has an attribute of this name; what is in the params or the state is not on self."""
        cls, array = self.original.cls, self.original.own.get(attribute)
        set_here = attribute in self._set or attribute in self.original.names.set_while_built(cls)
        if set_here and (array is None or array.where == "constant") or attribute in self.locals.saved:
            return True
        return cls.find(attribute) is not None or attribute in cls.assigned or attribute in self.made.properties or attribute in self.made.stored.values()

    def store(self) -> None:
        """Insert `self.name = name` where the code that needs it stood."""
        pending = {name: attribute for name, attribute in self.made.stored.items() if not self._stored_inside(name)}
        out: list[Any] = []
        for item in self.made.kept:
            names: list[str] = []
            if isinstance(item, Mark):
                names = sorted(item.names | self._attributes(item.statement), key=lambda n: (self._order(n), n))
            elif self._asks_for_params(item):  # `init` must be able to run
                names = sorted(pending.keys() & self.original.parameters - self.locals.unsteady, key=self._order)
            out += [self._line(name, pending.pop(name)) for name in names if name in pending]
            if not isinstance(item, Mark):
                out.append(item)
        self.made.kept = out + [self._line(name, attribute) for name, attribute in pending.items()]

    def _attributes(self, statement: Any) -> set[str]:
        """The attributes of self that a statement reads."""
        return {tree.code(n) for n in tree.nodes(statement, cst.Attribute) if self.original.attribute(n) is not None}

    def _holder(self, name: str) -> str | None:
        """The attribute that a statement that stays gives the value of a local, the last if there are several."""
        found = None
        for statement in self.original.statements:
            for node in _assignments(statement):
                if isinstance(node.value, cst.Name) and node.value.value == name and statement in self.made.kept:
                    found = next(reversed(self._set_by(node)), found)
        return found

    def _set_by(self, node: Any) -> list[str]:
        targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
        return [name for target in targets if (name := self.original.attribute(target)) is not None]

    def _line(self, name: str, attribute: str) -> Any:
        kept = f"{name}.copy()" if name in self.copied else self.original.names.keeping(self.original.cls, name) if "." in name else name
        return tree.statement(f"{self.original.self_name}.{attribute} = {kept}")

    def _asks_for_params(self, statement: Any) -> bool:
        """Whether a statement may ask which params there are: it does so itself, or calls a method."""
        calls = tree.nodes(statement, cst.Call)
        return any(tree.dotted(n.func) in ASKING or self.original.arrays.method_called(n, self.original.self_name) is not None for n in calls)

    def _stored_inside(self, name: str) -> bool:
        """Store a local that only a branch sets in that branch: elsewhere there is no such name."""
        kept = [s for s in self.made.kept if not isinstance(s, Mark) and name in assigned(s)]
        if name in self.original.parameters or not kept or any(name in surely_assigned(s) for s in kept):
            return False
        line = self._line(name, self.made.stored[name])

        def after(node: Any) -> Any:
            places = [i for i, s in enumerate(node.body) if isinstance(s, cst.SimpleStatementLine) and name in assigned(s)]
            return tree.replace(node, body=[*node.body[: places[-1] + 1], line, *node.body[places[-1] + 1 :]]) if places else node

        self.made.kept = [tree.rewrite(s, None, after, only={cst.IndentedBlock}) if isinstance(s, cst.If) else s for s in self.made.kept]
        return True

    def _order(self, name: str) -> int:
        """The place of a name among the parameters; other names come last."""
        names = [p.name.value for p in self.original.cls.methods["__init__"].parameters()]
        return names.index(name) if name in names else len(names)
