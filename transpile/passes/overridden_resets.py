"""Torch's constructors call `reset_parameters`: what a class has instead of it is called, too.

    class Tokens(nn.Embedding):               def __init__(self, *args, **kwargs):
        def reset_parameters(self):      →        super().__init__(*args, **kwargs)
            nn.init.normal_(self.weight)          self.reset_parameters()

The layers of the output begin with torch's values, and know of no such method.
"""

from typing import Any

from ..facts.values.calls import is_super
from ..model.expressions import Attribute, Call, Constant, Name, Starred
from ..model.names import dotted, everywhere
from ..model.program import Class, Function, Parameter
from ..model.project import Project
from ..model.statements import Block, ExpressionStatement
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


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The constructors of a project that call what torch's would have called."""
    found = []
    for file in project.ordered:
        for cls in file.classes():
            name = _RESETS.get(project.torch_base(cls) or "")
            if name is not None and _is_first(project, cls, name):
                changes = Changes(cls)
                if _called(project, cls, name, changes) and not _calls(project, name):
                    _without_first(project.methods(cls)[name], name, changes)
                found.append(changes)
    return found


def _is_first(project: Project, cls: Class, name: str) -> bool:
    """Whether a class has the method, and none above, whose constructor would call this one."""
    classes = [c for c in project.order(cls) if isinstance(c, Class)]
    return [c for c in classes if name in project.methods(c)] == [cls]


def _called(project: Project, cls: Class, name: str, changes: Changes) -> bool:
    """Let the constructor call the method right behind torch's; whether it does now."""
    own = project.methods(cls).get("__init__")
    if own is None:
        if project.find(cls, "__init__") is None:
            first = next(s for s in cls.body.body if isinstance(s, Function))
            changes.insert_before(first, [_constructor(name, cls)])
            return True
        return False
    me = own.parameters[0].name if own.parameters else None
    if me is None or any(dotted(call.function) == f"{me}.{name}" for call in own.nodes(Call)):
        return False  # it calls it itself
    for statement in own.body.body:
        if isinstance(statement, ExpressionStatement) and _is_made(statement):
            changes.insert_after(statement, [_call(me, name)])
            return True
    return False


def _calls(project: Project, name: str) -> bool:
    """Whether something else calls such a method, when the layer has other values."""
    calls = (c.function for file in project.ordered for c in everywhere(file, Call))
    named = (f for f in calls if isinstance(f, Attribute) and f.name == name)
    return not all(is_super(f.object) for f in named)


def _without_first(method: Function, name: str, changes: Changes) -> None:
    """What the layer has done when its constructor calls this: `super().reset_parameters()`."""
    me = method.parameters[0].name if method.parameters else ""
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


def _is_made(statement: ExpressionStatement) -> bool:
    """`super().__init__(…)`"""
    call = statement.expression
    function = call.function if isinstance(call, Call) else None
    if not isinstance(function, Attribute) or function.name != "__init__":
        return False
    return is_super(function.object)


def _call(me: str, name: str) -> ExpressionStatement:
    return ExpressionStatement(Call(Attribute(Name(me), name), []))


def _constructor(name: str, cls: Class) -> Function:
    given = [Starred(Name("args")), Starred(Name("kwargs"), double=True)]
    above = Call(Attribute(Call(Name("super"), []), "__init__"), given)
    body = Block([ExpressionStatement(above), _call("self", name)])
    parameters = [Parameter("self"), Parameter("args", "*"), Parameter("kwargs", "**")]
    made = Function("__init__", parameters, body)
    made.file = cls.file  # facts ask what names mean there
    return made


PASS = Pass("overridden_resets", (), run, of_project=True)
