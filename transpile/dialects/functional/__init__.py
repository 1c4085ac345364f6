"""JAX with self as pure functions of explicit params."""

from collections import Counter

from ...facts.modules import SUBMODULE
from ...facts.program import ProgramFacts
from ...model.expressions import Name
from ...model.project import Project
from ...source.formatting import format_all
from .. import captured_modules, float64_constants, modes_set, module_or_array, walk_order
from ..faults import Faults
from ..imports import Words
from ..method_names import rename_methods
from ..output import Output
from ..reports import Reports
from ..scripts import spell_out_modes
from ..sharing import handed_modules, module_aliases, shared_containers
from ..sharing.repeated_items import repeated, report_repeated
from ..sharing.shared_modules import report_shared
from ..stored_draws import BUILT, KEPT, WRITES, built_apart, kept_draws, kept_writes
from ..support import layer_classes, support_file
from ..support.definitions import PRELUDES, Prelude, Rules, prelude
from ..threading.properties import as_methods
from ..threading.reserved_names import refuse_taken
from . import indirect_modules, module_level, script_models
from .classes import ClassWriter
from .conventions import Conventions
from .plan import MAKING, RESERVED, Plan
from .plan import WORDS as TAKEN
from .unrolled_loops import unroll
from .unsupported_layers import report_unwritten

WORDS = Words()
SET_MODE = "the mode of a module is the argument training of its calls"
HEADER = (
    "The part of torch.nn that this code uses, as pure functions of explicit params. "
    "Made by torch-to-jax."
)


def write(project: Project, facts: ProgramFacts, existing: str | None = None) -> Output:
    """The files of a project as functions of params; the model is edited. `existing`: the text of
    the support file that stands there."""
    reports = Reports(Faults("the functional dialect"))
    captured_modules.refuse_objects(project, facts.modules, reports)
    captured_modules.refuse_given(
        project, facts.modules, reports, (Name,)
    )  # a Read moves, or is refused
    spell_out_modes(project)
    module_or_array.refuse(facts.modules, reports, declared=True)
    modes_set.refuse(facts.modules, facts.stages, reports, SET_MODE)
    rename_methods(project, reports, MAKING, RESERVED)
    module_aliases.spell_out(project, facts.modules)
    shared_containers.spell_out(project, facts.modules)
    handed = handed_modules.tie(project, facts.modules)
    unroll(project)
    indirect_modules.spell_out(project)
    there = Prelude(existing or "", "~")
    solve = lambda: Conventions(project, facts, there.names())
    threaded = lambda t: t.takes or t.draws or t.params or t.mode
    plan = Plan(project, facts, as_methods(project, solve, threaded, reports))
    walk_order.keep_order(project, facts, walk_order.Ordered(project, facts), (SUBMODULE,))
    for name in kept_draws(project, plan.draws_unasked):
        reports.report("draw-in-value", name, KEPT)
    for name in kept_writes(project):
        reports.report("parameter-write", name, WRITES)
    for made in built_apart(facts.modules):
        reports.report("module-value", made, BUILT)
    plan.repeated.update(name for name, _ in repeated(plan))
    refuse_taken(plan.conventions, TAKEN, reports)
    report_shared(plan, reports, handed)
    report_repeated(plan, reports, modules=False)
    report_unwritten(project, facts.modules, reports)
    writer = ClassWriter(plan, reports)

    def written(wanted: set[str], texts: list[str], others: Counter[str]) -> str:
        write, faults = ClassWriter(plan, reports).write, reports.faults
        layers = layer_classes.layers(plan.modules, write, faults, WORDS.statements)
        sources = [_prelude(), layers, Rules(facts.rulebook), there]
        return support_file.write(wanted, sources, HEADER, format_all, texts, there, others)

    for function, models in plan.conventions.scripts.items():
        script_models.write(function, models, plan, reports)
    return layer_classes.written(plan, facts, reports, writer, module_level.write, WORDS, written)


def _prelude() -> Prelude:
    """What the output uses beside layers and rules: Module and its containers, layers around
    others, equal layers in one scan, keys, precision."""
    here = PRELUDES / "functional"
    names = ("module", "beginnings", "walks", "stacking", "reparametrized", "precision", "prelude")
    return prelude(*(here / f"{name}.py" for name in names), float64_constants.PRELUDE)
