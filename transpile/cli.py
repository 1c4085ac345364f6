"""The command: torch-to-jax convert, check, verify, explain."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from . import convert as conversion
from .diagnostics import CATALOGUE, Diagnostic


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Turn PyTorch source into JAX source, and prove that both compute the same."""


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="File or directory to write.")
@click.option("--target", type=click.Choice(["functional"]), default="functional", show_default=True)
def convert(path: Path, output: Path, target: str) -> None:
    """Convert a file or a directory of PyTorch source to JAX."""
    report = conversion.convert_path(path, output, target)
    _print(report.diagnostics)
    written = sum(f.target is not None for f in report.files)
    click.echo(f"{written} of {len(report.files)} files written, {len(report.diagnostics)} diagnostics", err=True)
    sys.exit(2 if report.failed else 1 if report.diagnostics else 0)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def check(path: Path) -> None:
    """Report what would not convert; write nothing. Exit status: 0 clean, 1 findings, 2 error."""
    report = conversion.convert_path(path, None)
    _print(report.diagnostics)
    sys.exit(2 if report.failed else 1 if report.diagnostics else 0)


@main.command()
@click.argument("id")
def explain(id: str) -> None:
    """Say what a diagnostic means and what to do."""
    if id not in CATALOGUE:
        raise click.ClickException(f"there is no diagnostic {id!r}; known: {', '.join(sorted(CATALOGUE))}")
    what, advice = CATALOGUE[id]
    click.echo(f"{id}\n\n{what}\n{advice}")


def _print(diagnostics: list[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        click.echo(str(diagnostic))


if __name__ == "__main__":
    main()
