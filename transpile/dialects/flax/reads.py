"""Arrays of modules that are read: `self.w[...]`, or the Variable itself where it is only asked
about."""

from ...facts.modules import ARRAYS
from ...facts.values.lattice import UNKNOWN, Method, Sequence, Tensor, is_anything
from ...model.constants import is_none
from ...model.control_flow import Cond
from ...model.copy import clone
from ...model.effects import Declare, New, Read, Support, Tie, Write
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Dictionary,
    Display,
    FormattedString,
    Lambda,
    Starred,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.program import Class
from ...model.statements import Assign, Block, If, Raise, Return
from ..sharing.ties import Tied
from .initial_values import is_container
from .layers import RENAMED
from .lowering import Lowering, whole
from .program import dotted_read

_OTHERWISE = frozenset(word for words in RENAMED.values() for word in words)
_RENAMED = "another name in one of these layers, which is Flax's own: set it in each"
ASKED = frozenset({"shape", "ndim", "dtype", "size"})  # which a Variable has of its array


def read(low: Lowering, node: Read) -> None:
    """The array of a Variable, or the Variable itself where it is only asked about."""
    parent = node.parent
    if isinstance(parent, Tie) or isinstance(parent, Declare) and not _is_copied(node, parent):
        return
    if isinstance(parent, Write) and parent.target is node:
        return
    if isinstance(parent, Assign) and node in parent.targets:
        low.edits.change(node, _plain)
        return
    if _read_of_tied(low, node):
        return
    indexed = isinstance(parent, Subscript) and parent.object is node
    asked = isinstance(parent, Attribute) and parent.name in ASKED
    test, late = _is_test(node), low.plan.late_at(node)
    if holds_container(low, node) and not asked and not (test and True in late or len(late) > 1):
        _container(low, node)
    elif indexed or asked or _is_listed(node) or test and True not in late:
        low.edits.change(node, _plain)
    elif test or _may_be_none(low, node) or True in late and not isinstance(node.value, Tensor):
        held = _value if late == {True} else _array_of
        low.edits.change(node, lambda n: n.wrap(lambda n: held(low, n)))
        low.edits.change(node, _plain)
    else:
        low.edits.change(node, lambda n: _plain(n).wrap(whole))


def _array_of(low: Lowering, node: Expression) -> Call:
    return Call(low.support("array_of"), [node])


def _value(low: Lowering, node: Expression) -> Call:
    """What a Variable holds that may have None, or a tuple."""
    return Call(Attribute(node, "get_value"), [])


def _is_copied(node: Read, around: Declare) -> bool:
    """`register_buffer("mean", self.codes.clone())`: another Variable, of the array that was there;
    also under its own name, as in `self.w = nn.Parameter(self.w)`."""
    return around.expression is node and around.kind in ARRAYS


def holds_container(low: Lowering, node: Expression) -> bool:
    """Whether a Variable may hold a list or dict, of which `[...]` is no whole."""
    unit = low.unit(node)
    if not isinstance(node, Read) or node.kind == "param" or unit is None:
        return False
    classes = low.plan.classes_at(node.object, unit)
    return is_container(node) or any(low.plan.begun(c, node.name).container for c in classes)


def _container(low: Lowering, node: Read) -> None:
    """`self.seen.append(x)`, which a Variable hands on; the list or dict itself where it is named
    or gone into, for `get_value()` and `[...]` give a copy, with its keys sorted."""
    parent = node.parent
    called = isinstance(parent, Attribute) and parent.name != "copy"
    entry = isinstance(parent, Subscript) and parent.object is node
    entry = entry and isinstance(parent.value, Tensor)  # type: ignore[union-attr]
    if not (called or entry or _is_test(node)):
        fixed = isinstance(node.value, Sequence) and node.value.tuple
        word = "get_value" if fixed else "get_raw_value"
        low.edits.change(node, lambda n: n.wrap(lambda n: Call(Attribute(n, word), [])))
    low.edits.change(node, _plain)


def _plain(node: Read) -> Attribute:
    made = Attribute(node.object, node.name)
    node.become(made)
    return made


def _is_test(node: Expression) -> bool:
    """`self.bias is None`, `if self.bias`, `not self.bias`, `key in self.seen`"""
    parent = node.parent
    if isinstance(parent, Compare):
        if parent.operators[-1] in ("in", "not in") and parent.operands[-1] is node:
            return True
        return any(word in ("is", "is not") for word in parent.operators)
    if isinstance(parent, (Unary, Boolean)):
        return not isinstance(parent, Unary) or parent.operator == "not"
    decided = isinstance(parent, (If, Conditional)) and not isinstance(parent, Cond)
    return decided and parent.test is node  # type: ignore[union-attr]


def _is_listed(node: Expression) -> bool:
    """`nn.ParameterList([self.w])` has the param itself."""
    around = node.parent
    while isinstance(around, (Display, Dictionary)):
        around = around.parent
    function = around.function if isinstance(around, New) else None
    return isinstance(function, Support) and function.name in ("ParameterList", "ParameterDict")


def _may_be_none(low: Lowering, node: Read) -> bool:
    """Whether None, a number or a size may be read, and handed on: what uses an array at once
    raises for None too."""
    if node.kind == "mixed" and node.name in low.plan.plain_numbers:
        return True  # `layer.scale`, a param of one class and a number of another
    cls = low.cls(node)
    if cls is not None and low.is_self(node.object) and low.plan.begun(cls, node.name).size:
        return True
    used = isinstance(node.parent, (Binary, Attribute, Compare, Subscript)) or _is_computed(node)
    unit = low.unit(node)
    if used or unit is None:
        return False
    if node.kind == "mixed":
        return True
    classes = low.plan.classes_at(node.object, unit)
    found = [low.plan.array(cls, node.name) for cls in classes]
    return any(a is not None and a[1] for a in found) and not _is_guarded(node)


def _is_computed(node: Expression) -> bool:
    """`jnp.zeros_like(self.w)`, `jnp.concatenate([self.q, self.k])`: JAX takes no None there."""
    around = node.parent
    while isinstance(around, Display):
        around = around.parent
    name = (dotted(around.function) or "") if isinstance(around, Call) else ""
    return name.startswith(("jnp.", "jax.nn.")) and name not in ("jnp.array", "jnp.asarray")


def _is_guarded(node: Read) -> bool:
    """Whether a test around a read, or before it, says that it is not None."""
    path = dotted_read(node)
    inner: Node = node
    for around in node.ancestors():
        if isinstance(around, (If, Conditional)) and path is not None:
            if inner is around.body and _says(around.test, path, "is not", "and"):
                return True
            if inner is around.orelse and _says(around.test, path, "is", "or"):
                return True
        if isinstance(around, Block) and path is not None and isinstance(inner, Statement):
            before = around.body[: around.body.index(inner)]
            if any(_leaves_if_none(s, path) for s in before):
                return True
        inner = around
    return False


def _leaves_if_none(statement: Statement, path: str) -> bool:
    if not isinstance(statement, If) or statement.orelse is not None:
        return False
    leaves = isinstance(statement.body.body[-1], (Return, Raise))
    return leaves and _says(statement.test, path, "is", "or")


def _says(test: Expression, path: str, word: str, joint: str) -> bool:
    """Whether a test has `path is not None` among what it joins by `and`, or `is None` by `or`."""
    if isinstance(test, Boolean):
        return test.operator == joint and any(
            _says(side, path, word, joint) for side in (test.left, test.right)
        )
    if not isinstance(test, Compare) or test.operators != [word]:
        return False
    return dotted_read(test.operands[0]) == path and is_none(test.operands[1])


def by_name(low: Lowering, node: Call) -> None:
    """An array that is read, or asked for, by a name in quotes."""
    _getattr_read(low, node)
    _hasattr_asked(low, node)


def _getattr_read(low: Lowering, node: Call) -> None:
    """`getattr(self, f"weight_{i}")`: an array under a name that is computed."""
    cls = low.cls(node)
    if dotted(node.function) != "getattr" or cls is None or len(node.arguments) < 2:
        return
    name = node.arguments[1]
    written = isinstance(name, (FormattedString, Constant))
    open_ = is_anything(node.value or UNKNOWN) or isinstance(node.value, (Method, Tensor))
    if not low.is_self(node.arguments[0]) or not written and not open_:
        return
    if isinstance(name, Constant) and low.plan.array(cls, str(name.constant)) is None:
        return
    if isinstance(name, FormattedString) and not low.plan.has_computed(cls):
        return
    if len(node.arguments) == 2 and low.in_library:
        low.edits.wrap(node, whole)
    else:
        low.edits.wrap(node, lambda n: _array_of(low, n))


def _hasattr_asked(low: Lowering, node: Call) -> None:
    """`hasattr(self, "cache")` of what no constructor sets: its Variable is there, and empty."""
    cls = low.cls(node)
    if dotted(node.function) != "hasattr" or cls is None or len(node.arguments) != 2:
        return
    module, name = node.arguments
    if not low.is_self(module) or not isinstance(name, Constant):
        return
    attribute = str(name.constant)
    if low.plan.begun(cls, attribute).unmade:
        held = _value(low, Attribute(clone(module), attribute))
        low.edits.change(node, lambda n: n.replace(Compare([held, Constant(None)], ["is not"])))


def _read_of_tied(low: Lowering, node: Read) -> bool:
    """The read of an array that another module owns."""
    path = dotted_read(node)
    if path is None:
        return False
    holder = path.rpartition(".")[0]
    own = path.partition(".")[2]
    tied = next((t for t in low.plan.tied(low.unit(node), holder) if t.path == own), None)
    if tied is None:
        return False
    if tied.always:
        owner = tied.owned(low.self_name(node))
        low.edits.change(node, lambda n: n.replace(whole(owner)))
    else:
        low.edits.wrap(node.object, lambda n: with_tied(low, n, holder, [tied]))
        low.edits.change(node, lambda n: _plain(n).wrap(whole))
    return True


def with_tied(low: Lowering, module: Expression, path: str, arrays: list[Tied]) -> Call:
    """`nn.tied(self.head, weight=self.tokens.weight)(x)`"""
    me, _, holder = path.partition(".")
    made = Call(low.support("tied"), [module])
    for tied in arrays:
        owner = tied.owned(me)
        name = tied.path.removeprefix(f"{holder}.")
        given = owner if tied.always else Lambda([], owner)
        if "." in name:
            made.append(Starred(Dictionary([Constant(name), given]), double=True))
        else:
            made.append(given, name)
    return made


# --- layers that are Flax's own ------------------------------------------------------------------


def attribute(low: Lowering, node: Attribute) -> None:
    """`self.drop.p`, which is `self.drop.rate` of an nnx.Dropout, and of a class below it."""
    if low.in_library or node.name not in _OTHERWISE:
        return
    refs = getattr(node.object.value, "refs", ()) or _asked(node)
    bases = [low.plan.project.torch_base(r) if isinstance(r, Class) else r for r in refs]
    layers = [(base or "").rpartition(".")[2] for base in bases]
    names = [RENAMED.get(layer, {}).get(node.name) for layer in layers]
    name = names[0] if names else None
    if not any(names):
        return
    if name is None or len(set(names)) > 1:
        low.report("unsupported", node, f"{node.name} has {_RENAMED}")
        return
    low.edits.change(node, lambda n: n.replace(Attribute(n.object, name)))


def _asked(node: Attribute) -> list[str]:
    """The layers of which `if isinstance(m, nn.Dropout):` around it says that it is one."""
    for around in node.ancestors():
        test = around.test if isinstance(around, If) else None
        if isinstance(test, Call) and dotted(test.function) == "isinstance":
            subject, kinds = test.arguments
            if dotted(subject) == dotted(node.object) and node in around.body.walk():  # type: ignore[attr-defined]
                found = kinds.elements if isinstance(kinds, Display) else [kinds]
                return [str(dotted(kind) or getattr(kind, "name", "")) for kind in found]
    return []
