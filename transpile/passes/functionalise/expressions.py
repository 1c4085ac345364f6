"""In-place calls inside expressions: written before the statement where what they write is read
again."""

from typing import Any

from ...facts.bindings import read
from ...facts.memory.access_paths import of
from ...facts.memory.inplace_names import Written
from ...facts.memory.writes import stripped
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Comprehension, Lambda
from ...model.names import below, target_names
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Conditional, sides
from ...model.program import File
from ...model.statements import Assign, Block, ExpressionStatement, If
from . import nodes
from .aliases import follow
from .callees import check_arguments
from .frame import Frame
from .inplace_forms import is_dropped, out_of_place, without_flag
from .module_arrays import names_follow, taken_out
from .order import elsewhere
from .rebinding import cast_path, is_detached, lvalue, memory_of, rebind, written_path
from .sequences import begun
from .updates import drop_unread, report_lost, store_updates, updated_by


def rewritten(frame: Frame, node: Node) -> None:
    """Edit what is below a node, of the copy of the current statement, to write nothing."""
    for child in node.children():
        visit(frame, child)


def visit(frame: Frame, node: Node) -> None:
    """Edit an expression to write nothing; another may stand in its place then."""
    if isinstance(node, Call):
        _call(frame, node)
    elif isinstance(node, Conditional):
        visit(frame, node.test)
        _chosen(frame, [node.body, node.orelse])
    elif isinstance(node, Boolean):
        visit(frame, node.left)
        _chosen(frame, [node.right])
    elif isinstance(node, Lambda):
        _lambda(frame, node)
    elif isinstance(node, Comprehension):
        _repeated(frame, node)
    elif not isinstance(node, Statement):
        rewritten(frame, node)


def _chosen(frame: Frame, sides: list[Expression]) -> None:
    """`x.relu_() if inplace else x.relu()`, `ready and x.zero_()`: what is not evaluated for
    certain writes nothing before the statement."""
    frame.chosen += 1
    for side in sides:
        visit(frame, side)
    frame.chosen -= 1


def _lambda(frame: Frame, node: Lambda) -> None:
    calls = [c for c in below(node, Call) if frame.spellings.written(c) is not None]
    names = [getattr(of(c.function), "name", "") for c in calls]
    if not calls or all(name.startswith("torch.nn.init.") for name in names):
        return  # what an initialiser returns counts
    if isinstance(frame.scope, File):  # in a table of functions: who calls it is not known
        message = (
            "this lambda writes its argument in place in torch: here its callers have the old one"
        )
        frame.changes.report("taken-for-granted", node, message)
    else:
        node.replace(frame.unconverted("aliased-write", node, "a lambda that writes in place"))


def _repeated(frame: Frame, node: Comprehension) -> None:
    """`[t.mul_(2) for t in ts]` makes new tensors, where nobody reads those that it writes."""
    bound = set(target_names(node.clauses[0].target))
    for call in list(below(node, Call)):
        write = frame.spellings.written(call)
        path = written_path(frame, write.subject) if write is not None else None
        if write is None or path is None:
            continue
        over = read(node.clauses[0].iterable)
        kept = [n for n in over if n in frame.live or frame.state.parameters(n) or frame.reached(n)]
        if path not in bound or kept:
            message = f"a comprehension that writes {path} in place: write it as a loop"
            node.replace(frame.unconverted("aliased-write", node, message))
            return
        out_of_place(frame, call, write)
    rewritten(frame, node)


# --- calls ----------------------------------------------------------------------------------------


def _call(frame: Frame, node: Call) -> None:
    poison = check_arguments(frame, node) or begun(frame, node) or names_follow(frame, node)
    if poison is not None:
        node.replace(poison)
        return
    drop_unread(frame, node)
    update = updated_by(frame, node)
    if update is not None:
        visit_arguments(frame, node)
        store_updates(frame, update, node)
        return
    report_lost(frame, node)
    write = frame.spellings.written(node)
    if write is None:
        without_flag(frame, node)
        rewritten(frame, node)
        poison = taken_out(frame, node)
        if poison is not None:
            node.replace(poison)
    else:
        undecided, told = frame.spellings.is_undecided(node), frame.spellings.flag(node)
        subject = in_place(frame, node, write, used=True)
        _taken_out(frame, node, subject, undecided, told)


def visit_arguments(frame: Frame, node: Call) -> None:
    for argument in list(node.arguments):
        visit(frame, argument)


def in_place(frame: Frame, node: Call, write: Written, used: bool = False) -> Expression:
    """Edit a call that writes to one that gives the new value; what it writes.

    `used`: the value is that of an expression, where `y.data` is constant; what is written has the
    gradient of y.
    """
    subject = _settled_choice(frame, write.subject)
    frame.reshaped[node] = frame.spellings.reshapes(node)
    if write.form == "method" and isinstance(node.function, Attribute):
        receiver = node.function.object
        inner = frame.spellings.written(receiver)
        if inner is not None and isinstance(receiver, Call):
            subject = in_place(frame, receiver, inner, used)
            _settled(frame, node, receiver, subject)
        else:
            rewritten(frame, receiver)
            subject = node.function.object
            if frame.reshaped[node] is None and not (used and is_detached(frame, subject)):
                _strip(frame, subject)
        visit_arguments(frame, node)
        subject = clone(subject) if subject is not node.function.object else subject
    else:
        for at, argument in enumerate(list(node.arguments)):
            if argument is not subject:
                visit(frame, argument)
            elif frame.spellings.written(argument) is not None:  # `F.relu_(x.add_(y))`
                visit(frame, argument)
                subject = node.arguments[at]
            elif write.form == "function" and not (used and is_detached(frame, subject)):
                rewritten(frame, subject)
                _strip(frame, subject)
    if write.form == "out":
        subject = clone(subject)
    out_of_place(frame, node, write)
    return subject


def _settled_choice(frame: Frame, subject: Expression) -> Expression:
    """What raises for `a if flag else b`, where a side that may be written is read later."""
    for side in sides(subject) if isinstance(subject, Conditional) else ():
        path = written_path(frame, side)
        if path is not None and frame.is_read_later(path):
            poison = _on_one_side(frame, subject, f"{path} may be written in place, and read later")
            subject.replace(poison)
            return poison
    return subject


def _strip(frame: Frame, subject: Expression) -> None:
    """`x.data` is x itself, as far as a write goes: the new value is computed from that."""
    plain: Expression = stripped(subject, frame.views)
    if plain is not subject:
        subject.replace(clone(plain))


def _settled(frame: Frame, node: Call, receiver: Call, subject: Expression) -> None:
    """In `x.mul_(a).add_(x)` the second call reads what the first has written: it is written
    before."""
    path = written_path(frame, subject)
    names = frozenset(n for a in node.arguments for n in read(a))
    if path is None or not (path in names or frame.state.sharing(path, names)):
        return
    if frame.chosen:
        message = f"{path} is written in place on one side of a choice, and read there"
        receiver.replace(_on_one_side(frame, receiver, message))
        return
    live, frame.live = frame.live, frame.live | names
    _written_before(frame, receiver, subject)
    frame.live = live


def _on_one_side(frame: Frame, node: Node, message: str) -> Expression:
    """What stands for a call that a choice may leave out, where what it writes is read."""
    return frame.unconverted(
        "aliased-write", node, f"{message}: write the choice as an if statement"
    )


def _taken_out(frame: Frame, node: Call, subject: Expression, undecided: bool, told: Any) -> None:
    """What stands for a call that writes: its value where nobody reads what is written again, else
    its subject, written before."""
    path = written_path(frame, subject) or cast_path(frame, subject)
    if path is None or memory_of(frame, subject) == "copy":
        return
    other = elsewhere(frame, node, path)
    if "before" in other:
        message = f"{path} is read and then written in place in one expression"
        node.replace(frame.unconverted("aliased-write", node, message))
    elif not other and not frame.is_read_later(path):
        return
    elif undecided:
        if not _by_flag(frame, node, subject, told):
            node.replace(undecided_write(frame, node, lvalue(frame, subject) or subject))
    elif frame.chosen:
        message = f"{path} is written in place on one side of a choice, and read later"
        node.replace(_on_one_side(frame, node, message))
    elif is_detached(frame, subject) and not is_dropped(frame, node):
        message = (
            f"the data of {path} is written, and what is written is read with its gradient in the "
            "same expression: make the write a statement"
        )
        node.replace(frame.unconverted("aliased-write", node, message))
    elif cast_path(frame, subject) is not None:
        _cast_before(frame, node, subject)
    else:
        _written_before(frame, node, subject)


def undecided_write(frame: Frame, node: Expression, root: Expression) -> Expression:
    """What stands for a call that perhaps writes what is read later."""
    message = (
        f"{nodes.source(root)} is read later, and whether this writes it is not known here; "
        "write inplace=False or True"
    )
    return frame.unconverted("aliased-write", node, message)


def _by_flag(frame: Frame, node: Call, subject: Expression, told: Any) -> bool:
    """A name for the value of `F.relu(x, inplace=flag)`, computed before the statement; then x has
    it too, where the flag says so."""
    if told is None or frame.chosen or is_detached(frame, subject):
        return False
    if memory_of(frame, subject) != "view":
        return False
    made = nodes.name(frame.fresh("result"))
    subject = clone(subject)
    node.replace(made)
    frame.before.append(Assign([clone(made)], node))
    frame.before.append(under_flag(frame, told, subject, clone(made), node))
    return True


def under_flag(frame: Frame, told: Any, subject: Any, value: Expression, node: Node) -> If:
    """A write, and what follows it, where a flag says so."""
    after, frame.after = frame.after, []
    body = [*rebind(frame, subject, value, node), *frame.after]
    frame.after = after
    return If(clone(told), Block(body))


def _written_before(frame: Frame, node: Call, subject: Expression) -> None:
    """Write before the current statement; what stands for the call: its subject, or a name for the
    value where that may be a copy."""
    stands: Expression = clone(subject)
    subject = clone(subject) if not _is_receiver(node, subject) else subject
    if memory_of(frame, subject) == "either":
        stands = nodes.name(frame.fresh("item"))
        node.replace(stands)
        frame.before.append(Assign([clone(stands)], node))
        made = rebind(frame, subject, clone(stands), node)
    else:
        node.replace(stands)
        made = rebind(frame, subject, node, node)
    frame.before_with_followers(made)


def _is_receiver(node: Call, subject: Expression) -> bool:
    return isinstance(node.function, Attribute) and node.function.object is subject


def _cast_before(frame: Frame, node: Call, subject: Expression) -> None:
    """A name for `x.float().div_(255)`, made before the statement: x follows where it has the dtype
    already."""
    name = nodes.name(frame.fresh("cast"))
    node.replace(name)
    frame.before.append(Assign([clone(name)], node))
    frame.state.bind(name, subject)
    live = frame.live
    frame.live = live | set(read(frame.current)) if frame.current is not None else live
    follow(frame, name, ExpressionStatement(clone(node)))
    frame.live = live
    frame.before += frame.after
    frame.after = []
