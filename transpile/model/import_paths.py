"""Which file an import names: from its package, or from a folder that Python searches."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from .program import File
from .statements import Import

if TYPE_CHECKING:
    from .project import Names

# No folder of a script has these, whatever stands there.
NEVER_BESIDE = sys.stdlib_module_names | {"torch", "jax", "numpy"}


class Folders:
    """The files of a project by the last part of their dotted names."""

    def __init__(self, files: Mapping[str, Names]) -> None:
        self.files, self.ending = files, dict[str, list[str]]()
        for name in files:
            self.ending.setdefault(name.rpartition(".")[2], []).append(name)

    def meant(self, importing: str, name: str) -> str:
        """What a name means that Python finds in the folder of a script, or in one that a script
        put on its path: `from extractor import Net`, beside extractor.py, or where one alone of the
        files of that name has a Net."""
        module, _, own = name.rpartition(".")
        if not module or module.partition(".")[0] in NEVER_BESIDE:
            return name
        files = self.ending.get(module.rpartition(".")[2], ())
        ending = [file for file in files if file.endswith(f".{module}")]
        found = [f"{file}.{own}" for file in ending if self._makes(file, own)]
        beside = f"{importing.rpartition('.')[0]}.{name}"
        return beside if beside in found else found[0] if len(found) == 1 else name

    def _makes(self, file: str, own: str) -> bool:
        names = self.files[file]
        tables: list[Collection[str]] = [names.functions, names.classes, names.assigned]
        return f"{file}.{own}" in self.files or any(own in table for table in tables)


def import_base(file: File, name: str, statement: Import) -> str:
    """The absolute dotted module that a `from … import` names, in the file of a dotted name."""
    module, level = statement.module or "", statement.level
    if not level:
        return module
    package = name.split(".") if name else []
    if file.path.name != "__init__.py":
        package = package[:-1]
    package = package[: len(package) - (level - 1)] if level > 1 else package
    return ".".join([*package, *([module] if module else [])])
