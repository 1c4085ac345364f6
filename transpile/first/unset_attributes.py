"""Attributes of modules that are read, and that nothing in the project sets: Lightning's `self.trainer`, or a slip."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .project import PLAIN_MODULE, ClassInfo, FunctionInfo, Project

# what every nn.Module has, beside names with an underscore in front
_OF_MODULES = frozenset(
    "T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda device double dump_patches eval extra_repr float forward get_buffer"
    " get_extra_state get_parameter get_submodule half load_state_dict modules named_buffers named_children named_modules named_parameters parameters"
    " register_backward_hook register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook"
    " register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook"
    " register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty train training type zero_grad".split()
)
_NAMING = frozenset({"setattr", "register_buffer", "register_parameter", "register_module", "add_module"})


def names_set(project: Project) -> frozenset[str] | None:
    """All names that attributes may have: those that are assigned or defined anywhere, words, and names in text. None where names of other objects are computed."""
    found: set[str] = set()
    for module in project.modules.values():
        for node in tree.walk(module.tree):
            if isinstance(node, cst.Call) and _computes_name(node) and not _is_on_self(node):
                return None
            if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
                found.add(node.name.value)
            elif isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr, cst.Element)):
                found |= set(_targets(node.value if isinstance(node, cst.Element) else node.target))
            elif isinstance(node, cst.AsName):
                found |= set(_targets(node.name))
            elif isinstance(node, cst.Arg) and node.keyword is not None:
                found.add(node.keyword.value)
            elif isinstance(node, cst.SimpleString):
                found.add(str(node.raw_value))
    return frozenset(found)


def report(context: Context, functions: list[FunctionInfo], names: Set[str] | None) -> None:
    """Report the reads of `self.name` where no class, and no code of the project, sets such a name: once for each class."""
    if names is None:
        return
    seen: set[tuple[ClassInfo, str]] = set()
    for info in functions:
        cls = info.owner
        if cls is None:
            continue
        for node in tree.nodes(info.node.body, cst.Attribute):
            name = node.attr.value
            if name in names or name in _OF_MODULES or name.startswith("_") or (cls, name) in seen or tree.code(node.value) != "self":
                continue
            seen.add((cls, name))
            if _is_plain(cls):  # asked last, since it goes through the whole class and nearly all names are set
                context.report("undefined-name", node, f"self.{name} is set nowhere: no module has it here")


def _computes_name(call: cst.Call) -> bool:
    """`setattr(m, f"u{i}", u)`, `self.register_buffer(name, t)`."""
    called = (tree.dotted(call.func) or "").rpartition(".")[2]
    names = [a.value for a in call.args if a.keyword is None or a.keyword.value == "name"][called == "setattr" :][:1]
    return called in _NAMING and not (names and isinstance(names[0], cst.SimpleString))


def _is_on_self(call: cst.Call) -> bool:
    """`self.add_module(name, m)`, `setattr(self, name, m)`."""
    return tree.code(call.func).startswith("self.") or bool(call.args) and tree.code(call.args[0].value) == "self"


def _is_plain(cls: ClassInfo) -> bool:
    """Whether all that it has is in sight: no class of another library, no table of names."""
    open_ended = {"vars", "__dict__", "__getattr__", "__getattribute__"}
    if not set(cls.foreign_bases()) <= PLAIN_MODULE or any(n.value in open_ended for c in cls.family() for n in tree.nodes(c.node, cst.Name)):
        return False
    return not any(_computes_name(n) for c in cls.family() for n in tree.nodes(c.node, cst.Call))


def _targets(node: Any) -> Iterator[str]:
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.Attribute):
        yield node.attr.value
    elif isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from _targets(element.value)
