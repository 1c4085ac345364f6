"""JAX with self as pure functions of explicit params."""

from ...facts.modules import SUBMODULE
from ...facts.program import ProgramFacts
from ...model.expressions import Name
from ...model.project import Project
from ...source.formatting import format_all
from .. import captured, library, second_names, shared_parts, support, two_kinds, walking, wide
from ..definitions import PRELUDES, Prelude, Rules, prelude
from ..faults import Faults
from ..imports import Words
from ..kept_draws import BUILT, KEPT, WRITES, built_apart, kept_draws, kept_writes
from ..method_names import rename_methods
from ..output import Output
from ..repeated import repeated, report_repeated
from ..reports import Reports
from ..shared import report_shared
from ..threading.properties import as_methods
from ..threading.reserved import refuse_taken
from . import given, outside
from .classes import ClassWriter
from .conventions import Conventions
from .plan import MAKING, RESERVED, Plan
from .plan import WORDS as TAKEN
from .unrolled import unroll
from .unwritten import report_unwritten

WORDS = Words()
HEADER = (
    "The part of torch.nn that this code uses, as pure functions of explicit params. "
    "Made by torch-to-jax."
)


def write(project: Project, facts: ProgramFacts, existing: str | None = None) -> Output:
    """The files of a project as functions of params; the model is edited. `existing`: the text of
    the support file that stands there."""
    reports = Reports(Faults("the functional dialect"))
    captured.refuse_objects(project, facts.modules, reports)
    captured.refuse_given(project, facts.modules, reports, (Name,))  # a Read moves, or is refused
    two_kinds.refuse(facts.modules, reports, declared=True)
    rename_methods(project, reports, MAKING, RESERVED)
    second_names.spell_out(project, facts.modules)
    shared_parts.spell_out(project, facts.modules)
    unroll(project)
    given.spell_out(project)
    there = Prelude(existing or "", "~")
    solve = lambda: Conventions(project, facts, there.names())
    threaded = lambda t: t.takes or t.draws or t.params or t.mode
    plan = Plan(project, facts, as_methods(project, solve, threaded, reports))
    walking.keep_order(project, facts, walking.Ordered(project, facts), (SUBMODULE,))
    for name in kept_draws(project, plan.draws_unasked):
        reports.report("draw-in-value", name, KEPT)
    for name in kept_writes(project):
        reports.report("parameter-write", name, WRITES)
    for made in built_apart(facts.modules):
        reports.report("module-value", made, BUILT)
    plan.repeated.update(name for name, _ in repeated(plan))
    refuse_taken(plan.conventions, TAKEN, reports)
    report_shared(plan, reports)
    report_repeated(plan, reports, modules=False)
    report_unwritten(project, facts.modules, reports)
    writer = ClassWriter(plan, reports)

    def written(wanted: set[str], texts: list[str]) -> str:
        write, faults = ClassWriter(plan, reports).write, reports.faults
        layers = library.layers(plan.modules, write, faults, WORDS.statements)
        sources = [_prelude(), layers, Rules(facts.rulebook), there]
        return support.write(wanted, sources, HEADER, format_all, texts, there)

    return library.written(plan, facts, reports, writer, outside.write, WORDS, written)


def _prelude() -> Prelude:
    """What the output uses beside layers and rules: Module and its containers, layers around
    others, equal layers in one scan, keys, precision."""
    here = PRELUDES / "functional"
    names = ("module", "beginnings", "walks", "stacking", "reparametrized", "precision", "prelude")
    return prelude(*(here / f"{name}.py" for name in names), wide.PRELUDE)
