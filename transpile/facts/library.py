"""Torch's layers as classes with `self`, and their copies for the runs of one process.

A run edits the layers, so each has its own. One that needs three layers does not wait for the other
two hundred: a copy begins empty, and a file of layers comes in when one of its definitions is asked
for, with those that it refers to and those whose classes extend its own.
"""

import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ..model.classes import Classes
from ..model.functions import Functions
from ..model.libraries import spellings
from ..model.node import Expression
from ..model.program import Class, File, Function
from ..model.project import Names, Project


@dataclass(eq=False)
class Library:
    """The layers that are here; `copies`: where others come from."""

    project: Project
    classes: dict[str, Class]  # by torch's names
    kinds: dict[str, set[str]] = field(default_factory=dict)  # of array that they have under a name
    open: dict[Class, list[Expression]] = field(default_factory=dict)  # `held_layers.open_reads`
    copies: "Copies | None" = None
    on_arrival: Callable[[Iterable[Class]], None] | None = None  # what is done to those that come

    def find(self, name: str) -> Class | None:
        """A layer by torch's name, under whichever torch exports it."""
        found = map(self._layer, spellings(name))
        return next((cls for cls in found if cls is not None), None)

    def named(self, name: str) -> Class | None:
        """A layer by the name of its class, which is not always torch's: WeightNorm."""
        if self.copies is not None:
            return self._layer(self.copies.words.get(name, ""))
        return next((cls for cls in self.classes.values() if cls.name == name), None)

    def definition(self, name: str) -> Class | Function | None:
        """A class or a function at the top level of a file of layers."""
        if self.copies is not None and name in self.copies.definitions:
            self.copies.bring(self, self.copies.definitions[name])
        found = (names.classes.get(name) or names.functions.get(name) for names in self._names())
        return next((one for one in found if one is not None), None)

    def has_method(self, name: str) -> bool:
        """Whether any layer has a method of this name."""
        if self.copies is not None:
            return name in self.copies.methods
        return any(name in self.project.methods(cls) for cls in self.classes.values())

    def _names(self) -> Iterator[Names]:
        return iter(self.project.names.values())

    def _layer(self, name: str) -> Class | None:
        if name not in self.classes and self.copies is not None and name in self.copies.layers:
            self.copies.bring(self, self.copies.layers[name])
        return self.classes.get(name)


class Copies:
    """A library as bytes, by its files."""

    def __init__(self, library: Library) -> None:
        project = library.project
        self._kinds = library.kinds
        self.layers = {name: _place(cls) for name, cls in library.classes.items()}
        self.words = {cls.name: name for name, cls in reversed(library.classes.items())}
        self.definitions: dict[str, str] = {}
        for names in project.names.values():
            self.definitions |= {name: _place(f) for name, f in names.functions.items()}
            self.definitions |= {name: _place(cls) for name, cls in names.classes.items()}
        layers = set(library.classes.values())
        self.methods = {name for cls in layers for name in project.methods(cls)}
        self._extended: dict[str, set[str]] = {}  # files whose classes extend those of one
        for cls in project.classes():
            for below in project.subclasses(cls):
                self._extended.setdefault(_place(cls), set()).add(_place(below))
        self._parts = {str(file.path): _packed(library, str(file.path)) for file in project.ordered}

    def library(self) -> Library:
        """One that has nothing yet."""
        kinds = {name: set(kinds) for name, kinds in self._kinds.items()}
        return Library(Project(), {}, kinds, copies=self)

    def bring(self, library: Library, path: str) -> None:
        """Copy a file into a library, with what it needs."""
        todo, here = [path], {*library.classes}
        while todo:
            for read in self.read(library, todo.pop()):
                todo += sorted(self._extended.get(read, ()))
        if library.on_arrival is not None:
            library.on_arrival(cls for name, cls in library.classes.items() if name not in here)

    def read(self, library: Library, path: str) -> list[str]:
        """Copy a file into a library, and before it those that it refers to; which they are."""
        if any(str(file.path) == path for file in library.project.names):
            return []
        reader = _Reader(self, library, io.BytesIO(self._parts[path]))
        part: _Part = reader.load()
        library.project.files[part.names.dotted] = part.file
        library.project.names[part.file] = part.names
        library.project.join_classes(part.classes)
        library.project.join_functions(part.functions)
        library.classes |= part.layers
        library.open |= part.open
        return [*reader.before, path]


@dataclass
class _Part:
    """One file of a library."""

    file: File
    names: Names
    classes: Classes
    functions: Functions
    layers: dict[str, Class]  # by torch's names
    open: dict[Class, list[Expression]]


def _place(node: Class | Function) -> str:
    assert node.file is not None
    return str(node.file.path)


def _packed(library: Library, path: str) -> bytes:
    project = library.project
    file, names = next((f, n) for f, n in project.names.items() if str(f.path) == path)
    part = _Part(
        file,
        names,
        project.some_classes(names.all_classes),
        project.some_functions(names.all_functions),
        {name: cls for name, cls in library.classes.items() if cls.file is file},
        {cls: reads for cls, reads in library.open.items() if cls.file is file},
    )
    written = io.BytesIO()
    _Writer(written, library, path).dump(part)
    return written.getvalue()


class _Writer(pickle.Pickler):
    """Definitions of other files are named: by the file, and their places in its lists."""

    def __init__(self, file: io.BytesIO, library: Library, path: str) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._others: dict[Class | Function, tuple[str, str, int]] = {}
        for other, names in library.project.names.items():
            if str(other.path) != path:
                for kind in ("all_classes", "all_functions"):
                    for i, node in enumerate(getattr(names, kind)):
                        self._others[node] = str(other.path), kind, i

    def persistent_id(self, node: object) -> tuple[str, str, int] | None:
        return self._others.get(node) if isinstance(node, (Class, Function)) else None


class _Reader(pickle.Unpickler):
    """It reads the other files first."""

    def __init__(self, copies: Copies, library: Library, file: io.BytesIO) -> None:
        super().__init__(file)
        self._copies, self._library = copies, library
        self.before: list[str] = []

    def persistent_load(self, place: tuple[str, str, int]) -> Class | Function:
        path, kind, i = place
        self.before += self._copies.read(self._library, path)
        names = next(n for f, n in self._library.project.names.items() if str(f.path) == path)
        found: Class | Function = getattr(names, kind)[i]
        return found
