"""Sweeps: every combination of one value from each sweep, in order."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.config.entries import (
    Experiment,
    MethodEntry,
    Parameters,
    TopologyEntry,
    text_of,
    values_of,
)
from experiments.config.points import ROOTED, Limits, Point, Simulate, Value
from experiments.config.variations import changes_text
from forestcoll.bounded_read import read_at_most
from forestcoll.errors import InvalidExperimentError
from forestcoll.topology import FAMILIES, Family
from forestcoll.topology.reading.whole_text import MOST_BYTES

__all__ = ["MOST_POINTS", "Placed", "count_of", "points_of"]

MOST_POINTS = 100_000
"""Limit of points in one experiment; a sweep of every parameter would never finish."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A point, and the numbers of the entries that it comes from."""

    point: Point
    topology: int
    method: int


def count_of(experiment: Experiment) -> int:
    """Return the number of points of an experiment, without making them."""
    topologies = sum(_choices(entry.parameters) for entry in experiment.topologies)
    methods = sum(_choices(_with_k(experiment, entry)) for entry in experiment.methods)
    return topologies * methods * len(_trained(experiment)) * experiment.repetitions


def _choices(parameters: Parameters) -> int:
    return math.prod(len(values_of(sweep)) for sweep in parameters.values())


def points_of(experiment: Experiment, folder: Path) -> Iterator[Placed]:
    """Yield every point of an experiment with valid entries.

    Parameters
    ----------
    folder : Path
        Folder of the experiment file; names of topology files are relative to it.
    """
    given = experiment.limits
    limits = Limits(given.seconds, given.memory_gb, given.once)
    for t, entry in enumerate(experiment.topologies):
        for topology in _swept(entry.parameters):
            cluster, name, source, digest = _named(entry, topology, folder)
            suffix = changes_text(entry.changes)
            for m, method in enumerate(experiment.methods):
                for parameters, train, repetition in itertools.product(
                    list(_swept(_with_k(experiment, method))),
                    _trained(experiment),
                    range(experiment.repetitions),
                ):
                    point = Point(
                        experiment=experiment.name,
                        collective=experiment.collective,
                        cluster=cluster + suffix,
                        topology=name + suffix,
                        source=source,
                        method=method.name,
                        parameters=parameters,
                        repetition=repetition,
                        limits=limits,
                        digest=digest,
                        root=_root(experiment),
                        sizes=tuple(experiment.sizes),
                        weights=experiment.weights,
                        group=experiment.group,
                        changes=entry.changes,
                        simulate=_simulate(experiment),
                        train=train,
                        train_swept=() if experiment.train is None else experiment.train.swept,
                    )
                    yield Placed(point, t, m)


def _trained(experiment: Experiment) -> list[dict[str, Value]]:
    """Return the models of training that each schedule meets; one that is empty for none."""
    return [{}] if experiment.train is None else experiment.train.every()


def _with_k(experiment: Experiment, entry: MethodEntry) -> Parameters:
    return entry.parameters if experiment.k is None else {"k": experiment.k, **entry.parameters}


def _root(experiment: Experiment) -> str | int | None:
    if experiment.collective not in ROOTED:
        return None
    return 0 if experiment.root is None else experiment.root


def _simulate(experiment: Experiment) -> Simulate | None:
    return None if experiment.simulate is None else experiment.simulate.model_dump()


def _swept(parameters: Parameters) -> Iterator[dict[str, Value]]:
    """Yield every combination of one value from each sweep; the last sweep varies fastest."""
    choices = [values_of(sweep) for sweep in parameters.values()]
    for values in itertools.product(*choices):
        yield dict(zip(parameters, values, strict=True))


def _named(
    entry: TopologyEntry, parameters: Mapping[str, Value], folder: Path
) -> tuple[str, str, str, str]:
    """Return the cluster, the topology's name, its source to load, and its digest."""
    if entry.file is not None:
        file = folder / entry.file
        digest = hashlib.sha256(read_at_most(file, MOST_BYTES, InvalidExperimentError)).hexdigest()
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
