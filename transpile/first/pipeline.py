"""The passes, in order, over all files of a project.

    parse -> lightning -> libraries -> entry_points -> facts -> entered -> probes -> gradients -> decided -> first_names -> second_names -> written_names -> tags -> erasures -> deletions -> placement -> masks -> selections -> choices -> single_elements -> arguments -> mutation -> operations -> noops -> unread
    -> inlining -> construction -> effects -> known_masks -> submodules -> keys
    -> conditions -> jumps -> branches -> loops -> scans -> signatures -> float64 -> imports -> quotes -> format
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import libcst as cst

from ..model.diagnostics import Diagnostic
from . import (
    accounting,
    boxed_sizes,
    dict_order,
    early_properties,
    frozen,
    handed_weights,
    hidden_writes,
    libraries,
    lightning,
    line_breaks,
    scripts,
    sharing,
    support,
    tree,
    unset_attributes,
)
from .arrays import Arrays, filling_functions, forward_functions, returns_parameter, running_functions, traced_functions
from .carriers import Carriers
from .context import KEY, Context, asking_for_key
from .drawing import drawing_functions
from .effects import Effects, _uses
from .host_draws import HostDraws
from .host_effects import report_draws, report_handlers
from .host_state import HostState
from .infer import Inference, infer
from .passes import (
    absent_effects,
    arguments,
    branches,
    choices,
    conditions,
    construction,
    decided,
    deletions,
    drawn_calls,
    element_indices,
    entered,
    entry_points,
    erasures,
    first_names,
    float64,
    fusion,
    gradients,
    handed_on,
    imports,
    inlining,
    jumps,
    keys,
    known_masks,
    lambdas,
    loops,
    masks,
    mutation,
    noops,
    operations,
    placement,
    probes,
    quotes,
    scans,
    second_names,
    selections,
    signatures,
    single_elements,
    submodules,
    tags,
    unread,
    written_names,
)
from .project import ClassInfo, FunctionInfo, ModuleInfo, Project
from .rulebook import Rulebook
from .values import External, Function, Method, Module, Sequence, is_anything
from .walks import Walks, uses_below, walking


@dataclass
class Converted:
    """One converted file."""

    path: PurePosixPath
    tree: cst.Module
    diagnostics: list[Diagnostic]
    changed: bool
    code: str = ""  # of a file that changed, before it is formatted
    support: set[str] = field(default_factory=set)


def convert(project: Project, rulebook: Rulebook, support_import: Any) -> list[Converted]:
    """Convert all files of a project together. `support_import(path)` is the statement that imports jax_nn."""
    concerned = _linked(project)
    for early in (lightning, libraries, entry_points, handed_weights, boxed_sizes):
        if concerned and early.run(project):
            concerned = _linked(project)  # its files were parsed again
    if not concerned:
        return [Converted(m.path, m.tree, [], False) for m in project.modules.values()]
    facts = infer(project, rulebook)
    concerned = {m for m in concerned if not facts.untouched(m)}
    host = HostDraws(facts)
    moving = HostState(facts, host)
    contexts = {module: Context(module, facts, rulebook, host, moving) for module in project.modules.values() if module in concerned}
    trees = {module: module.tree for module in contexts}
    for module, context in contexts.items():
        entry_points.report(context, module)
        libraries.report(context, module)
    untouched = [m for m in project.modules.values() if m not in concerned]
    forward = forward_functions(facts)
    traced, computing = traced_functions(facts, forward), running_functions(facts, forward)
    drawing = drawing_functions(facts, computing)
    running = computing | filling_functions(facts, computing) | drawing
    firsts, seconds = first_names.find(facts), second_names.find(facts)
    carriers = Carriers(facts, host, computing, forward)
    with tree.carrying(facts.carry):
        for module, context in contexts.items():
            trees[module] = probes.run(context, entered.run(context, trees[module]), running)
            trees[module] = decided.run(context, gradients.run(context, trees[module], carriers), carriers)
            trees[module] = second_names.run(context, first_names.run(context, trees[module], firsts), seconds)
            trees[module] = written_names.run(context, trees[module], running)
            for early in (tags, erasures, deletions, placement, masks, selections, choices, single_elements, element_indices):
                trees[module] = early.run(context, trees[module])
            _refresh(facts, trees[module])
        _mutations(contexts, trees, facts, running, carriers)
        for module, context in contexts.items():
            trees[module] = unread.run(context, noops.run(context, operations.run(context, trees[module], running, traced)))
            trees[module] = drawn_calls.run(context, trees[module], drawing, running)
            _refresh(facts, trees[module])
        _Classes(contexts, trees, facts, host, running, forward).run()
        wide = float64.find(((context, trees[module]) for module, context in contexts.items()), computing)
        for module, context in contexts.items():
            trees[module] = float64.run(context, trees[module], wide, computing)
            if keys.has_sites(trees[module]):
                trees[module] = _no_draws(context, keys.in_lambdas(context, trees[module]))
            if trees[module] is not module.tree or imports.brings_torch(context):
                made = imports.run(context, trees[module], support_import(module.path))
                whole = accounting.raising(context, trees[module], made)
                made = made if whole is trees[module] else imports.run(context, whole, support_import(module.path))
                trees[module] = quotes.run(made)
    out = [Converted(m.path, m.tree, [], False) for m in untouched]
    return out + [_accounted(context, trees, support_import(context.module.path)) for context in contexts.values()]


def _accounted(context: Context, trees: dict[ModuleInfo, cst.Module], support_import: str) -> Converted:
    """One file as it comes out, with a diagnostic for whatever slipped through the passes."""
    module = context.module
    new = trees[module]
    accounting.between(context, trees)
    if new is module.tree:
        return Converted(module.path, new, sorted(context.diagnostics), False)
    new = line_breaks.enclosed(new, module.tree)
    code = tree.code(new)
    try:
        accounting.check(context, new, code)
    except SyntaxError:
        new = imports.run(context, _parsing(context, new), support_import)
        code = tree.code(new)
        accounting.check(context, new, code)
    return Converted(module.path, new, sorted(context.diagnostics), True, code, support.names_used(new))


def _parsing(context: Context, module: cst.Module) -> cst.Module:
    """The file without the definitions that came out as no Python: a fault of ours, which must not cost the others."""
    body: list[Any] = []
    for statement in module.body:
        try:
            compile(tree.code(statement), "output", "exec", dont_inherit=True)
        except SyntaxError as error:
            name = statement.name.value if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) else None
            message = f"the output of {name or 'this statement'} does not parse: {error.msg}: {(error.text or '').strip()}"
            context.report("internal-error", statement, message)
            context.support.add("Unconverted")
            if name is not None:
                body.append(tree.statement(f'{name} = nn.Unconverted("internal-error", "{name}")'))
        else:
            body.append(statement)
    return tree.replace(module, body=body)


def _linked(project: Project) -> set[ModuleInfo]:
    """Link the files of a project. Returns those that torch reaches."""
    project.link()
    return _concerned(project)


def _concerned(project: Project) -> set[ModuleInfo]:
    """The files that torch reaches: those that import it, and their neighbours by imports within the project."""
    found = {m for m in project.modules.values() if m.uses_torch}
    names = {m: [*m.imports.values(), *m.stars] for m in project.modules.values()}
    changed = True
    while changed:
        changed = False
        for module, imported in names.items():
            neighbours = {n for name in imported if (n := _module_of(project, name) or _module_of(project, name.rpartition(".")[0])) is not None}
            if module in found and not neighbours <= found:
                found |= neighbours
                changed = True
            elif module not in found and neighbours & found:
                found.add(module)
                changed = True
    return found


def _module_of(project: Project, name: str) -> ModuleInfo | None:
    found = project.lookup(name)
    if isinstance(found, ModuleInfo):
        return found
    owner = getattr(found, "module", None)
    return owner if isinstance(owner, ModuleInfo) else None


def _refresh(facts: Inference, module: cst.Module) -> None:
    """Point the infos of functions and classes at the nodes that a pass rebuilt."""
    for node in tree.definitions(module):
        if isinstance(node, cst.FunctionDef) and id(node) in facts.by_node:
            facts.by_node[id(node)].node = node
        elif isinstance(node, cst.ClassDef) and id(node) in facts.class_by_node:
            facts.class_by_node[id(node)].node = node


def _mutations(contexts: dict[ModuleInfo, Context], trees: dict[ModuleInfo, cst.Module], facts: Inference, running: set[FunctionInfo], carriers: Carriers) -> None:
    """Which functions write their arguments is known after a round; what the round after that makes is kept."""
    found = mutation.Mutations(carriers, running)
    before = {m: (list(c.diagnostics), set(c.support)) for m, c in contexts.items()}

    def rewritten() -> dict[ModuleInfo, cst.Module]:
        for module, context in contexts.items():
            context.diagnostics, context.support = list(before[module][0]), set(before[module][1])
        found.lambdas.clear()
        return {module: rewrite(context, trees[module]) for module, context in contexts.items()}

    def rewrite(context: Context, module: cst.Module) -> cst.Module:
        def visit(node: cst.CSTNode) -> Any:
            if not tree.holds_definitions(node):
                return node
            info = facts.by_node.get(id(node)) if isinstance(node, cst.FunctionDef) else None
            if info is None:
                return None
            new = mutation.run(context, node, info, found, info in running or info.outer is not None)  # type: ignore[arg-type]
            facts.carry(node, new)
            return new

        made = tree.rewrite(module, visit)
        return scripts.rewritten(context.module, made, lambda node, info: mutation.run(context, node, info, found, True))

    made = trees
    for _ in range(4):
        size = found.size()
        made = rewritten()
        if found.size() == size:
            break
    returning = arguments.returned(list(contexts.values()), [trees[m] for m in contexts], found.writes)
    if returning:
        found.returned = frozenset(returning)
        for module, context in contexts.items():
            trees[module] = arguments.run(context, trees[module], returning, found.taken)
            _refresh(facts, trees[module])
        made = rewritten()
    for module in contexts:
        trees[module] = made[module]
        _refresh(facts, trees[module])


def _called(facts: Inference, node: cst.FunctionDef) -> set[FunctionInfo]:
    """The user's functions that a function calls."""
    values = (facts.of(c.func) for c in tree.nodes(node.body, cst.Call))
    return {v.info for v in values if isinstance(v, Function)}


DESCRIPTIONS = ("__repr__", "__str__", "extra_repr")


class _Classes:
    """From here on functions are rewritten one by one, and put back into their files at the end."""

    def __init__(
        self, contexts: dict[ModuleInfo, Context], trees: dict[ModuleInfo, cst.Module], facts: Inference, host: HostDraws, running: set[FunctionInfo], forward: set[FunctionInfo]
    ) -> None:
        self.contexts, self.trees, self.facts, self.running = contexts, trees, facts, running
        self.arrays = Arrays(facts, host, running, forward)
        self.names = construction.AttributeNames(facts, self.arrays)
        for context in contexts.values():
            frozen.report(context, self.arrays)
        self.replaced: dict[int, list[Any]] = {}  # id of a node in the tree -> what stands there at the end
        self.constructors: dict[ClassInfo, construction.Constructor] = {}
        self.added: dict[ClassInfo, list[Any]] = {}  # what classes without an `__init__` get at their end

    def run(self) -> None:
        functions = [f for m in self.contexts for f in m.all_functions]
        original = {f: f.node for f in functions}
        self.resets = {cls: method for cls in self._classes() if (method := construction.layer_resets.override(self.contexts[cls.module], cls)) is not None}
        for method in {*self.resets.values(), *filter(None, (construction.layer_resets.made_again(self.contexts[c.module], c) for c in self._classes()))}:
            self._set(method, construction.layer_resets.without_layers_own(self.contexts[method.module], method))
        for info in functions:
            if info not in self.running and info.outer is None:
                self._set(info, construction.reinitialise(self.contexts[info.module], info.node, info, self.arrays, self.names))
        for module, context in self.contexts.items():
            self.trees[module] = scripts.rewritten(module, self.trees[module], functools.partial(self._initialised, context))
        self._in_place([f for f in functions if f not in self.running and f.outer is None])
        initialising = self._initialising(functions)
        building = [f for f in functions if f not in self.running]
        failing, walkers = construction.failing(self.facts, building), walking(self.facts, building)
        constructors = self.constructors
        for cls in self._classes():
            if cls in self.arrays.own:
                constructors[cls] = self._construct(cls, initialising, failing, walkers)
        self._write_out(functions)
        nodes = {f: f.node for f in functions if f.name != "__init__"}
        effects = Effects(self.facts, self.arrays, nodes, self.running | initialising)
        properties = {cls: made.properties for cls, made in constructors.items()}
        for info in functions:
            if info in self.running and info.outer is None:
                self._set(info, known_masks.run(self.contexts[info.module], info, effects, self.arrays, properties))
        for info in functions:
            if info.name == "__init__" and info.owner in constructors:
                early_properties.report(self.contexts[info.module], info, original[info], effects)
        for cls in constructors:
            sharing.report(self.contexts[cls.module], cls, self.running, effects, self.arrays)
        for info in self.arrays.forward:
            if info.module in self.contexts:
                report_draws(self.contexts[info.module], info.node)
                method = info.method or info
                hidden_writes.report_kept(self.contexts[info.module], info.node, method.self_name, self._plain_lists(method), self.arrays)
        names_set = unset_attributes.names_set(self.facts.project)
        for module, context in self.contexts.items():
            accounting.report_undefined(context, [f.node for f in functions if f.module is module and f in self.arrays.forward])
            unset_attributes.report(context, [f for f in functions if f.module is module], names_set)
        for info in self.running:
            if info.module in self.contexts:
                report_handlers(self.contexts[info.module], info.node)
                hidden_writes.report(self.contexts[info.module], info.node, self.arrays)
                dict_order.report(self.contexts[info.module], info, self.arrays)
        threaded = self.running | initialising
        for info in functions:
            if info.outer is not None or info.name == "__init__" and info.owner in constructors:
                continue
            context = self.contexts[info.module]
            if info.name in DESCRIPTIONS and info.owner is not None and effects.functions.get(info):
                self._put(original[info], [])  # a module has no params to describe: Module's own is left
                continue
            if info in threaded:
                node = self._thread(context, info, info.node, effects)
            else:
                node = self._host(context, info, info.node, effects)
            node = _setter(info, node, effects)
            self._put(original[info], [node])
        for cls, made in constructors.items():
            self._place(cls, made, effects, original)
        for module, context in self.contexts.items():
            self.trees[module] = _script(context, self._assemble(context, self.trees[module]), effects)

    def _initialised(self, context: Context, node: cst.FunctionDef, info: FunctionInfo) -> cst.FunctionDef:
        return construction.reinitialise(context, node, info, self.arrays, self.names)

    def _classes(self) -> list[ClassInfo]:
        return [c for m in self.contexts for c in m.all_classes]

    def _set(self, info: FunctionInfo, node: cst.FunctionDef) -> None:
        if node is not info.node:
            self.facts.carry(info.node, node)
            info.node = node

    def _put(self, original: cst.CSTNode, nodes: list[Any]) -> None:
        if len(nodes) != 1 or nodes[0] is not original:
            self.replaced[id(original)] = nodes

    def _plain_lists(self, method: FunctionInfo) -> set[str]:
        """The lists of self that are no state: `self.seen`."""
        if method.owner is None or not method.owner.is_module or method.name == "__init__":
            return set()
        held = {name: value for c in method.owner.family() for name, value in self.facts.attribute_values(c).items() if isinstance(value, Sequence)}
        return {f"{method.self_name}.{name}" for name in held if self.arrays.find(method.owner, name) is None}

    def _in_place(self, functions: list[FunctionInfo]) -> None:
        """What a walk over modules overtakes gets its initial values where it stands."""
        walks = Walks(self.facts, self.arrays, self.names, functions)
        for info in functions:
            below, own = walks.overtaken(info)
            if below or own:
                self._set(info, construction.in_place(self.contexts[info.module], info, self.arrays, self.names, below, own))

    def _initialising(self, functions: list[FunctionInfo]) -> set[FunctionInfo]:
        """Methods that run while a model is built and give its own params values."""
        found: set[FunctionInfo] = set()
        changed = True
        while changed:
            changed = False
            for info in functions:
                if info in found or info in self.running or info.name == "__init__" or info.owner not in self.arrays.own or info.outer is not None:
                    continue
                if uses_below(self.facts, info):
                    found.add(info)
                    changed = True
                    continue
                for kind, subject in _uses(self.facts, info.node):
                    hit = False
                    if kind == "array":
                        array = self.arrays.find(*subject)
                        hit = array is not None and array.where in ("params", "state") and not _creates(info.node, subject[1])
                    elif kind == "function":
                        hit = subject.info in found
                    if hit:
                        found.add(info)
                        changed = True
                        break
        return found

    def _write_out(self, functions: list[FunctionInfo]) -> None:
        """Methods that write params are written out in the forwards that call them."""
        called: set[FunctionInfo] = set()
        for info in functions:
            if info.name == "forward" and info in self.arrays.forward and info.owner in self.arrays.own:
                old = info.node
                self._set(info, inlining.in_forward(info.owner, self.arrays))
                if info.node is not old:
                    called |= _called(self.facts, old) - _called(self.facts, info.node)
        if called:
            self.arrays.forward -= called.difference(*(_called(self.facts, f.node) for f in self.arrays.forward - called))

    def _construct(self, cls: ClassInfo, initialising: set[FunctionInfo], failing: set[FunctionInfo], walkers: set[FunctionInfo]) -> construction.Constructor:
        context = self.contexts[cls.module]
        init, made = cls.methods.get("__init__"), construction.Constructor()
        if init is not None:
            node = inlining.run(cls, init.node, self.arrays)
            made = construction.Split(context, cls, node, self.arrays, self.names, initialising, failing, walkers).run()
        if cls in self.resets:
            construction.layer_resets.call(context, cls, self.resets[cls], made, initialising)
        return made

    # ------------------------------------------------------------------ functions

    def _thread(self, context: Context, info: FunctionInfo, node: cst.FunctionDef, effects: Effects) -> cst.FunctionDef:
        needs = effects.functions.get(info, frozenset())
        names = signatures.renames(info, node, needs)
        node = submodules.run(context, node, info, effects, self.arrays, names)
        if "key" in needs:
            node = keys.run(context, lambdas.run(context, node))
        node = keys.in_lambdas(context, node)
        context.absent = self.arrays.absent(info.owner) if info.owner is not None else set()
        for lowered in (conditions, jumps, branches, loops, scans):  # jumps first: what is lowered cannot be left by one
            node = lowered.run(context, node)
        return signatures.run(handed_on.run(node) if "state" in needs else node, info, needs, names)

    def _host(self, context: Context, info: FunctionInfo, node: cst.FunctionDef, effects: Effects) -> cst.FunctionDef:
        """A function that only builds models: its parameters become declarations."""
        return self._built(context, info, node, effects)

    def _built(self, context: Context, info: FunctionInfo, node: cst.FunctionDef, effects: Effects) -> cst.FunctionDef:
        """Code that builds models: its parameters become declarations, and their initialisers draw with the key they get."""
        plain = fusion.of_locals(context, node) if info.name != "__init__" else node
        node = construction.drawn_parameters(plain, functools.partial(keys.run, context))
        node = construction.declare_parameters(context, self.names, node, info, node) if node is plain else node
        node = construction.asked_or_refused(context, node, info, self.arrays)
        node = tree.replace(node, body=tree.rewrite(node.body, lambda n: _with_params(context, n, effects)))
        node = keys.in_lambdas(context, tree.rewrite(node, lambda n: _with_key(context, n, effects)))
        message = "a random tensor is drawn while the module is built, outside its parameters"
        return _no_keys(context, node, context.unconverted, message) if keys.has_sites(node) else node

    def _place(self, cls: ClassInfo, made: construction.Constructor, effects: Effects, original: dict[FunctionInfo, cst.FunctionDef]) -> None:
        """Put the parts of a split `__init__` into the class."""
        context = self.contexts[cls.module]
        methods: list[Any] = []
        info = cls.methods.get("__init__")
        if info is not None:
            submodules.report_kept(context, cls, effects, made.kept)
            kept = _wrap_unknown(context, cls, made.kept)
            doc = [s for s in kept if tree.is_docstring(s)]
            node = info.node
            if kept or len([*node.params.params, *node.params.kwonly_params]) > 1 or isinstance(node.params.star_arg, cst.Param):
                if not kept or len(kept) == len(doc):
                    kept = [*kept, tree.statement("pass")]
                node = tree.with_body(node, kept)
                methods.append(self._built(context, info, node, effects))
        self_name = info.self_name if info is not None and info.self_name else "self"
        has_children = self._has_children(cls)
        missing = self._unset_state(cls, made, effects)
        extends = self._extends_with_children(cls, effects)
        if made.params or extends:
            methods.append(self._method(context, cls, "init", self_name, made.params, "params", has_children, extends, effects))
        calls = any(isinstance(n, cst.Call) and isinstance(context.value(n.func), Function) for s in made.state for n in tree.walk(s))
        state = [*missing, *made.state] if calls else [*made.state, *missing]  # a method may set it
        if state or extends:
            methods.append(self._method(context, cls, "init_state", self_name, state, "state", has_children, extends, effects))
        methods.extend(self._mixed_in(context, cls, {"init": bool(made.params) or extends, "init_state": bool(state) or extends}))
        for name, body in made.properties.items():
            methods.append(self._property(context, cls, name, self_name, body, effects))
        extra = self._container_call(context, cls, effects)
        methods = [m if i == 0 else _spaced(m) for i, m in enumerate(methods)]
        if info is not None:
            if methods:
                first = methods[0]
                methods[0] = tree.replace(first, leading_lines=original[info].leading_lines)
            self._put(original[info], [*methods, *extra])
        elif methods or extra:
            self.added.setdefault(cls, []).extend([_spaced(m) for m in [*methods, *extra]])

    def _has_children(self, cls: ClassInfo) -> bool:
        """Whether there is more to make than the class's own arrays: what it inherits, or modules, a subclass's among them."""
        for c in cls.family():
            if self.facts.computed(c) is not None or any(isinstance(v, Module) and not v.is_self for v in self.facts.attribute_values(c).values()):
                return True
            if any(owner is c for owner, _ in self.facts.wrapped):
                return True
            declared = (n for s in self.constructors[c].kept for n in tree.nodes(s, cst.Call)) if c in self.constructors else ()
            if any(tree.dotted(n.func) in ("nn.Parameter", "nn.Buffer") or returns_parameter(self.facts, n) for n in declared):
                return True
        inherits = any(c is not cls and c in self.arrays.own and self.arrays.own[c].arrays for c in cls.ancestors())
        return inherits or cls.torch_base() is not None

    def _unset_state(self, cls: ClassInfo, made: construction.Constructor, effects: Effects) -> list[Any]:
        """State that no constructor sets begins as None."""
        init = cls.methods.get("__init__")
        lines = []
        made_names = {t.attr.value for s in made.state for n in tree.nodes(s, cst.Assign) for a in n.targets for t in [a.target] if isinstance(t, cst.Attribute)}
        in_kept = {t.attr.value for s in made.kept for n in tree.nodes(s, cst.Assign) for a in n.targets for t in [a.target] if isinstance(t, cst.Attribute)}
        for name, array in self.arrays.own[cls].arrays.items():
            if array.where != "state" or name in made_names or name in in_kept or effects.inherited_array(cls, name):
                continue
            if any(c is not cls and c in self.arrays.own and name in self.arrays.own[c].arrays for c in cls.ancestors()):
                continue
            if init is not None and any(n.evaluated_value == name for n in tree.nodes(init.node, cst.SimpleString)):
                continue
            target = tree.expression(f"self.{name}")
            self.facts.tell(target.value, Module(frozenset([cls]), is_self=True))
            default = tree.expression("None")
            if name in cls.assigned:
                default = cls.assigned[name]
            lines.append(cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], default)]))
        return lines

    def _extends_with_children(self, cls: ClassInfo, effects: Effects) -> bool:
        """Whether a class extends a layer of torch's, which makes only arrays of its own, and has submodules beside."""
        layer = cls.torch_base()
        if layer is None or effects.is_container(layer) or all(isinstance(base, ClassInfo) for base in cls.bases):
            return False
        held = [v for c in cls.family() for v in self.facts.attribute_values(c).values()]
        return any(isinstance(v, Module) and not v.is_self for v in held)

    def _method(
        self, context: Context, cls: ClassInfo, name: str, self_name: str, body: list[Any], what: str, has_children: bool, extends: bool, effects: Effects
    ) -> Any:
        """`init` or `init_state`; `extends`: a layer of torch's, with submodules beside."""
        definition = tree.statement(f"def {name}({self_name}, key):\n    pass\n")
        info = FunctionInfo(name, definition, cls.module, cls)
        self.facts.by_node[id(definition)] = info
        needs = frozenset({what, "key"})
        effects.functions[info] = needs
        statements = fusion.run(submodules.making(context, definition, body, info, effects, self.arrays))
        statements = absent_effects.run(context, statements, what)
        literal = _literal(statements, what) if not has_children else None
        if literal is not None:
            statements = [literal]
        else:
            below = f"nn.Module.{name}({self_name}, {KEY}) | " if extends else ""  # a layer's own asks no submodule
            start = f"{below}super().{name}({KEY})" if has_children else "{}"
            statements = [tree.statement(f"{what} = {start}"), *statements, tree.statement(f"return {what}")] if statements else [tree.statement(f"return {start}")]
        node = tree.with_body(definition, statements)
        if keys.has_sites(node):
            node = keys.run(context, node)
        node = keys.in_lambdas(context, node)
        for lowered in (conditions, branches):  # `if torch.det(w) < 0: …`
            node = lowered.run(context, node)
        return node

    def _mixed_in(self, context: Context, cls: ClassInfo, own: dict[str, bool]) -> list[Any]:
        """`init` and `init_state` of a class with a mixin behind a layer: Python finds those of the layer alone. `own`: which of them it has."""
        made: list[Any] = []
        for mixin in (b for b in cls.bases if isinstance(b, ClassInfo)):
            order = cls.order()
            first = next((b for b in order[: order.index(mixin)] if isinstance(b, str) and b.startswith("torch.nn.")), None)
            parts = {c: self.constructors[c] for c in mixin.ancestors() if c in self.constructors and (self.constructors[c].params or self.constructors[c].state)}
            if first is None or any(b.startswith("torch.nn.") for b in mixin.foreign_bases()):
                continue
            for name in [name for name, lines in (("init", any(p.params for p in parts.values())), ("init_state", any(p.state for p in parts.values()))) if lines]:
                if own[name] or made or len(parts) > 1 or any(map(self._has_children, parts)):
                    message = f"of the arrays of {mixin.name}, which is no module, {cls.name} makes none here: {name} of {first.removeprefix('torch.')} comes first; put {mixin.name} in front of it"
                    context.report("unsupported", cls.node, message)
                else:
                    made.append(tree.statement(f"def {name}(self, key):\n    keys = jax.random.split(key, 2)\n    return super().{name}(keys[0]) | {mixin.name}.{name}(self, keys[1])\n"))
        return made

    def _property(self, context: Context, cls: ClassInfo, name: str, self_name: str, body: list[Any], effects: Effects) -> Any:
        definition = tree.statement(f"@property\ndef {name}({self_name}):\n    pass\n")
        info = FunctionInfo(name, definition, cls.module, cls)
        effects.functions[info] = frozenset()
        made = submodules.run(context, tree.with_body(definition, body), info, effects, self.arrays, {})
        return tree.with_body(made, absent_effects.run(context, tree.body_statements(made), ""))

    def _container_call(self, context: Context, cls: ClassInfo, effects: Effects) -> list[Any]:
        """A class that extends Sequential and holds state needs a call of its own that says so."""
        layer = cls.torch_base()
        if layer is None or not effects.is_container(layer) or cls.find("forward") is not None:
            return []
        needs = effects.cls(cls)
        if "state" not in needs or any(isinstance(b, ClassInfo) for b in cls.bases):
            return []
        keywords = [k for k in ("key", "training") if k in needs]
        parameters = "".join(f", {k}={'None' if k == 'key' else 'False'}" for k in keywords)
        arguments = "".join(f", {k}={k}" for k in keywords)
        star = ", *" if keywords else ""
        return [tree.statement(f"def __call__(self, params, state, x{star}{parameters}):\n    return self.run(params, state, x{arguments})\n")]

    def _assemble(self, context: Context, module: cst.Module) -> cst.Module:
        def before(node: cst.CSTNode) -> Any:
            if not tree.holds_definitions(node):
                return node
            if isinstance(node, cst.ClassDef):
                cls = self.facts.class_by_node.get(id(node))
                body: list[Any] = []
                for statement in tree.body_statements(node):
                    new = tree.rewrite(statement, before)
                    if isinstance(new, cst.FlattenSentinel):
                        body.extend(new)
                    elif not isinstance(new, cst.RemovalSentinel):
                        body.append(new)
                if cls is not None and cls in self.added:
                    body = [s for s in body if not (isinstance(s, cst.SimpleStatementLine) and isinstance(s.body[0], cst.Pass))]
                    body.extend(self.added[cls])
                if len(body) == len(tree.body_statements(node)) and all(a is b for a, b in zip(body, tree.body_statements(node))):
                    return node
                if len(body) > 1 and isinstance(body[0], cst.FunctionDef):
                    body[0] = tree.replace(body[0], leading_lines=[line for line in body[0].leading_lines if line.comment is not None])
                return tree.with_body(node, body)
            if id(node) in self.replaced:
                nodes = self.replaced[id(node)]
                return cst.FlattenSentinel(nodes) if nodes else cst.RemoveFromParent()
            return None

        new = tree.rewrite(module, before)
        return new  # type: ignore[no-any-return]


def _setter(info: FunctionInfo, node: cst.FunctionDef, effects: Effects) -> cst.FunctionDef:
    """The setter of a property that became a method is a method too."""
    if not any(d.endswith(".setter") for d in info.decorators) or info.owner is None:
        return node
    getter = info.owner.find(info.name)
    if getter is None or not effects.functions.get(getter):
        return node
    return tree.replace(node, name=cst.Name(f"set_{info.name}"), decorators=[])


def _spaced(node: Any) -> Any:
    if any(line.comment is None for line in node.leading_lines):
        return node
    return tree.replace(node, leading_lines=[cst.EmptyLine(indent=False), *node.leading_lines])


def _creates(node: cst.FunctionDef, name: str) -> bool:
    """Whether a method makes this parameter rather than gives it a value."""
    for n in tree.nodes(node.body, cst.Assign):
        if isinstance(n.targets[0].target, cst.Attribute) and n.targets[0].target.attr.value == name:
            if any(isinstance(c, cst.Call) and tree.dotted(c.func) == "nn.Parameter" for c in tree.walk(n.value)):
                return True
    return False


def _literal(statements: list[Any], what: str) -> Any:
    """`return {"weight": …}` where all that happens is that entries are set once, without reading others."""
    entries = []
    seen: set[str] = set()
    for s in statements:
        if not isinstance(s, cst.SimpleStatementLine) or len(s.body) != 1 or any(line.comment is not None for line in s.leading_lines) or s.trailing_whitespace.comment is not None:
            return None
        small = s.body[0]
        if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.targets[0].target, cst.Subscript):
            return None
        target = small.targets[0].target
        if not isinstance(target.value, cst.Name) or target.value.value != what or what in tree.names_read(small.value):
            return None
        key = tree.code(target.slice[0])
        if key in seen:
            return None
        seen.add(key)
        entries.append(f"{key}: 0")
    literal = tree.statement(f"return {{{', '.join(entries)}}}")
    returned = literal.body[0]
    elements = [tree.replace(e, value=s.body[0].value) for e, s in zip(returned.value.elements, statements)]
    return tree.replace(literal, body=[tree.replace(returned, value=tree.replace(returned.value, elements=elements))])


def _script(context: Context, module: cst.Module, effects: Effects) -> cst.Module:
    """The statements of the file itself, in which a model that is called has no params."""
    kinds = {cst.Lambda, cst.FunctionDef, cst.ClassDef, cst.If, cst.For, cst.While, cst.Call}

    def before(node: cst.CSTNode, runs: bool = False) -> Any:
        if isinstance(node, (cst.Lambda, cst.FunctionDef, cst.ClassDef)):
            return node
        script = isinstance(node, (cst.For, cst.While)) or isinstance(node, cst.If) and "__name__" in tree.names_read(node.test)
        if script and not runs:  # no mere import runs it
            return tree.rewrite(node, lambda n: before(n, True), only=kinds)
        if not isinstance(node, cst.Call) or not _needs_params(context, node, effects):
            return None
        unconverted = context.unconverted if runs else context.unconverted_at_import
        return unconverted("module-value", node, "this needs params, and the file has none: params = model.init(key), then model(params, x)")

    return tree.rewrite(module, before, only=kinds)  # type: ignore[no-any-return]


def _with_params(context: Context, node: cst.CSTNode, effects: Effects) -> Any:
    """A call of what needs params, while there are none: one of which more than the shape is read."""
    if isinstance(node, (cst.Lambda, cst.FunctionDef)):
        return node
    if not isinstance(node, cst.Call) or not _needs_params(context, node, effects):
        return None
    message = "this needs params or state, and there are none while a model is built: of what a module gives only the shape can be known"
    return context.unconverted("module-value", node, message)


def _needs_params(context: Context, node: cst.Call, effects: Effects) -> bool:
    """Whether a call takes params or state, of a module or by a method of one."""
    value = context.value(node.func)
    needs: frozenset[str] = frozenset()
    if isinstance(value, Module) and value.classes and not value.open:
        needs = effects.module(value)
    elif isinstance(value, Function) and value.info in effects.running and value.info.owner is not None and not value.info.is_property:
        needs = effects.functions.get(value.info, needs)
    elif isinstance(value, Method) and (is_anything(value.receiver) or isinstance(value.receiver, Module) and not value.receiver.classes):
        # `layer.set_mask(mask)`, where only the name tells what layer is
        owners = context.facts.owners.get(value.name, ())
        found = [effects.functions.get(c.methods[value.name], needs) for c in owners if c.is_module and c.methods[value.name] in effects.running]
        needs = needs.union(*found) if len(found) == len(owners) else needs
    return bool(needs & {"params", "state"})


def _with_key(context: Context, node: cst.CSTNode, effects: Effects) -> Any:
    """`trunc_normal_(weight, 0.02)` of a function of the user's that draws."""
    if not isinstance(node, cst.Call) or any(a.keyword is not None and a.keyword.value == "key" for a in node.args):
        return None
    value = context.value(node.func)
    if not isinstance(value, Function) or value.info.owner is not None or value.info not in effects.running or "key" not in effects.functions.get(value.info, ()):
        return None
    new = asking_for_key(node)
    context.facts.carry(node, new)
    return new


def _no_draws(context: Context, module: cst.Module) -> cst.Module:
    """Refuse what draws where the file is imported: whole values, so that nothing else is made of them there."""
    message = "a random tensor is drawn where there is no key"

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, (cst.Assign, cst.AnnAssign, cst.Expr)) and n.value is not None and keys.has_sites(n.value):
            return tree.replace(n, value=context.unconverted_at_import("random-in-init", n.value, message))
        return None

    if not keys.has_sites(module):
        return module
    made: cst.Module = tree.rewrite(module, before)
    return _no_keys(context, made, context.unconverted_at_import, message) if keys.has_sites(made) else made


def _no_keys(context: Context, node: Any, unconverted: Callable[..., Any], message: str) -> Any:
    """Refuse what draws without a key: the innermost calls that ask for one."""

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.Call) and keys.has_sites(n) and not any(keys.has_sites(c) and isinstance(c, cst.Call) for a in n.args for c in tree.walk(a.value)):
            return unconverted("random-in-init", n, message)
        return None

    return tree.rewrite(node, before)


def _wrap_unknown(context: Context, cls: ClassInfo, statements: list[Any]) -> list[Any]:
    """Attributes of unknown make that are called become modules: `self.act = nn.as_module(act)`."""
    facts = context.facts
    wanted = {name for c, name in facts.wrapped if c in cls.family()}
    targets = (t.target for s in statements for n in tree.nodes(s, cst.Assign) for t in n.targets)
    names = {t.attr.value for t in targets if isinstance(t, cst.Attribute)}
    beside = {name for name in names if isinstance(facts.attribute(cls, name), Module) and facts.callables.holds_function(cls, name)}
    wanted |= beside  # `self.down = nn.Linear(n, n) if down else lambda x: x`
    if not wanted:
        return statements

    def wrapped(value: Any) -> Any:
        return tree.replace(tree.expression(f"{context.name('as_module')}()"), args=[cst.Arg(value)])

    def before(node: cst.CSTNode) -> Any:
        if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Tuple):
            parts = [e.value for e in node.targets[0].target.elements]
            if all(isinstance(p, cst.Attribute) and p.attr.value in wanted and tree.dotted(p) == f"self.{p.attr.value}" for p in parts):
                if isinstance(node.value, cst.Tuple) and len(node.value.elements) == len(parts) and all(isinstance(e, cst.Element) for e in node.value.elements):
                    return tree.replace(node, value=tree.replace(node.value, elements=[tree.replace(e, value=wrapped(e.value)) for e in node.value.elements]))
                call = tree.expression(f"map({context.name('as_module')}, x)")  # `self.f, self.g = functions`
                return tree.replace(node, value=tree.replace(call, args=[call.args[0], cst.Arg(node.value)]))
        if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Attribute):
            target = node.targets[0].target
            if target.attr.value in wanted and tree.dotted(target) == f"self.{target.attr.value}":
                value = context.value(node.value)
                if isinstance(node.value, cst.Call) and isinstance(node.value.func, cst.Name) and not isinstance(context.value(node.value.func), (Function, External)):
                    return None  # made by a class that was passed in
                if not (isinstance(value, Module) and not (value.open and target.attr.value in beside)) and not (isinstance(node.value, cst.Name) and node.value.value == "None"):
                    return tree.replace(node, value=wrapped(node.value))
        return None

    return [tree.rewrite(s, before) for s in statements]
