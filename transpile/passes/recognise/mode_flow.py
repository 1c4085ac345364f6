"""The mode that code sets: from `self.bn.eval()` on, until `self.bn.train()`, calls run in it.

    self.bn.eval()                       (left out)
    y = self.bn(x)            →          y = self.bn(x)                 Apply(training=False)

A method is followed as it runs. What a `train` of the class's own sets last holds in all methods:

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()

What is set in one branch or turn alone, of a computed mode, or of what is also called elsewhere, is
not followed: the whole function is left to `modes`, which tells it.
"""

from __future__ import annotations

from ...facts.values import lattice
from ...facts.values.calls import is_super
from ...facts.values.lattice import Method, Module, holds_module
from ...model.classes import MODES
from ...model.expressions import Attribute, Call, Constant, Lambda, Name, Subscript
from ...model.names import bound_once, dotted, in_scope, is_target, rebound, root
from ...model.node import Expression, Statement
from ...model.program import Function
from ...model.statements import (
    Assign,
    Block,
    ExpressionStatement,
    For,
    Handler,
    If,
    Return,
    Try,
    While,
    With,
)
from .context import Scene
from .mode_paths import WALKS, is_below, is_run, kept_parameters, sets_mode

Modes = dict[str, bool]  # by the path of a module, as it is written
_RUNNING = (Module, Method, lattice.Function)
_LISTED = frozenset("enumerate list reversed zip".split())


class Unfollowed(Exception):
    """The mode cannot be followed."""


class ModeFlow:
    """One function: the statements that set a mode, `calls` that run in one, `reads` of one, and
    what is `left` in a mode at the end."""

    def __init__(self, scene: Scene, function: Function, kept: Modes) -> None:
        self.scene, self.function, self.kept = scene, function, kept
        self.statements: set[Statement] = set()
        self.calls: dict[Call, bool] = {}
        self.reads: dict[Attribute, bool] = {}
        self.left: dict[str, Statement] = {}
        self.followed = True
        self._given = {p.name for p in function.parameters}
        self._once, self._fixed = bound_once(function), self._given - rebound(function)
        self._keeping = kept_parameters(function, scene.own, self._fixed)
        self._saved: dict[str, str] = {}  # `was = self.training`
        self._saving: dict[str, Statement] = {}
        self._later: list[Modes] = []  # in which lambdas, and functions inside, are made
        self._stand: dict[str, str] = {}  # the names of modules: `net = self.net`
        self._last: dict[str, Statement] = {}
        try:
            end = self._block(function.body, dict(kept))
            if any(modes != end for modes in self._later):
                raise Unfollowed  # it is called later
            self.left = {path: self._last[path] for path in end if kept.get(path) != end[path]}
            self._leave_out_saved()
        except Unfollowed:
            self.give_up()

    def give_up(self) -> None:
        self.followed = False
        self.statements, self.calls, self.reads, self.left = set(), {}, {}, {}

    def _leave_out_saved(self) -> None:
        """What is only read to set the mode back."""
        setting = {n for s in self.statements for n in s.walk()}
        for name, statement in self._saving.items():
            read = [n for n in self.function.nodes(Name) if n.id == name and not is_target(n)]
            if setting.issuperset(read):
                self.statements.add(statement)

    # --- statements -------------------------------------------------------------------------------

    def _block(self, block: Block | None, modes: Modes) -> Modes:
        for statement in block.body if block is not None else ():
            modes = self._statement(statement, modes)
        return modes

    def _statement(self, statement: Statement, modes: Modes) -> Modes:
        if (found := self._set(statement)) is not None:
            self.statements.add(statement)
            self._last[found[0]] = statement
            return self._after(modes, *found)
        if isinstance(statement, If) and (again := self._if_it_was(statement, modes)) is not None:
            self.statements |= {statement, statement.body.body[0]}
            return self._after(modes, *again)
        blocks = [part for part in statement.children() if isinstance(part, Block)]
        self._expressions(statement, modes)
        if isinstance(statement, With):
            return self._block(statement.body, modes)
        if isinstance(statement, Try):
            after = self._block(statement.orelse, self._block(statement.body, modes))
            for handler in statement.handlers:
                self._same(self._block(handler.body, modes), modes, handler.body)
            return self._block(statement.final, after)
        for block in blocks if isinstance(statement, (If, For, While)) else ():
            self._same(self._block(block, modes), modes, block)
        return modes

    def _same(self, after: Modes, before: Modes, block: Block) -> None:
        """What a branch or a turn sets has to be set back, or the function ends with it."""
        if after != before and not (block.body and isinstance(block.body[-1], Return)):
            raise Unfollowed

    def _set(self, statement: Statement) -> tuple[str, bool | None] | None:
        """The path whose mode a statement sets, and the mode; None: the one that it had."""
        if isinstance(statement, Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.expression
            if isinstance(target, Name) and isinstance(value, Attribute):
                self._save(statement, target.id, value)
            elif isinstance(target, Attribute) and target.name == "training":
                if self._is_module(target.object):
                    if statement.operator:
                        raise Unfollowed
                    return self._path(target.object), self._mode(value, target.object)
            return None
        call = statement.expression if isinstance(statement, ExpressionStatement) else None
        if not isinstance(call, Call) or not sets_mode(self.scene, call):
            return None
        function = call.function
        assert isinstance(function, Attribute)
        mode: bool | None = MODES[function.name]
        if function.name == "train" and call.arguments:
            mode = self._mode(call.arguments[0], function.object)
        return self._path(function.object), mode

    def _save(self, statement: Statement, name: str, value: Attribute) -> None:
        path = dotted(value.object)
        if value.name == "training" and path is not None and name in self._once:
            self._saved[name], self._saving[name] = path, statement

    def _is_module(self, node: Expression) -> bool:
        return isinstance(self.scene.of(node), Module)

    def _path(self, node: Expression) -> str:
        path, begin = dotted(node), root(node)
        if path is None or begin is None:
            raise Unfollowed
        own = begin.id == self.scene.own
        if not own and (begin.id not in self._fixed or "." in path):
            raise Unfollowed
        return self._named(path)

    def _named(self, path: str) -> str:
        """The path of a module that a constructor is given, and keeps: the parameter's."""
        first, _, rest = path.partition(".")
        own = f"{first}.{rest.partition('.')[0]}"
        if first != self.scene.own or own not in self._keeping:
            return path
        return self._keeping[own] + path[len(own) :]

    def _mode(self, value: Expression | None, module: Expression) -> bool | None:
        if isinstance(value, Constant) and isinstance(value.constant, bool):
            return value.constant
        if isinstance(value, Name) and self._saved.get(value.id) == dotted(module):
            return None
        path = dotted(value.object) if isinstance(value, Attribute) else None
        if path is not None and value.name == "training":  # type: ignore[union-attr]
            if self._is_as_given(path, dotted(module) or ""):
                return None
        raise Unfollowed

    def _is_as_given(self, path: str, module: str) -> bool:
        """`self.training` of `self.bn.train(self.training)`, which nothing here sets."""
        own = self.scene.own
        return path == own and module.startswith(f"{own}.") and own not in self._last

    def _if_it_was(self, statement: If, modes: Modes) -> tuple[str, bool | None] | None:
        """`if was_training: self.train()`, of `was_training = self.training`, sets the mode that
        it had; with `self.eval()` it is in evaluation then, whatever it was."""
        body, path = statement.body.body, self._saved.get(dotted(statement.test) or "")
        if path is None or statement.orelse is not None or len(body) != 1:
            return None
        found = self._set(body[0])
        if found == (path, True):
            return path, None
        return found if found == (path, False) and path not in modes else None

    def _after(self, modes: Modes, path: str, mode: bool | None) -> Modes:
        """What is set holds for all that is below."""
        after = {p: m for p, m in modes.items() if p != path and not p.startswith(f"{path}.")}
        if mode is not None:
            after[path] = mode
        elif any(path.startswith(f"{p}.") for p in after):
            raise Unfollowed
        return after

    # --- expressions ------------------------------------------------------------------------------

    def _expressions(self, statement: Statement, modes: Modes) -> None:
        if isinstance(statement, Function):
            if modes != self.kept:
                raise Unfollowed  # it may be called later
            names = {n.id for n in statement.body.walk() if isinstance(n, Name)}
            if names & {self.scene.own, *self._stand}:
                self._later.append(modes)
        parts = [part for part in statement.children() if not isinstance(part, (Block, Handler))]
        for node in (n for part in parts for n in part.walk()):
            if isinstance(node, Lambda):
                self._later.append(modes)
            elif not modes:
                continue
            elif isinstance(node, Call):
                self._call(node, modes)
            elif isinstance(node, Attribute):
                self._attribute(node, modes)
            elif isinstance(node, Name) and node.id in modes and not is_run(node):
                raise Unfollowed  # `helper(self, x)`
        if any(sets_mode(self.scene, c) for part in parts for c in in_scope(part, Call)):
            raise Unfollowed

    def _call(self, call: Call, modes: Modes) -> None:
        function, own = call.function, self.scene.own
        if isinstance(function, Attribute) and is_super(function.object) and own in modes:
            raise Unfollowed  # there is no other object of which to call it
        path = self._path_run(call)
        if path is None:
            return
        mode = next((m for p, m in modes.items() if is_below(path, p)), None)
        if mode is not None:
            self.calls[call] = mode
        elif any(is_below(p, path) for p in modes) and (path != own or modes != self.kept):
            raise Unfollowed  # it runs what is in another mode in a function of its own

    def _path_run(self, call: Call) -> str | None:
        """The path of the module that a call runs, of one of its methods that of `self`: as far as
        it is written, `self.` for what a local name stands for; None for no module, or for one
        that is given."""
        function, own = call.function, self.scene.own
        value = self.scene.of(function)
        run = function
        if isinstance(function, Attribute) and isinstance(value, (lattice.Function, Method)):
            run = function.object
        elif not holds_module(value):
            begin = root(function)
            if begin is None or begin.id != own:
                return None
        while dotted(run) is None and isinstance(run, (Attribute, Subscript)):
            run = run.object
        path = dotted(run)
        path = self._named(path) if path is not None else None
        first = path.partition(".")[0] if path is not None else ""
        if not first or first == own or first in self._given:
            return path
        return self._stand.get(first, f"{own}.")

    def _attribute(self, node: Attribute, modes: Modes) -> None:
        path, read = dotted(node.object), dotted(node)
        if path is None or read is None or is_target(node):
            return
        if node.name == "training":
            mode = next((m for p, m in modes.items() if is_below(path, p)), None)
            if mode is not None:
                self.reads[node] = mode
        elif node.name in WALKS and any(is_below(p, path) and p != path for p in modes):
            raise Unfollowed
        elif isinstance(self.scene.of(node), _RUNNING) and not is_run(node):
            if any(is_below(read, p) or is_below(p, read) for p in modes):
                self._other_name(node, read, modes)

    def _other_name(self, node: Attribute, path: str, modes: Modes) -> None:
        """`for layer in self.layers`, `net = self.net`: it runs under another name."""
        around, name = node.parent, None
        if isinstance(around, For) and around.iterable is node:
            name = around.target
        elif isinstance(around, Assign) and len(around.targets) == 1:
            name = around.targets[0]
        elif isinstance(around, Call) and dotted(around.function) in _LISTED:
            if modes.keys() == {self.scene.own}:
                return  # whatever its name is
        if not isinstance(name, Name) or name.id not in self._once:
            raise Unfollowed  # it is handed on
        self._stand[name.id] = path
