"""Every use of torch is accounted for: converted, or reported. This looks at the output of every run and reports what slipped.

What is reported as `left-over`, at the line of the source that it comes from:

- a name that the source bound, to torch or to anything, and that nothing binds any more;
- an import of torch, or one from a file of the project that no longer has the name;
- a name of torch.nn's that jax_nn.py does not have;
- `backward()`, and a property of what is certainly a tensor, with no rule;
- an unconverted call whose diagnostic is missing.
"""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .infer import PROPERTIES
from .project import ModuleInfo, import_base
from .values import UNKNOWN, Class, Function, Module, Tensor

_ARRAYS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_GIVEN = frozenset({"unicode", "xrange", "basestring", "long", "raw_input", "reduce", "profile", "get_ipython", "display"})  # Python 2, and tools that run files
_BUILTINS = {*dir(builtins), "__file__", "__path__", "__annotations__", "__class__", "__qualname__", "__module__"}


def check(context: Context, module: cst.Module, code: str) -> None:
    """Report what is left of torch in one converted file. Raises SyntaxError where the output is not Python."""
    found = list(tree.nodes(module, cst.Import, cst.ImportFrom, cst.ImportAlias, cst.Attribute, cst.Call))  # one walk for all
    _names(context, module, code, any(isinstance(getattr(n, "names", None), cst.ImportStar) for n in found))
    _imports(context, found)
    _support(context, found)
    _methods(context, found)


def between(context: Context, outputs: dict[ModuleInfo, cst.Module]) -> None:
    """Report imports from files of the project that conversion has taken away: `from .common import F`."""
    for node in tree.nodes(outputs[context.module], cst.ImportFrom):
        assert isinstance(node, cst.ImportFrom)
        other = context.facts.project.modules.get(import_base(context.module, node))
        if other not in outputs or isinstance(node.names, cst.ImportStar):
            continue
        before, after = _bound(other.tree), _bound(outputs[other])
        for alias in node.names:
            name = tree.code(alias.name)
            if name in before and name not in after:
                _report(context, node, f"{other.path} has no {name} any more: it was torch's")


# --------------------------------------------------------------------------- names


def _names(context: Context, module: cst.Module, code: str, stars: bool) -> None:
    lost = undefined(code)
    if not lost:
        return
    info = context.module
    if not any(_is_torch(star) for star in info.stars):  # what was undefined before is the user's affair
        lost -= undefined(context.source)
    if stars:
        lost = {name for name in lost if _is_torch(info.imports.get(name, ""))}
    reads = list(_reads(module, lost))
    for node, around in reads:
        _report_lost(context, module, node.value, (node, *around))
    for name in sorted(lost - {node.value for node, _ in reads}):
        _report_lost(context, module, name, ())


def _reads(module: cst.Module, names: set[str]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Where a file reads some names that are global: each with the statements around it, innermost first."""
    reading = _readers(module, names)
    return (read for name in sorted(names) for s in reading.get(name, ()) for read in _reads_below(s, name, (s,)))


def _report_lost(context: Context, module: cst.Module, name: str, places: tuple[Any, ...]) -> None:
    """Report a name that nothing binds any more, at the first of these nodes that stood in the source."""
    source = context.module.imports.get(name)
    placed = next((n for n in places if context.place(n) is not None), module)
    _report(context, placed, f"{name} is {source + ', which is ' if source else ''}not there any more, and is still used")


def raising(context: Context, module: cst.Module, made: cst.Module) -> cst.Module:
    """The file with what raises in the place of each read of a name that nothing binds any more; `made` is what it comes out as.

    Not in a file that takes names from elsewhere by a star, or that does not parse: there `check` says what is left.
    """
    try:
        lost = undefined(tree.code(made))
    except SyntaxError:
        return module
    if not lost or context.module.stars or any(isinstance(n.names, cst.ImportStar) for n in tree.nodes(module, cst.ImportFrom)):
        return module
    targets = {id(t) for n in tree.nodes(module, cst.AugAssign, cst.Del) for t in tree.walk(n.target)}  # type: ignore[attr-defined]
    reads = {id(node): (node, *around) for node, around in _reads(module, lost - undefined(context.source)) if id(node) not in targets}

    def replaced(node: Any) -> Any:
        if id(node) not in reads:
            return None
        _report_lost(context, module, node.value, reads[id(node)])
        return tree.expression(f'{context.name("unconverted")}("left-over", "{node.value}")')

    return tree.rewrite(module, replaced, only={cst.Name}) if reads else module


def undefined(code: str) -> set[str]:
    """The names that a file reads and binds nowhere, builtins left out."""
    top = symtable.symtable(code, "<output>", "exec")
    bound, read = set(_BUILTINS), set()
    todo = [top]
    while todo:
        table = todo.pop()
        todo.extend(table.get_children())
        for symbol in table.get_symbols():
            binds = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
            if binds and (table is top or symbol.is_declared_global()):
                bound.add(symbol.get_name())
            elif symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
    return read - bound


def report_undefined(context: Context, functions: list[cst.FunctionDef]) -> None:
    """Report what functions that a forward pass runs read, and nothing in the source defines: once for each name."""
    if context.module.stars or any(isinstance(n.names, cst.ImportStar) for n in tree.nodes(context.module.tree, cst.ImportFrom)):
        return
    read = {n.value for f in functions for n in tree.nodes(f.body, cst.Name)}
    for name in sorted(undefined(context.source) & read) if read else ():
        if name in _GIVEN:
            continue
        node = next((n for f in functions for n, _ in _reads_below(f, name, ())), None)
        if node is not None:
            context.report("undefined-name", node, f"{name} is defined nowhere in this file")


def _readers(module: cst.Module, names: set[str]) -> dict[str, list[Any]]:
    """The statements of a file in which some names occur."""
    found: dict[str, list[Any]] = {}
    for statement in module.body:
        for name in names.intersection(n.value for n in tree.nodes(statement, cst.Name)):
            found.setdefault(name, []).append(statement)
    return found


def _reads_below(node: Any, name: str, around: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Where a statement reads a name that is global: each with the statements around it, innermost first."""
    if isinstance(node, cst.Name):
        if node.value == name:
            yield node, around
        return
    if isinstance(node, (cst.Import, cst.ImportFrom)):
        return
    if isinstance(node, (cst.BaseCompoundStatement, cst.SimpleStatementLine)):
        around = (node, *around)
    for child in _outside(node) if name in _own(node) else _parts(node):
        yield from _reads_below(child, name, around)


def _parts(node: Any) -> list[Any]:
    """What is below a node without the names that are no variables, as those of attributes, keywords and parameters are."""
    if isinstance(node, (cst.Attribute, cst.Arg)):
        return [node.value]
    if isinstance(node, cst.Param):
        return [n for n in (node.annotation, node.default) if n is not None]
    return tree.children(node)


def _own(node: Any) -> set[str]:
    """The names that a scope binds for itself: a function, lambda, comprehension or class."""
    if isinstance(node, cst.FunctionDef):
        others = tree.scope_nodes(node.body, cst.AsName, cst.ImportAlias)
        return tree.local_names(node) | {tree.bound_by(n) if isinstance(n, cst.ImportAlias) else tree.code(n.name) for n in others}  # type: ignore[attr-defined]
    if isinstance(node, cst.Lambda):
        return tree.parameter_names(node)
    if isinstance(node, cst.ClassDef):
        return set(tree.names_assigned(node.body))
    return {name for clause in _clauses(node) for name in tree.target_names(clause.target)}


def _clauses(node: Any) -> Iterator[Any]:
    clause = getattr(node, "for_in", None)
    while clause is not None:
        yield clause
        clause = clause.inner_for_in


def _outside(node: Any) -> list[Any]:
    """The parts of a scope that do not see the names that it binds: defaults, what a comprehension goes over, methods of a class."""
    if isinstance(node, cst.FunctionDef):
        return [*node.decorators, node.params, *([node.returns] if node.returns is not None else [])]
    if isinstance(node, cst.Lambda):
        return [node.params]
    if isinstance(node, cst.ClassDef):
        return [*node.decorators, *node.bases, *node.keywords, *tree.scope_nodes(node.body, cst.FunctionDef)]
    return [next(_clauses(node)).iter]


def _bound(node: Any) -> set[str]:
    """Names that a function or file binds, at whatever depth."""
    found: set[str] = set()
    for n in tree.nodes(node, cst.FunctionDef, cst.ClassDef, cst.Param, cst.ImportAlias, *_TARGETS):
        current: Any = n
        if isinstance(n, (cst.FunctionDef, cst.ClassDef)):
            if n is not node:
                found.add(n.name.value)
        elif isinstance(n, cst.Param):
            found.add(n.name.value)
        elif isinstance(n, cst.ImportAlias):
            found.add(tree.bound_by(current))
        else:
            target = current.name if isinstance(n, cst.AsName) else current.target
            found |= tree.names_read(target) if not isinstance(target, (cst.Attribute, cst.Subscript)) else set()
    return found


_TARGETS = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr, cst.AsName)


# --------------------------------------------------------------------------- imports, layers, methods


def _imports(context: Context, found: list[cst.CSTNode]) -> None:
    for node in found:
        names: list[str] = []
        if isinstance(node, cst.Import):
            names = [tree.dotted(alias.name) or "" for alias in node.names]
        elif isinstance(node, cst.ImportFrom):
            names = [] if node.relative or node.module is None else [tree.dotted(node.module) or ""]
        if any(_is_torch(name) for name in names):
            _report(context, node, "an import of torch is left")


def _support(context: Context, found: list[cst.CSTNode]) -> None:
    """`nn` is jax_nn now: what of it does not exist there would fail only when it is reached."""
    known = context.rulebook.definitions
    aliases = [n for n in found if isinstance(n, cst.ImportAlias) and n.asname is not None and tree.code(n.asname.name) == "nn"]
    if not any(tree.dotted(alias.name) == "jax_nn" for alias in aliases):
        return
    ids = {d.id for d in context.diagnostics}
    for node in found:
        if isinstance(node, cst.Attribute):
            if isinstance(node.value, cst.Name) and node.value.value == "nn" and node.attr.value not in known:
                _report(context, node, f"jax_nn.py has no {node.attr.value}")
        elif isinstance(node, cst.Call) and tree.dotted(node.func) in ("nn.unconverted", "nn.Unconverted"):
            id = tree.literal(node.args[0].value)
            if id not in ids:
                _report(context, node, f"a call was not converted ({id}) and not reported")


def _methods(context: Context, found: list[cst.CSTNode]) -> None:
    """What a rule made is new, and has no value: what still is a method of a tensor was passed over.

    Other methods than `backward` that were passed over are those that lists, dicts and modules have too, and tensors have not.
    """
    for node in found:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            value = context.value(node.func)
            if node.func.attr.value == "backward" and not isinstance(value, (Function, Class)) and not tree.code(node.func.value).startswith("super("):
                context.report("training-loop", node, "backward() is still called: gradients are of functions here")
            elif _asks_for_arrays(context, node, value) or _asks_attribute(context, node, value):
                context.report("module-value", node, f"which arrays {node.func.attr.value}() means here is not known: a module has none of its own")
        elif isinstance(node, cst.Attribute) and node.attr.value in PROPERTIES and _certain(context.value(node.value)):
            if not context.rulebook.find("torch.Tensor." + node.attr.value):
                _report(context, node, f"torch.Tensor.{node.attr.value} has no JAX equivalent here")


def _asks_for_arrays(context: Context, node: cst.Call, value: Any) -> bool:
    """`model.named_parameters()` of a model of any class, which no module has here."""
    name = node.func.attr.value  # type: ignore[attr-defined]
    return name in _ARRAYS and not node.args and not isinstance(value, (Function, Class)) and not context.facts.owners.get(name)


def _asks_attribute(context: Context, node: cst.Call, value: Any) -> bool:
    """`self.net.state_dict()` of what a module holds: no module has one here, and what it would have of an optimizer is no module's."""
    holder: Any = node.func.value  # type: ignore[attr-defined]
    if node.func.attr.value != "state_dict" or node.args or isinstance(value, (Function, Class)) or not isinstance(holder, cst.Attribute):  # type: ignore[attr-defined]
        return False
    if any(not c.is_module for c in context.facts.owners.get("state_dict", ())):
        return False
    base = context.value(holder.value)
    return isinstance(base, Module) and base.is_self and context.value(holder) in (UNKNOWN, Module(open=True))


def _certain(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.assumed


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


def _report(context: Context, node: cst.CSTNode, message: str) -> None:
    context.report("left-over", node, message)

