"""Tuning results as one document, and as files in a folder.

The folder has a file for each schedule that is best at some size, and index.json with the sizes of
each. Each file appears complete or not at all, the index after the schedules it names.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from baselines.registry import METHODS
from experiments.advice.tuning.exchanges import NAMES
from experiments.advice.tuning.schedule_search import AtSize, Trial
from experiments.advice.tuning.tuning import Tuning
from forestcoll.atomic_write import reason, write_text
from forestcoll.bounded_read import read_at_most
from forestcoll.cli.facts import as_json
from forestcoll.cli.output import SCHEDULES, expect_writable
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.schedule import write_schedule

__all__ = ["INDEX", "MOST_BYTES", "Folder", "document"]

INDEX = "index.json"
"""The index: which file is for which sizes."""

MOST_BYTES = 16_000_000
"""Size limit of an index: a thousand sizes with all their trials take some megabytes."""

_FORMAT, _VERSION = "forestcoll-tuning", 1
_FORESTS = re.compile(
    r"forest-((k[0-9]+|optimal-k|depth-[0-9]+)(-switches-copy)?|for-[0-9]+([kmgt]b)?)"
)


class Folder:
    """A folder of the best schedules found so far.

    Parameters
    ----------
    path : Path
        Created if missing; an index of ours and the schedules that it names are replaced.
    ending : str
        Of the schedule files: ".npz" or ".json".

    Raises
    ------
    ExportError
        If the folder cannot be created or written to, or holds foreign files of these names.
    InvalidParameterError
        If schedules cannot be written with this ending.
    """

    def __init__(self, path: Path, ending: str = ".npz") -> None:
        if ending not in SCHEDULES:
            known = " or ".join(SCHEDULES)
            raise InvalidParameterError(f"schedules are written as {known}, not as {ending}")
        if path.exists() and not path.is_dir():
            raise ExportError(f"{path}: is a file; name a folder")
        expect_writable(path / INDEX if path.is_dir() else path)
        self._old = _old_files(path)
        self.path = path
        self.files: dict[str, str] = {}
        self._ending = ending
        self._begun = False

    def keep(self, found: Tuning) -> None:
        """Write the schedules that ranges use and that are missing, then the index.

        When the search is complete, schedules that no range uses any more are deleted.
        """
        self._begin()
        used = {one.name for one in found.ranges}
        for name in sorted(used - self.files.keys()):
            schedule = found.candidate(name).schedule
            assert schedule is not None  # it was simulated
            file = _stem(name) + self._ending
            write_schedule(schedule, self.path / file)
            self.files[name] = file
        idle = set() if not found.complete else self.files.keys() - used
        dropped = [self.path / self.files.pop(name) for name in sorted(idle)]
        text = as_json(document(found, self.files)) + "\n"
        write_text(self.path / INDEX, text)
        for path in dropped:
            path.unlink(missing_ok=True)

    def _begin(self) -> None:
        """Create the folder; delete an old index and the files that it names."""
        if self._begun:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for file in (self.path / INDEX, *self._old):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise ExportError(f"{self.path}: cannot be written: {reason(error)}") from None
        self._begun = True


def _stem(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.replace("=", "").lower())


def _is_ours(stem: str) -> bool:
    return bool(_FORESTS.fullmatch(stem)) or stem in map(_stem, (*METHODS, *NAMES))


def _old_files(path: Path) -> list[Path]:
    """Return the schedules that an index of ours names; refuse foreign files of such names."""
    named = _named(path / INDEX)
    files = sorted(path.iterdir()) if path.is_dir() else []
    found = [one for one in files if one.suffix in SCHEDULES and _is_ours(one.stem)]
    for file in found:
        if file.is_dir():
            raise ExportError(
                f"{file}: is a directory where a schedule may go; name another folder"
            )
        if file.name not in named:
            raise ExportError(
                f"{file}: no {INDEX} here names this file, which may be replaced; move it away or "
                f"name another folder"
            )
    return found


def _named(index: Path) -> set[str]:
    """Return the schedule files that an index of ours names; none where there is no index."""
    if not index.exists():
        return set()
    try:
        found = json.loads(read_at_most(index, MOST_BYTES, ExportError))
        if found["format"] != _FORMAT:
            raise ValueError(found["format"])
        parts = ("ranges", "sizes", "candidates")
        return {one.get("file") for part in parts for one in found[part]} - {None}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ExportError(
            f"{index}: is not an index of forestcoll tune, which would replace it; move it away or "
            f"name another folder"
        ) from None


def document(
    found: Tuning, files: dict[str, str] | None = None, *, trials: bool = False
) -> dict[str, Any]:
    """Return the results as plain data for JSON; times are simulated, in microseconds.

    Parameters
    ----------
    files : dict, optional
        The names of the files of candidates, if there are any.
    trials : bool
        Whether to include the time of every candidate at every size.
    """
    files = files or {}
    model, rate = found.model, found.bounds.rate
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "complete": found.complete,
        "simulated": True,
        "topology": found.topology.name,
        "collective": found.collective,
        "gpus": found.topology.num_compute,
        "root": found.root,
        **_of_demand(found),
        "alpha_us": model.alpha,
        "gamma_s_per_gb": model.gamma,
        "sharing": str(model.sharing),
        "window": model.window,
        "chunk_cost_us": model.chunk_cost_us,
        "message_cost_us": model.message_cost_us,
        "bound": {
            "latency_us": found.bounds.latency_s * 1e6,
            "algbw_gb_s": None if rate is None else rate.algbw_gb_s,
            "by": None if rate is None else rate.by,
        },
        "ranges": [
            {
                "first_bytes": one.first_bytes,
                "last_bytes": one.last_bytes,
                "use": one.name,
                "file": files.get(one.name),
                "slower_than_the_best_by": one.slower,
                "least_share_of_the_bound": one.least_share,
                "least_pipeline_chunks": one.pipeline_chunks and one.pipeline_chunks[0],
                "most_pipeline_chunks": one.pipeline_chunks and one.pipeline_chunks[1],
                "by_plan": one.by_plan,
            }
            for one in found.ranges
        ],
        "sizes": [
            _at_size(at, files) | ({"trials": list(map(_trial, at.trials))} if trials else {})
            for at in found.sizes
        ],
        "candidates": [
            {
                "name": one.name,
                "file": files.get(one.name),
                "method": one.method,
                "parameters": dict(one.parameters),
                "tried": one.schedule is not None,
                "verified": one.schedule is not None,
                "transfers": one.transfers if one.schedule is not None else None,
                "steps": one.steps if one.schedule is not None else None,
                "note": one.note or None,
            }
            for one in found.candidates
        ],
    }


def _of_demand(found: Tuning) -> dict[str, Any]:
    demand = found.demand
    return {} if demand is None else {"demand": demand.name, "demand_bytes": demand.bytes}


def _at_size(at: AtSize, files: dict[str, str]) -> dict[str, Any]:
    return {
        "size_bytes": at.size_bytes,
        "asked": at.asked,
        "best": at.best.name,
        "file": files.get(at.best.name),
        "pipeline_chunks": at.pipeline_chunks,
        "by_plan": at.by_plan,
        "time_us": at.time_s * 1e6,
        "algbw_gb_s": at.algbw_gb_s,
        "bound_us": at.bound_s * 1e6,
        "share_of_the_bound": at.share,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    found = trial.simulation
    return {
        "name": trial.name,
        "time_us": None if found is None else found.time_s * 1e6,
        "pipeline_chunks": None if found is None else found.pipeline_chunks,
        "by_plan": None if found is None else found.by_plan,
        "at_least_us": trial.at_least_s * 1e6,
        "note": trial.note or None,
    }
