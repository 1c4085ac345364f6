"""What only reports: what runs under jit, and is another thing there.

if self.hits > 3:          where `forward` counts `self.hits`, a number in torch
if random.random() < p:    draws once, when the function is traced
try: return x[5]           takes the last element, where torch raises
except IndexError: …
self.act = getattr(self, kind)  keeps a method, with a module that is another one once traced
if FAST:                   a class has its methods without asking
    def forward(self, x): …
for f in features.values():  of an argument, which comes through jit sorted by its keys
"""

from collections.abc import Iterator
from typing import Any

from ..facts.carried.dict_order import is_sorted, ordered_reads
from ..facts.computed_methods import methods_named
from ..facts.host_effects import draws
from ..facts.values.lattice import UNKNOWN, External, Mapping, Sequence, Tensor, is_traced
from ..model.effects import BUFFER, MIXED, Apply, Read, Write
from ..model.expressions import Attribute, Call, Constant, Name, Subscript
from ..model.functions import is_checkpoint
from ..model.names import below, dotted, last_word, names_assigned
from ..model.node import Expression
from ..model.operators import Binary, Compare, Conditional, asks_for_none
from ..model.positions import source_of
from ..model.program import Class, Function, Scope
from ..model.project import Project
from ..model.statements import Assign, If, Raise, Try, While
from .pass_ import Changes, Pass

_STATIC = frozenset(("dtype", "ndim", "shape", "size"))  # which Python knows of any array
_WHY = (
    "is changed while the model runs: jax.jit makes an array of it, by which Python cannot decide"
)

_SORTED = (
    "this goes by the order of a dict, which jax.jit sorts by its keys: name the keys, or have it "
    "an OrderedDict"
)
_CONDITION = "a class of modules has this method under a condition: write one method that asks it"
_FOLLOWED = "another method of this name follows in the class, which has no use for this one"
_BASE = "what this class extends is not known, so its forward has no super(): name one class"
_KEPT = (
    "a method that is kept on a module has the module with it, which is another once it is traced"
)
_CLAMPED = "no IndexError comes of %s: JAX takes the last element for one out of range"
_RAISED = (
    "what torch raises here JAX does not: arrays that do not fit are a TypeError or a ValueError, "
    "and where there is no result it is NaN"
)
_NONE = (
    "may be None, of which JAX asks with a TypeError where torch has an AttributeError: ask "
    "whether it is there"
)
_NO_STATE = (
    "is kept by a model that runs, and no state of JAX's, which is arrays, lists and dicts: "
    "keep a list, or make it where it is used"
)
_HOST = frozenset("set frozenset collections.deque collections.Counter".split())
_CHECKPOINTED = (
    "jax.checkpoint hands a dict on sorted by its keys: see that nothing goes by their order"
)


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all functions."""
    traced = [f for f in project.functions() if facts.stages.stage(f) == "traced"]
    written = {w.target.name for f in traced for w in f.nodes(Write) if isinstance(w.target, Read)}
    found = []
    for function in project.functions():
        changes = Changes(function)
        _kept(changes, function, project)
        _asked_of_none(changes, function)
        if facts.stages.stage(function) in ("traced", None):
            _handlers(changes, function)
            _orders(changes, function, project)
        if project.outermost(function) in facts.stages.traced_functions:
            _draws(changes, function)
        found.append(changes)
    for cls in filter(facts.modules.is_module, project.classes()):
        found += [
            _asked(method)
            for b in cls.body.body
            if isinstance(b, If)
            for method in below(b, Function)
        ]
        found += [_asked(method, _FOLLOWED) for method in _followed(cls)]
    for cls, base in project.unknown_bases.items():
        if "forward" in project.methods(cls) and not project.is_module(cls):
            changes = Changes(cls)
            changes.unconverted("module-value", base, _BASE)
            found.append(changes)
    for function in traced if written else ():
        changes = Changes(function)
        _hosted(changes, function)
        for read in _tested(function):
            if read.kind in (BUFFER, MIXED) and read.name in written:
                if not isinstance(read.value, Tensor):
                    changes.report("unsupported", read, f"{read.name} {_WHY}")
        found.append(changes)
    return found


def _kept(changes: Changes, function: Function, project: Project) -> None:
    """`self.act = getattr(self, kind)`, which may be a method."""
    owner = function.owner
    if owner is None or not project.is_module(owner):
        return
    for call in function.nodes(Call):
        assign = call.parent
        targets = assign.targets if isinstance(assign, Assign) else []
        kept = any(isinstance(t, Attribute) for t in targets)
        if kept and owner is not None and methods_named(call, owner, project):
            changes.unconverted("module-value", call, _KEPT)


def _hosted(changes: Changes, function: Function) -> None:
    """Python's containers that are set as a state: `self.last = deque(maxlen=3)`."""
    for write in function.nodes(Write):
        made = write.value
        kind = dotted(made.function) if isinstance(made, Call) else getattr(made, "kind", "")
        if isinstance(made, Call) and isinstance(made.function.value, External):
            kind = made.function.value.name.removeprefix("builtins.")
        if kind in _HOST:
            changes.report("unsupported", made, f"what {source_of(made)} makes {_NO_STATE}")


def _followed(cls: Class) -> Iterator[Function]:
    """The methods that another of the same name takes the place of."""
    later: set[str] = set()
    for statement in reversed(cls.body.body):
        if isinstance(statement, Function):
            plain = {dotted(d) for d in statement.decorators} <= {"classmethod", "staticmethod"}
            if statement.name in later and plain and statement.nodes(Apply, Read, Write):
                yield statement
            later.add(statement.name)


def _asked(method: Function, why: str = _CONDITION) -> Changes:
    """A method below an `if` in a class of modules, or one that is never called."""
    changes, (first, *rest) = Changes(method), method.body.body
    changes.report("unsupported", method, why)
    error = Call(Name("NotImplementedError"), [Constant(why)])
    changes.substitute(first, [Raise(error)])
    for statement in rest:
        changes.remove(statement)
    return changes


def _draws(changes: Changes, function: Function) -> None:
    for call in function.nodes(Call):
        if draws(call):
            message = (
                f"{source_of(call.function)} draws once, when the function is traced: every call "
                "of a jitted one has the same number"
            )
            changes.report("host-draw", call, message)


def _handlers(changes: Changes, function: Function) -> None:
    for node in function.nodes(Try):
        picks = [n for n in below(node.body, Subscript) if isinstance(n.object.value, Tensor)]
        computed = [n for n in below(node.body, Call, Binary) if is_traced(n.value or UNKNOWN)]
        for handler in node.handlers:
            kind = handler.type
            words = {last_word(n) for n in kind.walk()} if kind is not None else set()
            if picks and words & {"IndexError", "LookupError"}:
                changes.report("taken-for-granted", kind or node, _CLAMPED % source_of(picks[0]))
            if computed and words & {"RuntimeError", "LinAlgError"}:
                changes.report("taken-for-granted", kind or node, _RAISED)


def _asked_of_none(changes: Changes, function: Function) -> None:
    """`try: m.bias.data.zero_()` of layers some of which have no bias."""
    for node in function.nodes(Try):
        absent = [r for r in below(node.body, Read) if isinstance(r.value, Tensor) and r.value.none]
        for handler in node.handlers if absent else ():
            if handler.type is not None and last_word(handler.type) == "AttributeError":
                why = f"{source_of(absent[0])} {_NONE}"
                changes.report("taken-for-granted", handler.type, why)


def _orders(changes: Changes, function: Function, project: Project) -> None:
    """What goes by the order of a dict that jit has sorted: an argument of forward, the state."""
    owner, given = project.owner(function), set[str]()
    if owner is not None and project.is_module(owner) and function.name in ("forward", "__call__"):
        plain = [p for p in function.parameters if not _keeps_order(p.annotation)]
        given = {p.name for p in plain} - set(names_assigned(function.body))
    for read in ordered_reads(function):
        held = isinstance(read, Read) and read.kind in (BUFFER, MIXED)
        if held or isinstance(read, Name) and read.id in given:
            changes.report("taken-for-granted", read, _SORTED)
    for call in function.nodes(Call, Apply):
        made = call.function
        if isinstance(made, Call) and is_checkpoint(made.function):
            for argument in call.arguments:
                if isinstance(argument.value, Mapping) and not is_sorted(argument):
                    changes.report("taken-for-granted", argument, _CHECKPOINTED)


def _keeps_order(annotation: Expression | None) -> bool:
    """`others: OrderedDict[str, Tensor]`"""
    return (
        any("OrderedDict" in (dotted(n) or "") for n in annotation.walk()) if annotation else False
    )


def _tested(function: Scope) -> Iterator[Read]:
    """The arrays in tests that Python decides."""
    tests = [n.test for n in function.nodes(Conditional)]
    tests += [n.test for n in function.nodes(If)] + [n.test for n in function.nodes(While)]
    for test in tests:
        yield from (n for n in test.walk() if isinstance(n, Read) and not _is_known(n))


def _is_known(read: Expression) -> bool:
    """Whether Python decides by what it knows of it: `self.last is None`, `self.last.dtype`,
    `len(self.seen)`, `"k" in self.kept`."""
    around, value = read.parent, read.value
    if asks_for_none(around):
        return True
    if isinstance(around, Compare) and isinstance(value, Sequence):
        return False  # by its elements
    if isinstance(value, (Mapping, Sequence)) and not isinstance(around, (Attribute, Subscript)):
        return True
    return isinstance(around, Attribute) and around.name in _STATIC


PASS = Pass("checks", ("stages",), run, of_project=True)
