"""Walks over params while a model is built: each begins with another value.

for name, p in self.named_parameters():      def begin(name, p, key):
    if p.dim() > 1:                              if p.ndim > 1:
        xavier_uniform_(p)              →            p = …(key, p.shape, p.dtype)
                                                 return p
                                             nn.reinitialise_all(self, begin)
"""

from collections.abc import Callable

from ....model.effects import Support, Write
from ....model.expressions import Attribute, Call, Display, Name
from ....model.node import Expression, Node
from ....model.program import Function, Parameter
from ....model.statements import Assign, Block, Break, Continue, ExpressionStatement, For, Return
from ..indirect_modules import is_listed

Fresh = Callable[[str], str]


def begin(walk: For, fresh: Fresh) -> Function | None:
    """The function that gives each param its first value, put in the place of a walk over params;
    None for walks of another kind."""
    found = _walked(walk)
    block = walk.parent
    if found is None or not isinstance(block, Block) or walk.orelse is not None:
        return None
    module, name, param = found
    writes = [n for n in walk.body.walk() if isinstance(n, Write)]
    own = [w for w in writes if isinstance(w.target, Name) and w.target.id == param]
    if not own or len(own) < len(writes) or any(map(_leaves, walk.body.walk())):
        return None
    for write in own:
        _block(write).substitute(write, [Assign([Name(param)], write.value)])
    if name == "key":
        name = fresh("name")
        for word in [n for n in walk.body.walk() if isinstance(n, Name) and n.id == "key"]:
            word.rename(name)
    for jump in [n for n in walk.body.walk() if isinstance(n, Continue)]:
        _block(jump).substitute(jump, [Return(Name(param))])
    made_name = fresh("begin")
    body = Block([*walk.body.body, Return(Name(param))])
    made = Function(made_name, [Parameter(w) for w in (name, param, "key")], body)
    if block.body[0] is not walk:
        made.comments = "\n", ""
    call = Call(Support("reinitialise_all"), [module, Name(made_name)])
    block.substitute(walk, [made, ExpressionStatement(call)])
    return made


def _walked(walk: For) -> tuple[Expression, str, str] | None:
    """The module that a walk goes over, and the names of a name and a param."""
    call = walk.iterable
    if is_listed(call) and isinstance(walk.target, Name):
        return call, "_", walk.target.id  # a list of params is a module of them
    if not isinstance(call, Call) or call.arguments or not isinstance(call.function, Attribute):
        return None
    word, target = call.function.name, walk.target
    if word == "parameters" and isinstance(target, Name):
        return call.function.object, "_", target.id
    if word == "named_parameters" and isinstance(target, Display) and len(target.elements) == 2:
        name, param = target.elements
        if isinstance(name, Name) and isinstance(param, Name):
            return call.function.object, name.id, param.id
    return None


def _leaves(node: Node) -> bool:
    """What ends the walk, or is there after it, has no place in a function of one param."""
    return isinstance(node, (Break, Return))


def _block(node: Node) -> Block:
    assert isinstance(node.parent, Block)
    return node.parent
