"""JAX with self as Equinox."""

from collections import Counter

from ...facts.program import ProgramFacts
from ...facts.values.lattice import Tensor
from ...model.effects import Mode, New, Read, Support, Write
from ...model.expressions import Name
from ...model.project import Project
from ...source.formatting import format_all
from .. import (
    captured_modules,
    class_arguments,
    dynamic_bases,
    float64_constants,
    modes_set,
    numpy_fields,
    walk_order,
)
from ..faults import Faults
from ..import_time import fit_metaclasses, free_abstract
from ..imports import Words
from ..method_names import rename_methods
from ..output import Output
from ..reports import Reports
from ..scripts import spell_out_modes
from ..sharing import (
    handed_modules,
    list_growth,
    module_aliases,
    plain_lists,
    shared_containers,
    ties,
)
from ..sharing.repeated_items import report_repeated
from ..sharing.shared_modules import report_doubled, report_shared
from ..stored_draws import BUILT, KEPT, UNSAVED, built_apart, drawn_apart, kept_draws
from ..support import layer_classes, support_file
from ..support.definitions import PRELUDES, Prelude, Rules, prelude
from ..threading.properties import as_methods
from ..threading.reserved_names import refuse_taken
from . import module_level, script_models
from .classes import ClassWriter
from .configs import freeze
from .conventions import Conventions
from .layers import UNWRITTEN, named
from .plan import WORDS as TAKEN
from .plan import Plan

WORDS = Words().adding(
    {
        "eqx": "import equinox as eqx",
        "Any": "from typing import Any",
        "OrderedDict": "from collections import OrderedDict",
        "Callable": "from collections.abc import Callable",
    },
    {"eqx": "equinox"},
)
OWN = ("prelude.py", "walks.py", "reparametrized.py", "precision.py")
SPECTRAL = (
    "spectral norm computes this for one call of the layer and keeps it nowhere: call the layer, "
    "or give the weight its values before"
)
NO_MODE = (
    "a layer that works in one way in both modes does not know which it is in here: ask the module "
    "that has it"
)
SET_MODE = "modules are frozen: eqx.nn.inference_mode(module, value) gives one in another mode"
HEADER = "The part of torch.nn that this code uses, in Equinox. Made by torch-to-jax."


def write(project: Project, facts: ProgramFacts, existing: str | None = None) -> Output:
    """The files of a project as Equinox has them; the model is edited. `existing`: the text of the
    support file that stands there."""
    spell_out_modes(project)
    module_aliases.spell_out(project, facts.modules, alone=True)
    shared_containers.spell_out(project, facts.modules)
    handed = handed_modules.tie(project, facts.modules)
    class_arguments.tell(project)
    dynamic_bases.hand_on(project, "key", declared=True)
    list_growth.register_first(project, facts.modules)
    lists = plain_lists.spell_out(project, facts.modules, alone=True)
    ties.guard(project)
    reports = Reports(Faults("the dialect equinox"))
    captured_modules.refuse(project, facts.modules, reports)
    modes_set.refuse(facts.modules, facts.stages, reports, SET_MODE)
    fit_metaclasses(project, facts.modules, "eqx.Module")
    free_abstract(project, facts.modules)
    there = Prelude(existing or "", "~")
    rename_methods(project, reports, ["inference"])  # eqx.nn.inference_mode sets all such fields
    solve = lambda: Conventions(project, facts, there.names())
    signatures = as_methods(project, solve, lambda t: t.takes or t.draws, reports)
    plan = Plan(project, facts, signatures, lists.names)
    walk_order.keep_order(project, facts, plan.ordered, walk_order.ALL)
    for name in kept_draws(project, plan.draws_unasked):
        reports.report("draw-in-value", name, KEPT)
    for made in built_apart(facts.modules):
        reports.report("module-value", made, BUILT)
    for drawn in drawn_apart(facts):
        held = getattr(drawn.value, "element", drawn.value)
        if isinstance(drawn.parent, New) or not isinstance(held, Tensor):
            # of arrays lists are filled here
            reports.report("buffer-in-list", drawn, UNSAVED)
    refuse_taken(plan.signatures, TAKEN, reports)
    report_shared(plan, reports, handed, together=False)
    report_doubled(lists.doubled, reports)
    report_repeated(plan, reports)
    writer = ClassWriter(plan, reports, "nn.")
    freeze(project)
    numpy_fields.hold(project, plan.modules)
    _refuse_unwritten(plan, reports)
    for mode in [n for f in plan.signatures.functions for n in f.nodes(Mode)]:
        if plan.lacks_mode(mode.object):
            reports.unconverted("module-mode", mode, NO_MODE)

    def written(wanted: set[str], texts: list[str], others: Counter[str]) -> str:
        write, faults = ClassWriter(plan, reports, "").write, reports.faults
        layers = layer_classes.layers(plan.modules, write, faults, WORDS.statements, named)
        own = (PRELUDES / "equinox" / name for name in OWN)
        paths = [*own, float64_constants.PRELUDE, numpy_fields.PRELUDE]
        sources = [*map(prelude, paths), layers, Rules(facts.rulebook), there]
        return support_file.write(wanted, sources, HEADER, format_all, texts, there, others)

    for function, models in plan.conventions.scripts.items():
        script_models.write(function, models, plan, reports)
    return layer_classes.written(
        plan, facts, reports, writer, module_level.write, WORDS, written, named
    )


def _refuse_unwritten(plan: Plan, reports: Reports) -> None:
    """Layers that have no form in Equinox yet raise where they are built, and weights that are
    there for one call alone, where they are read."""
    for node in [n for f in plan.project.ordered for n in f.walk() if isinstance(n, (New, Read))]:
        if isinstance(node, Read):
            known = not isinstance(node.object, Name)  # walks give the layer its weight
            write = node.parent if isinstance(node.parent, Write) else None
            if known and plan.modules.is_spectral(node):
                if write is not None and write.target is node:
                    reports.refuse("parameter-write", write, SPECTRAL)
                else:
                    reports.unconverted("unsupported", node, SPECTRAL)
            continue
        name = node.function.name if isinstance(node.function, Support) else ""
        if name in UNWRITTEN:
            reports.unconverted("no-rule", node, f"{UNWRITTEN[name]} has no form in Equinox yet")
