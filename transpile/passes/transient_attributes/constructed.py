"""What a constructor holds on self until it makes a tensor of it has a local name until then.

    self.grid = np.zeros((n, 2))                   grid = np.zeros((n, 2))
    self.grid[:, 0] = np.arange(n)            →    grid[:, 0] = np.arange(n)
    self.grid = torch.from_numpy(self.grid)        self.grid = torch.from_numpy(grid)

A tensor is NumPy's array under a local name until it is made of that, and a ParameterList or
ParameterDict a plain list or dict.

    self.pe = torch.zeros(n, d)               pe = torch.zeros(n, d)
    self.pe[:, 0::2] = torch.sin(x)      →    pe[:, 0::2] = torch.sin(x)
                                              self.pe = pe

What a constructor fills has a local name until it is filled.

    self.size = size                              if size is not None:
    if self.size is not None:             →           size = torch.tensor(size)
        self.size = torch.tensor(self.size)       self.size = size

A tensor alone is declared as an array, and what it is made of may be None.
"""

from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    Lambda,
    Name,
    Subscript,
)
from ...model.fresh_names import Names
from ...model.names import dotted, everywhere, is_own, is_target, own_names
from ...model.node import Node, Statement
from ...model.operators import asks_for_none
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign, Block, For, If, Return, While
from ..attribute_names import Attributes
from ..pass_ import Changes


def until_tensor(assign: Assign, me: str, project: Project) -> list[Attribute]:
    """The places of an attribute from where it is NumPy's array, or a list of params, to where a
    tensor, or a ParameterList, is made of it; none where others may read it in between."""
    target, block = assign.targets[0], assign.parent
    if not is_own(target, me) or assign.operator:
        return []
    listed = isinstance(assign.expression, (Dictionary, Display, Comprehension))
    if not isinstance(block, Block) or not (listed or _calls(assign.expression, "numpy.", project)):
        return []
    makers = "torch.nn.Parameter" if listed else "torch."
    found = [target]
    for statement in block.body[block.body.index(assign) + 1 :]:
        whole = isinstance(statement, Assign) and dotted(statement.targets[0]) == dotted(target)
        part = statement.expression if whole else statement  # type: ignore[attr-defined]
        before = len(found)
        for node in part.walk():
            if isinstance(node, (Function, Lambda)) or _hands_on(node, me):
                return []
            if isinstance(node, Attribute) and dotted(node) == dotted(target):
                found.append(node)
        if whole:
            return found if len(found) > before and _calls(part, makers, project) else []
    return []


def fill(
    assign: Assign, me: str, named: Attributes, changes: Changes, local: set[Node]
) -> list[Attribute]:
    """Give a tensor a local name from where it is made to the last statement that writes into it,
    if nobody else may read or set the attribute in between; the places that it then has."""
    target, block, value = assign.targets[0], assign.parent, assign.expression
    if not is_own(target, me) or assign.operator:
        return []
    if not isinstance(block, Block) or target.name in named.texts:  # `register_buffer("mask", m)`
        return []
    if not _calls(value, "torch.", named.project) or _calls(value, "torch.nn.", named.project):
        return []
    places, reads, last = [target], list[Attribute](), None
    for statement in block.body[block.body.index(assign) + 1 :]:
        nodes = list(statement.walk())
        if any(isinstance(n, (Function, Lambda, Return)) or _hands_on(n, me) for n in nodes):
            break
        own = [n for n in nodes if isinstance(n, Attribute) and dotted(n) == dotted(target)]
        if any(map(is_target, own)):
            break
        reads += own
        if any(isinstance(n.parent, Subscript) and is_written(n) for n in own):
            places, reads, last = places + reads, [], statement
    if last is None or not local.isdisjoint(places):
        return []
    name = as_local(target, places[1:], changes)
    changes.insert_after(last, [Assign([Attribute(Name(me), target.name)], Name(name))])
    return places


def keep_apart(
    function: Function, me: str, named: Attributes, changes: Changes, local: set[Node]
) -> None:
    """Give a name to what a tensor is made of under the attribute that it is kept as."""
    places: dict[str, list[Attribute]] = {}
    for node in everywhere(function, Attribute):
        if dotted(node.object) == me:
            places.setdefault(node.name, []).append(node)
    for name, own in places.items():
        if name not in named.texts and local.isdisjoint(own) and any(map(is_target, own)):
            _keep_one_apart(function, own, me, named.project, changes)


def _keep_one_apart(
    function: Function, own: list[Attribute], me: str, project: Project, changes: Changes
) -> None:
    sets = [n.parent for n in own if is_target(n)]
    plain = [a for a in sets if isinstance(a, Assign) and len(a.targets) == 1 and not a.operator]
    tensors = [a for a in plain if _calls(a.expression, "torch.", project)]
    others = [a for a in plain if a not in tensors]
    if not tensors or not others or len(plain) < len(sets):
        return
    made_of = {dotted(a.expression) for a in others} - {None} | {dotted(own[0])}
    parts = {dotted(n) for a in tensors for n in _parts(a)}
    if dotted(own[0]) not in parts and not (parts & made_of and all(map(_is_some, tensors))):
        return
    body, places = function.body.body, set(own)
    at = {n: i for i, statement in enumerate(body) for n in statement.walk() if n in places}
    if len(at) < len(own):
        return
    where = [at[a.targets[0]] for a in tensors]  # type: ignore[index]
    if max(at[a.targets[0]] for a in others) >= min(where):  # type: ignore[index]
        return
    first, last = min(at.values()), max(where)
    between = [n for statement in body[first : last + 1] for n in statement.walk()]
    if not _is_set(body[first], own) or any(map(_leaves, between)):
        return
    if any(_hands_on(n, me) for n in between) or _calls_layers(tensors, project):
        return
    inside = [n for n in own if first <= at[n] <= last]
    if others == [body[first]] and (given := _given(function, others[0], tensors[0], between)):
        for node in inside[1:]:
            changes.replace(node, lambda _: Name(given))
        changes.substitute(others[0], [])
        name = given
    else:
        name = as_local(inside[0], inside[1:], changes)
    changes.insert_after(body[last], [Assign([Attribute(Name(me), own[0].name)], Name(name))])


def _given(function: Function, held: Assign, made: Assign, between: list[Node]) -> str | None:
    """The name that an attribute is set to, if nobody asks for it once the tensor is made."""
    name = held.expression
    if not isinstance(name, Name) or name.id not in own_names(function):
        return None
    before = set(between[: between.index(made)]) | set(made.walk())
    nodes = list(function.body.walk())
    later = nodes[nodes.index(held) :]
    again = any(isinstance(n, (For, While)) for n in between)
    inner = (m for n in nodes if isinstance(n, (Function, Lambda)) for m in n.walk())
    used = [n for n in [*later, *inner] if isinstance(n, Name) and n.id == name.id]
    return name.id if not again and all(n in before and not is_target(n) for n in used) else None


def _is_some(made: Assign) -> bool:
    """Whether a tensor is made where what it is made of is not None: what else is there is None."""
    branch = made.nearest(If)
    return branch is not None and asks_for_none(branch.test)


def _parts(assign: Assign) -> list[Node]:
    return list(assign.expression.walk()) if assign.expression is not None else []


def _calls_layers(tensors: list[Assign], project: Project) -> bool:
    return any(_calls(a.expression, "torch.nn.", project) for a in tensors)


def _leaves(node: Node) -> bool:
    """What runs elsewhere, or not at all: a local name is none of its own."""
    called = isinstance(node, Call) and dotted(node.function) == "super"
    return called or isinstance(node, (Function, Lambda, Return))


def _is_set(statement: Statement, own: list[Attribute]) -> bool:
    """Whether a statement sets an attribute on all its ways."""
    if isinstance(statement, If):
        ways = (statement.body, statement.orelse)
        return all(b is not None and any(_is_set(s, own) for s in b.body) for b in ways)
    return isinstance(statement, Assign) and statement.targets[0] in own


def _hands_on(node: Node, me: str) -> bool:
    """`self.fill()`, `fill(self)`: what runs may read any attribute."""
    part = node.parent
    called = isinstance(part, Attribute) and getattr(part.parent, "function", None) is part
    return dotted(node) == me and (not isinstance(part, Attribute) or called)


def _calls(value: Node | None, library: str, project: Project) -> bool:
    """Whether a value is computed by functions of a library."""
    for call in [n for n in value.walk() if isinstance(n, Call)] if value is not None else ():
        name, file = dotted(call.function), call.file
        found = project.resolve(file, name) if name is not None and file is not None else None
        if isinstance(found, str) and found.startswith(library):
            return True
    return False


def is_written(read: Node) -> bool:
    """`self.mask = m`, `self.cache[:n] = k`, `self.cache[0].add_(1)`: others see it."""
    part, around = read, read.parent
    while isinstance(around, (Attribute, Subscript)) and around.object is part:
        part, around = around, around.parent
    if is_target(part):
        return True
    called = isinstance(around, Call) and around.function is part and isinstance(part, Attribute)
    return called and part.name.endswith("_")  # type: ignore[attr-defined]


def as_local(target: Attribute, reads: list[Attribute], changes: Changes) -> str:
    name = Names(changes.scope).fresh(target.name)
    for node in [target, *reads]:
        changes.replace(node, lambda _: Name(name))
    return name
