"""What the functional output and Equinox write class by class: the layers of the support file, and
its names in the user's files."""

from collections.abc import Callable, Iterator, Mapping

from ..facts.modules import Modules
from ..model.effects import Support
from ..model.expressions import Attribute, Name
from ..model.node import Expression
from ..model.program import Class, File, Function
from ..source.splice import Writer
from .definitions import Written
from .faults import Faults

Named = Callable[[Support], Expression | None]


def beside_modules(file: File, modules: Modules) -> Iterator[Function]:
    """The functions of a file that are no methods of modules, outer ones."""
    for function in file.functions():
        if isinstance(function.scope, (File, Class)):
            owner = function.owner
            if owner is None or not modules.is_module(owner):
                yield function


def spell(file: File | Class, within: bool = False, named: Named = lambda node: None) -> set[str]:
    """Write the names of the support file out; which they are. `within` it they are plain; `named`:
    what is the library's own."""
    found = set()
    for node in list(file.walk()):
        if isinstance(node, Support) and (own := named(node)) is not None:
            node.replace(own)
        elif isinstance(node, Support):
            found.add(node.name)
            node.replace(Name(node.name) if within else Attribute(Name("nn"), node.name))
        elif isinstance(node, Attribute) and node.start < 0 and isinstance(node.object, Name):
            if node.object.id == "nn":
                found.add(node.name)
    return found


def layers(
    modules: Modules,
    write: Callable[[Class], None],
    faults: Faults,
    words: Mapping[str, str],
    named: Named = lambda node: None,
) -> Written:
    """The layers and functions of the library as a dialect has them: `write` edits a class."""
    library = modules.library.project
    functions = {f.name: f for f in library.functions() if isinstance(f.scope, File)}

    def text(node: Class | Function) -> str:
        if isinstance(node, Class):
            write(node)
            spell(node, within=True, named=named)
            faults.settle([node], Name)
        return Writer().text(node).replace("raise Unsupported(", "raise NotImplementedError(")

    return Written({**functions, **{c.name: c for c in library.classes()}}, text, words, "zz/")
