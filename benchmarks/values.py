"""The values of the new interpreter against those of the first engine, by span; and what they cost.

python -m benchmarks.values /work/corpus/dev --files 100
"""

from __future__ import annotations

import argparse
import collections
import gc
import time
from pathlib import Path, PurePosixPath
from typing import Any

import libcst as cst

from transpile.facts.values import lattice as new
from transpile.facts.values import solve
from transpile.facts.values.cells import same
from transpile.facts.values.joins import join
from transpile.first import project as first_project
from transpile.first import rulebook as first_rules
from transpile.first import values as old
from transpile.first.infer import fixed_point, infer
from transpile.model import rule_files
from transpile.model.node import Expression
from transpile.model.project import Project
from transpile.source.lower import lower
from transpile.source.spans import Spans

PATH = PurePosixPath("module.py")
WORDS = "equal stricter looser contradicting".split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--from", type=int, default=0, dest="start")
    parser.add_argument("--show", type=int, default=3, help="examples of each kind of difference")
    parser.add_argument("--only", default="looser,contradicting", help="what is shown")
    parser.add_argument("--cost", action="store_true", help="only the cost")
    parser.add_argument("--rounds", type=int, default=3, help="of the first engine, which makes 3")
    options = parser.parse_args()
    fixed_point._ROUNDS = options.rounds
    paths = sorted(options.folder.glob("*.py"))[options.start :][: options.files]
    if options.cost:
        cost(paths)
    else:
        compare(paths, options.show, options.only.split(","))


# --- values --------------------------------------------------------------------------------------


def compare(paths: list[Path], show: int, only: list[str]) -> None:
    counts: collections.Counter[str] = collections.Counter()
    known: collections.Counter[str] = collections.Counter()
    kinds: collections.Counter[tuple[str, ...]] = collections.Counter()
    examples: dict[tuple[str, ...], list[str]] = collections.defaultdict(list)
    for path in paths:
        text = path.read_text()
        try:
            cst.parse_module(text)
        except cst.ParserSyntaxError:
            continue
        for node, before, after in differences(text):
            word = verdict(before, after)
            counts[word] += 1
            known[word] += not (unknown(before) and unknown(after))
            if word != "equal":
                key = word, type(node).__name__, name_of(before), name_of(after)
                kinds[key] += 1
                line = text.count("\n", 0, node.start) + 1
                shown = " ".join(text[node.start : node.end].split())[:60]
                examples[key].append(
                    f"{path.name}:{line} {shown}\n{12 * ' '}{before}\n{12 * ' '}{after}"
                )
    total = sum(counts.values())
    for word in WORDS:
        part, share = counts[word] / max(total, 1), known[word] / max(sum(known.values()), 1)
        print(f"{word:14} {counts[word]:8} {part:8.2%}   known {known[word]:8} {share:8.2%}")
    for key, count in kinds.most_common():
        if key[0] in only:
            print(f"{count:6}", *key)
            for example in examples[key][:show]:
                print("        ", example)


def differences(text: str) -> Any:
    """Each expression that either engine says something of, with what both say."""
    project = Project()
    file = project.add(PATH, lower(text, PATH))
    project.link()
    solve(project, rule_files.load())
    module = cst.parse_module(text)
    before = first_project.Project({})
    info = before.add(PATH, module, module)
    before.link()
    facts = infer(before, first_rules.load())
    spans = Spans(module)
    names = project.names[file]
    refs: dict[int, Any] = {id(a): b for a, b in zip(info.all_classes, names.all_classes)}
    refs |= {id(a): b for a, b in zip(info.all_functions, names.all_functions)}
    refs |= {a.name: b for a, b in zip(info.all_classes, names.all_classes)}
    found = {
        spans.of(node): facts.values[id(node)]
        for node in walk(module)
        if isinstance(node, cst.BaseExpression) and id(node) in facts.values
    }
    seen = set()
    for node in file.walk():
        if isinstance(node, Expression):
            place = node.start, node.end
            if place not in seen and (place in found or node.value is not None):
                seen.add(place)
                made = found.get(place)
                yield node, None if made is None else translated(made, refs, file), node.value


def walk(node: cst.CSTNode) -> Any:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(current.children)


def translated(value: Any, refs: dict[Any, Any], file: Any) -> Any:
    """A value of the first engine in the words of the new one."""

    def to(inner: Any) -> Any:
        return None if inner is None else translated(inner, refs, file)

    def ref(one: Any) -> Any:
        if isinstance(one, tuple):
            inner = one[1]
            return (
                new.Open(ref(inner)) if one[0] == "open" else new.OneOf(frozenset(map(ref, inner)))
            )
        # `InstanceNorm2d[track_running_stats]` was a layer of its own
        return one.partition("[")[0] if isinstance(one, str) else refs.get(id(one))

    if isinstance(value, old.Tensor):
        fields = "assumed none kind param buffer number host python dims".split()
        return new.Tensor(*(getattr(value, name) for name in fields))
    if isinstance(value, old.Static):
        const = new.MISSING if isinstance(value.const, old.Missing) else value.const
        return new.Static(const, value.type, value.loose, value.wide)
    if isinstance(value, old.Module):
        items = None if value.items is None else tuple((n, to(v)) for n, v in value.items)
        classes = frozenset(map(ref, value.classes))
        rest = value.none, value.inplace, value.is_self, value.whole, value.flags
        return new.Module(classes, value.open, to(value.element), items, *rest)
    if isinstance(value, old.Instance):
        return new.Instance(value.classes)
    if isinstance(value, old.Class):
        return new.Class(ref(value.ref))
    if isinstance(value, old.Function):
        return new.Function(ref(value.info), ref(value.owner) if value.owner else None, value.base)
    if isinstance(value, old.Torch):
        return new.Torch(value.name, value.function)
    if isinstance(value, old.Method):
        return new.Method(to(value.receiver), value.name)
    if isinstance(value, old.External):
        if value.name.startswith("self:"):
            return new.Object(refs.get(value.name[5:])) if value.name[5:] in refs else new.UNKNOWN
        return new.Package(file) if value.name.startswith("module:") else new.External(value.name)
    if isinstance(value, old.Sequence):
        items = None if value.items is None else tuple(map(to, value.items))
        return new.Sequence(to(value.element), items, value.tuple, value.loose)
    if isinstance(value, old.Mapping):
        return new.Mapping(to(value.element), value.placed)
    return new.UNKNOWN


def verdict(before: Any, after: Any) -> str:
    if before is None or after is None:
        if new.UNKNOWN in (before, after):
            return "equal"
        return "looser" if after is None else "stricter"
    if same(before, after):
        return "equal"
    if before == after:
        dims = new.least_dims(after) - new.least_dims(before)
        return "stricter" if dims > 0 else "looser" if dims < 0 else "equal"
    if new.is_anything(before):
        return "equal" if new.is_anything(after) else "stricter"
    if new.is_anything(after):
        return "looser"
    if isinstance(before, new.Method) and new.is_anything(before.receiver):
        return "stricter"  # an attribute of what was not known
    joined = join(before, after)
    if covers(after, before) or joined == after:
        return "looser"
    return "stricter" if covers(before, after) or joined == before else "contradicting"


def covers(more: Any, less: Any) -> bool:
    """Whether one value says less than another of the same kind."""
    if isinstance(more, new.Method) and isinstance(less, new.Method) and more.name == less.name:
        return new.is_anything(more.receiver) or covers(more.receiver, less.receiver)
    if isinstance(more, new.Sequence) and isinstance(less, new.Sequence):
        if more.items is not None and (less.items is None or len(less.items) != len(more.items)):
            return False
        pairs = [(more.element, less.element), *zip(more.items or (), less.items or ())]
        return all(verdict(b, a) in ("equal", "looser") for a, b in pairs)
    if isinstance(more, new.Mapping) and isinstance(less, new.Mapping):
        return verdict(less.element, more.element) in ("equal", "looser")
    if isinstance(more, new.Module) and isinstance(less, new.Module):
        if more.classes == less.classes and more.element and less.element:
            return covers(more.element, less.element)
        return more.open and not less.open or more.classes > less.classes
    return False


def unknown(value: Any) -> bool:
    return value is None or new.is_anything(value)


def name_of(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, new.Static):
        return f"Static {value.type}"
    if isinstance(value, new.Tensor) and value.assumed:
        return "Tensor assumed"
    return "unknown" if value == new.UNKNOWN else type(value).__name__


# --- cost ----------------------------------------------------------------------------------------


def cost(paths: list[Path]) -> None:
    """Seconds of LibCST's parse and write, of lowering, of the project, and of the values."""
    book = rule_files.load()
    texts = []
    for path in paths:
        try:
            cst.parse_module(path.read_text())
            texts.append(path.read_text())
        except cst.ParserSyntaxError:
            pass
    spent: dict[str, float] = collections.defaultdict(float)
    gc.disable()
    for _turn in range(2):  # the first one fills the tables of the rules
        spent.clear()
        for text in texts:
            start = time.process_time()
            _ = cst.parse_module(text).code
            parsed = time.process_time()
            file = lower(text, PATH)
            lowered = time.process_time()
            project = Project()
            project.add(PATH, file)
            project.link()
            linked = time.process_time()
            solve(project, book)
            done = time.process_time()
            spent["parse and write"] += parsed - start
            spent["lower"] += lowered - parsed
            spent["project"] += linked - lowered
            spent["values"] += done - linked
        gc.collect()
    lines = sum(text.count("\n") for text in texts)
    base = spent["parse and write"]
    for word, seconds in spent.items():
        print(
            f"{word:16} {seconds:8.2f} s {1000 * seconds / lines:7.4f} ms a line {seconds / base:6.2f}"
        )
    rest = sum(spent.values()) - base
    print(f"{'together':16} {rest:8.2f} s {1000 * rest / lines:7.4f} ms a line {rest / base:6.2f}")


if __name__ == "__main__":
    main()
