"""Experiment files: reading one, checking it, and the points it stands for.

Every key is checked; a mistake is one line with the file, the line, the field and the nearest word
that would have been right.
"""

from __future__ import annotations

import hashlib
import itertools
import reprlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from experiments.config.document import Document, nearest, read_document
from experiments.config.figures import check_figure, parse_figure
from experiments.config.methods import claims, is_reference, method_names, parameters_of, refusal
from experiments.config.points import ROOTED, Limits, Point, Value
from experiments.config.schema import (
    Experiment,
    LimitsEntry,
    MethodEntry,
    Parameters,
    Range,
    TopologyEntry,
    text_of,
    values_of,
)
from forestcoll.errors import ForestCollError, InvalidExperimentError
from forestcoll.topology import FAMILIES, Family, read_topology

__all__ = ["Experiment", "ParsedExperiment", "read_experiment"]

Location = tuple[str | int, ...]
"""The way to a value: keys and list positions from the top of the file."""


@dataclass(frozen=True)
class ParsedExperiment:
    """An experiment, and every point of it in order."""

    experiment: Experiment
    points: tuple[Point, ...]


def read_experiment(path: Path) -> ParsedExperiment:
    """Read an experiment file and list its points.

    Raises
    ------
    InvalidExperimentError
        At the first mistake, by file, line and field.
    """
    document = read_document(path)
    try:
        experiment = Experiment.model_validate(document.data)
    except ValidationError as error:
        raise _explained(document, error) from None
    for position, topology in enumerate(experiment.topologies):
        _check_topology(document, ("topologies", position), topology, path.parent)
    for position, method in enumerate(experiment.methods):
        _check_method(document, ("methods", position), method)
    _check_collective(document, experiment)
    points = _distinct(document, _points(experiment, path.parent))
    _check_figures(document, experiment, points)
    return ParsedExperiment(experiment, points)


# --- what is wrong, in words ---------------------------------------------------------------------

_ENTRIES: Mapping[object, type[BaseModel]] = {
    "topologies": TopologyEntry,
    "methods": MethodEntry,
    "limits": LimitsEntry,
}


def _explained(document: Document, error: ValidationError) -> ForestCollError:
    """Turn pydantic's first complaint into ours; a misspelt key before what it leaves missing."""
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    location = _in_document(document, faults[0])
    return document.fault(location, _problem(faults[0], location))


def _problem(fault: ErrorDetails, location: Location) -> str:
    kind, found = fault["type"], reprlib.repr(fault["input"])
    if kind == "extra_forbidden":
        return f"is an unknown key; {nearest(location[-1], _keys(location))}"
    if kind == "literal_error":
        known = get_args(Experiment.model_fields[str(location[0])].annotation)
        return f"is {found}, an unknown value; {nearest(found, known)}"
    if kind == "missing":
        return "is missing; add it"
    if kind in ("model_type", "dict_type"):
        place = "" if location else "the file "
        return f"{place}holds no keys and values; write some here"
    if fault["input"] is None:
        return "has no value; add one"
    if kind == "value_error":
        return str(fault["ctx"]["error"])
    _subject, _, wish = fault["msg"].partition(" ")
    return f"is {found}; it {wish}"


def _in_document(document: Document, fault: ErrorDetails) -> Location:
    """Drop what pydantic adds for the branches of a union, which the file does not have."""
    location: Location = ()
    value: Any = document.data
    for part in fault["loc"]:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int)):
            location, value = (*location, part), value[part]
    return (*location, fault["loc"][-1]) if fault["type"] == "missing" else location


def _keys(location: Location) -> list[str]:
    """Return the keys that may stand where an unknown one does."""
    if len(location) == 1:
        entry: type[BaseModel] = Experiment
    else:
        entry = Range if "parameters" in location else _ENTRIES[location[0]]
    return [field.alias or name for name, field in entry.model_fields.items()]


def _check_topology(
    document: Document, location: Location, entry: TopologyEntry, folder: Path
) -> None:
    if entry.file is not None:
        _check_file(document, (*location, "file"), entry.file, folder)
        return
    if entry.family not in FAMILIES:
        hint = nearest(entry.family, FAMILIES)
        raise document.fault(
            (*location, "family"), f"is {entry.family!r}, an unknown family; {hint}"
        )
    known = {parameter.name: parameter for parameter in FAMILIES[entry.family].parameters}
    _check_parameters(document, location, entry.parameters, known)
    for name, parameter in known.items():
        if parameter.required and name not in entry.parameters:
            raise document.fault(
                (*location, "parameters"),
                f"lacks {name}, which {entry.family} needs: {parameter.type}",
            )
    for name, given in entry.parameters.items():
        for value in values_of(given):
            try:
                known[name].kind.read(text_of(value))
            except ValueError:
                raise document.fault(
                    (*location, "parameters", name),
                    f"is {text_of(value)!r}; it must be {known[name].type} ({known[name].help})",
                ) from None


def _check_file(document: Document, location: Location, file: str, folder: Path) -> None:
    """Read a topology file, so that what is wrong with it is known before anything runs."""
    if not (folder / file).is_file():
        raise document.fault(location, f"is {file!r}; there is no such file")
    try:
        read_topology(folder / file)
    except ForestCollError as error:
        raise document.fault(location, f"is no topology: {error}") from None


def _check_method(document: Document, location: Location, entry: MethodEntry) -> None:
    if is_reference(entry.name):
        known: Collection[str] = entry.parameters  # imported where it runs: its faults are rows
    elif entry.name in method_names():
        known = parameters_of(entry.name)
    else:
        raise document.fault(
            (*location, "name"),
            f"is {entry.name!r}, an unknown method; {nearest(entry.name, method_names())}, "
            f'or "module:function"',
        )
    _check_parameters(document, location, entry.parameters, known)
    for name, given in entry.parameters.items():
        for value in values_of(given):
            problem = refusal(entry.name, name, value)
            if problem:
                raise document.fault((*location, "parameters", name), problem)


def _check_collective(document: Document, experiment: Experiment) -> None:
    """Refuse a collective that no method claims; those that do not, beside others, give rows."""
    collective = experiment.collective
    if experiment.root is not None and collective not in ROOTED:
        raise document.fault(
            ("root",), f"is {experiment.root!r}, but {collective} has no root; remove it"
        )
    for position, entry in enumerate(experiment.methods):
        if collective in ROOTED and "root" in entry.parameters:
            raise document.fault(
                ("methods", position, "parameters", "root"),
                'is for this method alone; give "root" to the whole experiment instead',
            )
    known = {entry.name: claims(entry.name) for entry in experiment.methods}
    if all(done is not None and collective not in done for done in known.values()):
        claimed = "; ".join(f"{name} has {', '.join(done or ())}" for name, done in known.items())
        raise document.fault(
            ("collective",), f"is {collective!r}, which no method here does; {claimed}"
        )


def _check_parameters(
    document: Document, location: Location, given: Parameters, known: Collection[str]
) -> None:
    for name, sweep in given.items():
        place = (*location, "parameters", name)
        if name not in known:
            hint = nearest(name, known) if known else "it takes none"
            raise document.fault(place, f"is an unknown parameter; {hint}")
        texts = [text_of(value) for value in values_of(sweep)]
        if not texts:
            raise document.fault(place, "is an empty sweep; list a value")
        for position, text in enumerate(texts):
            if text in texts[:position]:
                raise document.fault(
                    (*place, position), f"is {text!r}, which is in the sweep twice; keep one"
                )


def _distinct(document: Document, points: Iterator[_Placed]) -> tuple[Point, ...]:
    """Return the points, none of which may be asked for by two entries."""
    seen: dict[str, _Placed] = {}
    for placed in points:
        point = placed.point
        if point.identity in seen:
            earlier = seen[point.identity]
            where = "methods" if placed.topology == earlier.topology else "topologies"
            position = placed.method if where == "methods" else placed.topology
            raise document.fault(
                (where, position),
                f"asks for {point.series!r} on {point.topology!r} again; remove one",
            )
        seen[point.identity] = placed
    return tuple(placed.point for placed in seen.values())


def _check_figures(document: Document, experiment: Experiment, points: tuple[Point, ...]) -> None:
    families = {entry.family for entry in experiment.topologies if entry.family is not None}
    parameters = {p.name for family in families for p in FAMILIES[family].parameters}
    parameters |= {name for entry in experiment.methods for name in entry.parameters}
    methods = len({point.series for point in points})
    asked = []
    for position, text in enumerate(experiment.figures):
        try:
            figure = parse_figure(text)
            check_figure(figure, parameters, methods, sized=bool(experiment.sizes))
        except InvalidExperimentError as error:
            raise document.fault(("figures", position), f"cannot be drawn: {error}") from None
        if figure in asked:
            raise document.fault(("figures", position), f"asks for {text!r} again; remove one")
        asked.append(figure)


# --- the points ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Placed:
    """A point, and the numbers of the entries that it comes from."""

    point: Point
    topology: int
    method: int


def _points(experiment: Experiment, folder: Path) -> Iterator[_Placed]:
    limits = Limits(experiment.limits.seconds, experiment.limits.memory_gb)
    for t, entry in enumerate(experiment.topologies):
        for topology in _swept(entry.parameters):
            cluster, name, source, digest = _named(entry, topology, folder)
            for m, method in enumerate(experiment.methods):
                for parameters in _swept(method.parameters):
                    for repetition in range(experiment.repetitions):
                        point = Point(
                            experiment=experiment.name,
                            collective=experiment.collective,
                            cluster=cluster,
                            topology=name,
                            source=source,
                            method=method.name,
                            parameters=parameters,
                            repetition=repetition,
                            limits=limits,
                            digest=digest,
                            root=_root(experiment),
                            sizes=tuple(experiment.sizes),
                        )
                        yield _Placed(point, t, m)


def _root(experiment: Experiment) -> str | int | None:
    """Return the root, the first GPU unless another is given, where the collective has one."""
    if experiment.collective not in ROOTED:
        return None
    return 0 if experiment.root is None else experiment.root


def _swept(parameters: Parameters) -> Iterator[dict[str, Value]]:
    """Yield every choice of one value from each sweep, the last sweep turning fastest."""
    choices = [values_of(sweep) for sweep in parameters.values()]
    for values in itertools.product(*choices):
        yield dict(zip(parameters, values, strict=True))


def _named(
    entry: TopologyEntry, parameters: Mapping[str, Value], folder: Path
) -> tuple[str, str, str, str]:
    """Return the cluster, the topology's name, where to load it from, and its digest."""
    if entry.file is not None:
        file = folder / entry.file
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return file.stem, entry.file, str(file.resolve()), digest
    family = FAMILIES[str(entry.family)]
    defaults = {p.name: p.default for p in family.parameters if not p.required}
    given = {
        p.name: p.read(text_of(parameters[p.name]), family.name)
        for p in family.parameters
        if p.name in parameters
    }
    specification = family.spec(defaults | given)
    return _cluster(family, given), specification, specification, ""


def _cluster(family: Family, given: Mapping[str, object]) -> str:
    """Name a family with the options that differ from their defaults, but without its sizes."""
    options = [
        f"{p.name}={p.kind.show(given[p.name])}"
        for p in family.parameters
        if p.name in given and not p.required and p.kind.show(given[p.name]) != p.default_text
    ]
    return f"{family.name}:{','.join(options)}" if options else family.name
