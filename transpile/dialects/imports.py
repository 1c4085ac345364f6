"""The import statements of a file in the output: torch's go, those of what is used now come.

    import torch                     import jax
    import torch.nn as nn       →    import jax.numpy as jnp
    from torch import Tensor
                                     import jax_nn as nn

What a dialect and the passes have made are names without a place in the text: `jnp`, `nnx`, `nn`.
Where the user means something else by such a word it is written out: `jax.numpy.exp(x)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..model.expressions import Attribute, Call, Name
from ..model.layout import comments
from ..model.libraries import is_built_on_torch
from ..model.names import binds, dotted, is_docstring, is_field
from ..model.node import Node, Statement
from ..model.program import Class, File, Function, Parameter
from ..model.project import Project
from ..model.statements import Block, ExpressionStatement, Import, Imported, Pass
from ..source.lower_ast import expression
from ..source.splice import show
from .support.support_file import import_order, is_standard
from .used_names import used

PLAIN = {
    "functools": "import functools",
    "math": "import math",
    "types": "import types",
    "typing": "import typing",
    "np": "import numpy as np",
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "lax": "from jax import lax",
}
BUILTINS = {w: f"builtins.{w}" for w in ("enumerate", "len", "list", "range", "tuple", "zip")}
WHOLE = {"np": "numpy", "jnp": "jax.numpy", "lax": "jax.lax", "nn": "jax_nn", **BUILTINS}
SUPPORT = "jax_nn"
BLANK = ("\n", "")  # the comments of a statement with an empty line above it


@dataclass(frozen=True)
class Words:
    """The names that an output uses: the statement that binds each, and how it is spelled where
    the user has the name for something else."""

    statements: Mapping[str, str] = field(default_factory=lambda: dict(PLAIN))
    whole: Mapping[str, str] = field(default_factory=lambda: dict(WHOLE))

    def adding(self, statements: Mapping[str, str], whole: Mapping[str, str]) -> Words:
        return Words({**self.statements, **statements}, {**self.whole, **whole})


def fit(project: Project, file: File, words: Words) -> None:
    """Give a file the imports that it needs now."""
    support = _of_support(project, file)
    known = words.adding({"nn": support}, {})
    nodes = list(file.walk())  # once: the walk over a long file takes longer than all else here
    own = used(nodes, made=False)
    _spell_out(nodes, known, own)
    gone = _narrow(project, file, nodes, own)
    nodes = list(file.walk())
    made, bound = used(nodes, made=True), _bound(file, gone)
    wanted = {known.statements[w] for w in known.statements if w in made and w not in bound}
    wanted |= {f"import {name}" for name in _whole_modules(nodes, known, made) if name not in bound}
    _put(file, sorted(wanted - {support}, key=_order), support if support in wanted else "", gone)


def _of_support(project: Project, file: File) -> str:
    """The import of jax_nn, which lies beside the outermost files: in a package it is the
    package's own, `from .. import jax_nn as nn` in sub/model.py."""
    dots = "." * len(file.path.parts) if project.package else ""
    return f"from {dots} import {SUPPORT} as nn" if dots else f"import {SUPPORT} as nn"


# --- what is bound --------------------------------------------------------------------------------


def _bound(file: File, gone: Iterable[Import]) -> set[str]:
    """The names that the imports at the top of a file bind, but for those that go."""
    left = (s for s in file.body.body if isinstance(s, Import) and s not in gone)
    return {name.bound for statement in left for name in statement.names}


def _spell_out(nodes: Sequence[Node], words: Words, used: set[str]) -> None:
    """Write out the words that the user has for something else: `lax = 3` beside `lax.scan`."""
    made = [n for n in nodes if isinstance(n, Name) and n.start < 0 and n.id in words.whole]
    own = _own_names(nodes, words, used) if made else frozenset()
    for name in made:
        around = name.parent  # a builtin's word that is not called is the user's, `len` of a carry
        called = isinstance(around, Call) and around.function is name
        if name.id in own and not is_field(around) and (called or name.id not in BUILTINS):
            name.replace(expression(words.whole[name.id]))


def _own_names(nodes: Sequence[Node], words: Words, used: set[str]) -> frozenset[str]:
    """The words that mean something else somewhere in a file: the user's, or torch's still."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Import):
            for name in node.names:
                meant = node.meaning(name)
                stays = not _is_torch(meant) or name.bound in used
                if stays and meant != words.whole.get(name.bound):
                    found.add(name.bound)
        elif isinstance(node, (Parameter, Function, Class)):
            found.add(node.name)
        elif not is_field(node):
            found.update(binds(node))
    return frozenset(found & words.whole.keys())


def _whole_modules(nodes: Sequence[Node], words: Words, used: set[str]) -> Iterator[str]:
    """The modules of words that were written out."""
    for node in nodes:
        if isinstance(node, Attribute) and node.start < 0 and isinstance(node.object, Name):
            name = dotted(node)
            if name is not None and name in words.whole.values():
                yield name.partition(".")[0]
    yield from {"numpy", SUPPORT} & used


# --- what goes ------------------------------------------------------------------------------------


def _narrow(project: Project, file: File, nodes: Sequence[Node], used: set[str]) -> list[Import]:
    """Take away what nothing uses of the imports; those at the top that go whole are given back,
    and stand there still."""
    gone: list[Import] = []
    for statement in [n for n in nodes if isinstance(n, Import)]:
        block = statement.parent
        assert isinstance(block, Block)
        kept = [n for n in statement.names if not _goes(project, file, statement, n, used)]
        if kept and len(kept) < len(statement.names):
            statement.replace(Import(statement.module, kept, statement.level))
        elif not kept and block is file.body:
            gone.append(statement)
        elif not kept and len(block.body) == 1:
            statement.replace(Pass())
        elif not kept:
            block.remove(statement)
    return gone


def _goes(project: Project, file: File, statement: Import, name: Imported, used: set[str]) -> bool:
    """Whether an import loses its use: torch's, or the user's own name for something of torch's."""
    if name.name == "*":
        return _is_torch(statement.meaning(name)) and statement.module not in project.files
    meant = "" if _is_own(project, statement, name) else statement.meaning(name)
    if not _is_torch(meant):
        found = project.resolve(file, name.bound)
        meant = found if isinstance(found, str) else ""  # by imports alone, through other files
    reexported = file.path.name == "__init__.py" and not _is_torch(meant)
    spare = _is_torch(meant) or meant.partition(".")[0] == "abc"  # of what is no more abstract
    return spare and name.bound not in used and not reexported


def _is_own(project: Project, statement: Import, name: Imported) -> bool:
    """Whether the project itself has what is imported, though a library may bear its name."""
    meant = statement.meaning(name)
    return not meant or project.lookup(meant) is not None


def _is_torch(name: str) -> bool:
    return name.partition(".")[0] == "torch" or is_built_on_torch(name)


# --- what comes -----------------------------------------------------------------------------------


def _put(file: File, lines: list[str], support: str, gone: list[Import]) -> None:
    """Put imports where torch's stood, or behind the last import at the top, or at the top."""
    body = file.body
    lines = _beside_standard(body, lines)
    made = [import_statement(line) for line in lines]
    third = next((m for m, line in zip(made, lines) if not is_standard(line)), None)
    if third is not None and third is not made[0]:
        third.comments = BLANK
    if gone and made:
        body.substitute(gone.pop(0), made[:1])
        for one in made[1:]:
            body.insert_after(_before(body, one, made), [one])
    elif made:
        after = _last_import(body)
        made[0].comments = BLANK if isinstance(after, ExpressionStatement) else None
        _insert(body, after, made)
    if support:
        own = import_statement(support)
        own.comments = BLANK
        behind = body.body[body.body.index(gone[0]) :] if gone else []
        if gone and not any(isinstance(s, Import) and s not in gone for s in behind):
            if comments(gone[0])[0] or body.body[0] is gone[0]:
                own.comments = None
                body.substitute(gone.pop(0), [own])
            else:
                body.insert_before(gone[0], [own])
        else:
            after = _last_import(body, gone)
            own.comments = BLANK if after is not None else None
            _insert(body, after, [own])
    for statement in gone:
        body.remove(statement)


def _beside_standard(body: Block, lines: list[str]) -> list[str]:
    """Put what comes of Python's own modules behind the user's imports of such; what is left."""
    standard = [line for line in lines if is_standard(line)]
    last = _last_import(body)
    top = body.body[: body.body.index(last) + 1] if last is not None else []
    known = [s for s in top if isinstance(s, Import) and not s.level and _is_standard(s)]
    if not standard or not known:
        return lines
    body.insert_after(known[-1], [import_statement(line) for line in standard])
    return [line for line in lines if line not in standard]


def _is_standard(statement: Import) -> bool:
    names = [statement.module] if statement.module else [n.name for n in statement.names]
    return all(is_standard(f"import {name}") for name in names)


def _insert(body: Block, after: Statement | None, made: list[Import]) -> None:
    if after is not None:
        body.insert_after(after, made)
    elif body.body:
        body.insert_before(body.body[0], made)
    else:
        body.append(made)


def _before(body: Block, one: Import, made: list[Import]) -> Statement:
    """What a new import stands behind: the one made before it, or what of its group comes
    between."""
    before: Statement = made[made.index(one) - 1]
    if one.comments is not None:
        return before
    for other in body.body[body.body.index(before) + 1 :]:
        if not isinstance(other, Import) or other.slot is None and comments(other)[0]:
            break
        if import_order(show(other)) > import_order(show(one)):
            break
        before = other
    return before


def _last_import(body: Block, gone: Iterable[Import] = ()) -> Statement | None:
    """The last import of the block of imports at the top, or the docstring."""
    last: Statement | None = None
    for i, statement in enumerate(body.body):
        if isinstance(statement, Import):
            last = statement if statement not in gone else last
        elif i or not is_docstring(statement):
            break
        else:
            last = statement
    return last


def _order(line: str) -> tuple[bool, tuple[bool, list[str]]]:
    return not is_standard(line), import_order(line)


def import_statement(line: str) -> Import:
    """The model of one import: `from jax import lax`."""
    (node,) = ast.parse(line).body
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    names = [Imported(a.name, a.asname) for a in node.names]
    if isinstance(node, ast.Import):
        return Import(None, names)
    return Import(node.module, names, node.level)
