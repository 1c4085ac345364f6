"""Several targets of one assignment, of which some are declared, as statements of their own."""

from ...facts.modules import SUBMODULE
from ...model.copy import clone
from ...model.effects import BUFFER, PARAM, Declare
from ...model.expressions import Attribute, Constant, Display, Name, Starred
from ...model.names import leaves, names_assigned
from ...model.node import Expression, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, Block
from .attribute_kinds import Kinds
from .context import Scene


def declared(target: Attribute, value: Expression, kind: str, kinds: Kinds, cls: Class) -> Declare:
    made = Declare(target, value, kind, target.name)
    registered = any(held.registered for held in kinds.held(cls, target.name))
    made.persistent = kind in (SUBMODULE, PARAM) or kind == BUFFER and registered
    made.drawn = kinds.is_drawn(cls, target.name)
    return made


def pairs(assign: Assign) -> list[tuple[Expression, Expression]]:
    """Each target with its value; with itself, which has the value of its part, where none is
    written out."""
    value, found = assign.expression, []
    assert value is not None
    for target in assign.targets:
        if not isinstance(target, Display):
            found.append((target, value))
        elif _is_alike(target, value):
            found += list(zip(target.elements, value.elements))  # type: ignore[attr-defined]
        else:
            found += [(leaf, leaf) for leaf in leaves(target)]
    return found


def _is_alike(target: Display, value: Expression) -> bool:
    if not isinstance(value, Display) or len(value.elements) != len(target.elements):
        return False
    return not any(isinstance(e, (Display, Starred)) for e in (*target.elements, *value.elements))


def split(scene: Scene, kinds: Kinds, assign: Assign, wanted: dict[Expression, str | None]) -> None:
    """`self.a = self.b = v`, `self.a, self.b = v, w`: a statement for each, in torch's order."""
    block, value = assign.parent, assign.expression
    assert isinstance(block, Block) and value is not None and scene.cls is not None

    def statement(target: Expression, value: Expression) -> Statement:
        kind = wanted.get(target)
        if kind is None:
            return Assign([target], value)
        assert isinstance(target, Attribute) and scene.cls is not None
        return declared(target, value, kind, kinds, scene.cls)

    first = assign.targets[0]
    if len(assign.targets) == 1 and isinstance(first, Display):
        if _is_alike(first, value) and not _reads_targets(first, value):
            made = [statement(t, v) for t, v in zip(first.elements, value.elements)]  # type: ignore[attr-defined]
            block.substitute(assign, made)
            return
    made, later = [], []
    taken = set(names_assigned(scene.scope)) | _given(scene)
    for target in assign.targets:
        for leaf in leaves(target) if isinstance(target, Display) else ():
            if wanted.get(leaf) is not None and isinstance(leaf, Attribute):
                name = _fresh(leaf.name, taken)
                local = Name(name)
                local.value = leaf.value
                leaf.replace(local)
                later.append(statement(leaf, named(name, leaf.value)))
    plain = [t for t in assign.targets if isinstance(t, Display)]
    if plain:
        made.append(Assign(plain, value))
    for target in (t for t in assign.targets if not isinstance(t, Display)):
        made.append(statement(target, value))
        # None read again would be an array that may be missing
        value = clone(value) if isinstance(value, Constant) else _copy(target)
    block.substitute(assign, [*made, *later])


def _copy(target: Expression) -> Expression:
    """What a target was given, read again."""
    if isinstance(target, Attribute):
        made: Expression = Attribute(_copy(target.object), target.name)
    else:
        assert isinstance(target, Name)
        made = Name(target.id)
    made.value = target.value
    return made


def _reads_targets(target: Display, value: Expression) -> bool:
    names = {t.name for t in target.elements if isinstance(t, Attribute)}
    return any(isinstance(n, Attribute) and n.name in names for n in value.walk())


def _given(scene: Scene) -> set[str]:
    scope = scene.scope
    return {p.name for p in scope.parameters} if isinstance(scope, Function) else set()


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def named(name: str, value: object) -> Name:
    made = Name(name)
    made.value = value
    return made
