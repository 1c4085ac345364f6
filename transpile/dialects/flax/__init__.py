"""The Flax NNX dialect: modules are `nnx.Module`, arrays are Variables, effects are their own."""

from collections.abc import Callable, Iterable
from typing import Any

from ...facts.program import ProgramFacts
from ...model.effects import (
    Apply,
    BoundMethod,
    Declare,
    Detached,
    Key,
    Mode,
    New,
    NewArray,
    Put,
    Read,
    Shape,
    Support,
    Tie,
    Unconverted,
    Unset,
    Walk,
    Write,
)
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.fresh_names import taken
from ...model.node import Node
from ...model.operators import Binary
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.renaming import rename_locals
from ...model.statements import Assign, Delete
from ...source.formatting import format_all
from ...source.splice import write as text_of
from .. import (
    captured_modules,
    dynamic_bases,
    float64_constants,
    module_or_array,
    numpy_fields,
    walk_order,
)
from ..faults import Faults
from ..fresh_names import fresh
from ..import_time import fit_metaclasses, free_abstract
from ..imports import Words, fit
from ..output import Output
from ..reports import Reports
from ..scripts import spell_out_modes
from ..sharing import handed_modules, list_growth, plain_lists, ties
from ..sharing.repeated_items import report_repeated
from ..sharing.shared_modules import report_doubled
from ..signature_decorators import refuse_decorated
from ..stored_draws import (
    BUILT,
    KEPT,
    UNSAVED,
    WRITES,
    built_apart,
    drawn_apart,
    kept_draws,
    kept_writes,
)
from ..support.definitions import PRELUDES, Prelude, Rules, Written, prelude
from ..support.layer_classes import definition_text
from ..support.receivers import asked_of_others
from ..support.support_file import gather
from ..support.support_file import write as write_support
from . import arrays, calls, classes, containers, control, reads, walks
from .evaluation import write_in_training
from .layers import REPLACED
from .lowering import Lowering
from .plan import Plan
from .program import names_used

HEADER = "The part of torch.nn that this code uses, in Flax NNX. Made by torch-to-jax."
OWN = ("prelude.py", "normed.py", "precision.py")
WORDS = Words().adding({"nnx": "from flax import nnx"}, {"nnx": "flax.nnx"})
HANDLERS: dict[type, Callable[[Lowering, Any], None]] = {
    Declare: arrays.declare,
    Read: reads.read,
    Attribute: reads.attribute,
    Write: arrays.write,
    NewArray: arrays.new_array,
    Assign: arrays.assign,
    Tie: arrays.tie,
    New: calls.new,
    Apply: calls.apply,
    Call: calls.call,
    Key: calls.key,
    Mode: calls.mode,
    Support: calls.support,
    BoundMethod: calls.bound_method,
    Binary: containers.joined,
    Delete: containers.taken_out,
    Detached: calls.detached,
    Put: calls.put,
    Shape: calls.shape,
    Walk: walks.walk,
    Unconverted: calls.unconverted,
    Function: classes.function,
    Class: classes.class_,
    Unset: lambda low, node: low.edits.replace(node, Constant(None)),
    **control.HANDLERS,
}


def write(project: Project, facts: ProgramFacts, existing: str | None = None) -> Output:
    """The files of a project in Flax NNX, and their support file. `existing`: the text of the one
    that stands there."""
    files, there = project.ordered, Prelude(existing or "", "~")
    spell_out_modes(project)
    handed_modules.tie(project, facts.modules)
    list_growth.register_first(project, facts.modules)
    lists = plain_lists.spell_out(project, facts.modules)
    ties.guard(project)
    write_in_training(project)
    faults = Faults("the dialect flax")
    reports = Reports(faults)
    captured_modules.refuse(project, facts.modules, reports)
    module_or_array.refuse(facts.modules, reports, declared=False)
    fit_metaclasses(project, facts.modules, "nnx.Module")
    free_abstract(project, facts.modules)
    numpy_fields.hold(project, facts.modules)
    dynamic_bases.hand_on(project, "rngs")
    float64_constants.mark(files, facts)
    asked = {*names_used(files), *there.names(), *_bases(project, facts)}
    rules = Rules(facts.rulebook)
    own = (PRELUDES / "flax" / name for name in OWN)
    paths = [*own, float64_constants.PRELUDE, numpy_fields.PRELUDE]
    preludes = [prelude(path) for path in paths]
    gathered = gather(asked, [*preludes, rules]).values()
    plan = Plan(project, facts, asked | {word for entry in gathered for word in entry.uses})
    _make_room(plan)
    walk_order.keep_order(project, facts, plan.ordered, walk_order.ALL)
    output = Output(diagnostics=reports.diagnostics)
    for function in [f for f in plan.takes if f.file in project.names]:
        refuse_decorated(function, project, reports, words=True)
    for name in kept_draws(project, plan.takes.__contains__):
        reports.report("draw-in-value", name, KEPT)
    for name in kept_writes(project):
        reports.report("parameter-write", name, WRITES)
    for made in built_apart(facts.modules):
        reports.report("module-value", made, BUILT)
    for drawn in drawn_apart(facts):
        reports.report("buffer-in-list", drawn, UNSAVED)
    report_doubled(lists.doubled, reports)
    report_repeated(plan, reports, modules=False)
    lowered = [lower(plan, file, file.walk(), faults) for file in files]
    layers = lower_library(plan, faults)
    for low in lowered:
        low.commit()
        faults.settle([low.file], low.support)
        fit(project, low.file, WORDS)
        output.files[low.file] = text_of(low.file)
        output.diagnostics += low.diagnostics
    output.diagnostics += faults.diagnostics
    wanted = {*asked, *(n for file in files for n in _support_words(file))}
    if wanted:
        sources = [*preludes, layers, rules, there]
        texts = [output.files.get(file, file.text) for file in files]
        others = asked_of_others(files)
        output.support = write_support(wanted, sources, HEADER, format_all, texts, there, others)
    return output


def lower(plan: Plan, file: File, nodes: Iterable[Node], faults: Faults) -> Lowering:
    """Collect the edits of a file."""
    low = Lowering(plan, file, faults)
    for node in nodes:
        handler = HANDLERS.get(node.__class__)
        if handler is not None:
            try:
                handler(low, node)
            except Exception as error:
                faults.note(low.unit(node) or file, error)
        elif low.in_library and isinstance(node, Name):
            calls.library_name(low, node)
    return low


def lower_library(plan: Plan, faults: Faults) -> Written:
    """The layers that are needed, as the dialect writes them."""
    by_file: dict[File, list[Class | Function]] = {}
    for node in plan.needed.values():
        assert node.file is not None
        by_file.setdefault(node.file, []).append(node)
    for file, definitions in by_file.items():
        low = lower(plan, file, (n for d in definitions for n in d.walk()), faults)
        low.commit()
        faults.settle(definitions, low.support)
    return Written(plan.needed.get, definition_text, IMPORTS)


IMPORTS = {"nnx": "from flax import nnx", "lax": "from jax import lax"}


def _make_room(plan: Plan) -> None:
    """Give other names to the user's parameters and locals that are called as what a function is
    given: `key` beside `query` and `value`, of an autograd Function that draws."""
    for function, word in plan.takes.items():
        if word == "key" and word in (names := taken(function)):
            rename_locals(function, {word: fresh(f"{word}_", names)})


def _bases(project: Project, facts: ProgramFacts) -> Iterable[str]:
    """The layers that the user's classes extend."""
    for cls in project.classes():
        for base in facts.modules.lineage(cls):
            if base.file in facts.modules.library.project.names and base.name not in REPLACED:
                yield base.name


def _support_words(file: File) -> Iterable[str]:
    """The definitions that the text of a file refers to as `nn.name`."""
    for node in file.walk():
        if isinstance(node, Attribute) and node.start < 0 and isinstance(node.object, Name):
            if node.object.id in ("nn", "jax_nn"):
                yield node.name
