"""What libraries built on torch have under names of their own, spelt as torch spells it before facts are gathered.

    from timm.models.layers import DropPath, trunc_normal_  ->  from timm.layers import DropPath; from torch.nn.init import trunc_normal_
    class Net(pl.LightningModule):                          ->  class Net(torch.nn.Module):

The rest of such a library is torch modules and torch tensors. `report` tells of each use: what comes out imports torch there.
Lines stay where they are, since diagnostics name them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from ..model import libraries
from . import tree
from .context import Context
from .project import ModuleInfo, Project, import_base

LIGHTNING = frozenset(f"{package}.LightningModule" for package in ("pytorch_lightning", "lightning", "lightning.pytorch", "pytorch_lightning.core", "pytorch_lightning.core.lightning"))


def run(project: Project) -> bool:
    """Respell them in the files of a linked project. Returns whether there were any: the project is then to be linked again."""
    found = [(m, new) for m in project.modules.values() if any(map(libraries.is_built_on_torch, m.imports.values())) and (new := _spelt(project, m)) is not m.tree]
    for module, new in found:
        project.add(module.path, new)
    return bool(found)


def report(context: Context, module: ModuleInfo) -> None:
    """Tell of what such libraries give, once for each statement of the file."""
    names = {bound: name for bound, name in module.imports.items() if libraries.is_built_on_torch(name) and context.facts.project.lookup(name) is None}
    for statement in module.tree.body if names else ():
        seen: set[str] = set()
        for node, name in _uses(statement, names):
            if name not in seen and name not in libraries.TIMMS.values() and not libraries.is_without_torch(name):
                seen.add(name)
                context.report("no-rule", node, f"{name} is built on torch, and has no JAX equivalent here")


def _canonical(name: str) -> str | None:
    """What torch, or a rule, calls it."""
    return "torch.nn.Module" if name in LIGHTNING else libraries.of_timm(name)


def _spelt(project: Project, module: ModuleInfo) -> cst.Module:
    theirs = {bound: name for bound, name in module.imports.items() if libraries.is_built_on_torch(name) and project.lookup(name) is None}
    whole: list[str] = []

    def before(node: Any) -> Any:
        if isinstance(node, cst.ImportFrom):
            return node
        full = _full_name(node, theirs) if isinstance(node, cst.Attribute) else None
        if full is not None and (known := _canonical(full)) is not None:
            whole.append(known)
            return tree.expression(known)
        return None

    def undecorated(node: Any) -> Any:
        kept = [d for d in node.decorators if not libraries.registers(_full_name(d.decorator, theirs) or "")]
        gone = len(node.decorators) - len(kept)
        return tree.replace(node, decorators=kept, lines_after_decorators=[*[cst.EmptyLine(indent=False)] * gone, *node.lines_after_decorators]) if gone else node

    new = tree.rewrite(module.tree, before, only={cst.Attribute, cst.ImportFrom})
    new = tree.rewrite(new, None, undecorated, only={cst.FunctionDef})
    used = {n.value for n in tree.nodes(_without_imports(new), cst.Name)}
    wanted = {name.partition(".")[0] for name in whole} - {b for b, name in module.imports.items() if b == name}

    def imported(node: Any) -> Any:
        smalls = [made for small in node.body for made in _imported(project, module, small, used)]
        if tree.same(smalls, node.body):
            return node
        smalls += [tree.statement(f"import {name}").body[0] for name in sorted(wanted)] or ([] if smalls else [tree.statement("import torch").body[0]])  # a line for a line
        wanted.clear()
        return tree.replace(node, body=[tree.replace(s, semicolon=cst.MaybeSentinel.DEFAULT) for s in smalls])

    return tree.rewrite(new, None, imported, only={cst.SimpleStatementLine})  # type: ignore[no-any-return]


def _without_imports(module: cst.Module) -> Any:
    return tree.rewrite(module, lambda n: cst.Pass(), only={cst.Import, cst.ImportFrom})


def _imported(project: Project, module: ModuleInfo, small: Any, used: set[str]) -> Iterator[Any]:
    """The imports that stand for one: what torch has from torch, and of the rest what is still used."""
    base = import_base(module, small) if isinstance(small, cst.ImportFrom) else ""
    kept: list[Any]
    if isinstance(small, cst.ImportFrom) and (isinstance(small.names, cst.ImportStar) or not libraries.is_built_on_torch(base) or project.lookup(base) is not None):
        yield small
        return
    if isinstance(small, cst.Import):
        kept = [a for a in small.names if not libraries.is_built_on_torch(tree.dotted(a.name) or "") or _bound(a).partition(".")[0] in used or project.lookup(tree.dotted(a.name) or "") is not None]
    elif isinstance(small, cst.ImportFrom):
        known = [(a, _canonical(f"{base}.{tree.code(a.name)}")) for a in tree.nodes(small, cst.ImportAlias)]
        kept = [a for a, name in known if name is None and (_bound(a) in used or not libraries.registers(f"{base}.{tree.code(a.name)}"))]
        for alias, name in known:
            if name is not None:
                head, _, tail = name.rpartition(".")
                yield tree.statement(f"from {head} import {tail}" + (f" as {_bound(alias)}" if tail != _bound(alias) else "")).body[0]
    else:
        yield small
        return
    if len(kept) == len(small.names):
        yield small
    elif kept:
        yield tree.replace(small, names=[*kept[:-1], tree.replace(kept[-1], comma=cst.MaybeSentinel.DEFAULT)])


def _bound(alias: cst.ImportAlias) -> str:
    return tree.code(alias.asname.name if alias.asname is not None else alias.name)


def _full_name(node: Any, names: dict[str, str]) -> str | None:
    """The dotted name that a name or an attribute means, through the imports."""
    head, dot, rest = (tree.dotted(node) or "").partition(".")
    return f"{names[head]}{dot}{rest}" if head in names else None


def _uses(statement: Any, names: dict[str, str]) -> Iterator[tuple[Any, str]]:
    """Names and attributes of the libraries that a statement reads, the longest each."""
    found: list[tuple[Any, str]] = []

    def before(node: Any) -> Any:
        if isinstance(node, (cst.Import, cst.ImportFrom, cst.Annotation, cst.AssignTarget)):
            return node
        if isinstance(node, cst.Attribute) and tree.dotted(node) is None:
            return None
        name = _full_name(node, names)
        if name is not None:
            found.append((node, name))
        return node if isinstance(node, cst.Attribute) else None

    tree.rewrite(statement, before, only={cst.Name, cst.Attribute, cst.Import, cst.ImportFrom, cst.Annotation, cst.AssignTarget})
    yield from found
