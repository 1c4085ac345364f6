"""A parameter that nothing trains is a buffer, which torch saves by its name and moves as well.

self.w = nn.Parameter(w, requires_grad=False)          self.register_buffer("w", w)
self.v = nn.Parameter(v)                         →     self.register_buffer("v", v)
self.v.requires_grad = False

Where the project walks over params, asks what is one, or trains any after all, they stay. It is
done on syntax alone, so that all facts know of buffers.
"""

import re
from collections.abc import Iterator
from typing import Any

from ..facts.values.attribute_names import PARAMETERS
from ..model.constants import is_constant, is_none
from ..model.expressions import Attribute, Call, Constant, Name
from ..model.names import dotted, everywhere, imported, is_own, own_word, statements, text
from ..model.node import Expression, Node
from ..model.program import Function
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement, For, If
from .pass_ import Changes, Pass
from .requires_grad import FLAG, asked

_PARAMETER = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))
_WALKS = PARAMETERS | {"buffers", "named_buffers"}
_PASSING = re.compile(r"^\S*(optim\.\w+|clip_grad_\w+)\(|\.requires_grad\b|\.device$")


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The params of a project that are buffers."""
    classes = [c for c in project.classes() if project.is_module(c)]
    methods = {c: [*project.methods(c).values()] for c in classes}
    own = [m for c in classes if not project.torch_base(c) for m in methods[c]]
    made = {method: [*_frozen(method)] for method in own}
    names = {name for found in made.values() for _, name, *_ in found}
    asking = (n for f in project.ordered for n in everywhere(f, Assign, Call))
    if not names or any(_tells(n, names) for n in asking):
        return []
    frozen = {(s.parent, name): s for found in made.values() for s, name, *_ in found}
    others = {c: {n for m in methods[c] for n in _kept(m, frozen)} for c in classes}
    changed = [Changes(method) for method in made]
    for changes, (method, found) in zip(changed, made.items()):
        family = project.family(method.owner) if method.owner is not None else ()
        if any(name in others.get(c, ()) for _, name, *_ in found for c in family):
            continue  # one of them may begin with the others
        for statement, name, data, stops in found:
            register = Attribute(Name(method.receiver), "register_buffer")
            call = Call(register, [Constant(name), data])
            changes.substitute(statement, [ExpressionStatement(call)])
            if stops is not None:
                changes.remove(stops)
    return changed


def _frozen(method: Function) -> Iterator[tuple[Assign, str, Any, Any]]:
    """`self.w = nn.Parameter(v)` that is not trained, the name, v, and what says so behind it."""
    me = method.receiver if method.parameters else None
    for made in method.nodes(Assign):
        target, value, block = made.targets[0], made.expression, made.parent
        if not is_own(target, me) or not isinstance(value, Call) or len(made.targets) > 1:
            continue
        if (
            value.keywords[:1] in ([None], ["data"])
            and imported(method, value.function) in _PARAMETER
        ):
            path, given = f"{me}.{target.name}", value.keyword(FLAG)
            later = block.body[block.body.index(made) :] if isinstance(block, Block) else []
            stops = next((s for s in later if given is None and _stops(s, path)), None)
            if stops is not None or is_constant(given, False):
                yield made, target.name, value.arguments[0], stops


def _kept(method: Function, frozen: dict[tuple[Node | None, str], Assign]) -> Iterator[str]:
    """The names under which a method keeps something else, but what it is made of just before."""
    for kept in everywhere(method, Assign):
        for target in kept.targets if not kept.operator and not is_none(kept.expression) else ():
            if is_own(target, method.receiver):
                last = frozen.get((kept.parent, target.name))
                made = own_word(getattr(kept.expression, "function", None)) == "Parameter"
                if last is not kept and (last is None or made or last.start < kept.start):
                    yield target.name


def _stops(statement: Node, path: str = "") -> bool:
    """`p.requires_grad = False`, where p has a path, if that is told."""
    subject, flag = asked(statement)
    return is_constant(flag, False) and (not path or dotted(subject) == path)


def _tells(node: Node, names: set[str]) -> bool:
    """Whether it tells params from buffers, or trains one that has such a name."""
    subject, flag = asked(node)
    if isinstance(node, Assign):
        return own_word(subject) in names and not is_constant(flag, False)
    if subject is not None:
        method = node.nearest(Function)
        given = isinstance(subject, Name) and (method is None or method.owner is None)
        return not is_constant(flag, False) and (given or isinstance(subject, Attribute))
    assert isinstance(node, Call)
    if own_word(node.function) == "isinstance":
        return any(own_word(n) == "Parameter" for n in node.walk())
    return getattr(node.function, "name", "") in _WALKS and not _passes_by(node)


def _passes_by(walk: Call) -> bool:
    """Whether a walk only freezes what it meets, asks for a place or for what is trained, or is an
    optimizer's."""
    loop = walk.nearest(For)
    if loop is not None and walk in set(loop.iterable.walk()):
        return all(_stops(s) or isinstance(s, If) for s in statements(loop.body))
    around = [n for n in walk.ancestors() if isinstance(n, Expression)]
    return any(map(_PASSING.search, map(text, around)))


PASS = Pass("frozen_params", (), run, of_project=True)
