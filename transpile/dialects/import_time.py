"""What runs when a file is imported: draws, and classes that are made by classes of the user's."""

import itertools

from ..facts.modules import Modules
from ..model.effects import Key, Support, Unconverted
from ..model.expressions import Call, Comprehension, Lambda, Name
from ..model.fresh_names import named
from ..model.names import dotted, last_word
from ..model.node import Node, Statement
from ..model.program import Class, File, Function, Parameter
from ..model.project import Project
from ..model.statements import Assign, Block, For, While
from ..source.lower_ast import expression
from .fresh_names import fresh
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


def names_outside(file: File) -> set[str]:
    """The names that a file reads or binds outside of its functions."""
    nodes = (n for n in outside(file) if not isinstance(n, Parameter))
    return {name for node in nodes for name in named(node)}


def give_keys(file: File, reports: Reports) -> None:
    """Draws of a file's own statements, which run once: each has a key of its own, and those of a
    loop the next one of a stream."""
    streams: dict[Block, str] = {}
    numbers = itertools.count()
    for key in [n for n in outside(file) if isinstance(n, Key)]:
        if any(isinstance(n, Lambda) for n in key.ancestors()):
            reports.report("draw-in-value", key, "a function that draws is handed on without a key")
            key.replace(Unconverted("draw-in-value", "a draw that has no key"))
            continue
        loop = _loop(key)
        if loop is None:
            key.replace(expression(f"jax.random.key({next(numbers)})"))
            continue
        block = loop.parent
        assert isinstance(block, Block)
        if block not in streams:
            streams[block] = fresh("stream", names_outside(file).union(streams.values()))
            own = expression(f"jax.random.key({next(numbers)})")
            stream = Assign([Name(streams[block])], Call(Support("key_stream"), [own]))
            block.precede(loop, [stream])
        key.replace(Call(Name("next"), [Name(streams[block])]))


def _loop(node: Node) -> Statement | None:
    """The statement that may run a node several times: the outermost loop around it."""
    found, again = None, False
    for around in node.ancestors():
        again = again or isinstance(around, (Comprehension, For, While))
        if again and isinstance(around, Statement) and isinstance(around.parent, Block):
            if found is None or isinstance(around, (For, While)):
                found = around
    return found


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
