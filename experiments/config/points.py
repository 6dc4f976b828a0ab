"""A point: one method on one topology, once, under limits; and how it can end.

Imports the standard library only: the watchdog of a point imports this module first and must
start fast.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

__all__ = [
    "ROOTED", "Job", "Limits", "Point", "Simulate", "Status", "Value", "Weights", "assumed",
    "identity_of", "series",
]  # fmt: skip

ROOTED = ("broadcast", "reduce")
"""Collectives with a root."""

Value = str | int | float | bool
"""Type of the parameters of topology families and methods."""


Weights = Mapping[str, str | int] | Sequence[str | int]
"""Relative shard sizes, by GPU name or in the order of the ranks."""

Simulate = Mapping[str, str | int]
"""Assumptions of simulations: alpha_us, gamma_s_per_gb, constant_us, window, costs, sharing,
lockstep, chunks."""


class Status(StrEnum):
    """How a point ended."""

    OK = "ok"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a point."""

    # wall-clock limit, applied to the generation, to the checks and to the simulations each
    seconds: float
    memory_gb: float  # resident memory of the worker and its children, in GB (1e9 bytes)
    # whether a method that hit a limit skips larger networks of the same cluster
    once: bool = False


class Job(TypedDict):
    """The order for a worker.

    A root is a name or rank, weights are by name or in the order of the ranks, a group is as in
    :func:`forestcoll.topology.groups.members_from_text`, changes are as in a topology entry, sizes
    of the data are in bytes, and simulate has the assumptions of simulations.
    """

    source: str
    collective: str
    method: str
    parameters: dict[str, Value]
    seconds: float
    root: NotRequired[str | int]
    weights: NotRequired[Weights]
    group: NotRequired[str]
    changes: NotRequired[Mapping[str, Any]]
    sizes: NotRequired[list[int]]
    simulate: NotRequired[Simulate]
    train: NotRequired[Mapping[str, Value]]


@dataclass(frozen=True, slots=True)
class Point:
    """One run of an experiment."""

    experiment: str
    collective: str
    cluster: str  # name of its panel in figures: the family with the parameters that are not swept
    topology: str  # family specification, or the file name in the experiment
    source: str  # the specification again, or the path of the file on this machine
    method: str  # "forestcoll", a baseline, or "module:function"
    parameters: Mapping[str, Value]  # of the method
    repetition: int  # from 0
    limits: Limits
    digest: str = field(default="", repr=False)  # of a topology file's content; empty for a family
    root: str | int | None = None  # name or rank of the root of a broadcast or reduce
    sizes: tuple[int, ...] = ()  # data sizes in bytes, for measures that depend on the size
    weights: Weights | None = None  # relative shard sizes
    group: str | None = None  # the GPUs that take part
    # changes to the network (experiments.config.variations)
    changes: Mapping[str, Any] = field(default_factory=dict)
    # its number in the experiment, from 1, which orders tables and figures
    position: int | None = None
    simulate: Simulate | None = None  # assumptions of simulations; no simulation if not given
    train: Mapping[str, Value] = field(default_factory=dict)  # a model of training, if there is one
    train_swept: tuple[str, ...] = ()  # fields of it that vary in the experiment

    @property
    def series(self) -> str:
        """The method with its parameters."""
        return series(self.method, self.shown_parameters)

    @property
    def shown_parameters(self) -> dict[str, Value]:
        """The parameters of the method, and what varies in the model of training."""
        return {**self.parameters, **{name: self.train[name] for name in self.train_swept}}

    @property
    def simulated(self) -> str | None:
        """The assumptions of simulations as text; None without simulations."""
        return None if self.simulate is None else assumed(self.simulate)

    @property
    def job(self) -> Job:
        """The order for its worker."""
        job: Job = {
            "source": self.source,
            "collective": self.collective,
            "method": self.method,
            "parameters": dict(self.parameters),
            "seconds": self.limits.seconds,
        }
        if self.root is not None:
            job["root"] = self.root
        if self.weights is not None:
            job["weights"] = self.weights
        if self.group is not None:
            job["group"] = self.group
        if self.changes:
            job["changes"] = self.changes
        if self.sizes:
            job["sizes"] = list(self.sizes)
        if self.simulate is not None:
            job["simulate"] = self.simulate
        if self.train:
            job["train"] = self.train
        return job

    @property
    def identity(self) -> str:
        """Hash of the run, the same on every machine.

        The hash leaves out the limits, so that a finished point stays finished when they are
        raised; :func:`experiments.run.plan.is_done` reruns only points that hit them. It also
        leaves out the data sizes and the assumptions of simulations: neither changes the schedule.
        """
        what = {
            "experiment": self.experiment,
            "collective": self.collective,
            "topology": self.topology,
            "digest": self.digest,
            "method": self.method,
            "parameters": self.shown_parameters,
            "repetition": self.repetition,
            **({"train": dict(self.train)} if self.train else {}),
            **({} if self.root is None else {"root": self.root}),
            **({} if self.weights is None else {"weights": self.weights}),
            **({} if self.group is None else {"group": self.group}),
            **({"changes": self.changes} if self.changes else {}),
        }
        return _hash(what)


_IDENTIFYING = ("experiment", "collective", "topology", "method", "parameters", "repetition")


def identity_of(row: Mapping[str, Any]) -> str:
    """Return the identity of a point from its row, for an unchanged network from a family.

    Rows lack some of the data behind the identity of other points.
    """
    return _hash({"digest": "", **{name: row.get(name) for name in _IDENTIFYING}})


def _hash(what: Mapping[str, Any]) -> str:
    import hashlib  # loads OpenSSL; many commands only need the names of this module

    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def assumed(simulate: Simulate) -> str:
    """Format the assumptions of simulations, as in rows and figures.

    Examples
    --------
    >>> model = {"alpha_us": "9.5", "gamma_s_per_gb": 0, "sharing": "fair"}
    >>> assumed({**model, "pipeline_chunks": "best"})
    'alpha 9.5 us, fair sharing, best pipeline chunks'
    """
    gamma = str(simulate["gamma_s_per_gb"])
    added = "" if gamma == "0" else f", gamma {gamma} s/GB"
    constant = str(simulate.get("constant_us", 0))
    added += "" if constant == "0" else f", {constant} us a run"
    window = simulate.get("window", 1)
    added += "" if window == 1 else f", window {window}"
    for name, what in (("chunk_cost_us", "a pipeline chunk"), ("message_cost_us", "a transfer")):
        cost = str(simulate.get(name, 0))
        added += "" if cost == "0" else f", {cost} us {what}"
    held = ", in lockstep" if simulate.get("lockstep") else ""
    pipeline_chunks = (
        "1 pipeline chunk"
        if simulate["pipeline_chunks"] == 1
        else f"{simulate['pipeline_chunks']} pipeline chunks"
    )
    sharing = f"{simulate['sharing']} sharing"
    return f"alpha {simulate['alpha_us']} us{added}, {sharing}{held}, {pipeline_chunks}"


def series(method: str, parameters: Mapping[str, Value]) -> str:
    """Format a method with its parameters, as in figures and tables.

    Examples
    --------
    >>> series("multitree", {"unit": 2}), series("ring", {})
    ('multitree (unit=2)', 'ring')
    """
    given = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{method} ({given})" if given else method
