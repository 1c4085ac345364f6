"""The way through one scope: outer before inner; the edits are made inner first."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from ...facts.activity import may_carry
from ...facts.bindings import Definitions, Liveness
from ...facts.program import ProgramFacts
from ...facts.shapes.leading_dims import Leading
from ...facts.values.lattice import UNKNOWN, Package, Tensor, Torch, is_traced
from ...model.effects import Unconverted
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.libraries import OF_HOST
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Boolean, Compare, Unary
from ...model.positions import source_of
from ...model.program import Class, File, Function, Scope
from ...model.project import Project
from ...model.rulebook import Definition
from ...model.statements import Assign, ExpressionStatement, Import
from ...source.splice import show
from ..pass_ import Changes
from .bind import Argument, choose
from .inline import Use
from .layout import changed_in_place
from .legacy_sizes import told
from .literals import known, literal, simple
from .specialise import Refused

Handler = Callable[["Conversion", Node], bool]


class Conversion:
    """What the parts of the pass share while they go through one scope.

    A handler looks at a node before anything below it, and gives back whether it has seen to what
    is below.
    """

    def __init__(self, scope: Scope, facts: ProgramFacts, handlers: dict[type, Handler]) -> None:
        self.scope, self.facts, self.rulebook = scope, facts, facts.rulebook
        self.changes = Changes(scope)
        stage = facts.stage(scope)
        self.traced = stage == "traced"
        self.may_be_traced = self.traced or stage is None
        self.compared = 0  # the comparisons and the like around: no gradient passes through them
        self.beside: set[Node] = set()  # calls that make a number which meets an array
        self.kept: set[Node] = set()  # NumPy's numbers that meet no array: `int(np.sqrt(n))`
        self.raising = set[Expression]()  # what raises as a whole
        self.told: set[str] = set()  # names of other libraries that were reported
        self.imported = frozenset(_imported(scope, facts.project))
        parameters = scope.parameters if isinstance(scope, Function) else []
        self.given = frozenset(p.name for p in parameters)  # by a call, if the scope is a function
        self._handlers = handlers

    @cached_property
    def leading(self) -> Leading:
        """Which values may have dims in front that their places have not."""
        return Leading(self.scope, self.facts.modules)

    @cached_property
    def definitions(self) -> Definitions:
        """Which definitions the names of the scope have where they are read."""
        return Definitions(self.scope)

    @cached_property
    def _liveness(self) -> Liveness:
        assert isinstance(self.scope, Function)
        return Liveness(self.scope)

    def live_after(self, statement: Statement) -> frozenset[str]:
        """The names of a function whose values are read after a statement of it."""
        return self._liveness.after.get(statement, frozenset())

    def visit(self, node: Node) -> None:
        """See to a node and to all below it."""
        handlers, seen = self._handlers, False
        for kind in node.__class__.__mro__:
            if kind in handlers:
                seen = handlers[kind](self, node)
                break
        if not seen:
            self.visit_all(node.children())

    def visit_all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_compared(self, nodes: Iterable[Node], compared: bool = True) -> None:
        """See to what is below a comparison, `lax.stop_gradient` and the like; what has a name
        there, or is given to a function, may be asked for its gradient elsewhere: not `compared`.
        """
        before = self.compared
        self.compared = before + 1 if compared else 0
        self.visit_all(nodes)
        self.compared = before

    # --- rules -----------------------------------------------------------------------------------

    def rules(self, name: str, call: Call) -> tuple[Definition, ...]:
        """The rules of a torch name; one for `name[compared]` goes first without gradient, and one
        for `name[dividing]` where what it is of is divided by it."""
        if _divides_its_own(call) and (found := self.rulebook.find(f"{name}[dividing]")):
            return found
        found = self.rulebook.find(f"{name}[compared]")
        if found and not self.compared:
            object = [call.function.object] if isinstance(call.function, Attribute) else []
            carries = self.facts.activity.carries
            if any(carries(a) is not False for a in (*object, *call.arguments)):
                return self.rulebook.find(name)
        return found or self.rulebook.find(name)

    def apply(
        self, node: Expression, rules: Sequence[Definition], name: str, arguments: list[Argument]
    ) -> None:
        """Put what the rules of a torch name make of a use of it in its place; reported where they
        refuse.
        """
        arguments = told(self, node, rules, name, arguments)
        try:
            use = Use.of(self.rulebook, rules, arguments)
        except Refused as refused:
            if str(refused):
                self.unconverted("unsupported", node, f"{name}: {refused}")
            else:
                message = f"these arguments of {name} have no JAX equivalent here"
                self.unconverted("arguments", node, message)
            return
        self.apply_use(node, use, name, arguments)

    def apply_use(self, node: Expression, use: Use, name: str, arguments: list[Argument]) -> None:
        """Put a use in the place of a node, and see to the arguments that it takes."""
        definition = use.binding.definition
        if definition.note:
            self.changes.report("taken-for-granted", node, definition.note)
        self._tell_size(node, name, arguments)
        taken = [*use.binding.given.values(), *use.binding.sizes, *use.binding.rest]
        given = [a for n, a in use.binding.given.items() if n in definition.unused]
        lost = [a for a in given if self.facts.effects.acts(a.node)]
        self.changes.replace(
            node, lambda n: n if not lost and changed_in_place(use, n) else _after(lost, use.make())
        )
        below = (argument.node for argument in taken)
        self.visit_compared(below) if _is_cut(node, use) else self.visit_all(below)

    def _tell_size(self, node: Expression, name: str, arguments: list[Argument]) -> None:
        """Report a result whose size follows from data, where a forward pass makes it: what none
        calls may run outside jit.
        """
        rules = self.rulebook.find(name)
        if not any(rule.by_data for rule in rules) or not self.facts.in_forward(self.scope):
            return
        binding = choose(rules, [self._as_data(a) for a in arguments])
        if binding is not None and binding.is_sized_by_data():
            message = f"{name} gives as much as the data make of it, which jax.jit cannot know"
            missing = sorted(binding.wanted())
            message += f": give it {missing[0]}" if missing else ""
            self.changes.report("data-dependent-shape", node, message)

    def _as_data(self, argument: Argument) -> Argument:
        """An argument that is traced under jit as the array that it is then; so is a parameter that
        some calls give numbers, and others what is traced.
        """
        traced = is_traced(argument.value)
        if argument.value == UNKNOWN and isinstance(argument.node, Name):
            traced = (self.scope, argument.node.id) in self.facts.values.given_data
        return replace(argument, value=Tensor()) if traced else argument

    def constructed_by(self, ref: object) -> Definition | None:
        """The layer of torch's whose constructor a class of the user's inherits."""
        project = self.facts.project
        if not isinstance(ref, Class) or project.find(ref, "__init__") is not None:
            return None
        base = project.torch_base(ref)
        return self.rulebook.layer(base) if base is not None else None

    def is_module_too(self, name: str, cls: Class | None) -> bool:
        """Whether a base class is a distribution, and another of the same class a module: both are
        pytrees, each in its own way."""
        is_distribution = name.startswith("torch.distributions.")
        return is_distribution and cls is not None and self.facts.project.extends_module(cls)

    # --- names -----------------------------------------------------------------------------------

    def torch_name(self, node: Node) -> str | None:
        """The torch name that an expression refers to through an import, here or of a file that it
        names (`ops = sys.modules[__name__]`); a local alias keeps its own name.
        """
        value = known(node)
        if not isinstance(value, Torch):
            return None
        file = known(node.object) if isinstance(node, Attribute) else None
        if isinstance(file, Package):
            imports = self.facts.project.names[file.file].imports
            return value.name if node.name in imports else None  # type: ignore[attr-defined]
        head = (dotted(node) or "").partition(".")[0]
        return value.name if head in self.imported else None

    # --- what cannot be converted ----------------------------------------------------------------

    def no_rule(self, node: Expression, name: str) -> None:
        """A torch name without a rule: reported."""
        message = f"{name} has no JAX equivalent here"
        self.unconverted("no-rule", node, message, name.startswith(OF_HOST))

    def unconverted(self, id: str, node: Expression, message: str, of_host: bool = False) -> None:
        """Report, and put what raises where the node stood; what is below it goes with it."""
        self.changes.report(id, node, message)
        whole = node if isinstance(self.scope, Function) else _computed(node)
        if whole not in self.raising:
            self.raising.add(whole)
            self.changes.drop(whole)  # of `x.grad.zero_()` there is a rule, too
            self.put(whole, Unconverted(id, source_of(whole), of_host))

    def put(self, node: Expression, new: Expression) -> None:
        """Put another node in the place of one; it inherits the value, but no name of torch's."""
        if new.value is None and isinstance(known(node), Torch):
            new.value = UNKNOWN
        self.changes.replace(node, new)


def _after(lost: list[Argument], made: Expression) -> Expression:
    """What a rule makes, behind the arguments that it takes no notice of, and which do something:
    `self.norm(x).device` is `(self.norm(x), None)[-1]`."""
    if not lost:
        return made
    return Subscript(Display("tuple", [*(a.now() for a in lost), made]), Constant(-1))


def _is_cut(node: Expression, use: Use) -> bool:
    """Whether no gradient passes what a rule makes: `x.norm(1).argmax()`, `x.std().detach()`."""
    made = use.result
    stopped = isinstance(made, Call) and dotted(made.function) == "lax.stop_gradient"
    return stopped or isinstance(known(node), Tensor) and not may_carry(known(node))


def _divides_its_own(call: Call) -> bool:
    """`x / x.norm(dim=-1, keepdim=True)`: where the norm is 0 the quotient is NaN already; and no
    gradient passes `x /= x.norm()`, where torch's norm would have to read the x of before."""
    around, method = call.parent, call.function
    torchs = isinstance(known(method), Torch)
    if not isinstance(around, (Assign, Binary)) or around.operator != "/":
        return False
    if torchs and not call.arguments:  # `torch.cuda.max_memory_allocated() / 1024`
        return False
    over = around.left if isinstance(around, Binary) else around.targets[0]
    of, *others = call.arguments if torchs else [method, *call.arguments]
    of = of.object if of is method and isinstance(of, Attribute) else of
    kept = call.keyword("keepdim")
    whole = not others or kept is not None and literal(kept) is True
    return whole and simple(of) and show(of) == show(over)


def _computed(node: Expression) -> Expression:
    """What an import computes with a value that is not there, `int(torch.version.cuda[:2]) > 11`:
    as a whole it raises where it is asked for, and not when the file is imported.
    """
    around = node.parent
    while isinstance(around, (Attribute, Binary, Compare, Subscript, Unary)) or (
        isinstance(around, Boolean)
        and node is around.left
        or isinstance(around, Call)
        and (node is around.function or dotted(around.function) in ("bool", "float", "int", "str"))
    ):
        node, around = around, around.parent
    return node


def is_dropped(node: Node) -> bool:
    """Whether the value of an expression goes nowhere: the statement is nothing else."""
    return isinstance(node.parent, ExpressionStatement)


def _imported(scope: Scope, project: Project) -> Iterable[str]:
    """The names that imports bind in a scope and those around it."""
    for around in (scope, *scope.ancestors()):
        if isinstance(around, Scope):
            for statement in around.nodes(Import):
                yield from (name.bound for name in statement.names)
        if isinstance(around, File):
            yield from project.by_star(around)
