"""``forestcoll schema``: print the JSON schemas of files, and find the shipped files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forestcoll.cli import facts
from forestcoll.cli.options import Json
from forestcoll.errors import InvalidParameterError

__all__ = ["shipped", "show_schema"]

_HERE = Path(__file__).resolve().parents[1]

_FILES = {
    "examples of topologies": "examples",
    "a check of certificates, by itself": "check_certificate.py",
    "the same for all-to-alls": "check_demand_certificate.py",
}


def shipped() -> Path:
    """Return the folder of schemas, examples and the check of certificates.

    An installed toolkit has them inside the package, a clone in its docs.
    """
    installed = _HERE / "shipped"
    return installed if installed.is_dir() else _HERE.parent / "docs"


def show_schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="topology, experiment, schedule, certificate or bundle; if not given, list the "
            "paths of all.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON schema of a kind of file, or the paths of all schemas."""
    files = {file.name.partition(".")[0]: file for file in _schemas()}
    if name is None:
        _list(files, as_json=as_json)
    elif name in files:
        typer.echo(files[name].read_text(encoding="utf-8"), nl=False)
    else:
        raise InvalidParameterError(f"there is no schema {name!r}; known: {', '.join(files)}")


def _schemas() -> list[Path]:
    return sorted((shipped() / "schemas").glob("*.schema.json"))


def _list(files: dict[str, Path], *, as_json: bool) -> None:
    places = {f"schema {name}": file for name, file in files.items()}
    places |= {what: shipped() / name for what, name in _FILES.items()}
    example = _HERE.parent / "experiments" / "quickstart.yaml"
    places |= {"an example of experiments": example} if example.is_file() else {}
    if as_json:
        typer.echo(facts.as_json(places))
        return
    width = max(map(len, places))
    for what, place in places.items():
        typer.echo(f"{what.ljust(width)}  {place}")
