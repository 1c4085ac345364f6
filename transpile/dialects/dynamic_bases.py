"""Classes that extend what a function is given, as a decorator of modules makes them: the key, or
the streams, go past what they keep of their arguments.

class Kept(cls):
    def __init__(self, *args, key=None, **kwargs):
        nn.build(super().__init__, *args, **kwargs, key=key)
        self.args = args
"""

from collections.abc import Iterator

from ..model.effects import Support
from ..model.expressions import Attribute, Call, Name
from ..model.names import dotted, is_target
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign
from ..source.lower_ast import expression
from .parameters import add_keyword


def hand_on(project: Project, word: str, declared: bool = False) -> None:
    """Let them take what constructors take here; `declared`: with the fields that they set."""
    for cls in dict.fromkeys(_extending(project)):
        init = next((f for f in cls.nodes(Function) if f.name == "__init__"), None)
        if init is None:
            continue
        for call in list(init.nodes(Call)):
            above = call.function
            if isinstance(above, Attribute) and above.name == "__init__":
                made = Call(Support("build"), [above, *call.arguments], [None, *call.keywords])
                made.append(Name(word), word)
                call.replace(made)
        add_keyword(init, word, default="None")
        if declared:
            _declare(cls, init)


def _extending(project: Project) -> Iterator[Class]:
    """The classes inside of a decorator of modules whose base is what that is given."""
    for cls in [c for c in project.classes() if project.is_module(c)]:
        for decorator in cls.decorators:
            name = dotted(decorator)
            found = project.resolve(cls.file, name) if name and cls.file is not None else None
            if isinstance(found, Function):
                given = {p.name for p in found.parameters}
                yield from (c for c in found.nodes(Class) if given & set(map(dotted, c.bases)))


def _declare(cls: Class, init: Function) -> None:
    own = init.receiver
    targets = [t for a in init.nodes(Assign) for t in a.targets if is_target(t)]
    names = [t.name for t in targets if isinstance(t, Attribute) and dotted(t.object) == own]
    fields = [Assign([Name(n)], None, annotation=expression("Any")) for n in dict.fromkeys(names)]
    if fields:
        cls.body.insert_before(cls.body.body[0], fields)
