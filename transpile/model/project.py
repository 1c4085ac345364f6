"""The user's files as modules, with imports resolved between them."""

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from .classes import PLAIN_MODULE, Classes, Definition
from .expressions import Constant, Name, Subscript
from .functions import Functions
from .import_paths import Folders, import_base
from .libraries import canonical, is_built_on_torch
from .names import bound_around, dotted, is_chosen
from .node import Expression, Node, Statement
from .program import Class, File, Function
from .rulebook import Rulebook
from .statements import Assign, Block, Handler, Import

__all__ = ["PLAIN_MODULE", "Definition", "Names", "Project", "is_own_module"]


@dataclass(eq=False)
class Names:
    """What a file defines and imports at its top level."""

    dotted: str
    imports: dict[str, str] = field(default_factory=dict)  # bound name -> dotted name, absolute
    stars: list[str] = field(default_factory=list)  # modules imported with *
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    assigned: dict[str, Expression] = field(default_factory=dict)
    all_functions: list[Function] = field(default_factory=list)
    all_classes: list[Class] = field(default_factory=list)

    @property
    def uses_torch(self) -> bool:
        named = [*self.imports.values(), *self.stars]
        return any(n == "torch" or n.startswith("torch.") for n in named)


class Project(Classes, Functions):
    """All files that are converted together."""

    def __init__(self, package: str = "", rulebook: Rulebook | None = None) -> None:
        """`rulebook`: says which names `from torch.nn import *` binds."""
        Classes.__init__(self)
        Functions.__init__(self)
        self.rulebook = rulebook
        self.package = package  # the name of the directory, where that is a package itself
        self.files: dict[str, File] = {}  # by dotted name
        self.names: dict[File, Names] = {}

    def add(self, path: PurePosixPath, file: File) -> File:
        """Register a file."""
        parts = list(path.with_suffix("").parts)
        if parts and parts[-1] == "__init__":
            parts.pop()
        names = Names(".".join(parts))
        self.names[file] = names
        self.files[names.dotted] = file
        self._collect(file, names, file.body, None, False)
        return file

    def collect_again(self) -> None:
        """Look at all files anew, after definitions have come or gone."""
        for file in self.ordered:
            names = self.names[file] = Names(self.names[file].dotted)
            self._collect(file, names, file.body, None, False)
        self.link()

    def note_method(self, cls: Class, method: Function) -> None:
        """Note a method that was made for a class."""
        assert cls.file is not None
        self._function(cls.file, self.names[cls.file], method, cls, False)

    def link(self) -> None:
        """Resolve base classes, and imports from folders of scripts, once every file is there."""
        self.forget_classes()
        folders = Folders({name: self.names[file] for name, file in self.files.items()})
        for names in self.names.values():
            for bound, name in names.imports.items():
                if self.lookup(name) is None and not (self.rulebook and self.rulebook.knows(name)):
                    names.imports[bound] = folders.meant(names.dotted, name)
        for file in self.ordered:
            for cls in self.names[file].all_classes:
                plain = [b for b, word in zip(cls.bases, cls.keywords) if word is None]
                for base in plain:
                    name = dotted(base.object if isinstance(base, Subscript) else base) or "?"
                    found = self._base(file, cls, name)
                    known = self._is_known(file, name, found)
                    self.add_base(cls, found if known else "?")
                    if not known:
                        self.unknown_bases.setdefault(cls, base)

    @property
    def ordered(self) -> list[File]:
        """The files in an order of their own, whatever the order in which they were added."""
        return sorted(self.files.values(), key=lambda file: str(file.path))

    def functions(self) -> Iterator[Function]:
        """All functions of all files, outer before inner."""
        for file in self.ordered:
            yield from self.names[file].all_functions

    def classes(self) -> Iterator[Class]:
        for file in self.ordered:
            yield from self.names[file].all_classes

    # --- what a name means -----------------------------------------------------------------------

    def resolve(self, file: File, name: str) -> Definition | None:
        """What a dotted name means at the top level of a file; a dotted name if it is outside."""
        head, *rest = name.split(".")
        found = self.definition(file, head)
        if found is None:
            return name
        if isinstance(found, Expression) and is_own_module(found):
            found = file  # `ops = sys.modules[__name__]`
        elif rest and isinstance(found, Expression):
            alias = dotted(found)
            found = self.resolve(file, alias) if alias is not None and alias != head else found
        for part in rest:
            if isinstance(found, File):
                inner = self.files.get(f"{self.names[found].dotted}.{part}")
                found = self.definition(found, part) or inner
            elif isinstance(found, str):
                found = self.meaning(f"{found}.{part}")
            elif isinstance(found, Class):
                found = self.inner(found, part)
            else:
                return None
        if isinstance(found, Expression):
            alias = dotted(found)
            if alias is not None and alias != name:
                return self.resolve(found.file or file, alias)
        return found

    def definition(
        self, file: File, name: str, seen: frozenset[str] = frozenset()
    ) -> Definition | None:
        """A name defined or imported at the top level of a file."""
        names = self.names[file]
        found: Definition | None = names.classes.get(name) or names.functions.get(name)
        if found is not None:
            return found
        if name in names.imports:
            return self.meaning(names.imports[name], seen)
        if name in names.assigned:
            return names.assigned[name]
        for star in names.stars:
            other = self.files.get(star)
            if other is not None and star not in seen:
                found = self.definition(other, name, seen | {names.dotted})
                if found is not None:
                    return found
            elif self.rulebook is not None and self.rulebook.knows(f"{star}.{name}"):
                return canonical(f"{star}.{name}")
        return None

    def by_star(self, file: File, seen: frozenset[File] = frozenset()) -> set[str]:
        """The names that stars bind in a file, to what other files import or to what rules know."""
        others = [self.files[star] for star in self.names[file].stars if star in self.files]
        others = [other for other in others if other not in seen]
        names = {name for other in others for name in self.names[other].imports}
        if self.rulebook is not None:
            outside = (star for star in self.names[file].stars if star not in self.files)
            names = names.union(*map(self.rulebook.within, outside))
        return names.union(*(self.by_star(other, seen | {file}) for other in others))

    def meaning(self, name: str, seen: frozenset[str] = frozenset()) -> Definition:
        """What an absolute dotted name means: the project's, or torch's name where it has one."""
        return self.lookup(name, seen) or canonical(name)

    def lookup(self, name: str, seen: frozenset[str] = frozenset()) -> Definition | None:
        """A file by its dotted name, or what is defined in one; None if not the project's."""
        if name in seen:
            return None
        here = name in self.files  # and may bind a name that it has: `from .vit import vit`
        head, _, tail = name.rpartition(".")
        if head in self.files and (head or name.startswith(".")):
            found = self.definition(self.files[head], tail, seen | {name})
            if found is not None and not (here and isinstance(found, str)) or head and not here:
                return found
        if here:
            return self.files[name]
        # absolute imports of a package whose own directory is converted: pkg.sub.mod for sub/mod.py
        first, _, rest = name.partition(".")
        if first == self.package and first and rest and "." not in rest and rest not in self.files:
            return self.lookup(f".{rest}", seen | {name})
        inside = rest in self.files or rest.rpartition(".")[0] in self.files
        foreign = first == "torch" or is_built_on_torch(first) and first != self.package
        if rest and not foreign and inside:
            return self.lookup(rest, seen | {name})
        return None

    def _base(self, file: File, cls: Class, name: str) -> Definition | None:
        """What a class is made from: a name that is defined later is what was imported."""
        found, names = self._around(file, cls, name), self.names[file]
        if isinstance(found, Class) and found.file is file and name in names.imports:
            order = names.all_classes
            if order.index(found) >= order.index(cls):
                return self.meaning(names.imports[name])
        return found

    def _around(self, file: File, node: Node, name: str) -> Definition | None:
        """What a dotted name means where a node stands, in a function or not; None where that has
        it by what it is given, or by a choice."""
        head, _, rest = name.partition(".")
        function, bound = bound_around(node, head)
        if not bound:
            return self.resolve(file, name) if not is_chosen(file, head) else None
        value = bound[0].expression if isinstance(bound[0], Assign) else None
        alias = dotted(value)
        if bound[1:] or not isinstance(bound[0], Class) and alias is None:
            return None
        if alias is not None:
            return self._around(file, function, f"{alias}.{rest}" if rest else alias)
        return bound[0] if not rest else None  # type: ignore[return-value]

    def _is_known(self, file: File, name: str, found: Definition | None) -> bool:
        """Whether what a class names as its base is a class, here or outside."""
        if not isinstance(found, str):
            return isinstance(found, Class)
        names, head = self.names[file], name.partition(".")[0]
        return (
            found != name or head in names.imports or hasattr(builtins, head) or bool(names.stars)
        )

    # --- reading a file --------------------------------------------------------------------------

    def _collect(
        self, file: File, names: Names, block: Block, owner: Class | None, inside: bool
    ) -> None:
        """Note what a block defines: of a file, of a class, or inside a function."""
        for statement in block.body:
            if isinstance(statement, Function):
                self._function(file, names, statement, owner, inside)
            elif isinstance(statement, Class):
                names.all_classes.append(statement)
                if owner is None and not inside:
                    names.classes[statement.name] = statement
                self.add_class(statement)
                self._collect(file, names, statement.body, statement, False)
            elif isinstance(statement, Import):
                self._import(file, names, statement)
            elif isinstance(statement, Assign):
                if not inside:
                    table = names.assigned if owner is None else self.assigned(owner)
                    table.update(_assigned(statement))
            else:
                for part in _blocks(statement):
                    self._collect(file, names, part, owner, inside)

    def _function(
        self, file: File, names: Names, function: Function, owner: Class | None, inside: bool
    ) -> None:
        names.all_functions.append(function)
        self.add_function(function, owner)
        if owner is not None and not inside:
            if not any(d.endswith(".setter") for d in self.decorators(function)):
                self.methods(owner)[function.name] = function
        elif not inside:
            names.functions[function.name] = function
        self._collect(file, names, function.body, None, True)

    def _import(self, file: File, names: Names, statement: Import) -> None:
        if statement.module is None and not statement.level:
            for one in statement.names:
                names.imports[one.bound] = statement.meaning(one)
            return
        base = import_base(file, names.dotted, statement)
        for one in statement.names:
            if one.name == "*":
                names.stars.append(base)
            else:  # `from . import f` at the root: ".f"
                absolute = f"{base}.{one.name}" if base or statement.level else one.name
                names.imports[one.alias or one.name] = absolute


def _assigned(statement: Assign) -> Iterator[tuple[str, Expression]]:
    if statement.expression is not None and not statement.operator:
        for target in statement.targets:
            if isinstance(target, Name):
                yield target.id, statement.expression


def _blocks(statement: Statement) -> Iterator[Block]:
    for part in statement.children():
        if isinstance(part, Block):
            yield part
        elif isinstance(part, Handler):
            yield part.body


def is_own_module(node: Any) -> bool:
    """`sys.modules[__name__]`"""
    if not isinstance(node, Subscript) or isinstance(node.index, Constant):
        return False
    return dotted(node.index) == "__name__" and dotted(node.object) == "sys.modules"
