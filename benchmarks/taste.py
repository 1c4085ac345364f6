"""How the output reads, as numbers: what a JAX engineer would not have typed, in public repositories once they are converted.

    python -m benchmarks.taste [--target T] [--only WORD] [--kept OUTPUTS] [--places ROW] FOLDER_OF_CLONES

FOLDER_OF_CLONES holds checkouts of the repositories of taste.toml. The rows count what taste_counts.py says, in the files
that were changed, per 1,000 classes of modules in the sources; the row on formatting is a share of all changed lines. --kept
says where the converted repositories are kept: those that stand there are not converted again. --places prints where the
counts of a row come from. Needs neither torch nor jax.
"""

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from . import taste_counts as counts
from .taste_classes import Classes, Pair

TARGETS = ("functional", "flax", "equinox")
REPOSITORIES = tomllib.loads((Path(__file__).parent / "taste.toml").read_text())["repositories"]
ROWS = {  # what is counted, by what, what is wanted
    "classes that take `state` where no module below holds any": (counts.needless_state, "0"),
    "dead `params`, `state`, `key`, `training`, `rngs`, `device` parameters": (counts.dead_parameters, "0"),
    "uniform calls (`.apply(`, `nn.call(`)": (counts.uniform_calls, "<= 20"),
    "properties that recompute more than one cheap expression": (counts.costly_properties, "0"),
    "helper calls where one `jnp` expression may do": (counts.helper_calls, "<= 30"),
    "numbered names (`x_2`)": (counts.numbered_names, "<= 20"),
    "comments lost": (counts.comments_lost, "0"),
    "generated lines over 120 columns": (counts.long_lines, "0"),
}
FORMATTING = "lines that differ in formatting alone, of all changed lines"
SUPPORT = "lines of `jax_nn.py` for makemore, and definitions unused"
ASK_CLASSES = (counts.needless_state, counts.dead_parameters)


def checkout(folder: Path, url: str) -> Path | None:
    owner, name = url.split("/")[-2:]
    places = (folder / f"{owner}+{name}", folder / owner / name, folder / name)
    return next((p for p in places if p.is_dir()), None)


def converted(source: Path, target: str, kept: Path) -> Path:
    """The folder of a converted repository, each converted in a process of its own."""
    out = kept / target / source.name
    if not out.exists():
        code = "import sys; from transpile import convert_path; convert_path(*sys.argv[1:])"
        unfinished = out.with_name(out.name + ".unfinished")
        subprocess.run([sys.executable, "-c", code, str(source), str(unfinished), target], check=True)
        unfinished.rename(out)
    return out


def pairs(source: Path, out: Path, target: str) -> Iterator[Pair]:
    for path in sorted(out.rglob("*.py")):
        original = source / path.relative_to(out)
        if original.exists():
            before, after = (p.read_text("utf-8", errors="replace") for p in (original, path))
            yield Pair(path.relative_to(out).as_posix(), target, before, after)


def module_classes(found: list[Pair]) -> int:
    """How many classes of the sources derive from a Module, by the names of their bases, over and over."""
    bases = [
        {ast.unparse(b).rpartition(".")[2] for b in n.bases}
        for p in found
        for n in ast.walk(p.before)
        if isinstance(n, ast.ClassDef)
    ]
    names = [n.name for p in found for n in ast.walk(p.before) if isinstance(n, ast.ClassDef)]
    modules: set[str] = set()
    while True:
        more = {n for n, b in zip(names, bases) if b & modules or any(x.endswith("Module") for x in b)}
        if more == modules:
            return sum(n in modules for n in names)
        modules = more


def unused(support: str, users: list[Pair]) -> list[str]:
    """The definitions of a jax_nn.py that nothing reaches which the output names."""
    defined = {n.name: n for n in ast.parse(support).body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    words = {name: set(re.findall(r"\w+", ast.unparse(node))) - {name} for name, node in defined.items()}
    todo = [w for p in users for w in re.findall(r"\w+", p.output) if w in defined]
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += words[name] & defined.keys()
    return sorted(defined.keys() - reached)


def measure(folder: Path, target: str, kept: Path, only: str = "", places: str = "") -> dict[str, object]:
    """Each row's count in a target, with the number of classes."""
    total: Counter[str] = Counter()
    table: dict[str, object] = {}
    for url in REPOSITORIES:
        source = checkout(folder, url)
        if source is None or only not in url:
            print(f"no checkout of {url}" if source is None else "", end="\n" * (source is None), file=sys.stderr)
            continue
        out = converted(source, target, kept)
        support = (out / "jax_nn.py").read_text() if (out / "jax_nn.py").exists() else ""
        found = list(pairs(source, out, target))
        classes = Classes(found, support)
        total["classes"] += module_classes(found)
        changed = [p for p in found if p.source != p.output]
        total["changed"] += sum(1 for p in changed for _ in counts.changed_lines(p))
        for row, count in {**{r: c for r, (c, _) in ROWS.items()}, FORMATTING: counts.formatted_lines}.items():
            for pair in changed:
                for line, what in count(pair, classes) if count in ASK_CLASSES else count(pair):
                    total[row] += 1
                    if places and places in row:
                        print(f"{out / pair.path}:{line}: {what}")
        if source.name.endswith("makemore"):
            table[SUPPORT] = f"{len(support.splitlines())}, {len(unused(support, found))}"
    thousand = max(total["classes"], 1) / 1000
    table |= {row: f"{total[row] / thousand:.0f}" for row in ROWS}
    table[FORMATTING] = f"{100 * total[FORMATTING] / max(total['changed'], 1):.1f} %"
    table["classes"] = total["classes"]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--only", default="", help="a part of a repository's URL")
    parser.add_argument("--kept", type=Path, help="where outputs are kept from run to run")
    parser.add_argument("--places", default="", help="a part of a row's name: print where its counts come from")
    options = parser.parse_args()
    targets = options.target or TARGETS
    with tempfile.TemporaryDirectory() as temporary:
        kept = options.kept or Path(temporary)
        tables = {t: measure(options.folder, t, kept, options.only, options.places) for t in targets}
    print(f"\n| per 1,000 classes | {' | '.join(targets)} | wanted |\n| --- |{' --- |' * (len(targets) + 1)}")
    wanted = {**{row: wish for row, (_, wish) in ROWS.items()}, FORMATTING: "<= 0.5 %", SUPPORT: "<= 250, 0"}
    for row, wish in wanted.items():
        print(f"| {row} | {' | '.join(str(tables[t].get(row, '')) for t in targets)} | {wish} |")
    print(f"\nclasses: {', '.join(str(tables[t]['classes']) for t in targets)}")


if __name__ == "__main__":
    main()
