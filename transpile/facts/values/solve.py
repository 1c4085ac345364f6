"""The fixed point: a function is interpreted again only when something that it read has changed."""

import heapq
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ...model.program import File, Function
from ...model.project import Project
from ...model.rulebook import Rulebook
from .cells import Cell, Given, Run, described, same
from .expressions import TRANSFER
from .frame import Env, Frame
from .functions import returned
from .host_code import is_host_code
from .joins import join
from .statements import STATEMENTS
from .tables import STICKY, Facts

_OFTEN = 12  # from so many times on what a run says is joined with what it said
_LAST = 20  # so many times at most
_PHASES = 4  # how often what runs in forward, and on the host, is found anew
_NESTED = 8  # `def build(m): return build(Sequential(m))` gives itself more each time
_DEEPEST = 40  # calls that are followed on demand, one inside the other


class Solver(Facts):
    """Interprets a project until nothing changes."""

    def __init__(self, project: Project, rulebook: Rulebook) -> None:
        super().__init__(project, rulebook)
        self.runs: dict[tuple[File | Function, Given], Run] = {}
        self.queue: list[tuple[tuple[Any, ...], int, Run]] = []
        self.depth = 0
        self.paths = {file: i for i, file in enumerate(project.ordered)}

    # --- runs ------------------------------------------------------------------------------------

    def run_of(self, unit: File | Function, given: Given) -> Run:
        found = self.runs.get((unit, given))
        if found is None:
            found = self.runs[unit, given] = Run(unit, given, self._rank(unit, given))
        return found

    def _rank(self, unit: File | Function, given: Given) -> tuple[Any, ...]:
        """Files first, then constructors: what they set, the others read."""
        if isinstance(unit, File):
            return 0, self.paths[unit], 0, ""
        assert unit.file is not None
        kind = 1 if unit.name == "__init__" else 2
        return kind, self.paths[unit.file], unit.start, described(given)

    def push(self, run: Run) -> None:
        if not run.queued:
            run.queued = True
            heapq.heappush(self.queue, (run.rank, len(self.queue), run))

    def changed(self, cell: Cell) -> None:
        for run in cell.readers:
            if not run.queued:
                self.push(run)

    def demand(self, function: Function, given: Given) -> bool:
        """Interpret a function now, where it was not yet; whether its result may be asked."""
        new = (function, given) not in self.runs
        run = self.run_of(function, given)
        if new and given and self.run is not None:
            run.nested = self.run.nested + 1
        if run.active or run.nested > _NESTED:
            return not given
        if run.count and not (run.queued and run.count < _OFTEN and run.stale()):
            return True
        if self.depth > _DEEPEST:
            self.push(run)
            return True
        self.execute(run)
        return True

    def execute(self, run: Run) -> None:
        """Interpret one function or file with what is known now."""
        if run.count >= _LAST:
            return
        before, self.run = self.run, run
        old_reads, old_made = run.reads, run.made
        run.reads, run.made, run.values, run.calls, run.data = {}, {}, {}, {}, set()
        run.active = True
        run.count += 1
        self.depth += 1
        self._interpret(run)
        self.depth -= 1
        run.active = False
        self.run = before
        for cell in old_reads:
            if cell not in run.reads:
                cell.readers.discard(run)
        self._commit(run, old_made)
        if run.stale():
            self.push(run)

    def _interpret(self, run: Run) -> None:
        unit = run.unit
        file = unit if isinstance(unit, File) else unit.file
        assert file is not None
        function = None if isinstance(unit, File) else unit
        frame = Frame(self, TRANSFER, STATEMENTS, file, function)
        if function is None:
            env: Env = {}
            frame.block(file.body, env)
            for name, value in env.items():
                self.note(value, "global", file, name)
        elif run.given:
            self.note(returned(frame, dict(run.given)), "result for", function, run.given)
        else:
            self.note(returned(frame, {}), "result", function)

    def _commit(self, run: Run, old: dict[Cell, Any]) -> None:
        """Let what a run says take the place of what it said before."""
        for cell, value in old.items():
            if cell.key[0] in STICKY or run.count > _OFTEN:
                known = run.made.get(cell)
                run.made[cell] = value if known is None else cell.joined(value, known)
            elif cell not in run.made:
                if cell.take_back(run):
                    self.changed(cell)
        for cell, value in run.made.items():
            if cell in old and same(cell.said.get(run), value) and same(cell.value, value):
                continue
            if cell.say(run, value):
                self.changed(cell)

    # --- solving ---------------------------------------------------------------------------------

    def solve(self) -> None:
        functions = [f for f in self.project.functions() if self.project.outer(f) is None]
        units: list[File | Function] = [*self.project.ordered, *functions]
        for unit in units:
            self.push(self.run_of(unit, ()))
        self._phase()
        for _ in range(_PHASES):
            self._drain()
            dropped = self._drop_unasked()
            if not self._phase() and not dropped:
                break
        self._drain()
        self._record()

    def _drain(self) -> None:
        while self.queue:
            _, _, run = heapq.heappop(self.queue)
            if run.queued:
                run.queued = False
                if not run.active and run.stale():
                    self.execute(run)

    def _drop_unasked(self) -> bool:
        """Forget what was interpreted for calls that are not made any more."""
        dropped = False
        for (unit, given), run in list(self.runs.items()):
            if given and not self.cell(("result for", unit, given)).readers:
                del self.runs[unit, given]
                run.queued = False
                for cell in run.reads:
                    cell.readers.discard(run)
                made, run.made, run.count = run.made, {}, 0
                self._commit(run, made)
                dropped = True
        return dropped

    def _phase(self) -> bool:
        """Find anew what runs in a forward pass, and on the host. Returns whether that changed."""
        functions = list(self.project.functions())
        calls = self.calls
        forward = [f for f in functions if f.name == "forward"]
        traced = reachable(calls, forward)
        host = [f for f in functions if self._is_host_code(f)]
        outside = with_callers(calls, host, functions) - traced
        building = [f for f in functions if f.name == "__init__" and self.project.owner(f)]
        flags = {"traced": traced, "outside": outside, "constructing": reachable(calls, building)}
        changed = False
        for word, found in flags.items():
            for function in functions:
                cell = self.cell((word, function))
                value = function in found or None
                if cell.value is not value:
                    cell.value, changed = value, True
                    self.changed(cell)
        return changed

    def _is_host_code(self, function: Function) -> bool:
        key = "host", function
        if key not in self.memory:
            self.memory[key] = is_host_code(self.project, function)
        return bool(self.memory[key])

    @property
    def calls(self) -> dict[Function, set[Function]]:
        """Which functions each one calls, by the last look at it."""
        found: dict[Function, set[Function]] = {}
        for run in self.runs.values():
            for caller, called in run.calls.items():
                found.setdefault(caller, set()).update(called)
        return found

    def _record(self) -> None:
        """Give every expression its value: what all runs found of it."""
        seen: set[Any] = set()
        for run in sorted(self.runs.values(), key=lambda run: run.rank):
            for node, value in run.values.items():
                if node in seen:
                    node.value = join(node.value, value)  # type: ignore[attr-defined]
                else:
                    seen.add(node)
                    node.value = value  # type: ignore[attr-defined]
            run.values = {}


def reachable(calls: Mapping[Function, Set[Function]], start: Iterable[Function]) -> set[Function]:
    """These functions and all that they call."""
    seen: set[Function] = set()
    todo = list(start)
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(calls.get(current, ()))
    return seen


def with_callers(
    calls: Mapping[Function, Set[Function]],
    found: Iterable[Function],
    functions: Iterable[Function],
) -> set[Function]:
    """These functions, and those of `functions` that call one of them, directly or not."""
    all_ = set(found)
    left = [f for f in functions if f not in all_]
    while more := {f for f in left if calls.get(f, set()) & all_}:
        all_ |= more
        left = [f for f in left if f not in more]
    return all_
