"""The names under which a constructor sets what it puts into a list."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...facts.bindings.activity import bound
from ...facts.modules import SUBMODULE, Field
from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import Declare
from ...model.expressions import Attribute, Call, Comprehension, Constant, Display, Name, Subscript
from ...model.fresh_names import taken
from ...model.names import dotted, names_in, target_names, text
from ...model.node import Expression, Statement
from ...model.program import Function
from ...model.statements import Assign, For
from ..fresh_names import fresh
from . import list_growth
from .list_growth import Entry


class SetInTurn(NamedTuple):
    """The statement, in a loop over a list or dict, that sets each module of it under a name; the
    entry has this name, beside the key of a dict."""

    loop: For
    statement: Statement
    entry: Entry


def in_a_loop(
    path: str, store: Assign, more: Sequence[Statement], init: Function
) -> SetInTurn | None:
    """Where a constructor sets all modules of a list, behind its making and what makes it grow."""
    found, body = [], block_of(store).body
    grown = [[n for n in (part, *part.ancestors()) if n in body] for part in more]
    if not all(grown):
        return None
    last = max(body.index(n) for n in (store, *(around[0] for around in grown)))
    for statement, call in list_growth.sets(init):
        loop = block_of(statement).parent
        if not isinstance(loop, For) or loop not in body:
            continue
        if body.index(loop) > last and list_growth.is_fixed(call.arguments[1]):
            key = _key(call.arguments[2], loop, path, store)
            if key is not None:
                found.append(SetInTurn(loop, statement, Entry(key.key, call.arguments[1])))
    return found[0] if len(found) == 1 else None


class _Key(NamedTuple):
    """The key under which a dict has a module; none of a list."""

    key: Expression | None = None


def _key(made: Expression, loop: For, path: str, store: Assign) -> _Key | None:
    """Under which key a module is that a loop sets, where its turns are all that a list has."""
    over, turn, listed = loop.iterable, loop.target, store.expression
    keyed = listed is not None and list_growth.is_dict(listed)
    parts = turn.elements if isinstance(turn, Display) else []
    if isinstance(over, Call) and dotted(over.function) == "enumerate" and len(parts) == 2:
        if len(over.arguments) == 1:
            over, turn = over.arguments[0], parts[1]
            parts = turn.elements if isinstance(turn, Display) else []
    if isinstance(made, Name) and keyed:
        items = len(parts) == 2 and _asks(over, path, "items")
        return _Key(parts[0]) if items and dotted(parts[1]) == made.id else None
    if isinstance(made, Name):
        lists = (over, *(over.arguments if isinstance(over, Call) else ()))
        return _Key() if path in map(dotted, lists) and made.id in target_names(turn) else None
    if not isinstance(made, Subscript) or dotted(made.object) != path:
        return None
    if not isinstance(turn, Name) or dotted(made.index) != turn.id:
        return None
    clauses = listed.clauses if isinstance(listed, Comprehension) else []
    same = len(clauses) == 1 and not clauses[0].conditions and text(clauses[0].iterable)
    if same and text(over) == same:  # `{k: Linear() for k in names}`, `for k in names`
        by_turn = not isinstance(listed, Comprehension) or listed.key is None
        by_turn = by_turn or dotted(listed.key) == dotted(clauses[0].target)  # type: ignore
        return _Key(made.index if keyed else None) if by_turn else None
    if keyed:
        return _Key(made.index) if dotted(over) == path or _asks(over, path, "keys") else None
    return _Key() if text(over) == f"range(len({path}))" else None


def _asks(over: Expression, path: str, word: str) -> bool:
    """`self.ops.items()`"""
    return isinstance(over, Call) and dotted(over.function) == f"{path}.{word}"


def beside(
    element: Expression, statement: Statement, init: Function, fields: Mapping[str, Field]
) -> Expression | None:
    """The name under which `self` has a module: as it is set beside this, or fetched."""
    me = init.receiver
    if isinstance(element, Attribute) and dotted(element.object) == me:
        found = fields.get(element.name)
        return Constant(element.name) if found and found.kind == SUBMODULE else None
    if isinstance(element, Call) and dotted(element.function) == "getattr":
        own = len(element.arguments) == 2 and dotted(element.arguments[0]) == me
        return element.arguments[1] if own else None
    if not isinstance(element, Name):
        return None
    computed = {made: call for made, call in list_growth.sets(init)}
    around = block_of(statement).body
    for i, other in enumerate(around):
        name: Expression | None = None
        if isinstance(other, Declare) and other.kind == SUBMODULE:
            if dotted(other.expression) == element.id:
                name = Constant(other.name)
        elif other in computed and dotted(computed[other].arguments[2]) == element.id:
            name = computed[other].arguments[1]
        if name is not None and list_growth.is_fixed(name):
            at = around.index(statement)
            between = around[min(i, at) + 1 : max(i, at)]
            used = names_in(name) | {element.id}
            if not any(used & set(bound(s)) for s in between):
                return name
    return None


def give_name(part: Statement, init: Function, path: str, word: str) -> None:
    """Let a module have a name that a list is given here, and a statement behind takes out again:
    `self.ops[k] = Op(); self.add_module(k, self.ops[k])`, or `self.ops[-1]` once it is appended."""
    entries = list_growth.entries(part)
    value = entries[0].value if entries is not None and len(entries) == 1 else None
    if value is None or not list_growth.is_plain(part):
        return
    around = block_of(part)
    item = part.targets[0] if isinstance(part, Assign) else None
    place = text(item) if isinstance(item, Subscript) else f"{path}[-1]"
    behind = around.body[around.body.index(part) + 1 :]
    taken_out = []
    for statement in behind:
        taken_out += [n for n in statement.walk() if isinstance(n, Subscript) and text(n) == place]
        if item is not None and names_in(item) & set(bound(statement)):
            break
        if any(one in statement.walk() for one in list_growth.grown(init, path)):
            break
    if not taken_out:
        return
    named = value
    if not isinstance(value, Name):
        named = Name(fresh(word, taken(init)))
        named.value = value.value
        around.insert_before(part, [Assign([clone(named)], clone(value))])
        value.replace(named)
    for read in taken_out:
        read.replace(clone(named))
