"""The command: torch-to-jax convert, check, verify, explain.

Each of them imports what it needs: what the terminal shows at once must not wait for parsers.
"""

import sys
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..model.diagnostics import CATALOGUE, Diagnostic
from . import TARGETS


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="torch-to-jax", message="%(prog)s %(version)s")
def main() -> None:
    """Turn PyTorch source into JAX source, and prove that both compute the same."""


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File or directory to write.")
@click.option("--target", type=click.Choice(TARGETS), default="functional", show_default=True)
@click.option(
    "--show",
    type=click.Choice(["model"]),
    help="Print what the passes make of it, before it is written for a target; write nothing.",
)
def convert(path: Path, output: Path | None, target: str, show: str | None) -> None:
    """Convert a file or a directory of PyTorch source to JAX."""
    from .convert import OtherTarget, convert_path, show_model

    if (output is None) == (show is None):
        raise click.UsageError("give the file or directory to write, --output, or --show model")
    if output is None:
        texts, failed = show_model(path)
        click.echo("\n".join(f"# {name}\n{text}" for name, text in texts.items()), nl=False)
        _print(failed)
        sys.exit(2 if failed else 0)
    try:
        report = convert_path(path, output, target)
    except OtherTarget as error:
        raise click.ClickException(str(error)) from None
    _print(report.diagnostics)
    written = sum(f.target is not None for f in report.files)
    click.echo(
        f"{written} of {len(report.files)} files written, {len(report.diagnostics)} diagnostics",
        err=True,
    )
    sys.exit(2 if report.failed else 1 if report.diagnostics else 0)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--target", type=click.Choice(TARGETS), default="functional", show_default=True)
def check(path: Path, target: str) -> None:
    """Report what would not convert; write nothing. Exit status: 0 clean, 1 findings, 2 error."""
    from .convert import convert_path

    report = convert_path(path, None, target)
    _print(report.diagnostics)
    sys.exit(2 if report.failed else 1 if report.diagnostics else 0)


@main.command()
@click.argument("subject")
@click.option("--target", type=click.Choice(TARGETS), default="functional", show_default=True)
@click.option(
    "--init", default="", help="Constructor arguments, as Python: 'GPTConfig(n_layer=2)'."
)
@click.option("--inputs", default="", help="Shapes: 'f32[2,3] i32[2,16]<50'.")
@click.option(
    "--example",
    type=click.Path(exists=True),
    help="A file with example() -> (constructor arguments, inputs).",
)
@click.option(
    "--converted",
    type=click.Path(exists=True),
    help="Verify this file, of any target, rather than converting anew.",
)
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def verify(
    subject: str,
    target: str,
    init: str,
    inputs: str,
    example: str | None,
    converted: str | None,
    output_format: str,
) -> None:
    """Compare a torch class with its conversion: SUBJECT is FILE::CLASS. This runs the file."""
    import json
    import subprocess

    path, _, cls = subject.partition("::")
    if not cls or not Path(path).is_file():
        raise click.UsageError("SUBJECT must be FILE::CLASS, and the file must exist")
    if not inputs and not example:
        raise click.UsageError("give --inputs or --example")
    request = {
        "path": path,
        "cls": cls,
        "target": target,
        "init": init,
        "inputs": inputs,
        "example": example,
        "converted": converted,
    }
    click.echo(f"verify runs the code of {path} in a process of its own", err=True)
    done = subprocess.run(
        [sys.executable, "-m", "transpile.proof.verification", json.dumps(request)],
        capture_output=True,
        text=True,
    )
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        error = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise click.ClickException(f"{path}::{cls} could not be run: {error}")
    result = json.loads(lines[-1])
    if "error" in result:
        raise click.ClickException(f"{path}::{cls} could not be run: {result['error']}")
    if output_format == "json":
        click.echo(json.dumps(result, indent=1))
    else:
        _table(subject, result)
    sys.exit(0 if result["ok"] else 1)


def _table(subject: str, result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{subject}: {'both compute the same' if result['ok'] else 'THEY DIFFER'}")
    for column in ("check", "what", "ok", "largest error", "note"):
        table.add_column(column)
    for row in result["rows"]:
        error = "" if row["error"] is None else f"{row['error']:.1e}"
        table.add_row(row["check"], row["name"], "yes" if row["ok"] else "NO", error, row["note"])
    Console(width=140).print(table)


@main.command()
@click.argument("id")
def explain(id: str) -> None:
    """Say what a diagnostic means and what to do."""
    if id not in CATALOGUE:
        raise click.ClickException(
            f"there is no diagnostic {id!r}; known: {', '.join(sorted(CATALOGUE))}"
        )
    what, advice = CATALOGUE[id]
    click.echo(f"{id}\n\n{what}\n{advice}")


def _print(diagnostics: list[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        click.echo(str(diagnostic))


if __name__ == "__main__":
    main()
