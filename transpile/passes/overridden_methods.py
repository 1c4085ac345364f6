"""What torch's layers call of a class that is made from them, and the layers of the output do not.

Torch's constructors call `reset_parameters`: what a class has instead of it is called, too. The
layers of the output begin with torch's values, and know of no such method.

    class Tokens(nn.Embedding):               def __init__(self, *args, **kwargs):
        def reset_parameters(self):      →        super().__init__(*args, **kwargs)
            nn.init.normal_(self.weight)          self.reset_parameters()

A layer's constructor goes on to that of a base behind it, with nothing given:

    class Line(nn.Linear, Named):             def __init__(self, *args, **kwargs):
        …                                →        Named.__init__(self)
                                                  super().__init__(*args, **kwargs)

What does no more than to put a module somewhere is gone, as is `model.to(device)`:

    def to(self, device):                     (nothing)
        super().to(device)
        self.mask = self.mask.to(device)
        return self
"""

import itertools
from typing import Any

from ..facts.values.attribute_names import MOVES
from ..facts.values.calls import is_super
from ..model.classes import is_layer
from ..model.copy import clone
from ..model.edits import leave_out
from ..model.expressions import Attribute, Call, Constant, Name, Starred, Subscript
from ..model.names import dotted, everywhere, is_docstring, is_inplace
from ..model.node import Expression, Statement
from ..model.operators import Binary, Compare, Unary
from ..model.program import Class, Function, Parameter
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement, Return
from ..model.statements import Pass as Pass_
from .pass_ import Changes, Pass

_NAMES = (
    "Linear Bilinear Embedding EmbeddingBag Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d LayerNorm GroupNorm RMSNorm PReLU RNN LSTM GRU RNNCell LSTMCell GRUCell"
)
_RESETS = dict.fromkeys((f"torch.nn.{name}" for name in _NAMES.split()), "reset_parameters")
_RESETS |= dict.fromkeys(
    ("torch.nn.MultiheadAttention", "torch.nn.Transformer"), "_reset_parameters"
)

_SKIPPED = "the constructor of {}, to which that of a layer of torch's goes on, has no place here"

_PLACING = MOVES | {"_apply"}
_LOOKING = frozenset(
    "super isinstance hasattr getattr range len enumerate list dict tuple zip map items keys "
    "values device modules children named_modules parameters buffers named_parameters "
    "named_buffers".split()
)
_COMPUTING = (Binary, Unary, Compare)


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The constructors of a project that call what torch's would have called, and the methods that
    go."""
    found = []
    for file in project.ordered:
        for cls in [c for c in file.classes() if project.is_module(c)]:
            placing = [m for m in project.methods(cls).values() if _only_places(m)]
            if placing:
                changes = Changes(cls)
                for method in placing:
                    changes.change(method, leave_out)
                found.append(changes)
            behind = _behind(project, cls)
            if behind is not None:
                changes = Changes(cls)
                _goes_on(project, cls, behind, changes)
                found.append(changes)
            name = _RESETS.get(project.torch_base(cls) or "")
            if name is not None and _is_first(project, cls, name):
                changes = Changes(cls)
                if _called(project, cls, name, changes) and not _calls(project, cls, name):
                    _without_first(project.methods(cls)[name], name, changes)
                found.append(changes)
    return found


def _is_first(project: Project, cls: Class, name: str) -> bool:
    """Whether a class has the method, and none above, whose constructor would call this one."""
    classes = [c for c in project.order(cls) if isinstance(c, Class)]
    return [c for c in classes if name in project.methods(c)] == [cls]


def _called(project: Project, cls: Class, name: str, changes: Changes) -> bool:
    """Let the constructor call the method right behind torch's; whether the layer has its own
    values then."""
    own = project.methods(cls).get("__init__")
    if own is None:
        if project.find(cls, "__init__") is None:
            first = next(s for s in cls.body.body if isinstance(s, Function))
            changes.insert_before(first, [_constructor(cls, [], [_call("self", name)])])
            return True
        return False
    me = own.receiver
    calls = [c for c in own.nodes(Call) if dotted(c.function) == f"{me}.{name}"]
    if not me or calls:
        return len(calls) == 1 and not _writes_before(own, calls[0])  # it calls it itself
    for statement in own.body.body:
        if isinstance(statement, ExpressionStatement) and _is_made(statement):
            changes.insert_after(statement, [_call(me, name)])
            return True
    return False


def _writes_before(constructor: Function, call: Call) -> bool:
    """Whether a constructor may write arrays in place before a call."""
    for statement in constructor.body.body:
        if call in statement.walk():
            return statement is not call.parent
        for node in statement.walk():
            if isinstance(node, Call) and is_inplace(dotted(node.function) or ""):
                return True
            if isinstance(node, Assign) and any(_is_data(t) for t in node.targets):
                return True
    return True


def _is_data(target: Expression) -> bool:
    """`self.weight.data`, `self.weight[0]`"""
    return isinstance(target, Subscript) or isinstance(target, Attribute) and target.name == "data"


def _calls(project: Project, cls: Class, name: str) -> bool:
    """Whether something else calls such a method, when the layer has other values."""
    own = project.methods(cls).get("__init__")
    calls = (c for file in project.ordered for c in everywhere(file, Call))
    named = (c for c in calls if isinstance(c.function, Attribute) and c.function.name == name)
    return not all(is_super(c.function.object) or c.nearest(Function) is own for c in named)  # type: ignore[attr-defined]


def _without_first(method: Function, name: str, changes: Changes) -> None:
    """What the layer has done when its constructor calls this: `super().reset_parameters()`."""
    me = method.receiver
    for statement in method.body.body:
        call = statement.expression if isinstance(statement, ExpressionStatement) else None
        if isinstance(call, Constant):
            continue  # a docstring
        function = call.function if isinstance(call, Call) else None
        if not isinstance(function, Attribute):
            return
        own = is_super(function.object) and function.name == name
        if not own and dotted(function) != f"{me}.reset_running_stats":
            return
        changes.remove(statement)


# --- constructors behind a layer's ----------------------------------------------------------------


def _behind(project: Project, cls: Class) -> Function | None:
    """The constructor that a layer's goes on to: of the first module of the user's behind it, where
    no class above has the two in the same order."""
    above = [b for b in project.bases(cls) if isinstance(b, Class)]
    order = project.order(cls)
    if not above or all(isinstance(c, Class) for c in order) or len(project.bases(cls)) < 2:
        return None
    begins = itertools.dropwhile(lambda c: isinstance(c, Class) or not is_layer(c), order)
    inits = (project.methods(c).get("__init__") for c in begins if isinstance(c, Class))
    found = next((init for init in inits if init is not None), None)
    if found is None or found.owner is None or not project.extends_module(found.owner):
        return None
    known = any(_behind(project, b) for b in project.ancestors(cls) if b is not cls)
    return None if known else found


def _goes_on(project: Project, cls: Class, behind: Function, changes: Changes) -> None:
    """Let a class call the constructor of a base right before torch's, which begins with it."""
    own, file = project.methods(cls).get("__init__"), cls.file
    assert file is not None and behind.owner is not None
    name = behind.owner.name
    bases = [(b, project.resolve(file, dotted(b) or "")) for b in cls.bases]
    mine = [b for b, c in bases if isinstance(c, Class) and project.find(c, "__init__") is behind]
    plain = all(p.default is not None or p.kind in ("*", "**") for p in behind.parameters[1:])
    if not mine or not plain:
        changes.report("skipped-constructor", cls, _SKIPPED.format(name))
        return
    if own is None:
        first, made = cls.body.body[0], _constructor(cls, [_call("self", "__init__", mine[0])], [])
        if isinstance(first, Pass_):
            changes.substitute(first, [made])
        elif is_docstring(first):
            changes.insert_after(first, [made])
        else:
            changes.insert_before(first, [made])
        return
    named = f"{dotted(mine[0])}.__init__"
    if any(dotted(c.function) == named for c in own.nodes(Call)):
        return  # it calls it itself
    for statement in own.body.body:
        if isinstance(statement, ExpressionStatement) and _is_made(statement):
            changes.insert_before(statement, [_call(own.receiver, "__init__", mine[0])])
            return
    changes.report("skipped-constructor", cls, _SKIPPED.format(name))


# --- placements -----------------------------------------------------------------------------------


def _only_places(method: Function) -> bool:
    """Whether a method does what that of the class above does, and the same for what that does not
    know of."""
    above = [c for c in method.nodes(Call) if _is_above(c.function, method.name)]
    if method.name not in _PLACING or not above or method.decorators:
        return False
    me = method.receiver
    moving = {p.name for p in method.parameters[1:]}  # `fn` of `_apply(self, fn)`
    for call in everywhere(method, Call):
        word = call.function.name if isinstance(call.function, Attribute) else dotted(call.function)
        if word not in _PLACING and word not in _LOOKING and word not in moving:
            return False
    for assign in everywhere(method, Assign):
        made = assign.expression
        if assign.operator or made is None or any(isinstance(n, _COMPUTING) for n in made.walk()):
            return False
    given = [r.expression for r in everywhere(method, Return) if r.expression is not None]
    return all(dotted(e) == me or isinstance(e, (Name, Call)) for e in given)


def _is_above(function: Expression, name: str) -> bool:
    return isinstance(function, Attribute) and function.name == name and is_super(function.object)


def _is_made(statement: ExpressionStatement) -> bool:
    """`super().__init__(…)`"""
    call = statement.expression
    function = call.function if isinstance(call, Call) else None
    if not isinstance(function, Attribute) or function.name != "__init__":
        return False
    return is_super(function.object)


def _call(me: str, name: str, base: Expression | None = None) -> ExpressionStatement:
    """`self.name()`, or `Base.name(self)`."""
    if base is None:
        return ExpressionStatement(Call(Attribute(Name(me), name), []))
    return ExpressionStatement(Call(Attribute(clone(base), name), [Name(me)]))


def _constructor(cls: Class, before: list[Statement], behind: list[Statement]) -> Function:
    given = [Starred(Name("args")), Starred(Name("kwargs"), double=True)]
    above = Call(Attribute(Call(Name("super"), []), "__init__"), given)
    body = Block([*before, ExpressionStatement(above), *behind])
    parameters = [Parameter("self"), Parameter("args", "*"), Parameter("kwargs", "**")]
    made = Function("__init__", parameters, body)
    made.file = cls.file  # facts ask what names mean there
    return made


PASS = Pass("overridden_methods", (), run, of_project=True)
