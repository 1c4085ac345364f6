"""Copies of modules, which begin equal in torch.

ModuleList([copy.deepcopy(layer) for _ in range(n)])    →    nn.Copies(layer, n)
"""

from ....facts.modules import Modules
from ....facts.values.lattice import UNKNOWN, Module
from ....model.effects import BUFFER, PARAM, Apply, New, Support
from ....model.expressions import Call, Comprehension, Name
from ....model.names import dotted, target_names
from ....model.node import Expression
from ....model.program import Function
from ...reports import Reports
from .events import Events, deepcopied

_APART = (
    "a copy of a module begins with random values of its own here, and in torch with those of the "
    "module: give it the same ones in params"
)


def write_copies(function: Function, events: Events, reports: Reports, modules: Modules) -> None:
    """Lists of copies begin equal; of other copies that is said."""
    list_copies(function, modules)
    for call in function.nodes(Call, Apply):
        around = call.parent
        moves = around is not None and any(events.copies(around, k) for k in (PARAM, BUFFER))
        given = deepcopied(call)
        if given is not None and _may_be_module(given) and not moves:
            reports.report("taken-for-granted", call, _APART)


def list_copies(function: Function, modules: Modules) -> None:
    """Write the lists of copies, also of a function that nothing calls here."""
    for new in function.nodes(New):
        found = _listed(new) if _is_list(new, modules) else None
        if found is not None:
            new.replace(Call(Support("Copies"), list(found)))


def _is_list(new: New, modules: Modules) -> bool:
    """Whether a torch.nn.ModuleList is made, by the user's code or by a layer's."""
    if isinstance(new.function, Support):
        return new.function.name == "ModuleList"
    refs = new.value.refs if isinstance(new.value, Module) else ()
    return [*refs] == [modules.library.find("torch.nn.ModuleList")]


def _listed(new: New) -> tuple[Expression, Expression] | None:
    """The module and the number of its copies in a list of them."""
    if len(new.arguments) != 1:
        return None
    turns = new.arguments[0]
    if not isinstance(turns, Comprehension) or len(turns.clauses) != 1 or turns.kind == "dict":
        return None
    clause, module = turns.clauses[0], deepcopied(turns.element)
    counted = isinstance(clause.iterable, Call) and dotted(clause.iterable.function) == "range"
    if module is None or not counted or clause.conditions:
        return None
    bound = set(target_names(clause.target))
    if any(isinstance(n, Name) and n.id in bound for n in module.walk()):
        return None
    sizes = clause.iterable.arguments  # type: ignore[attr-defined]
    return (module, sizes[0]) if len(sizes) == 1 else None


def _may_be_module(given: Expression) -> bool:
    return isinstance(given.value, Module) or given.value in (None, UNKNOWN)
