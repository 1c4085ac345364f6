"""What a function does with a module that it is given: it calls it, or asks what it is.

def run(x, layer):             def dim(layer):                 def run(x, layers):
    return layer(x)                return layer.dim                for layer in layers: x = layer(x)

The first gets it bound to its params, the second as it is, the third a list of bound ones.
"""

from collections.abc import Callable

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Module
from ...model.constants import is_none
from ...model.effects import Mode
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Display,
    ForClause,
    Lambda,
    Name,
    Starred,
    Subscript,
)
from ...model.names import dotted, is_called, target_names
from ...model.node import Expression, Node
from ...model.operators import Compare
from ...model.program import Function
from ...model.statements import For
from .loop_containers import source

Words = Callable[[Call, Expression], list[tuple[Function, str]]]  # the parameters it is for

_NONE = frozenset[Function]()
_ASKING = frozenset("isinstance issubclass hasattr getattr type".split())


def only_asked(function: Function, name: str) -> bool:
    """Whether a function does no more with a module than ask what it is, or compare it."""
    reads = reads_of(function, name)
    asked = all(isinstance(n.parent, (Compare, Mode)) or _is_question(n) for n in reads)
    return bool(reads) and asked


def asks(function: Function, name: str, words: Words, seen: frozenset[Function] = _NONE) -> bool:
    """Whether a function, or what it hands a module to, asks what this is: one that is bound to its
    params has another type, and no attributes."""
    for read in reads_of(function, name) if function not in seen else ():
        call = read.parent
        handed = words(call, read) if isinstance(call, Call) and call.function is not read else []
        if _is_question(read) or any(asks(*word, words, seen | {function}) for word in handed):
            return True
    return False


def only_calls(function: Function, name: str) -> list[Expression] | None:
    """Where a function calls a module by its name; None where it does more with it than that and
    than compare it."""
    reads = [n for n in reads_of(function, name) if not _is_turned(n)]
    called = [n for n in reads if is_called(n)]
    others = [n for n in reads if n not in called and not isinstance(n.parent, Compare)]
    return list(called) if name and not others else None


def calls_items(function: Function, name: str) -> list[Expression] | None:
    """Where a function calls the modules of a list that it is given; None where it does more with
    it than that and than count them."""
    found: list[Expression] = []
    for read in reads_of(function, name) if name else ():
        around = read.parent
        turns = {n.id for n in function.body.walk() if isinstance(n, Name) and over(n) is read}
        calls = [only_calls(function, turn) for turn in turns]
        if isinstance(around, Subscript) and around.object is read and is_called(around):
            found.append(around)
        elif None not in calls and (
            turns or isinstance(around, Call) and dotted(around.function) == "len"
        ):
            found += [call for each in calls for call in each or ()]
        else:
            return None
    return found if name else None


def spreads(call: Call, function: Function, name: str) -> bool:
    """Whether a call hands lists to `map(run, *lists)`, and what it gives beside them to run asks
    of no module what it is."""
    around = [n.parent.parent for n in reads_of(function, name) if isinstance(n.parent, Starred)]
    mapped = [n for n in around if isinstance(n, Call) and dotted(n.function) in ("map", "zip")]
    runs = [a.value.function for a in call.arguments if isinstance(a.value, FunctionValue)]
    asked = (n for run in runs for n in run.body.walk() if isinstance(n, Name) and _is_question(n))
    all_mapped = len(mapped) == len(reads_of(function, name)) > 0
    return all_mapped and not any(isinstance(n.value, Module) for n in asked)


def over(name: Name) -> Expression | None:
    """The list whose items the loop around a name binds it to."""
    for around in name.ancestors():
        clauses = around.clauses if isinstance(around, Comprehension) else [around]
        for clause in clauses if isinstance(around, (For, Comprehension)) else ():
            if name.id in target_names(clause.target):  # type: ignore[attr-defined]
                turn = source(clause.target, clause.iterable, name.id)  # type: ignore[attr-defined]
                return turn.container if turn is not None and not turn.at else None
        if isinstance(around, (Function, Lambda)) and name.id in {
            p.name for p in around.parameters
        }:
            break
    return None


def _is_turned(name: Node) -> bool:
    """Whether it is the name that a loop binds."""
    while isinstance(name.parent, Display):
        name = name.parent
    return isinstance(name.parent, (For, ForClause)) and name.parent.target is name


def _is_question(use: Name) -> bool:
    """`layer.dim`, `isinstance(layer, nn.Linear)`, `layer is self.last`"""
    around = use.parent
    if isinstance(around, Call):
        return around.function is not use and dotted(around.function) in _ASKING
    if type(around) is Attribute:
        return not is_called(around)
    return isinstance(around, Compare) and not any(map(is_none, around.children()))


def reads_of(function: Function, name: str) -> list[Name]:
    """The places where a function reads a name."""
    return [n for n in function.body.walk() if isinstance(n, Name) and n.id == name]
