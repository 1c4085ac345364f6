"""The names of a constructor's that hold arrays, and statements and branches that go."""

from collections.abc import Callable, Iterator

from ....facts import host_effects
from ....facts.bindings.activity import bound, by_name
from ....facts.values.lattice import NONE, UNKNOWN, Module, Sequence, Tensor
from ....model.copy import clone
from ....model.effects import Key, Read
from ....model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    Name,
    Subscript,
)
from ....model.names import is_target, names_in, target_names
from ....model.node import Expression, Node, Statement
from ....model.program import Function
from ....model.statements import Assign, Block, Pass

LISTS = ("ParameterList", "ParameterDict")
GROWING = frozenset(("append", "extend", "insert", "update"))


def arrays_of(function: Function) -> set[str]:
    """The names of a constructor's that hold arrays which it has made."""
    found: set[str] = set()
    bindings = [a for a in function.nodes(Assign) if a.expression is not None]
    assigns = [a for a in bindings if not _draws_on_host(a)]
    while True:
        more = {
            name
            for assign in assigns
            if _makes_array(assign.expression, found)
            for target in assign.targets
            for name in target_names(target)
        }
        if more <= found:
            return found
        found |= more


def drawn_lists(function: Function, draws: Callable[[Node], bool]) -> set[str]:
    """The names of lists that a constructor fills with what it draws: `parts.append(rand(n))`."""
    drawn, lists = set[str](), set[str]()
    while True:
        before = len(drawn)
        for node in function.body.walk():
            if isinstance(node, Assign) and node.expression is not None:
                value, names = node.expression, [n for t in node.targets for n in target_names(t)]
            elif isinstance(node, Call) and (filled := _filled(node)) is not None:
                value, names = node.arguments[-1], [filled]
            else:
                continue
            if any(draws(n) or isinstance(n, Name) and n.id in drawn for n in value.walk()):
                drawn.update(names)
                lists.update(names if isinstance(node, Call) else ())
        if len(drawn) == before:
            return lists


def _filled(call: Call) -> str | None:
    """The list of a name of its own that a call puts something into."""
    method = call.function
    if not isinstance(method, Attribute) or method.name not in ("append", "extend", "insert"):
        return None
    return method.object.id if isinstance(method.object, Name) and call.arguments else None


def _draws_on_host(assign: Assign) -> bool:
    """Whether NumPy draws an array, `torch.tensor(np.random.randn(n))`: the module keeps it, so
    that all that is made of it has one."""
    return any(isinstance(n, Call) and host_effects.draws(n) for n in assign.walk())


def _makes_array(value: Expression | None, arrays: set[str]) -> bool:
    assert value is not None
    if isinstance(value.value, Tensor):
        return True
    held = value.value.element if isinstance(value.value, Sequence) else None  # `q, r = qr(w)`
    if value.value not in (None, UNKNOWN, NONE) and not isinstance(held, Tensor):
        return False
    return any(
        isinstance(n, (Key, Read)) or isinstance(n, Name) and n.id in arrays for n in value.walk()
    )


def take_out(statement: Statement) -> None:
    block = statement.parent
    if not isinstance(block, Block) or not any(s is statement for s in block.body):
        return
    if len(block.body) == 1:
        block.substitute(statement, [Pass()])
    else:
        block.take(statement)


def filling(name: Name) -> Expression | None:
    """What fills a list or dict, where a name stands for it: `[v]` of `values = [v]` and
    `values += [v]`, the call `values.append(v)`, v of `values[k] = v`."""
    around = name.parent
    if isinstance(around, Assign) and around.targets == [name]:
        filled = isinstance(around.expression, (Display, Dictionary, Comprehension))
        return around.expression if filled else None
    if isinstance(around, Subscript) and isinstance(around.parent, Assign) and is_target(around):
        return around.parent.expression if not around.parent.operator else None
    call = around.parent if isinstance(around, Attribute) else None
    if not isinstance(around, Attribute) or not isinstance(call, Call):
        return None
    if call.function is not around or len(call.arguments) != 1:
        return None
    listed = isinstance(call.arguments[0], (Display, Comprehension))
    return call if around.name == "append" or around.name == "extend" and listed else None


def made_once(function: Function) -> Iterator[tuple[str, Assign]]:
    """The arrays that a function binds to a name of their own, once."""
    found = arrays_of(function)
    given = {p.name for p in function.parameters}
    for name, assigns in by_name(function.nodes(Assign)).items():
        if name in found and name not in given and len(assigns) == 1:
            if isinstance(assigns[0].targets[0], Name) and not assigns[0].operator:
                yield name, assigns[0]


def join_rebound(function: Function) -> None:
    """`w = draw(key, shape)`, `w = repeat(w, "o -> (o r)")`: a random array that a name is given
    step by step is made in one, so that it can be made later."""
    for name, assigns in by_name(function.nodes(Assign)).items():
        if any(isinstance(n, Key) for a in assigns for n in a.walk()):
            for first, then in zip(assigns, assigns[1:]):
                _join(name, first, then)


def _join(name: str, first: Assign, then: Assign) -> None:
    """Write what a name is given where the next assignment of it asks for that."""
    block, value = first.parent, first.expression
    if not isinstance(block, Block) or then.parent is not block or value is None:
        return
    if any(a.operator or not isinstance(a.targets[0], Name) for a in (first, then)):
        return
    between = block.body[block.body.index(first) + 1 : block.body.index(then)]
    if not all(isinstance(s, Assign) and names_in(value).isdisjoint(bound(s)) for s in between):
        return
    reads = [n for s in (*between, then) for n in s.walk() if isinstance(n, Name) and n.id == name]
    reads = [n for n in reads if not is_target(n)]
    if len(reads) == 1 and reads[0] in set(then.walk()):
        reads[0].replace(clone(value))
        take_out(first)


def is_of_list(method: Expression) -> bool:
    """Whether this puts params into a list or dict of them: `self.scales.append`."""
    growing = isinstance(method, Attribute) and method.name in GROWING
    return growing and holds_params(method.object)  # type: ignore[attr-defined]


def holds_params(module: Expression) -> bool:
    """Whether this is a list or dict of params."""
    held = module.value
    refs = held.refs if isinstance(held, Module) and not held.open else []
    return bool(refs) and all(ref in {f"torch.nn.{word}" for word in LISTS} for ref in refs)
