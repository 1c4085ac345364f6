"""What runs when a file is imported: draws, and classes that are made by classes of the user's."""

from ..facts.modules import Modules
from ..model.effects import Key, Unconverted
from ..model.expressions import Lambda
from ..model.names import dotted, last_word
from ..model.node import Node
from ..model.program import Class, File, Function
from ..model.project import Project
from ..source.lower_ast import expression
from .reports import Reports

_ABSTRACT = frozenset(("ABC", "ABCMeta", "Protocol"))


def outside(file: File) -> list[Node]:
    """The nodes that run when a file is imported, outer ones first: of functions their decorators
    and defaults."""
    found, stack = list[Node](), list[Node]([file])
    while stack:
        node = stack.pop()
        found.append(node)
        body = node.body if isinstance(node, Function) else None
        stack.extend(child for child in reversed(node.children()) if child is not body)
    return found


def give_keys(file: File, reports: Reports) -> None:
    """Draws of a file's own statements, which run once: each has a key of its own."""
    keys = [n for n in outside(file) if isinstance(n, Key)]
    for number, key in enumerate(keys):
        if any(isinstance(n, Lambda) for n in key.ancestors()):
            reports.report("draw-in-value", key, "a function that draws is handed on without a key")
            key.replace(Unconverted("draw-in-value", "a draw that has no key"))
        else:
            key.replace(expression(f"jax.random.key({number})"))


def fit_metaclasses(project: Project, modules: Modules, base: str) -> None:
    """Derive what makes classes of modules from what makes the dialect's: `class Meta(type)` is
    torch's alone, `class Meta(type(eqx.Module))`."""
    todo = [c for c in project.classes() if modules.is_module(c)]
    todo = [found for c in todo for found in _bases(project, c, "metaclass")]
    for meta in todo:
        todo.extend(c for c in _bases(project, meta, None) if c not in todo)
        for one in [b for b in meta.bases if dotted(b) == "type"]:
            one.replace(expression(f"type({base})"))


def free_abstract(project: Project, modules: Modules) -> None:
    """Methods that are abstract in name alone, as torch's modules may be built with them: those of
    other libraries are made by `ABCMeta`, as a class of the user's is that says so."""
    classes = [c for c in project.classes() if modules.is_module(c)]
    for cls in classes:
        family = {*project.order(cls), *project.family(cls), *project.descendants(cls)}
        named = [last_word(b) for c in family if isinstance(c, Class) for b in c.bases]
        if not _ABSTRACT.isdisjoint(named) or any(
            isinstance(c, str) and "ABC" in c for c in family
        ):
            continue
        for method in cls.body.body:
            marks = method.decorators if isinstance(method, Function) else ()
            for mark in [m for m in marks if last_word(m) == "abstractmethod"]:
                method.undecorate(mark)  # type: ignore


def _bases(project: Project, cls: Class, word: str | None) -> list[Class]:
    """The project's classes among the bases of one, or what it names by a word."""
    named = [dotted(b) for b, w in zip(cls.bases, cls.keywords) if w == word]
    found = [project.resolve(cls.file, name) for name in named if name and cls.file is not None]
    return [one for one in found if isinstance(one, Class)]
