"""What a constructor does to arrays: it declares them, gives them first values, lets methods do so.

These are the events that move to `init` and `init_state`. One stays where it is, and is put off by
a function that makes the array (`nn.Parameter(lambda key: …)`, `nn.reinitialise(m, "weight", …)`),
where what it needs is another thing in each turn of a loop, or where a later walk over the modules
would come after it.
"""

from ....facts.bindings.activity import bound
from ....facts.modules import SUBMODULE
from ....facts.values.attribute_names import PARAMETERS
from ....facts.values.lattice import Module
from ....model.constants import is_none
from ....model.effects import BUFFER, CONSTANT, MIXED, PARAM, Declare, Read, Tie, Walk, Write
from ....model.expressions import Attribute, Call, Name
from ....model.names import dotted, is_own, last_word
from ....model.node import Expression, Node, Statement
from ....model.program import Function
from ....model.statements import Assign, Block, ExpressionStatement, If
from ...threading.module_changes import is_applied
from ..plan import Plan
from .arrays import arrays_of
from .rebinding import Rebinding


class Events:
    """The events of one function that builds, by kind: what moves to `init`, to `init_state`, to
    a property; `put_off` are those that stay."""

    def __init__(self, function: Function, properties: set[str], plan: Plan) -> None:
        self.function, self.conventions = function, plan.conventions
        self.properties = properties  # the constants that properties give
        self.may_have, self.unsettled = plan.may_have, plan.unsettled
        owner = function.owner
        self.rebinding = Rebinding(owner, function, plan) if owner is not None else None
        self.self_name = function.receiver
        statements = [n for n in function.body.walk() if isinstance(n, Statement)]
        self.put_off = {s for s in statements if self.kind(s) and not self._moves(s)}
        self.tied_early: list[Tie] = []  # something may walk over the modules after these
        self._apart: set[Node] = set()  # what comes before a walk, or before values put off
        self._find_overtaken()
        self._find_measured()
        self._find_reading()

    def kind(self, statement: Statement) -> str | None:
        """Whether a statement is an event: of params, or of the state."""
        if isinstance(statement, Declare):
            return self._array(statement.kind, statement.name)
        if isinstance(statement, Write):
            target = statement.target
            if not isinstance(target, Read):
                return PARAM  # what a walk over params binds
            return self._array(target.kind, target.name)
        if isinstance(statement, Tie):
            return PARAM
        if isinstance(statement, Assign) and declares_none(statement):
            return PARAM
        if isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
            call = statement.expression
            return self.conventions.initialised(call) or self._running(call)
        return None

    def _running(self, call: Call) -> str | None:
        """`self.reset_noise()`, which fills the state whenever it is called."""
        threads = self.conventions.of_call(call)
        if not is_own(call.function, self.self_name):
            return None
        return BUFFER if threads.gives and threads.known and not threads.params else None

    def is_event(self, node: Node, kind: str) -> bool:
        """Whether a node is an event of a kind that moves."""
        if not isinstance(node, Statement) or node in self.put_off:
            return False
        return self.kind(node) == kind

    def holds(self, node: Node, kind: str) -> bool:
        """Whether an event that moves stands at or below a node, or a copy."""
        return any(self.is_event(n, kind) or self.copies(n, kind) for n in node.walk())

    def copies(self, node: Node, kind: str) -> bool:
        """Whether a statement copies a submodule with arrays of a kind: the copy begins as the
        other one is by then."""
        if kind not in (PARAM, BUFFER) or not isinstance(node, Declare) or node in self._apart:
            return False
        source = copied(node.expression)
        if node.kind != SUBMODULE or source is None:
            return False
        me = (dotted(source) or "").partition(".")[0]
        own = me == self.self_name and self._moves(node)
        return own and self.may_have(source, kind)

    def _array(self, kind: str, name: str) -> str | None:
        if kind in (PARAM, MIXED):
            return PARAM
        if name in self.properties:
            return CONSTANT
        return BUFFER if kind == BUFFER and name in self.conventions.stateful else None

    def _moves(self, statement: Statement) -> bool:
        """Whether it stands in the constructor, or in a branch of it, and says by a path from
        `self` what it is about."""
        if self.function.name != "__init__":
            return False
        if isinstance(statement, Write):
            target = statement.target
            path = dotted(target.object) if isinstance(target, Read) else None
            if path is None or path.partition(".")[0] != self.self_name:
                return False
            if self.is_replaced(target, statement):
                return False
        around = statement.parent
        while around is not self.function:
            if not isinstance(around, (Block, If)):
                return False
            around = around.parent
        return True

    def is_replaced(self, target: Expression, place: Statement, here: bool = False) -> bool:
        """Whether another module may stand where that of an array did, by the time that the model
        has been built: `self.fc.bias` where `model.fc = Linear(4, 2)` follows. `here`: whether
        this constructor puts it there."""
        held = [n for n in target.walk() if isinstance(n, Attribute) and n is not target]
        if not here and any(not self.unsettled.is_settled(n.name) for n in held):
            return True
        own = {n.name for n in held if is_own(n, self.self_name)}
        return self.rebinding is not None and any(
            self.rebinding.is_set_later(name, place, here) for name in own
        )

    def _find_overtaken(self) -> None:
        """Values given before a walk over the modules stay before it, those of the module's own
        arrays after it, and copies made before it may be given others than the module that they
        are of."""
        walked = self.conventions.walked.is_inside(self.function.owner)
        later = set[str]()  # the arrays that are given values in a loop
        body = [list(statement.walk()) for statement in self.function.body.body]
        for inside in reversed(body):
            writes = [n for n in inside if isinstance(n, Write)]
            for write in [
                w for w in writes if self.kind(w) and not is_own(w.target, self.self_name)
            ]:
                if walked or _name(write) in later:
                    self.put_off.add(write)
            later |= {_name(w) for w in writes if w in self.put_off}
            if walked or later:
                self._apart.update(inside)
                self.tied_early += [n for n in inside if isinstance(n, Tie)]
            walked = walked or any(map(self._walks, inside))
        began = set[str]()  # a loop gives own arrays values after `init`
        for write in self.function.nodes(Write):
            if is_own(write.target, self.self_name) and self.kind(write):
                if _name(write) in began:
                    self.put_off.add(write)
                began |= {_name(write)} if write in self.put_off else set()
        walked = over_params = False
        for inside in body:
            events = [n for n in inside if isinstance(n, (Write, Declare)) and self.kind(n)]
            own = (n for n in events if isinstance(n, Write) and is_own(n.target, self.self_name))
            self.put_off.update(own if walked else ())
            declared = (n for n in events if isinstance(n, Declare) and self.kind(n) == PARAM)
            self.put_off.update(declared if over_params else ())
            walked = walked or any(map(self._walks, inside))
            over_params = over_params or any(map(_goes_over_params, inside))

    def _find_measured(self) -> None:
        """What is made of the shape of an array of the module is put off: `self.v.size(0)` runs
        `init`, which cannot have `stdv` by then."""
        arrays, found = arrays_of(self.function), set[str]()
        for statement in self.function.body.body if self.function.name == "__init__" else ():
            if isinstance(statement, Assign) and statement.__class__ is Assign:
                inside = list(statement.walk())
                own = any(isinstance(n, Read) and is_own(n, self.self_name) for n in inside)
                if own or any(isinstance(n, Name) and n.id in found for n in inside):
                    found |= set(bound(statement)) - arrays
            for event in statement.walk() if found else ():
                if isinstance(event, (Write, Declare)) and self.kind(event) == PARAM:
                    if any(isinstance(n, Name) and n.id in found for n in event.walk()):
                        self.put_off.add(event)

    def _find_reading(self) -> None:
        """What is made of an array, `self.add("c", self.a0 * 2)`, is put off where a method makes
        arrays in a loop, `self.add(f"a{i}", v)`, and so after `init`."""
        late = False
        for inside in (list(statement.walk()) for statement in self.function.body.body):
            events = [n for n in inside if isinstance(n, ExpressionStatement) and self.kind(n)]
            reads = any(isinstance(n, Read) and is_own(n, self.self_name) for n in inside)
            if late and reads:
                self.put_off.update(events)
            late = late or any(event in self.put_off for event in events)

    def _walks(self, node: Node) -> bool:
        """Whether other modules may be given first values here."""
        if isinstance(node, Walk):
            return True
        if not isinstance(node, Call):
            return False
        if copied(node) is not None:  # with the first values that the other one has by then
            around = node.parent
            return around is None or not (self.copies(around, PARAM) or self.copies(around, BUFFER))
        targets = self.conventions.targets(node) or ()
        builders = (t for t in targets if self.conventions.is_builder(t))
        return is_applied(node) or any(t.name != "__init__" for t in builders)


def _name(write: Write) -> str:
    """The name of the array that is written."""
    return write.target.name if isinstance(write.target, Read) else ""


def copied(value: Expression | None) -> Expression | None:
    """The module of `copy.deepcopy(module)`."""
    given = deepcopied(value)
    return given if given is not None and isinstance(given.value, Module) else None


def deepcopied(value: Expression | None) -> Expression | None:
    """What `copy.deepcopy(x)` copies, of whatever make."""
    if not isinstance(value, Call) or len(value.arguments) != 1:
        return None
    named = last_word(value.function) == "deepcopy"
    return value.arguments[0] if named else None


def _goes_over_params(node: Node) -> bool:
    call = node.iterable if isinstance(node, Walk) else None
    function = call.function if isinstance(call, Call) else None
    return isinstance(function, Attribute) and function.name in PARAMETERS


def declares_none(statement: Statement) -> bool:
    """Whether all that is said of arrays is that they are not there."""
    if not isinstance(statement, Assign) or not is_none(statement.expression):
        return False
    return isinstance(statement, Declare) or all(isinstance(t, Read) for t in statement.targets)
