"""Torch's layers as classes with `self`, and their copies for the runs of one process.

A run edits the layers, so each has its own. One that needs three layers does not wait for the other
two hundred: a copy begins empty, and a file of layers comes in when one of its definitions is asked
for, with those that it refers to. What extends a layer comes in by its own name alone: nothing in a
program that names no LazyLinear is one, and what holds of every Linear is said of Linear.
"""

import io
import pickle
from collections.abc import Callable, Iterable
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
        names = self.project.names.values()
        found = (one.classes.get(name) or one.functions.get(name) for one in names)
        return next((one for one in found if one is not None), None)

    def has_method(self, name: str) -> bool:
        """Whether any layer has a method of this name."""
        if self.copies is not None:
            return name in self.copies.methods
        return any(name in self.project.methods(cls) for cls in self.classes.values())

    def _layer(self, name: str) -> Class | None:
        if name not in self.classes and self.copies is not None and name in self.copies.layers:
            self.copies.bring(self, self.copies.layers[name])
        return self.classes.get(name)


class Copies:
    """A library as bytes, by its files."""

    def __init__(self, library: Library) -> None:
        project = library.project
        place = {file: names.dotted for file, names in project.names.items()}
        self._kinds = library.kinds
        self.layers = {name: place[cls.file] for name, cls in library.classes.items() if cls.file}
        self.words = {cls.name: name for name, cls in reversed(library.classes.items())}
        self.definitions: dict[str, str] = {}
        for names in project.names.values():
            self.definitions |= dict.fromkeys((*names.functions, *names.classes), names.dotted)
        layers = set(library.classes.values())
        self.methods = {name for cls in layers for name in project.methods(cls)}
        self._parts = {name: _packed(library, name) for name in project.files}

    def library(self) -> Library:
        """One that has nothing yet."""
        kinds = {name: set(kinds) for name, kinds in self._kinds.items()}
        return Library(Project(), {}, kinds, copies=self)

    def bring(self, library: Library, file: str) -> None:
        """Copy a file into a library, by its dotted name, with what it needs."""
        if file in library.project.files:
            return
        here = {*library.classes}
        self.read(library, file)
        if library.on_arrival is not None:
            library.on_arrival(cls for name, cls in library.classes.items() if name not in here)

    def read(self, library: Library, file: str) -> None:
        """Copy a file into a library, and before it those that it refers to."""
        if file in library.project.files:
            return
        part: _Part = _Reader(self, library, io.BytesIO(self._parts[file])).load()
        library.project.files[part.names.dotted] = part.file
        library.project.names[part.file] = part.names
        library.project.join_classes(part.classes)
        library.project.join_functions(part.functions)
        library.classes |= part.layers
        library.open |= part.open


@dataclass
class _Part:
    """One file of a library."""

    file: File
    names: Names
    classes: Classes
    functions: Functions
    layers: dict[str, Class]  # by torch's names
    open: dict[Class, list[Expression]]


def _packed(library: Library, name: str) -> bytes:
    project, file = library.project, library.project.files[name]
    names = project.names[file]
    part = _Part(
        file,
        names,
        project.some_classes(names.all_classes),
        project.some_functions(names.all_functions),
        {name: cls for name, cls in library.classes.items() if cls.file is file},
        {cls: reads for cls, reads in library.open.items() if cls.file is file},
    )
    written = io.BytesIO()
    _Writer(written, project, file).dump(part)
    return written.getvalue()


class _Writer(pickle.Pickler):
    """Definitions of other files are named: by the file, and their places in its lists."""

    def __init__(self, written: io.BytesIO, project: Project, file: File) -> None:
        super().__init__(written, pickle.HIGHEST_PROTOCOL)
        self._others: dict[Class | Function, tuple[str, str, int]] = {}
        for other, names in project.names.items():
            for kind in ("all_classes", "all_functions") if other is not file else ():
                for i, node in enumerate(getattr(names, kind)):
                    self._others[node] = names.dotted, kind, i

    def persistent_id(self, node: object) -> tuple[str, str, int] | None:
        return self._others.get(node) if isinstance(node, (Class, Function)) else None


class _Reader(pickle.Unpickler):
    """It reads the other files first."""

    def __init__(self, copies: Copies, library: Library, packed: io.BytesIO) -> None:
        super().__init__(packed)
        self._copies, self._library = copies, library

    def persistent_load(self, place: tuple[str, str, int]) -> Class | Function:
        file, kind, i = place
        self._copies.read(self._library, file)
        project = self._library.project
        found: Class | Function = getattr(project.names[project.files[file]], kind)[i]
        return found
