"""Attributes of modules that are read, and that nothing in the project sets, are reported.

return self.fc(x) * self.trainer.max_epochs      where Lightning sets `self.trainer`, or a slip
"""

from collections.abc import Iterator
from typing import Any

from ..model.classes import PLAIN_MODULE
from ..model.expressions import Attribute, Call, Constant, ForClause, Name, NamedExpression
from ..model.names import dotted, last_word
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, For, Import, With
from .pass_ import Changes, Pass

# what every nn.Module has, beside names with an underscore in front
_OF_MODULES = frozenset(
    """T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda
    device double dump_patches eval extra_repr float forward get_buffer get_extra_state
    get_parameter get_submodule half load_state_dict modules named_buffers named_children
    named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter
    register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state
    set_submodule share_memory state_dict to to_empty train training type zero_grad""".split()
)
_NAMING = frozenset({"setattr", "register_buffer", "register_parameter", "register_module"}) | {
    "add_module"
}
_OPEN = frozenset({"vars", "__dict__", "__getattr__", "__getattribute__"})


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports of all methods, once for each name of a class."""
    names = _names_set(project)
    found: list[Changes] = []
    seen: set[tuple[Class, str]] = set()
    for function in project.functions() if names is not None else ():
        cls = project.owner(function)
        me = project.self_name(function)  # a static method has none
        if cls is None or me is None or not project.is_module(cls):
            continue
        changes = Changes(function)
        for node in function.nodes(Attribute):
            name, own = node.name, dotted(node.object) == me
            known = name in names or name in _OF_MODULES or name.startswith("_")  # type: ignore[operator]
            if known or not own or (cls, name) in seen:
                continue
            seen.add((cls, name))
            if _is_plain(project, cls):  # asked last: nearly all names are set
                why = f"self.{name} is set nowhere: no module has it here"
                changes.report("undefined-name", node, why)
        found.append(changes)
    return found


def _names_set(project: Project) -> set[str] | None:
    """All names that attributes may have: those that are assigned or defined anywhere, words, and
    text. None where names of other objects are computed."""
    found: set[str] = set()
    for file in project.ordered:
        for node in file.walk():
            if isinstance(node, Call):
                if _computes_name(node) and not _is_on_self(node):
                    return None
                found |= {word for word in node.keywords if word}
            elif isinstance(node, (Function, Class)):
                found.add(node.name)
            elif isinstance(node, Import):
                found |= {name.alias or name.name for name in node.names}
            elif isinstance(node, Constant) and isinstance(node.constant, str):
                found.add(node.constant)
            found.update(_targets(node))
    return found


def _targets(node: Node) -> Iterator[str]:
    held: list[Expression | None] = []
    if isinstance(node, Assign):
        held += node.targets
    elif isinstance(node, (For, ForClause, NamedExpression)):
        held.append(node.target)
    elif isinstance(node, With):
        held += node.items
    for one in (n for whole in held if whole is not None for n in whole.walk()):
        if isinstance(one, Attribute):
            yield one.name
        elif isinstance(one, Name):
            yield one.id


def _computes_name(call: Call) -> bool:
    """`setattr(m, f"u{i}", u)`, `self.register_buffer(name, t)`"""
    word = last_word(call.function)
    if isinstance(call.function, Attribute):
        word = call.function.name
    if word not in _NAMING:
        return False
    given = [a for a, w in zip(call.arguments, call.keywords) if w in (None, "name")]
    names = given[word == "setattr" :][:1]
    return not (names and isinstance(names[0], Constant))


def _is_on_self(call: Call) -> bool:
    """`self.add_module(name, m)`, `setattr(self, name, m)`"""
    if (dotted(call.function) or "").startswith("self."):
        return True
    return bool(call.arguments) and dotted(call.arguments[0]) == "self"


def _is_plain(project: Project, cls: Class) -> bool:
    """Whether all that it has is in sight: no class of another library, no table of names."""
    if not set(project.foreign_bases(cls)) <= set(PLAIN_MODULE):
        return False
    for node in (n for c in project.family(cls) for n in c.walk()):
        if isinstance(node, Name) and node.id in _OPEN:
            return False
        if isinstance(node, Attribute) and node.name in _OPEN:
            return False
        if isinstance(node, Function) and node.name in _OPEN:
            return False
        if isinstance(node, Call) and _computes_name(node):
            return False
    return True


PASS = Pass("unset_attributes", (), run, of_project=True)
