"""What must follow a write: other names for the same memory that are read later."""

from typing import Any

from ...facts import casts
from ...facts.memory import Place
from ...facts.memory.access_paths import of, on_module, spelled
from ...facts.memory.inplace_names import is_tensor
from ...facts.memory.locations import closed
from ...facts.values.lattice import Static, Torch
from ...model.effects import NewArray
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import target_names, text
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, Block, For, If
from . import nodes
from .alias_relations import bases_of, related, sibling
from .container_entries import replaced, stored_back
from .frame import Frame


def follow(frame: Frame, subject: Any, node: Node) -> None:
    """Names for the same memory that are read later get the new value."""
    path = frame.state.path(subject)
    if path is None:
        return element_written(frame, subject, node)
    if frame.holds_self(subject) and not _is_fresh(frame, path):
        message = f"{path} is written in place, and what it was made from may have the same memory"
        _store(frame, path, frame.unconverted("aliased-write", node, message))
    if _is_in_array(frame, path, node):
        why = f"{path} is written in place, and a parameter made of it has the old value"
        frame.changes.report("aliased-write", node, why)
    if (around := _shared_around(frame, path)) is not None:
        refuse(
            frame, path, node, f"{path} is written in place, and {around} may be the same memory"
        )
    elif frame.state.is_unheld(path):
        refuse(frame, path, node, f"{path} is written in place, and what holds it has no name here")
    elif frame.traced and path not in frame.live and frame.state.is_foreign(path):
        if not frame.reached(path):
            message = f"{path} is written in place for what has given it, which has the old one"
            refuse(frame, path, node, message)
    reshaped = frame.reshapes(nodes.called_by(node))
    if reshaped is not None:
        return _reshaped(frame, path, node, reshaped)
    for loop, over in frame.rows:
        if path == over or frame.state.sharing(path, frozenset([over])):
            if _is_rebound(loop, over):
                message = f"{path} is written in place, and may be what a loop goes over by rows"
                return refuse(frame, path, node, f"{message}, for which {over} is no name any more")
            frame.stale.add(loop)
    others = [o for o in frame.reached(path) if not _is_apart(frame, path, o)]
    changed = replaced(frame, path)
    if changed is not None:
        message = (
            f"{path} is written in place, and {changed} may hold another thing in its place by now"
        )
        refuse(frame, changed, node, message)
        others = [o for o in others if o != changed]
    holder = stored_back(frame, path, others) if changed is None else None
    if holder is not None:
        places = frame.state.places(holder)
        others = [o for o in others if frame.state.places(o) != places]
    _follow_each(frame, path, others, node)


def _shared_around(frame: Frame, path: str) -> str | None:
    """Another name, in the function around this one, for memory that is written here: what a
    `nonlocal` name stands for, and what a view was taken of."""
    scope = frame.scope
    outer = frame.state.project.outer(scope) if isinstance(scope, Function) else None
    if outer is None:
        return None
    read = {n.id for n in outer.nodes(Name) if n.start > scope.end}
    names, arrays = frame.state.outer(path), {n.id for n in scope.nodes(Name) if is_tensor(n)}
    if viewed := (names & arrays & read) - frame.own - {path}:
        return min(viewed)
    flow = frame.memory.state(outer)
    for env in flow.before.values():
        for name in sorted(names & frame.own & env.keys()):
            for other in flow.copy(env).sharing(name, frozenset(env)):
                if other in read or on_module(other):
                    return other
    return None


def _is_in_array(frame: Frame, path: str, node: Node) -> bool:
    """Whether an array of a module that has no name was made of it before: `[nn.Parameter(w)]`."""
    values = (a.arguments[0] for a in frame.scope.nodes(NewArray))
    return any(isinstance(v, Name) and v.id == path and v.start < node.start for v in values)


def _follow_each(frame: Frame, path: str, others: list[str], node: Node) -> None:
    bases = bases_of(frame, path, others)
    done: dict[Place, str] = {}  # for each place that has followed, a name for it
    for other in [*bases, *(o for o in others if o not in bases)]:
        place = frame.state.only(other)
        if place is not None and place in done:
            relation: Expression | None = frame.named(done[place])
        else:
            relation = related(frame, path, other) or sibling(frame, other, bases)
        if place is not None and relation is not None:
            done[place] = other
        made = _follower(frame, path, other, bases, relation) if relation is not None else None
        if made is None:
            message = f"{path} is written in place, and {other} may be the same memory"
            refuse(frame, other, node, message)
        else:
            frame.after.append(made)


def _is_rebound(loop: For, over: str) -> bool:
    """Whether a turn of a loop may bind the name of what is gone over to something else."""
    nodes = list(loop.body.walk())
    targets = [t for n in nodes if isinstance(n, Assign) and not n.operator for t in n.targets]
    targets += [n.target for n in nodes if isinstance(n, For)]
    return any(over in target_names(target) or text(target) == over for target in targets)


def _is_fresh(frame: Frame, path: str) -> bool:
    """Whether an attribute of a plain object was made in this function, of nothing else."""
    return all(p.free is None and p.parameter is None for p in closed(frame.state.places(path)))


def _reshaped(frame: Frame, path: str, node: Node, how: str) -> None:
    """A tensor gets another shape in place, `x.t_()`: other names for the tensor itself follow,
    those for parts of its memory keep theirs."""
    mine = frame.state.places(path)
    others = frame.reached(path)
    if how != "elements":
        others = [o for o in others if frame.state.places(o) & mine]
    stored_back(frame, path, others)
    for other in others:
        if len(mine) == 1 and frame.state.places(other) == mine:
            _store(frame, other, frame.named(path))
        else:
            message = f"{path} gets another shape in place, and {other} may be the same memory"
            refuse(frame, other, node, message)
    if how == "memory" and any(p.view is not None for p in closed(mine)):
        message = (
            f"torch takes the elements in their order in memory, which may not be that of {path}"
        )
        frame.changes.report("taken-for-granted", node, message)


def _is_apart(frame: Frame, path: str, other: str) -> bool:
    """Whether two names are different parts of one tensor, or different entries of one dict."""
    mine = frame.state.only(path)
    if mine is not None and mine.base is not None:
        if _is_other_entry(frame, other, mine.base, mine.entry):
            return True
    return frame.state.apart(path, other)


def _follower(
    frame: Frame, path: str, other: str, bases: list[str], relation: Expression
) -> Statement | None:
    """The statement that lets a name follow; behind a cast, `y = x.float()`, only where that has
    made no copy. None where that is not known."""
    made = nodes.store(frame.named(other), relation)
    mine, its = frame.state.only(path), frame.state.only(other)
    if mine is None or its is None or mine is its:
        return made
    if its.view is not None and casts.is_cast(its.view):
        view, cast = its.view, other
        source = path if its.parents == frozenset([mine]) else bases[0]
    elif mine.view is not None and mine.parents == {its} and casts.is_cast(mine.view):
        view, source, cast = mine.view, other, path
    else:
        return made
    if not casts.tells(view):
        return None
    return If(_kept(frame, view, source, cast), Block([made]))


def _kept(frame: Frame, view: Call, source: str, cast: str) -> Expression:
    """The test whether a cast gave the tensor itself. A float64 is made of something narrower, as
    far as is known."""
    words = {v.name for a in view.arguments if isinstance(v := of(a), Torch)}
    named = isinstance(view.function, Attribute) and view.function.name == "double"
    wide = named or words & {"torch.float64", "torch.double", "torch.DoubleTensor"}
    left = nodes.attribute(frame.named(source), "dtype", nodes.DTYPE)
    right = nodes.attribute(frame.named(cast), "dtype", nodes.DTYPE)
    return nodes.equal_dtypes(left, nodes.float64() if wide else right)


# --- elements of lists and dicts ------------------------------------------------------------------


def element_written(frame: Frame, subject: Any, node: Node) -> None:
    """A write to an element of a list or dict, or to an attribute of an object: names for the same
    memory cannot follow."""
    root = subject
    while isinstance(root, (Subscript, Attribute)) and frame.state.path(root) is None:
        root = root.object
    path = frame.state.path(root)
    if path is None:
        return _nameless_written(frame, subject, root, node)
    if path in frame.live and frame.state.repeats(path):
        message = f"an element of {path} is written in place, and another may be the same memory"
        refuse(frame, path, node, message)
    key = frame.state.key_in(subject, path)
    for other in frame.reached(path):
        same = frame.state.places(other) == frame.state.places(path)
        same = same or frame.state.holds_apart(path, key, other)
        if not same and not _is_other_entry(frame, other, path, subject):
            message = (
                f"an element of {path} is written in place, and {other} may be the same memory"
            )
            refuse(frame, other, node, message)


def _nameless_written(frame: Frame, subject: Any, made: Any, node: Node) -> None:
    """A write to an element of what a call gives, `wrapped(x)[0].add_(1)`: names for the same
    memory cannot follow."""
    if not isinstance(made, Call):
        return
    places = closed(frame.state.shares(made))
    for other in sorted(frame.live & set(frame.state.env)):
        if closed(frame.state.env[other]) & places:
            message = f"{text(subject)} is written in place, and {other} may be the same memory"
            refuse(frame, other, node, message)


def _is_other_entry(frame: Frame, path: str, holder: str, subject: Any) -> bool:
    """Whether a name has been taken from the same dict under another key than what is written:
    `u = d["a"]` of `d["b"].add_(1)`."""
    place = frame.state.only(path)
    if place is None or place.base != holder or not isinstance(place.entry, Subscript):
        return False
    if not isinstance(subject, Subscript):
        return False
    keys = [of(place.entry.index), of(subject.index)]
    if not all(isinstance(k, Static) and isinstance(k.const, (str, int)) for k in keys):
        return False
    same = spelled(subject.object) == spelled(place.entry.object)
    return same and keys[0] != keys[1]


# --- refusals -------------------------------------------------------------------------------------


def refuse(frame: Frame, path: str, node: Node, message: str, id: str = "aliased-write") -> None:
    """A name that cannot follow raises where it is read."""
    written = nodes.called_by(node) or node
    if isinstance(node, Assign) and node.operator:
        written = node
    _store(frame, path, frame.unconverted(id, written, message))


def _store(frame: Frame, path: str, value: Expression) -> None:
    frame.after.append(nodes.store(frame.named(path), value))
