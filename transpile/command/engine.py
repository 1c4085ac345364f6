"""The first engine, as the command uses it: texts parsed, spelt as the passes know them, and
converted together.

It imports LibCST and all passes, and so is imported where something of torch's is there to convert.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import libcst as cst

from ..first import pipeline, support, tree
from ..first.keyword_spaces import with_spaces
from ..first.passes import equal_starts, late_attributes, legacy_joins, spellings
from ..first.pipeline import Converted
from ..first.project import Project
from ..model.diagnostics import Diagnostic
from ..source import formatting
from ..source.files import Source, syntax_error
from . import cache


@tree.remembering()
def convert_text(text: str, path: str) -> tuple[str, str, list[Diagnostic]]:
    """The code of one source text, formatted, with its jax_nn.py and its diagnostics."""
    made = unformatted(text, path)
    failed = any(d.id == "internal-error" for d in made.diagnostics)
    code = formatting.format_changed(made.code, text) if made.changed and not failed else text
    return code, support.write(cache.rulebook(), made.support), made.diagnostics


def unformatted(text: str, path: str = "module.py") -> Converted:
    """The conversion of one source text as a tree, before it is formatted."""
    ast.parse(text)
    project = Project({})
    source = cst.parse_module(text)
    project.add(PurePosixPath(path), _spelt(source), source)
    (made,) = pipeline.convert(project, cache.rulebook(), lambda p: "import jax_nn as nn")
    return made


@tree.remembering()
def convert_files(
    sources: Sequence[Source], package: str
) -> tuple[list[Converted], list[Diagnostic]]:
    """Files converted together, and of those that failed why; `package` is the directory's name if
    it is one."""
    project = Project({}, package)
    failed: list[Diagnostic] = []
    for source in sources:
        try:
            module = cst.parse_module(source.text)
        except (ValueError, RecursionError, MemoryError, cst.ParserSyntaxError) as error:
            failed.append(syntax_error(source.path, error))
        else:
            project.add(source.path, _spelt(module), module)
    return _together(project, bool(package), failed), failed


def _spelt(module: cst.Module) -> cst.Module:
    """A file in the spellings that the analysis knows."""
    module = spellings.run(with_spaces(module), cache.rulebook())
    for spelt in (late_attributes, legacy_joins, equal_starts):
        module = spelt.run(module)
    return module


def _together(project: Project, is_package: bool, failed: list[Diagnostic]) -> list[Converted]:
    """The files of a project converted together, or one by one where that fails."""

    def support_import(path: PurePosixPath) -> str:
        if is_package:
            return f"from {'.' * len(path.parts)} import jax_nn as nn"
        return "import jax_nn as nn"

    try:
        return pipeline.convert(project, cache.rulebook(), support_import)
    except Exception as error:
        if os.environ.get("TORCH_TO_JAX_TRACE"):
            raise
        reason = f"{type(error).__name__}: {error}"
    if len(project.modules) == 1:
        (module,) = project.modules.values()
        failed.append(Diagnostic(str(module.path), 1, 1, "internal-error", reason))
        return []
    converted = []
    for module in list(project.modules.values()):  # one file fails: convert each by itself
        alone = Project({})
        alone.add(module.path, module.tree, module.source)
        for made in _together(alone, is_package, failed):
            apart = [Diagnostic(str(made.path), 1, 1, "converted-apart", reason)]
            told = [*(apart if made.changed else []), *made.diagnostics]
            converted.append(replace(made, diagnostics=told))
    return converted
