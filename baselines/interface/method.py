"""Common interface of a baseline: its name, its parameters and how it runs."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from baselines.interface.parameters import as_taken, complaint
from baselines.interface.search import Report
from baselines.interface.supported import check_supported
from forestcoll.errors import InvalidParameterError, did_you_mean
from forestcoll.extras import missing
from forestcoll.former_names import PARAMETERS, renamed
from forestcoll.problem.limits import Limits
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology

__all__ = ["Method", "Schedule"]

Schedule = (
    Forest
    | Allreduce[Forest]
    | StepSchedule
    | FlowSchedule
    | MulticastForest
    | Allreduce[MulticastForest]
    | FactoredForest
    | Allreduce[FactoredForest]
)
"""Types of schedules that a method can make."""

_OF_THE_CALL = ("topology", "collective", "limits", "report")


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make schedules for a topology.

    Parameters
    ----------
    name : str
        Its name in experiments, in results, and in the field ``method`` of its schedules.
    summary : str
        One line on how it works.
    source : str
        The paper or library that it reimplements.
    generate : callable
        Called as ``generate(topology, collective, **parameters)``, with ``limits=`` if it searches
        and ``report=`` if it reports the search. Returns a schedule, or raises UnsupportedError.
    collectives : tuple of str
        Supported collectives; the first is the default.
    notes : str
        Differences from the source, and omissions.
    noted : callable
        Whether the notes are of a network; they are of all if not given.
    libraries : tuple of str
        Modules that it imports on first use, which takes up to 1 s. Time measurements import them
        beforehand.
    """

    name: str
    summary: str
    source: str
    generate: Callable[..., Schedule] = field(repr=False)
    collectives: tuple[str, ...]
    notes: str = ""
    libraries: tuple[str, ...] = ()
    noted: Callable[[Topology], bool] | None = field(default=None, repr=False)

    def notes_on(self, topology: Topology) -> str:
        """Return the notes as far as they are of a network."""
        return self.notes if self.noted is None or self.noted(topology) else ""

    def load_libraries(self) -> None:
        """Import the modules that would be imported on first use.

        Raises
        ------
        MissingPackageError
            If a module belongs to an extra that is not installed.
        """
        try:
            for module in self.libraries:
                importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise missing(error, self.name) or error from None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, without the topology, collective, limits and report."""
        names = inspect.signature(self.generate).parameters
        return tuple(name for name in names if name not in _OF_THE_CALL)

    def run(
        self,
        topology: Network,
        collective: str | None = None,
        parameters: Mapping[str, Any] = MappingProxyType({}),
        limits: Limits | None = None,
        report: Report | None = None,
    ) -> Schedule:
        """Make a schedule.

        Parameters
        ----------
        collective : str, optional
            The method's default if not given; with a demand an all-to-all.
        limits : Limits, optional
            For a method that searches.
        report : callable, optional
            For a method that reports its search.

        Raises
        ------
        UnsupportedError
            If the method does not support this collective or topology; the message says why.
        InvalidParameterError
            If the method has no such parameter, or a value of another kind or out of its range.
        TimeLimitError
            If the time is up and there is nothing to return.
        """
        if collective is None:
            demanded = parameters.get("demand") is not None and "demand" in self.parameters
            collective = "all-to-all" if demanded else self.collectives[0]
        check_supported(self.name, collective, self.collectives)
        parameters = renamed(parameters, PARAMETERS)
        if unknown := sorted(set(parameters) - set(self.parameters)):
            known = ", ".join(self.parameters) or "none"
            hint = did_you_mean(unknown[0], self.parameters, f"it has: {known}")
            raise InvalidParameterError(f"{self.name} has no parameter {unknown[0]!r}; {hint}")
        for parameter, value in parameters.items():
            if problem := complaint(self.generate, parameter, value):
                raise InvalidParameterError(f"{self.name}: {parameter} {problem}")
        asked = {name: as_taken(self.generate, name, value) for name, value in parameters.items()}
        takes = inspect.signature(self.generate).parameters
        given = {"limits": limits, "report": report}
        extra = {n: value for n, value in given.items() if value is not None and n in takes}
        return self.generate(as_topology(topology), collective, **asked, **extra)
