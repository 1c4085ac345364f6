"""Lightning's hyperparameters are written out before facts are gathered, while its classes are known by their base.

    self.save_hyperparameters()  ->  self.hparams = types.SimpleNamespace(n_in=n_in, lr=lr)

It reads the arguments of the constructor from the frame that calls it, which no other code does.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .libraries import LIGHTNING
from .project import ClassInfo, Project


def run(project: Project) -> bool:
    """Write them out in the files of a linked project. Returns whether there were any: the project is then to be linked again."""
    found = False
    for module in list(project.modules.values()):
        classes = [c for c in module.all_classes if LIGHTNING & set(c.foreign_bases())]
        new = _with_hyperparameters(module.tree, {id(c.methods["__init__"].node): c for c in classes if "__init__" in c.methods})
        if new is not module.tree:
            found = True
            project.add(module.path, _importing(new))
    return found


def _with_hyperparameters(module: cst.Module, constructors: dict[int, ClassInfo]) -> Any:
    return tree.rewrite(module, lambda n: _written_out(n, constructors[id(n)]) if id(n) in constructors else None, only={cst.FunctionDef})


def _written_out(constructor: Any, cls: ClassInfo) -> Any:
    taken = [p.name.value for p in (*constructor.params.params[1:], *constructor.params.kwonly_params)]
    asked = [n for c in cls.family() for n in tree.nodes(c.node, cst.Subscript) if tree.code(n.value) == "self.hparams"]

    def before(node: Any) -> Any:
        names = _saved(node.value, taken) if isinstance(node.value, cst.Call) and tree.code(node.value.func) == "self.save_hyperparameters" else None
        if names is None or constructor.params.star_kwarg is not None or asked:
            return None
        return tree.statement(f"self.hparams = types.SimpleNamespace({', '.join(f'{n}={n}' for n in names)})").body[0]

    return tree.rewrite(constructor, before, only={cst.Expr})


def _saved(call: cst.Call, taken: list[str]) -> list[str] | None:
    """The arguments that are kept: all, those that are named, or all but those that are to be ignored."""
    named = [a.value for a in call.args if a.keyword is None]
    ignored = [n for a in call.args if a.keyword is not None and a.keyword.value == "ignore" for n in (a.value.elements if isinstance(a.value, cst.List) else [a])]
    texts = [_text(n) for n in named], [_text(n.value) for n in ignored]
    if any(t is None for part in texts for t in part) or not all(a.keyword is None or a.keyword.value in ("ignore", "logger") for a in call.args):
        return None
    return [n for n in taken if (not named or n in texts[0]) and n not in texts[1]]


def _text(node: Any) -> str | None:
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else None


def _importing(module: cst.Module) -> cst.Module:
    """With `import types` beside another import, so that lines stay where they are."""
    first = next(s for s in module.body if isinstance(s, cst.SimpleStatementLine) and _imports(s.body[0]))
    made = tree.replace(first, body=[*(tree.replace(s, semicolon=cst.MaybeSentinel.DEFAULT) for s in first.body), *tree.statement("import types").body])
    return tree.replace(module, body=[made if s is first else s for s in module.body])


def _imports(small: Any) -> bool:
    return isinstance(small, cst.Import) or isinstance(small, cst.ImportFrom) and (small.module is None or small.module.value != "__future__")
