"""A point: one method on one topology, once, under limits; and how it can end.

The process that keeps a point within its limits imports this module before all others: it needs
the standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

__all__ = [
    "ROOTED",
    "Job",
    "Limits",
    "Point",
    "Simulate",
    "Status",
    "Value",
    "Weights",
    "assumed",
    "identity_of",
    "series",
]

ROOTED = ("broadcast", "reduce")
"""Collectives with a root."""

Value = str | int | float | bool
"""What a parameter of a topology family or a method may be."""


Weights = Mapping[str, str | int] | Sequence[str | int]
"""How much data each GPU has, by name or in the order of the ranks."""

Simulate = Mapping[str, str | int]
"""Assumptions of simulations: alpha_us, gamma_s_per_gb, constant_us, sharing, lockstep, chunks."""


class Status(StrEnum):
    """How a point ended."""

    OK = "ok"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a point may use.

    Parameters
    ----------
    seconds : float
        Wall-clock time of the generation, again of the checks after it, and of simulations.
    memory_gb : float
        Resident memory of the worker and its children, in GB (1e9 bytes).
    once : bool
        Whether a method that has run into a limit is spared larger networks of the same cluster.
    """

    seconds: float
    memory_gb: float
    once: bool = False


class Job(TypedDict):
    """What a worker is told to do.

    A root is given by name or rank, weights by name or in the order of the ranks, a group in the
    words of :func:`forestcoll.topology.groups.members_from_text`, changes as in a topology entry;
    sizes, of the data, in bytes; simulate says what simulations assume.
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


@dataclass(frozen=True, slots=True)
class Point:
    """One run to make.

    Parameters
    ----------
    experiment, collective : str
    cluster : str
        The panel it is drawn in: the family with the parameters that are not swept.
    topology : str
        Family specification, or the file as the experiment names it.
    source : str
        What to load: the specification again, or where that file is on this machine.
    method : str
        "forestcoll", a baseline, or "module:function".
    parameters : mapping
        Of the method.
    repetition : int
        From 0.
    limits : Limits
    digest : str
        Of a topology file's content; empty for a family.
    root : str or int, optional
        Name or rank of the root of a broadcast or reduce.
    weights : list or mapping, optional
        How much data each GPU has.
    group : str, optional
        Who takes part.
    changes : mapping
        What is changed of the network (:mod:`experiments.config.variations`).
    position : int, optional
        In the experiment, from 1: where its row stands in tables and figures.
    sizes : tuple of int
        Of the data, in bytes, for measures that depend on it.
    simulate : mapping, optional
        What simulations assume; none are made if not given.
    """

    experiment: str
    collective: str
    cluster: str
    topology: str
    source: str
    method: str
    parameters: Mapping[str, Value]
    repetition: int
    limits: Limits
    digest: str = field(default="", repr=False)
    root: str | int | None = None
    sizes: tuple[int, ...] = ()
    weights: Weights | None = None
    group: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    position: int | None = None
    simulate: Simulate | None = None

    @property
    def series(self) -> str:
        """The method with its parameters."""
        return series(self.method, self.parameters)

    @property
    def simulated(self) -> str | None:
        """What simulations assume, in words; None if there are none."""
        return None if self.simulate is None else assumed(self.simulate)

    @property
    def job(self) -> Job:
        """What a worker needs to know of it."""
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
        return job

    @property
    def identity(self) -> str:
        """Hash of what is run: the same on every machine.

        The limits are left out, so that a finished point stays finished when they are raised;
        :func:`experiments.run.plan.is_done` reruns only those that had run into them. So are the
        sizes of the data and what simulations assume: they do not change the schedule.
        """
        what = {
            "experiment": self.experiment,
            "collective": self.collective,
            "topology": self.topology,
            "digest": self.digest,
            "method": self.method,
            "parameters": dict(self.parameters),
            "repetition": self.repetition,
            **({} if self.root is None else {"root": self.root}),
            **({} if self.weights is None else {"weights": self.weights}),
            **({} if self.group is None else {"group": self.group}),
            **({"changes": self.changes} if self.changes else {}),
        }
        return _hash(what)


_IDENTIFYING = ("experiment", "collective", "topology", "method", "parameters", "repetition")


def identity_of(row: Mapping[str, Any]) -> str:
    """Return the identity of a point of an unchanged network from a family, by its row.

    Rows do not hold all that the identity of other points depends on.
    """
    return _hash({"digest": "", **{name: row.get(name) for name in _IDENTIFYING}})


def _hash(what: Mapping[str, Any]) -> str:
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def assumed(simulate: Simulate) -> str:
    """Say what simulations assume, as rows and figures do.

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
    held = ", in lockstep" if simulate.get("lockstep") else ""
    pipeline_chunks = (
        "1 pipeline chunk"
        if simulate["pipeline_chunks"] == 1
        else f"{simulate['pipeline_chunks']} pipeline chunks"
    )
    sharing = f"{simulate['sharing']} sharing"
    return f"alpha {simulate['alpha_us']} us{added}, {sharing}{held}, {pipeline_chunks}"


def series(method: str, parameters: Mapping[str, Value]) -> str:
    """Name a method with its parameters, as figures and tables do.

    Examples
    --------
    >>> series("multitree", {"unit": 2}), series("ring", {})
    ('multitree (unit=2)', 'ring')
    """
    given = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{method} ({given})" if given else method
