"""Experiment files: reading one and checking it.

Every key is checked. The error of a mistake is one line with the file, the line, the field and the
nearest valid word.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from baselines.interface.supported import GATHERING
from experiments.config.document import Document, nearest, read_document
from experiments.config.entries import (
    Experiment,
    MethodEntry,
    Parameters,
    Sweep,
    TopologyEntry,
    text_of,
    values_of,
)
from experiments.config.faults import Location, explained
from experiments.config.figure_options import check_figure, parse_figure
from experiments.config.kinds import is_function
from experiments.config.methods import claims, is_reference, method_names, parameters_of, refusal
from experiments.config.own_functions import missing
from experiments.config.points import ROOTED, Point
from experiments.config.sweeps import MOST_POINTS, Placed, count_of, points_of
from experiments.config.variations import changed
from forestcoll.errors import ForestCollError, InvalidExperimentError
from forestcoll.former_names import PARAMETERS, SIMULATION, renamed
from forestcoll.problem.options import check_k
from forestcoll.problem.weights import whole_weights
from forestcoll.topology import FAMILIES, group, load_topology, members_from_text, read_topology

__all__ = ["Experiment", "ParsedExperiment", "read_experiment"]


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
        experiment = Experiment.model_validate(_with_current_names(document.data))
    except ValidationError as error:
        raise explained(document, error) from None
    for position, topology in enumerate(experiment.topologies):
        _check_topology(document, ("topologies", position), topology, path.parent)
    for position, method in enumerate(experiment.methods):
        _check_method(document, ("methods", position), method)
    _check_collective(document, experiment)
    _check_count(document, experiment)
    placed = _distinct(document, points_of(experiment, path.parent))
    _check_networks(document, placed)
    points = tuple(replace(one.point, position=n) for n, one in enumerate(placed, start=1))
    _check_figures(document, experiment, points)
    return ParsedExperiment(experiment, points)


def _with_current_names(data: object) -> object:
    """Replace former names of parameters in a file's data; other faults stay for later checks."""
    if not isinstance(data, dict):
        return data
    data = dict(data)
    if isinstance(simulate := data.get("simulate"), dict):
        data["simulate"] = renamed(simulate, SIMULATION)
    if isinstance(methods := data.get("methods"), list):
        data["methods"] = [_method_with_current_names(method) for method in methods]
    return data


def _method_with_current_names(method: object) -> object:
    if not isinstance(method, dict) or not isinstance(method.get("parameters"), dict):
        return method
    if ":" in str(method.get("name")):
        return method  # a user's own function may have parameters of any name
    return {**method, "parameters": renamed(method["parameters"], PARAMETERS)}


def _check_count(document: Document, experiment: Experiment) -> None:
    if (count := count_of(experiment)) > MOST_POINTS:
        raise document.fault(
            (), f"has {count} points; at most {MOST_POINTS} are allowed, so split it"
        )


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
            except ForestCollError as error:
                raise document.fault(
                    (*location, "parameters", name), f"is {text_of(value)!r}: {error}"
                ) from None


def _check_file(document: Document, location: Location, file: str, folder: Path) -> None:
    """Read a topology file, so that its faults are known before anything runs."""
    if not (folder / file).is_file():
        raise document.fault(location, f"is {file!r}; there is no such file")
    try:
        read_topology(folder / file)
    except ForestCollError as error:
        raise document.fault(location, f"is not a topology: {error}") from None


def _check_method(document: Document, location: Location, entry: MethodEntry) -> None:
    if is_reference(entry.name):
        known: Collection[str] = (
            entry.parameters
        )  # unknown until it runs; its rows report a refusal
        if problem := missing(entry.name):
            raise document.fault((*location, "name"), f"is {entry.name!r}, {problem}")
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
    """Refuse a collective that no method claims; if some methods claim it, the others give rows."""
    collective = experiment.collective
    _check_options(document, experiment)
    known = {entry.name: claims(entry.name) for entry in experiment.methods}
    if all(done is not None and collective not in done for done in known.values()):
        claimed = "; ".join(f"{name} has {', '.join(done or ())}" for name, done in known.items())
        raise document.fault(
            ("collective",), f"is {collective!r}, which no method here does; {claimed}"
        )


def _check_options(document: Document, experiment: Experiment) -> None:
    """Refuse a root, weights or k that the collective lacks or that a method sets itself."""
    collective, root = experiment.collective, experiment.root
    if root is not None and collective not in (*ROOTED, "allreduce"):
        raise document.fault(("root",), f"is {root!r}, but {collective} has no root; remove it")
    if experiment.weights is not None and collective not in GATHERING:
        raise document.fault(("weights",), f"is there, but {collective} has none; remove it")
    if experiment.weights is not None and root is not None:
        raise document.fault(("weights",), 'is there beside "root"; keep one of them')
    if experiment.simulate is not None and not experiment.sizes:
        raise document.fault(
            ("simulate",), "is there without sizes; add some, such as sizes: [1MB..1GB]"
        )
    if experiment.k is not None:
        _check_k(document, experiment.k)
    for_all = {"k"} if experiment.k is not None else set()
    for_all |= {"root"} if collective in ROOTED or root is not None else set()
    for position, entry in enumerate(experiment.methods):
        for name in for_all & entry.parameters.keys():
            raise document.fault(
                ("methods", position, "parameters", name),
                f'is for this method alone; give "{name}" to the whole experiment instead',
            )


def _check_k(document: Document, sweep: Sweep) -> None:
    values = values_of(sweep)
    if not values or len(set(map(text_of, values))) < len(values):
        raise document.fault(("k",), "is an empty sweep, or has a value twice; list each once")
    for value in values:
        try:
            check_k(value)  # type: ignore[arg-type]  # the check is of the type
        except ForestCollError as error:
            raise document.fault(("k",), str(error).removeprefix("k ")) from None


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


def _distinct(document: Document, points: Iterator[Placed]) -> tuple[Placed, ...]:
    """Return the points; refuse a point that two entries define."""
    seen: dict[str, Placed] = {}
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
    return tuple(seen.values())


def _check_networks(document: Document, placed: Iterable[Placed]) -> None:
    """Build each changed network and each one with named GPUs: refuse names that do not exist."""
    for one in {each.point.topology: each for each in placed}.values():
        point = one.point
        if not point.changes and point.group is None and point.weights is None:
            continue
        with _at(document, ("topologies", one.topology), "gives no network"):
            network = load_topology(point.source)
        with _at(document, ("topologies", one.topology), "cannot be changed so"):
            network = changed(network, point.changes)
        with _at(document, ("group",), f"is {point.group!r}"):
            if point.group is not None:
                network = group(network, members_from_text(network, point.group))
        with _at(document, ("weights",), "cannot be"):
            whole_weights(network, point.weights)


@contextmanager
def _at(document: Document, location: Location, what: str) -> Iterator[None]:
    try:
        yield
    except ForestCollError as error:
        raise document.fault(location, f"{what}: {error}") from None


def _check_figures(document: Document, experiment: Experiment, points: tuple[Point, ...]) -> None:
    families = {entry.family for entry in experiment.topologies if entry.family is not None}
    parameters = {p.name for family in families for p in FAMILIES[family].parameters}
    parameters |= {name for entry in experiment.methods for name in entry.parameters}
    parameters |= set() if experiment.k is None else {"k"}
    parameters |= set() if experiment.train is None else set(experiment.train.swept)
    methods = len({point.series for point in points})
    asked = []
    for position, text in enumerate(experiment.figures):
        try:
            figure = parse_figure(text)
            if is_function(figure.kind) and (problem := missing(figure.kind)):
                raise InvalidExperimentError(f"it is {figure.kind!r}, {problem}")
            check_figure(figure, parameters, methods, sizes=len(experiment.sizes))
            if figure.simulated and experiment.simulate is None:
                raise InvalidExperimentError(
                    f"{figure.kind}: there are no simulations; add simulate: {{alpha_us: 10}}"
                )
        except InvalidExperimentError as error:
            raise document.fault(("figures", position), f"cannot be drawn: {error}") from None
        if figure in asked:
            raise document.fault(("figures", position), f"asks for {text!r} again; remove one")
        asked.append(figure)
