"""Decorators of the user's whose functions name their arguments, around methods that get more here.

def checked(fn):                             @checked
    def inner(self, x):                      def __call__(self, params, x):
        assert x.ndim == 2
        return fn(self, x)                   `inner` would take the params for x

One that gives nothing leaves no method: in Equinox a class without a constructor is not even made.
"""

from ..model.effects import Support, Unconverted
from ..model.expressions import Call, Name
from ..model.functions import inner_given_back
from ..model.names import dotted
from ..model.node import Expression
from ..model.positions import source_of
from ..model.program import Function
from ..model.project import Project
from ..model.statements import ExpressionStatement, Return
from .faults import raising
from .reports import Reports
from .threading.iteration_counts import at_start

_WHY = (
    "this method takes and gives more here, which what the decorator makes of it does not hand on: "
    "write out in the method what it does"
)
_GIVES_NOTHING = "this decorator gives nothing, which leaves no method"
_NOTHING = "nothing"


def refuse_decorated(
    function: Function,
    project: Project,
    reports: Reports,
    first: bool = False,
    words: bool = False,
    gives: bool = False,
) -> None:
    """Let a method raise whose decorator does not hand on what it takes `first`, or by `words`, or
    what it `gives`."""
    for decorator in list(function.decorators) if function.owner is not None else ():
        made = _made_by(decorator, function, project)
        named = isinstance(made, Function)
        if made is None or isinstance(made, Function) and _hands_on(made, first, words, gives):
            continue
        reports.report("unsupported", decorator, _WHY if named else _GIVES_NOTHING)
        raised = Unconverted("unsupported", source_of(decorator))
        at_start(function.body, ExpressionStatement(raised))
        raised.replace(raising(raised, Support))
        function.undecorate(decorator)


def _made_by(decorator: Expression, method: Function, project: Project) -> Function | str | None:
    """The function that a decorator of the user's puts around a method, or that it gives nothing;
    None where that is not known."""
    calls = isinstance(decorator, Call)
    name = dotted(decorator.function if isinstance(decorator, Call) else decorator)
    own = name and method.file in project.names  # no method of the library's layers
    found = project.resolve(method.file, name) if own and name and method.file else None
    for _ in range(1 + calls):
        if not isinstance(found, Function):
            return None
        if not found.nodes(Return) and not found.decorators:
            return _NOTHING
        found = inner_given_back(found)
    return found if isinstance(found, Function) else None


def _hands_on(inner: Function, first: bool, words: bool, gives: bool) -> bool:
    kinds = [p.kind for p in inner.parameters]
    results = [r.expression for r in inner.nodes(Return)]
    if first and ("*" not in kinds or kinds.index("*") > 1):
        return False
    if gives and not all(isinstance(e, (Call, Name)) for e in results):
        return False
    return not words or "**" in kinds
