"""Worker: the process of one point, which loads, generates, verifies and measures.

Forked by :mod:`experiments.run.watchdog`. Events go to a pipe of their own, one JSON object a line,
so that prints of a method cannot mix with them. An event may hold ``phase`` ("generate", "check" or
"simulate"), ``stage`` (of a method), and ``fields`` (columns of the row).

Expected errors become a status here. All others end the process with a traceback, and the watchdog
makes the row of a failure. Both kinds of traceback go into a log.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baselines.interface.method import Schedule
from baselines.interface.schedule_asked_for import check_asked_for, weights_of
from baselines.interface.search import Report, Search
from baselines.registry import METHODS
from experiments.config.methods import run_method
from experiments.config.points import Job, Status
from experiments.config.variations import network_of
from experiments.measures.run_result import RunResult, measured, simulated
from experiments.measures.simulated import Assumptions
from experiments.training.iteration import Iteration
from experiments.training.training_settings import TrainingSettings
from forestcoll.errors import ForestCollError, TimeLimitError, UnsupportedError, VerificationError
from forestcoll.problem.weights import weights_for, whole_weights
from forestcoll.schedule import StepSchedule, verify
from forestcoll.topology import Topology

__all__ = ["run_job", "work"]

_OPEN = ("optimal", "feasible", "open")
"""Final states of a search, the most certain first."""

_ON_FIRST_USE = ("numpy.ma", "numpy.random")
"""Parts that numpy imports on first use, as in ``np.unique``; no method's time counts that."""

Tell = Callable[[dict[str, Any]], None]


def work(job: Job, tell: Tell) -> None:
    """Run one point and send its events, the status last."""
    try:
        topology = network_of(job["source"], job.get("changes", {}), job.get("group"))
        tell({"fields": {"gpus": topology.num_compute}, "phase": "generate"})
        root, weights = _rank_of_root(job, topology), _whole_weights(job, topology)
        schedule = _generate(job, topology, tell)
        tell({"phase": "check"})
        check_asked_for(schedule, topology, job["collective"], weights)
        assumed = Assumptions.of(job["simulate"]) if "simulate" in job else None
        trained = _trained(job, schedule) if "train" in job else None
        made = RunResult(schedule, topology, job["collective"], root, weights, assumed, trained)
        fields = _checked(schedule, made, job)
        tell({"fields": fields})
        if assumed is not None:
            tell({"phase": "simulate"})
            for found in simulated(made, fields["sizes"]):
                tell({"fields": found})
    except UnsupportedError as error:
        tell(_ending(Status.UNSUPPORTED, str(error)))
    except TimeLimitError as error:
        tell(_ending(Status.TIMEOUT, str(error)))
    except MemoryError as error:
        tell(_ending(Status.OUT_OF_MEMORY, f"an allocation was refused: {error}".rstrip(": ")))
    except VerificationError as error:
        traceback.print_exc()
        tell({"fields": {"verified": False}})
        tell(_ending(Status.FAILED, f"VerificationError: {error}"))
    except ForestCollError as error:
        traceback.print_exc()
        tell(_ending(Status.FAILED, f"{type(error).__name__}: {error}"))
    else:
        tell(_ending(Status.OK, ""))


def _ending(status: Status, reason: str) -> dict[str, Any]:
    return {"fields": {"status": str(status), "reason": reason}}


def _generate(job: Job, topology: Topology, tell: Tell) -> Schedule:
    if job["method"] in METHODS:
        METHODS[job["method"]].load_libraries()
    for module in _ON_FIRST_USE:
        importlib.import_module(module)
    began = time.perf_counter()
    schedule, stages = run_method(
        job["method"],
        topology,
        job["collective"],
        job["parameters"],
        job["seconds"],
        lambda stage: tell({"stage": stage}),
        report=_recorder(tell),
        root=job.get("root"),
        weights=job.get("weights"),
    )
    seconds = time.perf_counter() - began
    fields = {"generation_s": seconds, "stages_s": dict(stages), "peak_memory_mb": peak_memory_mb()}
    tell({"fields": fields})
    return schedule


def _trained(job: Job, schedule: Schedule) -> Callable[[], Iteration]:
    settings = TrainingSettings.of(job["train"])
    return lambda: settings.run(schedule, job["method"], job["parameters"])


def _recorder(tell: Tell) -> Report:
    """Record the state of a search, so that the row has it even if the search is stopped."""
    searches: dict[str, dict[str, Any]] = {}

    def record(search: Search) -> None:
        searches[search.stage] = search.as_facts()
        worst = max(searches.values(), key=lambda known: _OPEN.index(known["status"]))
        columns = {name: worst[name] for name in ("incumbent", "bound", "gap")}
        found = {"search_status": worst["status"], **columns, "searches": searches}
        tell({"fields": found})

    return record


def _rank_of_root(job: Job, topology: Topology) -> int | None:
    if "root" not in job:
        return None
    return weights_for(topology, job["collective"], root=job["root"]).index(1)


def _whole_weights(job: Job, topology: Topology) -> tuple[int, ...] | None:
    return whole_weights(topology, job["weights"]) if "weights" in job else None


def _rooted_at(schedule: Schedule) -> set[int]:
    if isinstance(schedule, StepSchedule):
        return set(schedule.chunks.root.tolist())
    return {rank for weights in weights_of(schedule) for rank, w in enumerate(weights) if w}


def _checked(schedule: Schedule, made: RunResult, job: Job) -> dict[str, Any]:
    root = made.root
    in_parts = isinstance(schedule, StepSchedule) and schedule.collective == "allreduce"
    if root is not None and not in_parts and _rooted_at(schedule) != {root}:
        found = ", ".join(map(str, sorted(_rooted_at(schedule))))
        raise VerificationError(f"the schedule is rooted at rank {found}; rank {root} was due")
    verify(schedule)
    return measured(made, job.get("sizes", ()))


def peak_memory_mb() -> float:
    """Return the largest resident memory of this process so far, in MB (1e6 bytes)."""
    try:
        # getrusage would include the parent's memory at the fork; VmHWM does not. psutil has no
        # peak on Linux.
        status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        kilobytes = peak // 1024 if sys.platform == "darwin" else peak
    return round(kilobytes * 1024 / 1e6, 1)


def run_job(job: Job, events: int) -> None:
    """Run a job; events go to a file descriptor."""
    worker = os.getpid()
    with os.fdopen(events, "w", encoding="utf-8") as file:

        def tell(event: dict[str, Any]) -> None:
            if os.getpid() != worker:
                os._exit(0)  # a fork that the method left behind must not send events
            file.write(json.dumps(event) + "\n")
            file.flush()

        work(job, tell)
