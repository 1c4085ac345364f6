"""Params whose data `forward` writes: they have the new value for the rest of the call.

self.w.data.clamp_(-1, 1)   →   params = nn.with_data(params, ("w",), params["w"].clip(-1, 1))
self.initialize(x)          →   params = self.initialize(params, x)

The caller's params stay as they are, which is said. A method that gives nothing and that only
`forward` calls, on `self`, gives the params; in others a write is refused.
"""

from ...model.copy import clone
from ...model.effects import PARAM, Read, Support, Write
from ...model.expressions import Call, Constant, Dictionary, Display, Name, Starred
from ...model.fallthrough import completes
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, Block, ExpressionStatement, Return
from ...source.lower_ast import expression
from ..reports import Reports
from ..sharing.ties import below
from ..threading.param_writers import walk_of
from ..threading.threaded import calls_of
from .path_resolution import Paths
from .plan import Plan, Words

FOR_THE_CALL = (
    "forward writes the data of a parameter: here that holds for the call; write it in params "
    "after each step to keep it"
)


def write_for_the_call(
    function: Function, plan: Plan, paths: Paths, words: Words, reports: Reports
) -> bool:
    """Let the params of a call hold what it writes; whether there was such a write."""
    gives = function in plan.param_writers.found
    if not gives and function.name != "__call__":
        return False
    writes = [w for w in function.nodes(Write) if _has_place(w, function, plan, paths)]
    for write in writes:
        if write.bound:  # no param on this way: torch binds no tensor to the name of one
            entries = [None, Name(words.params), Constant(write.target.name), write.value]
            _put(write, Dictionary(entries), words)
            continue
        keys = [*map(clone, paths.of(write.target.object).keys), Constant(write.target.name)]  # type: ignore[union-attr]
        given = [Name(words.params), Display("tuple", keys), write.value]
        reports.report("parameter-write", write, FOR_THE_CALL)
        _put(write, Call(Support("with_data"), given), words)
    walked = _write_walks(function, plan, paths, words, reports)
    calls = [c for c in calls_of(function) if plan.param_writers.run(c)]
    for call in calls:
        assert isinstance(call.parent, ExpressionStatement)
        _put(call.parent, call, words)
    if gives:
        for statement in function.nodes(Return):
            statement.replace(Return(Name(words.params)))
        if completes(function.body):
            function.body.append([Return(Name(words.params))])
    return bool(writes or walked or calls)


def _write_walks(
    function: Function, plan: Plan, paths: Paths, words: Words, reports: Reports
) -> bool:
    """Put what loops over params write where these stand; whether there was such a loop.

    for p in self.k.parameters():  →  for name, p in self.k.named_parameters():
        p.data.mul_(0.9)                  path = ("k", *name.split("."))
                                          params = nn.with_data(params, path, p * 0.9)
    """
    found = False
    for write in list(function.nodes(Write)):
        if (walk := walk_of(write)) is None or (path := paths.of(walk.module)) is None:
            continue
        holder = below(walk.module, paths.self_name) or ""
        if plan.ties.of(function.owner).within(holder):
            continue
        name = walk.name(paths.fresh)
        rest = Starred(expression(f'{name}.split(".")'))
        keys = Display("tuple", [*map(clone, path.keys), rest])
        reports.report("parameter-write", write, FOR_THE_CALL)
        _put(write, Call(Support("with_data"), [Name(words.params), keys, write.value]), words)
        found = True
    return found


def _has_place(write: Write, function: Function, plan: Plan, paths: Paths) -> bool:
    target = write.target
    if not isinstance(target, Read):  # `for p in self.net.parameters(): p.data.clamp_(-1, 1)`
        return False
    own = (
        plan.ties.of(function.owner).array(below(target.object, paths.self_name), target.name)
        is None
    )
    path = paths.of(target.object)
    return target.kind == PARAM and path is not None and own and not (write.bound and path.keys)


def _put(statement: Write | ExpressionStatement, value: Expression, words: Words) -> None:
    assert isinstance(statement.parent, Block)
    statement.parent.substitute(statement, [Assign([Name(words.params)], value)])
