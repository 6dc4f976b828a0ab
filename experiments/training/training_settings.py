"""Training of an experiment: what its points model, from plain data.

Problem: an experiment file says which model is trained, and how; a point has one of each.
Input:   values of the field ``train`` of an experiment.
Output:  settings that run an iteration on the network of a point.
Cost:    that of the iteration.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from baselines.interface.method import Schedule
from experiments.training.communication import OnNetwork
from experiments.training.iteration import PARALLEL, Iteration, iteration
from experiments.training.known_models import Compute, layers_of, model_named
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import read_size
from forestcoll.schedule.simulate import AlphaBeta

__all__ = ["BEST", "TrainingSettings"]

BEST = "best"
"""The bucket of those tried with which an iteration is shortest."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """What is trained, and how.

    Parameters
    ----------
    model : str
        The name of a known model.
    parallel : str
        One of PARALLEL.
    compute : Compute
    bucket_bytes : int, optional
        The best one if not given.
    latencies : AlphaBeta
    """

    model: str
    parallel: str
    compute: Compute
    bucket_bytes: int | None
    latencies: AlphaBeta

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read plain data.

        Raises
        ------
        InvalidParameterError
            If a value is unknown or out of range.
        """
        model_named(given["model"])
        if given["parallel"] not in PARALLEL:
            raise InvalidParameterError(
                f"parallel is {given['parallel']!r}; it must be one of {', '.join(PARALLEL)}"
            )
        compute = Compute(
            int(given["tokens"]),
            int(given["context"]),
            float(given["flops"]),
            float(given["utilisation"]),
            int(given["bytes_each"]),
            bool(given["recompute"]),
        )
        latencies = AlphaBeta(alpha_us=given["alpha_us"], lockstep=bool(given["lockstep"]))
        return cls(given["model"], given["parallel"], compute, _bucket(given), latencies)

    def run(
        self,
        schedule: Schedule,
        method: str,
        parameters: Mapping[str, Any],
    ) -> Iteration:
        """Run an iteration on the network of a verified schedule; other collectives are made."""
        seconds_of = OnNetwork(
            schedule.topology, method, self.latencies, parameters, {schedule.collective: schedule}
        )
        layers = layers_of(model_named(self.model), self.compute)
        return iteration(layers, self.parallel, seconds_of, bucket_bytes=self.bucket_bytes)


def _bucket(given: Mapping[str, Any]) -> int | None:
    if given["bucket"] == BEST:
        return None
    try:
        return read_size(given["bucket"])
    except ValueError as error:
        raise InvalidParameterError(f"bucket {error}") from None
