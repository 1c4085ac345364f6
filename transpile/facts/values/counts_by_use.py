"""Which parameters of a constructor are whole numbers, by the layers and arrays it makes of them.

self.fc = nn.Linear(dim, 4); self.v = nn.Parameter(torch.Tensor(dim))

So `torch.Tensor(dim)` is an array of this size, not one of these values.
"""

from collections.abc import Iterator

from ...model.expressions import Call, Display, Name, Starred
from ...model.names import dotted, names_assigned
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, Return
from .tables import Facts

_COUNTS = frozenset(  # parameters of torch's layers
    "d_model embed_dim embedding_dim hidden_size in_channels in_features input_size nhead "
    "num_channels num_embeddings num_features num_groups num_heads num_layers num_parameters "
    "out_channels out_features".split()
)
_ALWAYS = (Assign, ExpressionStatement, Call, Display)  # what is in them runs where they do


def used_as_counts(facts: Facts, function: Function) -> frozenset[str]:
    """The parameters of which any call of a function makes sizes."""
    key = "counts", function
    if key not in facts.memory:
        names = {p.name for p in facts.project.parameters(function)} - {*names_assigned(function)}
        calls = () if function.nodes(Return) else function.nodes(Call)
        given = [
            a for call in calls if _always(function, call) for a in _counts(facts, function, call)
        ]
        facts.memory[key] = frozenset(a.id for a in given if isinstance(a, Name)) & names
    return facts.memory[key]  # type: ignore[no-any-return]


def _always(function: Function, call: Call) -> bool:
    """Whether a call is made whenever the function runs to its end."""
    for above in call.ancestors():
        if above is function.body:
            return True
        if not isinstance(above, _ALWAYS):
            return False
    return False


def _counts(facts: Facts, function: Function, call: Call) -> Iterator[Expression]:
    """The arguments of a call that can only be whole numbers."""
    if any(isinstance(a, Starred) for a in call.arguments):
        return
    if dotted(call.function) == "range":
        yield from call.arguments
        return
    torch = facts.resolve(function.file, call.function)
    rules = facts.rulebook.find(torch) if isinstance(torch, str) else ()
    for parameters in (rule.parameters for rule in rules[:1]):
        if parameters and parameters[0].kind == "sizes":
            sizes = call.positional
            yield from sizes if len(sizes) > 1 else ()
        names = [p.name for p in parameters]
        for i, (word, argument) in enumerate(zip(call.keywords, call.arguments)):
            if (word or (names[i] if i < len(names) else "")) in _COUNTS:
                yield argument
