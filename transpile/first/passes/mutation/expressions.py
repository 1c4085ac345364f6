"""In-place calls inside expressions: written before the statement where what they write is read again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import libcst as cst

from ... import scripts, tree
from ...casts import is_cast
from ...indices import index_kind
from ...inplace import flag, inplace_argument, is_undecided
from ...values import Method, Tensor
from .aliases import follow
from .callees import check_arguments
from .calls import function_form, method_form, with_args, written_by
from .frame import Frame
from .histories import is_detached
from .order import elsewhere
from .rebinding import lvalue, memory_of, rebind, stripped, written_name
from .sequences import taken_apart
from .states import names_follow
from .updates import report_lost, store_updates, updated_by

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_VISITED = frozenset({cst.Call, cst.Lambda, cst.IfExp, cst.BooleanOperation, *_COMPREHENSIONS})  # nodes of expressions that concern the pass


def rewritten(frame: Frame, node: Any) -> Any:
    """An expression, or a small statement, without in-place calls."""
    return tree.rewrite(node, partial(_visit, frame), only=_VISITED)


def rewritten_arguments(frame: Frame, node: cst.Call) -> cst.Call:
    """A call with its arguments rewritten, itself left as it is."""
    args = [rewritten(frame, a) for a in node.args]
    if tree.same(args, node.args):
        return node
    new = tree.replace(node, args=args)
    frame.facts.carry(node, new)
    return new


def in_place(frame: Frame, node: Any, used: bool = False) -> tuple[Any, Any] | None:
    """For a call that writes: what it writes, and the new value as an expression without mutation.

    `used`: the value is that of an expression, where `y.data` is constant; what is written has the gradient of y.
    """

    def strip(subject: Any) -> Any:
        return subject if used and is_detached(frame, subject) else stripped(frame, subject)

    write = written_by(frame, node)
    if write is None:
        return None
    if write.form == "method":
        chained = in_place(frame, node.func.value, used)
        receiver = strip(rewritten(frame, node.func.value)) if chained is None else _settled(frame, node, *chained)
        return write.subject, method_form(frame, node, receiver, [rewritten(frame, a) for a in node.args])
    if write.form == "out":
        return write.subject, with_args(frame, node, [a for a in node.args if a is not write.argument])
    if write.form == "module":
        return write.subject, rewritten_arguments(frame, node)
    subject = strip(write.subject)
    args = [tree.replace(a, value=rewritten(frame, subject)) if a is write.argument else rewritten(frame, a) for a in node.args]
    told = inplace_argument(frame.context, node)
    return write.subject, function_form(frame, node, [new for new, old in zip(args, node.args) if old is not told])


def _settled(frame: Frame, node: cst.Call, subject: Any, value: Any) -> Any:
    """In `x.mul_(a).add_(x)` the second call reads what the first has written: it is written before."""
    name = written_name(frame, subject)
    read = {n for a in node.args for n in frame.liveness.reads(a)}
    if name is None or not frame.follows(lvalue(frame, subject)) or not (name in read or frame.memory.sharing(name, frozenset(read))):
        return value
    if frame.chosen:
        return _on_one_side(frame, node, f"{name} is written in place on one side of a choice, and read there")
    live, frame.live = frame.live, frame.live | read
    made = written_before(frame, node, subject, value)
    frame.live = live
    return made


def undecided(frame: Frame, node: Any, root: Any) -> Any:
    """What stands for a call that perhaps writes what is read later."""
    message = f"{tree.code(root)} is read later, and whether this writes it is not known here; write inplace=False or True"
    return frame.context.unconverted("aliased-write", node, message)


def written_by_flag(frame: Frame, node: Any, subject: Any, value: Any) -> Any:
    """A name for the value of `F.relu(x, inplace=flag)`, computed before the statement; then x has it too, where the flag says so."""
    told = flag(frame.context, node)
    if told is None or frame.chosen or frame.current is None or is_detached(frame, subject) or memory_of(frame, subject) != "view":
        return None
    made = cst.Name(frame.fresh("result"))
    frame.facts.carry(node, made)
    frame.before(tree.assignment(made, value).body[0])
    frame.prelude.append(under_flag(frame, told, lambda: rebind(frame, subject, made, cst.Expr(node))))
    return made


def under_flag(frame: Frame, told: Any, write: Callable[[], Any]) -> cst.If:
    """A write, and what follows it, where a flag says so."""
    after, frame.after = frame.after, []
    body = [cst.SimpleStatementLine([write()]), *frame.after]
    frame.after = after
    return cst.If(told, cst.IndentedBlock(body))


def _on_one_side(frame: Frame, node: Any, message: str) -> Any:
    """What stands for a call that a choice may leave out, where what it writes is read."""
    return frame.context.unconverted("aliased-write", node, f"{message}: write the choice as an if statement")


def _visit(frame: Frame, node: cst.CSTNode) -> Any:
    if isinstance(node, cst.Call):
        return _call(frame, node)
    if isinstance(node, (cst.IfExp, cst.BooleanOperation)):
        return _chosen(frame, node)
    if isinstance(node, cst.Lambda):
        initialiser = (frame.context.torch_name(node.body) or "").startswith("torch.nn.init.")  # what it returns counts
        for call in tree.nodes(node, cst.Call) if frame.runs and not initialiser else ():
            if in_place(frame, call) is not None and frame.info.name == scripts.NAME:  # in a table of functions: who calls it is not known
                frame.context.report("taken-for-granted", node, "this lambda writes its argument in place in torch: here its callers still have the old one")
            elif in_place(frame, call) is not None:
                return frame.context.unconverted("aliased-write", node, "a lambda that writes in place")
        return node
    return _repeated(frame, node)


def _call(frame: Frame, node: cst.Call) -> Any:
    poison = check_arguments(frame, node)
    if poison is None:
        poison = names_follow(frame, node)
    if poison is not None:
        return poison
    update = updated_by(frame, node)
    if update is not None:
        return store_updates(frame, update, rewritten_arguments(frame, node), None)
    report_lost(frame, node)
    write = in_place(frame, node, used=True)
    return _taken_out(frame, node, *write) if write is not None else taken_apart(frame, node)


def _taken_out(frame: Frame, node: cst.Call, subject: Any, value: Any) -> Any:
    """What stands for a call that writes: its value where nobody reads what is written again, else its subject, written before."""
    name = written_name(frame, subject) or viewed_name(frame, subject) or cast_name(frame, subject)
    if name is None or memory_of(frame, subject) == "copy":
        return value
    other = elsewhere(frame, node, name)
    if "before" in other:
        return frame.context.unconverted("aliased-write", node, f"{name} is read and then written in place in one expression")
    if not frame.follows(lvalue(frame, subject)):
        return value
    if not other and not frame.is_read_later(name):
        frame.record_write(name)
        return value
    if is_undecided(frame.context, node):
        by_flag = written_by_flag(frame, node, subject, value)
        return undecided(frame, node, lvalue(frame, subject)) if by_flag is None else by_flag
    if frame.chosen:
        return _on_one_side(frame, node, f"{name} is written in place on one side of a choice, and read later")
    if is_detached(frame, subject) and frame.carries(value) and not _is_dropped(frame, node):
        message = f"the data of {name} is written, and what is written is read with its gradient in the same expression: make the write a statement"
        return frame.context.unconverted("aliased-write", node, message)
    if cast_name(frame, subject) is not None:
        return _cast_before(frame, node, subject, value)
    return written_before(frame, node, subject, value)


def written_before(frame: Frame, node: Any, subject: Any, value: Any) -> Any:
    """Write before the current statement; what stands for the call: its subject, or a name for the value where that may be a copy."""
    made: Any = subject
    if memory_of(frame, subject) == "either":
        made = cst.Name(frame.fresh("item"))
        frame.facts.carry(node, made)
        frame.before(tree.assignment(made, value).body[0])
    frame.before_with_followers(rebind(frame, subject, value if made is subject else made, cst.Expr(node)))
    return made


def _cast_before(frame: Frame, node: cst.Call, subject: Any, value: Any) -> cst.Name:
    """A name for `x.float().div_(255)`, made before the statement: x follows where it has the dtype already."""
    name = cst.Name(frame.fresh("cast"))
    frame.facts.carry(node, name)
    frame.before(tree.assignment(name, value).body[0])
    frame.memory.bind(name, subject)
    live, frame.live = frame.live, frame.live | (frame.liveness.reads(frame.current) if frame.current is not None else set())
    follow(frame, name, cst.Expr(node))
    frame.live = live
    frame.prelude.extend(frame.after)
    frame.after = []
    return name


def cast_name(frame: Frame, subject: Any) -> str | None:
    """The name of what a cast may give itself: x of `x.float()`."""
    node = stripped(frame, subject)
    return frame.memory.view_base(node) if is_cast(frame.context, node) and frame.is_tensor(node) else None


def only_computes(frame: Frame, call: cst.Call) -> bool:
    """Whether all calls in a call are of methods of tensors."""
    return all(isinstance(value := frame.value(c.func), Method) and isinstance(value.receiver, Tensor) for c in tree.nodes(call, cst.Call))


def _is_dropped(frame: Frame, node: cst.Call) -> bool:
    """Whether the current statement does nothing with what a call in it gives: `z.view(-1).copy_(x).view_as(y)`."""
    statements = frame.current.body if frame.current is not None else ()
    values = [s.value for s in statements if isinstance(s, cst.Expr) and isinstance(s.value, cst.Call) and any(n is node for n in tree.nodes(s, cst.Call))]
    return bool(values) and all(only_computes(frame, value) for value in values)


def viewed_name(frame: Frame, subject: Any) -> str | None:
    """The name whose memory a chain of views shows: x of `x.view(-1)[0]`. What may be a copy, `x.float()`, is none."""
    node = stripped(frame, subject)
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and frame.views.get(node.func.attr.value, "same") != "same":
            node = stripped(frame, node.func.value)
        elif frame.is_element(node) and index_kind(frame.context, node.slice) == "basic":
            node = stripped(frame, node.value)
        else:
            return frame.memory.name(node) if isinstance(node, (cst.Name, cst.Attribute)) and node is not subject and frame.is_tensor(node) else None


def _chosen(frame: Frame, node: Any) -> Any:
    """`x.relu_() if inplace else x.relu()`, `ready and x.zero_()`: what is not evaluated for certain writes nothing before the statement."""
    first, others = ("test", ("body", "orelse")) if isinstance(node, cst.IfExp) else ("left", ("right",))
    changes = {first: rewritten(frame, getattr(node, first))}
    frame.chosen += 1
    changes.update({side: rewritten(frame, getattr(node, side)) for side in others})
    frame.chosen -= 1
    if all(new is getattr(node, side) for side, new in changes.items()):
        return node
    new = tree.replace(node, **{side: tree.fit(node, side, value) for side, value in changes.items()})
    frame.facts.carry(node, new)
    return new


def _repeated(frame: Frame, node: Any) -> Any:
    """`[t.mul_(2) for t in ts]` makes new tensors, where nobody reads those that it writes."""
    bound = set(tree.target_names(node.for_in.target))
    for call in tree.nodes(node, cst.Call):
        write = in_place(frame, call)
        if not frame.runs:
            if write is not None and getattr(frame.value(stripped(frame, write[0])), "param", False):
                return frame.context.unconverted("aliased-write", node, "a comprehension that writes params in place: write it as a loop")
            continue
        name = written_name(frame, write[0]) if write is not None else None
        if name is None:
            continue
        read = {n for n in tree.names_read(node.for_in.iter) if n in frame.live or frame.memory.parameters(n) or frame.reached(n)}
        if name not in bound or read:
            return frame.context.unconverted("aliased-write", node, f"a comprehension that writes {name} in place: write it as a loop")
    return None
