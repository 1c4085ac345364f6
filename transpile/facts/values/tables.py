"""The tables of the analysis: attributes, parameters and results of a project, written by runs."""

import functools
from collections.abc import Set
from typing import Any

from ...model.layers import Layer, layers
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.rulebook import Rulebook
from . import lattice
from .attribute_names import torch_method
from .cells import Cell, Given, Run, Table, cut, either, join_tables, same
from .computed_names import HOLE, fitting
from .joins import join
from .lattice import NONE, REFUSED, UNKNOWN, Mapping, Module, Sequence, Tensor, Torch, Value
from .summaries import Results

_JOINS: dict[str, Any] = {
    **dict.fromkeys(("parameters", "handed", "dynamic", "assumed", "grown", "fields"), join_tables),
    **dict.fromkeys(("names", "wrapped", "makers", "any grown"), either),
}
DEEPEST = 5  # how deep lists and containers are known
STICKY = frozenset({"wrapped", "makers", "replaced"})  # what was said once stays said


class Facts:
    """What is known of a project while it is being solved, and afterwards."""

    def __init__(self, project: Project, rulebook: Rulebook) -> None:
        self.project, self.rulebook = project, rulebook
        self.results = Results.of_rules(rulebook)
        self.layers = layers(rulebook)
        self.cells: dict[tuple[Any, ...], Cell] = {}
        self.run: Run | None = None  # which is being interpreted
        self.owners: dict[str, list[Class]] = {}  # the classes that have a method of a name
        self.memory: dict[Any, Any] = {}  # what is asked of the text, which does not change
        self.shared: set[Expression | None] = set()  # what stands for names of files and classes
        for file in project.ordered:
            self.shared.update(project.names[file].assigned.values())
        for cls in project.classes():
            self.shared.update(project.assigned(cls).values())
            for name in project.methods(cls):
                self.owners.setdefault(name, []).append(cls)

    # --- cells -----------------------------------------------------------------------------------

    def cell(self, key: tuple[Any, ...]) -> Cell:
        found = self.cells.get(key)
        if found is None:
            found = self.cells[key] = Cell(key, _JOINS.get(key[0], join))
        return found

    def read(self, *key: Any) -> Any:
        """A fact, or None; who reads it is interpreted again when it changes."""
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cell(key)
        run = self.run
        if run is not None and cell not in run.reads:
            run.reads[cell] = cell.value
            cell.readers.add(run)
        return cell.value

    def note(self, value: Any, *key: Any) -> None:
        """Say what is found of something: it holds beside what others say of it."""
        cell, run = self.cell(key), self.run
        assert run is not None
        made = run.made
        if run.count > 1:
            value = cut(value, DEEPEST)
        made[cell] = value if cell not in made else cell.joined(made[cell], value)
        old = cell.value
        new = value if old is None else cell.joined(old, value)
        if not same(new, old):
            cell.value = new
            self.changed(cell)

    def changed(self, cell: Cell) -> None:
        """Let those who read a fact be interpreted again."""

    def demand(self, function: Function, given: Given) -> bool:
        """Interpret a function now. Returns whether its result may be asked for."""
        return True

    # --- expressions -----------------------------------------------------------------------------

    def of(self, node: Node) -> Value:
        """The value of an expression, as far as it has been interpreted."""
        if self.run is not None:
            return self.run.values.get(node, UNKNOWN)
        return getattr(node, "value", None) or UNKNOWN

    def set(self, node: Node, value: Value) -> Value:
        """Record the value of an expression, joined with what an earlier visit found."""
        values = self.run.values  # type: ignore[union-attr]
        old = values.get(node)
        if old is None:
            values[node] = value
        elif old is not value:
            values[node] = join(old, value)
        return value

    def put(self, node: Node, value: Value) -> None:
        """Give an expression another value than what was found first."""
        self.run.values[node] = value  # type: ignore[union-attr]

    def expression(self, node: Expression) -> Value:
        """The value of what stands at the top of a file or class."""
        return self.read("expression", node) or UNKNOWN

    def contents(self, cls: Class) -> Value | None:
        """What a container of the user's holds, by all that the project gives it."""
        element: Value | None = None
        for one in self.project.family(cls):
            held = self.read("contents", one)
            element = element if held is None else join(element, held)
        return element

    def put_in(self, module: Module, value: Value | None) -> None:
        """Say that a module, of a container class of the user's, holds something more."""
        for ref in module.refs:
            base = self.project.torch_base(ref) if isinstance(ref, Class) else None
            kind = (
                Tensor if base in ("torch.nn.ParameterList", "torch.nn.ParameterDict") else Module
            )
            if base is not None and isinstance(value, kind):
                self.note(value, "contents", ref)

    # --- functions -------------------------------------------------------------------------------

    def result(self, function: Function) -> Value:
        """What a function returns, as far as it has been interpreted."""
        return self.read("result", function) or self.unseen(function)

    def unseen(self, function: Function) -> Value:
        """What stands for the result of a function that was not interpreted yet."""
        if function.name == "__init__":
            return NONE
        return UNKNOWN if function.file in self.strangers else Tensor(assumed=True)

    def parameters(self, function: Function) -> Table:
        """What calls give for the parameters of a function."""
        return self.read("parameters", function) or {}

    def in_forward(self, function: Function | None) -> bool:
        """Whether a function runs in a forward pass, where it is traced."""
        if function is None:
            return False
        return bool(self.read("traced", self.project.outermost(function)))

    def on_host(self, function: Function | None) -> bool:
        """Whether code runs outside of jit: that of a file, and functions that train a model."""
        if function is None:
            return True
        return bool(self.read("outside", self.project.outermost(function)))

    @functools.cached_property
    def strangers(self) -> frozenset[File]:
        """The files that have nothing of torch's: no name of it, and no class of modules."""
        libraries = {name.partition(".")[0] for name in self.rulebook.by_torch}
        found = {f for f in self.project.ordered if not self._names_torch(f, libraries)}
        files, names = self.project.files, self.project.names
        while taken := {
            f for f in found if any(_is_foreign(files, s, found) for s in names[f].stars)
        }:
            found -= taken
        return frozenset(found)

    def _names_torch(self, file: File, libraries: Set[str]) -> bool:
        names, project = self.project.names[file], self.project
        modules = (
            project.is_module(c) or "forward" in project.methods(c) for c in names.all_classes
        )
        if names.uses_torch or any(modules):
            return True
        meant = [(name, project.lookup(name)) for name in names.imports.values()]
        named = [name if found is None else found for name, found in meant]
        heads = [n.partition(".")[0] for n in [*named, *names.stars] if isinstance(n, str)]
        return any(head in libraries for head in heads)

    def foreign(self, file: File, function: Function | None) -> bool:
        """Whether code has nothing to do with tensors: its file does not, and it is given none."""
        if file not in self.strangers:
            return False
        if function is None:
            return True
        given = self.parameters(self.project.outermost(function))
        return not any(map(_holds_tensors, given.values()))

    # --- classes ---------------------------------------------------------------------------------

    def makes_modules(self, value: Value) -> bool:
        """Whether a value is a class of modules."""
        if isinstance(value, lattice.Class):
            return isinstance(value.ref, Class) and self.project.is_module(value.ref)
        layer = self.rulebook.layer(value.name) if isinstance(value, Torch) else None
        return layer is not None and self.rulebook.is_module(layer)

    def layers_of(self, cls: Class) -> list[Layer]:
        """The torch layer that a class extends; of a mixin those it is put before."""
        project = self.project
        classes = [cls] if project.torch_base(cls) is not None else [*project.descendants(cls)]
        bases = [base for c in classes if (base := project.torch_base(c)) is not None]
        return [layer for base in bases if (layer := self.layers.of(base)) is not None]

    def attribute(self, cls: Class, name: str, later: bool = False) -> Value | None:
        """What `self.name` may be in a method of a class, over its family; `later`: see below."""
        project = self.project
        family, found = project.family(cls), None
        for c in family:
            value = self._set_attribute(c, name, later)
            if value is not None:
                found = join(found, value)
        if isinstance(found, Module):
            for c in family:
                other = self.read("replaced", c, name)
                found = found if other is None else join(found, other)
        if found is not None:
            return found if found != REFUSED else UNKNOWN
        for c in family:
            if name in project.methods(c):
                return lattice.Function(project.methods(c)[name], cls)
            if name in project.assigned(c):
                return self.expression(project.assigned(c)[name])
        if (inner := project.inner(cls, name)) is not None:
            return lattice.Class(inner)
        if torch_method(name):
            return None
        computed = (self.computed(c, name) for c in family)
        return next((value for value in computed if value is not None), None)

    def _set_attribute(self, cls: Class, name: str, later: bool) -> Value | None:
        """What is set under a name; in a constructor only by what builds the object, so far; by all
        of it where a function inside it asks."""
        value, run = self.read("attribute", cls, name), self.run
        unit = run.unit if run is not None else None
        if not value or not run or not isinstance(unit, Function) or unit.name != "__init__":
            return value  # type: ignore[no-any-return]
        cell = self.cell(("attribute", cls, name))
        found: Value | None = None
        for other in sorted({*cell.said, run}, key=lambda run: run.rank):
            said = run.made.get(cell) if other is run else cell.said.get(other)
            if other.active and other is not run:
                said = other.made.get(cell)
            said = said if said is not None or not later else cell.said.get(other)
            if said is not None and self._builds(other):
                found = join(found, said)
        return found

    def _builds(self, run: Run) -> bool:
        """Whether something may run while an object is built."""
        unit = run.unit
        if not isinstance(unit, Function) or unit.name == "__init__":
            return True
        return bool(self.read("constructing", unit))

    def attribute_values(self, cls: Class) -> Table:
        """What is set on self in a class."""
        names = self.read("names", cls) or ()
        found = ((name, self.read("attribute", cls, name)) for name in sorted(names))
        return {name: value for name, value in found if value not in (None, REFUSED)}

    def computed(self, cls: Class, pattern: str = HOLE) -> Value | None:
        """What is set on self under computed names that a name, or a pattern, may be of."""
        set_here = self.read("dynamic", cls) or {}
        found: Value | None = None
        for fits in fitting(set_here, pattern) if set_here else ():
            found = join(found, set_here[fits])
        return found

    def set_attribute(self, cls: Class, name: str, value: Value) -> None:
        self.note(value, "attribute", cls, name)
        self.note(frozenset([name]), "names", cls)

    def resolve(self, file: File | None, node: Node) -> Any:
        """What a dotted name means at the top level of a file; the empty name where it is none."""
        assert file is not None
        return self.project.resolve(file, dotted(node) or "")


def _is_foreign(files: dict[str, File], star: str, found: Set[File]) -> bool:
    other = files.get(star)
    return other is not None and other not in found


def _holds_tensors(value: Value) -> bool:
    """Whether a value is a tensor, a module, or a list or dict of such."""
    if isinstance(value, (Sequence, Mapping)):
        return _holds_tensors(value.element)
    return isinstance(value, (Tensor, Module))
