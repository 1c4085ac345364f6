"""What must follow a write: other names for the same memory that are read later."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...casts import is_cast, kept
from ...computed_names import may_be, pattern
from ...inplace import reshapes
from ...memory import COMPUTED
from ...numpy_writes import root
from ...values import External
from .frame import Frame
from .rows import Stale
from .views import of_base, written_back


def follow(frame: Frame, subject: Any, node: Any) -> None:
    """Names for the same memory that are read later get the new value."""
    name = frame.memory.path(subject)
    if not frame.follows(subject):
        return
    if name is None:
        return element_written(frame, subject, node)
    if frame.is_held_by_object(subject) and not frame.is_owned(subject.attr.value):
        message = f"{name} is written in place, and what it was made from, or who was given it, may have the same memory"
        frame.after.append(tree.assignment(subject, frame.context.unconverted("aliased-write", node, message)))
    if frame.memory.is_unheld(name):
        refuse(frame, name, node, f"{name} is written in place, and what holds it has no name here to store the new {name} by")
    if frame.runs and name not in frame.live and frame.memory.is_foreign(name) and not frame.reached(name):
        # nobody here reads what is written: `for h in helper.hidden(): h.zero_()` is for who holds it
        refuse(frame, name, node, f"{name} is written in place for what has given it, which still has the old one here")
    if (reshaped := reshapes(frame.context, getattr(node, "value", node))) is not None:
        return _reshaped(frame, name, node, reshaped)
    for loop, over in frame.rows:
        if name == over or frame.memory.sharing(name, frozenset([over])):
            raise Stale(loop)
    others = [o for o in frame.reached(name) if not _is_apart(frame, name, o)]
    if frame.runs and COMPUTED in frame.memory.env and _is_stored_by_name(frame, name, node):
        return
    if (holder := _stored_back(frame, name, others)) is not None:
        others = [o for o in others if frame.memory.places(o) != frame.memory.places(holder)]
    bases = _bases(frame, name, others)
    done: dict[Any, str] = {}  # for each place that has followed, a name for it
    for other in [*(o for o in others if o in bases), *(o for o in others if o not in bases)]:
        place = frame.memory.only(other)
        relation = frame.named(done[place]) if place in done else _relation(frame, name, other)
        if place is not None and relation is not None:
            done[place] = other
        if relation is None:
            relation = _sibling(frame, other, bases)
        follower = _follower(frame, subject, node, name, other, bases, relation) if relation is not None else None
        if follower is None:
            refuse(frame, other, node, f"{name} is written in place, and {other} may be the same memory")
        else:
            frame.followers[id(follower)] = follower, other
            frame.after.append(follower)
    frame.record_write(name, holder)


def _reshaped(frame: Frame, name: str, node: Any, how: str) -> None:
    """A tensor gets another shape in place, `x.t_()`: other names for the tensor itself follow, those for parts of its memory keep theirs."""
    mine = frame.memory.places(name)
    others = frame.reached(name) if how == "elements" else [o for o in frame.reached(name) if frame.memory.places(o) & mine]
    holder = _stored_back(frame, name, others)
    for other in others:
        if len(mine) == 1 and frame.memory.places(other) == mine:
            follower = tree.assignment(_placed(frame, other, None, node), frame.named(name))
            frame.followers[id(follower)] = follower, other
            frame.after.append(follower)
        else:
            refuse(frame, other, node, f"{name} gets another shape in place, and {other} may be the same memory")
    if how == "memory" and any(place.view is not None for one in mine for place in one.closure()):
        frame.context.report("taken-for-granted", node, f"torch takes the elements in their order in memory, which may not be that of {name}, a view")
    frame.record_write(name, holder)


def _is_apart(frame: Frame, name: str, other: str) -> bool:
    """Whether two names are different parts of one tensor, or different entries of one dict."""
    mine = frame.memory.only(name)
    entries = mine is not None and mine.base is not None and _is_other_entry(frame, other, mine.base, mine.entry)
    return entries or frame.memory.apart(name, other)


def _stored_back(frame: Frame, name: str, others: list[str]) -> str | None:
    """Put what was taken out of a dict, list or object back where it was: `d[k] = v`. The name of what holds it, where that is known."""
    mine = frame.memory.only(name)
    if mine is None or mine.entry is None or mine.base is None or not frame.memory.unchanged(mine):
        return None
    if mine.base in others or frame.memory.parameters(mine.base):
        entry = tree.replace(mine.entry)
        frame.facts.carry(mine.entry, entry)
        made = tree.assignment(entry, frame.named(name))
        frame.facts.in_place.add(id(made.body[0]))
        frame.after.append(made)
    return mine.base


def _is_stored_by_name(frame: Frame, name: str, node: Any) -> bool:
    """Put what was taken by a computed name, `u = getattr(self, f"u{i}")`, back under it: `setattr(self, f"u{i}", u)`. Whether it is refused."""
    memory, mine = frame.memory, frame.memory.only(name)
    kept = {p for place in memory.places(COMPUTED) for p in place.closure()}
    if not any(place.closure() & kept for place in memory.places(name)):
        return False
    if mine is not None and mine.entry is not None and mine.base == COMPUTED and memory.unchanged(mine) and not _names_written_out(frame, mine.entry):
        frame.after.append(cst.SimpleStatementLine([set_by_name(frame, mine.entry, frame.named(name))]))
        frame.mutations.state.setdefault(frame.info, set()).add(COMPUTED.partition(".")[2])
        return False
    message = f"{name} may be an array of self with a computed name, and which is not known: write getattr(self, name) itself"
    frame.after.append(cst.SimpleStatementLine([cst.Expr(frame.context.unconverted("aliased-write", getattr(node, "value", node), message))]))
    return True


def _names_written_out(frame: Frame, call: cst.Call) -> bool:
    """Whether a name that is read later may be what is asked for by a computed one, by a name that is written out: `z = self.u0`, `getattr(self, f"u{i}")`."""
    asked = pattern(call.args[1].value)
    attributes = {f"self.{n.attr.value}" for n in tree.nodes(frame.node.body, cst.Attribute) if frame.is_on_self(n) and may_be(asked, n.attr.value)}
    return any(frame.reached(name) for name in attributes & frame.memory.env.keys())


def set_by_name(frame: Frame, call: cst.Call, value: Any) -> cst.Expr:
    """`setattr(self, f"u{i}", value)` for a write of `getattr(self, f"u{i}")`."""
    made = tree.replace(tree.expression("setattr(x, y, z)"), args=[tree.replace(call.args[0], comma=cst.MaybeSentinel.DEFAULT), tree.replace(call.args[1], comma=cst.MaybeSentinel.DEFAULT), cst.Arg(value)])
    frame.facts.tell(made.func, External("builtins.setattr"))
    return cst.Expr(made)


def computed_written(frame: Frame, call: cst.Call, value: Any, node: Any) -> cst.Expr:
    """`getattr(self, f"u{i}").mul_(2)`: names for the same memory cannot follow."""
    if _names_written_out(frame, call):
        return cst.Expr(frame.context.unconverted("aliased-write", call, "an array of self is written by a computed name, and one that is written out stands for the same memory"))
    for other in frame.reached(COMPUTED):
        refuse(frame, other, node, f"{tree.code(call)} is written in place, and {other} may be the same memory")
    frame.mutations.state.setdefault(frame.info, set()).add(COMPUTED.partition(".")[2])
    return set_by_name(frame, call, value)


def _follower(frame: Frame, subject: Any, node: Any, name: str, other: str, bases: list[str], relation: Any) -> Any:
    """The statement that lets a name follow; behind a cast, `y = x.float()`, only where that has made no copy. None where that is not known."""
    made = tree.assignment(_placed(frame, other, subject, node), relation)
    frame.facts.in_place.add(id(made.body[0]))
    mine, its = frame.memory.only(name), frame.memory.only(other)
    if mine is None or its is None or mine is its:
        return made
    if its.view is not None and is_cast(frame.context, its.view):
        view, source, cast = its.view, name if its.parents == frozenset([mine]) else bases[0], other
    elif mine.view is not None and mine.parents == frozenset([its]) and is_cast(frame.context, mine.view):
        view, source, cast = mine.view, other, name
    else:
        return made
    test = kept(frame.context, view, frame.named(source), frame.named(cast))
    return None if test is None else cst.If(test, cst.IndentedBlock([made]))


def _placed(frame: Frame, name: str, subject: Any, node: Any) -> Any:
    """A name that follows the write of a subject, which is where diagnostics show it: of `self.w` after a write of w."""
    named = frame.named(name)
    frame.facts.carry(node, named)
    if name.startswith("self."):
        frame.facts.origin[id(named)] = frame.facts.origin.get(id(subject), subject)
    return named


def element_written(frame: Frame, subject: Any, node: Any) -> None:
    """A write to an element of a list or dict, or to an attribute of an object: names for the same memory cannot follow."""
    name = _holder(frame, subject)
    if name is None:
        return _nameless_written(frame, subject, node)
    if not frame.runs:
        return
    if name in frame.live and frame.memory.repeats(name):
        refuse(frame, name, node, f"an element of {name} is written in place, and another may be the same memory")
    for other in frame.reached(name):
        if frame.memory.places(other) == frame.memory.places(name) or _is_other_entry(frame, other, name, subject):
            continue
        refuse(frame, other, node, f"an element of {name} is written in place, and {other} may be the same memory")
    parameters = frame.memory.parameters(name)
    if parameters - {name}:
        frame.record_write(name)
    elif parameters:
        frame.mutations.elements.setdefault(frame.info, set()).update(parameters)


def _nameless_written(frame: Frame, subject: Any, node: Any) -> None:
    """A write to an element of what a call gives, `wrapped(x)[0].add_(1)`: names for the same memory cannot follow."""
    made = root(subject)
    places = {p for place in frame.memory.shares(made) for p in place.closure()} if isinstance(made, cst.Call) and frame.runs else set()
    for other in sorted(n for n in frame.live & set(frame.memory.env) if any(place.closure() & places for place in frame.memory.env[n])):
        refuse(frame, other, node, f"{tree.code(subject)} is written in place, and {other} may be the same memory")
    frame.mutations.record(frame.info, {p.parameter for p in places if p.parameter is not None})


def _is_other_entry(frame: Frame, name: str, holder: str, subject: Any) -> bool:
    """Whether a name has been taken from the same dict under another key than what is written: `u = d["a"]` of `d["b"].add_(1)`."""
    place = frame.memory.only(name)
    if place is None or place.base != holder or not isinstance(place.entry, cst.Subscript) or not isinstance(subject, cst.Subscript):
        return False
    keys = [entry.slice[0].slice.value for entry in (place.entry, subject) if isinstance(entry.slice[0].slice, cst.Index)]
    literal = all(isinstance(key, (cst.SimpleString, cst.Integer)) for key in keys)
    return len(keys) == 2 and literal and tree.code(subject.value) == tree.code(place.entry.value) and tree.code(keys[0]) != tree.code(keys[1])


def _holder(frame: Frame, subject: Any) -> str | None:
    """The name of what holds an element: the list of `xs[0].y`."""
    root = subject
    while isinstance(root, (cst.Subscript, cst.Attribute)) and frame.memory.name(root) is None:
        root = root.value
    return frame.memory.name(root)


def refuse(frame: Frame, name: str, node: Any, message: str) -> None:
    """A name that cannot follow raises where it is read."""
    written = node.value if hasattr(node, "value") and not isinstance(node, cst.AugAssign) else node
    frame.after.append(tree.assignment(frame.named(name), frame.context.unconverted("aliased-write", written, message)))


def _bases(frame: Frame, name: str, others: list[str]) -> list[str]:
    """Of these names, those that are what the written view is a view of."""
    mine = frame.memory.only(name)
    if mine is None or mine.view is None:
        return []
    return [o for o in others if (its := frame.memory.only(o)) is not None and mine.parents == frozenset([its])]


def _relation(frame: Frame, name: str, other: str) -> Any:
    """What the other name becomes when this one has its new value, or None where that is not known."""
    memory = frame.memory
    mine, its = memory.only(name), memory.only(other)
    if mine is None or its is None:
        return None
    if mine is its:
        return frame.named(name)
    if its.view is not None and its.parents == frozenset([mine]) and memory.unchanged(its):
        return of_base(frame, its.view, name)  # a view of what was written is taken again
    if mine.view is not None and mine.parents == frozenset([its]) and memory.unchanged(mine):
        return written_back(frame, of_base(frame, mine.view, other), frame.named(name))
    return None


def _sibling(frame: Frame, other: str, bases: list[str]) -> Any:
    """Two views of one base: the base has been written back, and the other is taken from it again."""
    its = frame.memory.only(other)
    if its is None or its.view is None or not bases or not frame.memory.unchanged(its):
        return None
    return of_base(frame, its.view, bases[0]) if its.parents == frame.memory.places(bases[0]) else None
