"""Attributes that a program sets on arrays, which have none in JAX: what nobody asks for goes.

self.bias._no_reinit = True    ->    nothing, and a loop of no more goes along

Where such a mark is read, it is reported, and raises there.
"""

from typing import Any

from ..facts.values.attribute_names import PROPERTIES
from ..facts.values.lattice import UNKNOWN, Tensor
from ..model.expressions import Attribute, Call, Constant, Name
from ..model.names import dotted, everywhere
from ..model.node import Expression, Node, Statement
from ..model.program import Scope
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement, For
from .pass_ import Changes, Pass

_LISTING = (
    "children named_children modules named_modules parameters named_parameters state_dict items"
).split()
_ASKING = ("getattr", "hasattr", "delattr")


def run(project: Project, facts: Any) -> list[Changes]:
    """The changes of all scopes: what is asked for is known of all files together."""
    scopes = [scope for file in project.ordered for scope in file.scopes()]
    stores = [target for scope in scopes for s in scope.nodes(Assign) for target in _targets(s)]
    marks = {target.name for target in stores if _is_mark(target)}
    known = (target for target in stores if not _is_unknown(target.object))
    elsewhere = {target.name for target in known if not _is_mark(target)}
    alone = marks - elsewhere  # of what nothing is known of they are marks, too
    found = []
    for scope in scopes if marks else ():
        changes = Changes(scope)
        gone = set[Statement]()
        for statement in scope.nodes(Assign):
            targets = _targets(statement)
            guessed = any(t.name in alone and _is_unknown(t.object) for t in targets)
            if guessed or any(map(_is_mark, targets)):
                changes.substitute(statement, [ExpressionStatement(_left(statement))])
                gone.add(statement)
        for loop in reversed(list(scope.nodes(For))):  # inner before outer
            if _only_lists(loop.iterable) and _is_idle(loop, gone):
                changes.remove(loop)
                gone.add(loop)
        stored = {target for s in scope.nodes(Assign) for target in _targets(s)}
        for node in scope.nodes(Attribute, Call):
            name, holder = _asked(node)
            if name not in marks or holder is None or node in stored:
                continue
            if _is_array(holder) or _is_unknown(holder) and name not in elsewhere:
                why = f"{name} is set on a tensor: arrays have no attributes of their own in JAX"
                changes.unconverted("array-attribute", node, why)
        found.append(changes)
    return found


def _targets(statement: Assign) -> list[Attribute]:
    """What a plain assignment to attributes stores into: `p.shared = True`."""
    if statement.operator or not all(isinstance(t, Attribute) for t in statement.targets):
        return []
    return [t for t in statement.targets if isinstance(t, Attribute)]


def _only_lists(iterable: Expression) -> bool:
    """`self.net.children()`, `layer.state_dict().items()`"""
    if not isinstance(iterable, Call) or iterable.arguments:
        return dotted(iterable) is not None
    function = iterable.function
    listing = isinstance(function, Attribute) and function.name in _LISTING
    return listing and _only_lists(function.object)  # type: ignore[attr-defined]


def _is_idle(loop: For, gone: set[Statement]) -> bool:
    """Whether a loop has no more than what goes, and gives names to values of its own alone."""
    kept = [s for s in loop.body.body if s not in gone]
    if loop.orelse or any(
        not isinstance(s, Assign) or any(isinstance(n, Call) for n in s.walk()) for s in kept
    ):
        return False
    targets = [t for s in kept for t in s.targets]  # type: ignore[attr-defined]
    bound = {n.id for t in [loop.target, *targets] for n in t.walk() if isinstance(n, Name)}
    scope = next(a for a in loop.ancestors() if isinstance(a, Scope))
    plain = all(isinstance(t, Name) for t in targets)
    return plain and all(loop in n.ancestors() for n in everywhere(scope, Name) if n.id in bound)


def _is_mark(target: Attribute) -> bool:
    # torch itself sees to its own, or lets nobody set them: `ctx.shape` is no tensor's
    return _is_array(target.object) and target.name not in PROPERTIES


def _is_unknown(node: Expression) -> bool:
    return node.value in (None, UNKNOWN)


def _is_array(node: Expression) -> bool:
    return isinstance(node.value, Tensor) and not node.value.assumed


def _left(statement: Assign) -> Expression:
    """What an assignment leaves: what its value does, or None, which goes."""
    value = statement.expression
    if value is None or not any(isinstance(n, Call) for n in value.walk()):
        return Constant(None)
    return value


def _asked(node: Node) -> tuple[str, Expression | None]:
    """The name and the holder in `p.shared`, `getattr(p, "shared", False)`."""
    if isinstance(node, Attribute):
        return node.name, node.object
    assert isinstance(node, Call)
    if dotted(node.function) not in _ASKING or len(node.arguments) < 2:
        return "", None
    name = node.arguments[1]
    text = name.constant if isinstance(name, Constant) else None
    return (text, node.arguments[0]) if isinstance(text, str) else ("", None)


PASS = Pass("array_attributes", ("values",), run, of_project=True)
