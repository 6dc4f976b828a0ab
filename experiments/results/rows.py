"""Crash-safe row files: the outcome of each point.

The file has one JSON object a line, appended and synced to disk as each point ends. If a kill or a
full disk cuts a line short, the next opening drops it. Earlier lines are never rewritten.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import os
import re
import reprlib
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, TypeAdapter, ValidationError

from experiments.config.points import Point, Status, Value, Weights, series
from experiments.measures.declared import EXACT, SIZED, Measures
from forestcoll.bounded_read import read_at_most
from forestcoll.errors import ForestCollError, InvalidExperimentError
from forestcoll.former_names import COLUMNS

__all__ = [
    "MOST_BYTES", "RARE", "Row", "RowFile", "Status", "latest", "read_rows", "with_current_columns",
]  # fmt: skip

MOST_BYTES = 512_000_000
"""Size limit of a file of rows: a hundred thousand of 5 kB; the largest stored one has 3 MB."""

_APPENDING = (
    os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
)  # O_NONBLOCK: opening a pipe must not block

RARE = (
    "position", "root", "weights", "group", "size_bytes", "sizes", "simulated", "unsimulated",
    "log", "stderr", "border_of_gpu_gb_s", "border_of_pair_gb_s", "border_of_box_gb_s",
    "box_traffic", "iteration_s", "computing_s", "visible_share", "visible_all_to_all_s",
    "visible_allreduce_s", "bucket_bytes", *SIZED,
)  # fmt: skip
"""Columns that are written only with a value: most experiments do not request them."""


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The run (:class:`experiments.config.points.Point`) and its outcome."""

    experiment: str
    point: str  # the identity of the point
    cluster: str
    topology: str
    collective: str
    method: str
    parameters: Mapping[str, Value]
    repetition: int
    status: Status
    reason: str = ""  # why, if the status is not ok
    gpus: int | None = None
    position: int | None = None  # in the experiment, from 1; rows of earlier versions have none
    root: str | None = None  # of a broadcast, reduce or allreduce
    weights: str | None = None  # relative shard sizes, as in the experiment
    group: str | None = None  # the process group, as in the experiment
    simulated: str | None = None  # assumptions of simulations, if requested
    unsimulated: str | None = None  # why requested simulations are missing
    size_bytes: int | None = None  # of the measures in ``sizes``, in a row of Row.by_size


@dataclass(frozen=True, kw_only=True)
class _Circumstances:
    """The circumstances of a run: limits, place and time."""

    limit_s: float
    limit_memory_gb: float
    wall_s: float | None = None  # of the whole process: imports, reading and checks included
    jobs: int | None = None  # points side by side on that machine; None on a cluster
    killed: bool = False  # by an outside event (kill -9, a lost machine); the next run repeats it
    versions: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, str | int] = field(default_factory=dict)
    commit: str | None = None
    time: str  # of the start (ISO 8601, UTC)
    log: str | None = None  # file with the standard error of a failed process, beside the rows
    stderr: str | None = None  # the same text, until it is in that file


@dataclass(frozen=True, kw_only=True)
class Row(_Circumstances, Measures, _Asked):  # dataclass fields start with those of the last base
    """One finished point: its run, its measures and its circumstances.

    None where a value was never reached.
    """

    # measures that depend on the data size, by size in bytes
    sizes: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict)

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        allow_inf_nan=False
    )  # JSON has no inf and nan

    def __post_init__(self) -> None:
        if self.ratio is not None and self.ratio > 1:
            raise ValueError(f"ratio is {self.ratio}; no schedule is faster than a bound")

    @property
    def series(self) -> str:
        """The method with its parameters, as figures and tables name it."""
        return series(self.method, self.parameters)

    @classmethod
    def of(cls, point: Point, columns: Mapping[str, Any]) -> Row:
        """Return the row of a point, with ``columns`` of its outcome, at least the status."""
        return cls(
            experiment=point.experiment,
            point=point.identity,
            cluster=point.cluster,
            topology=point.topology,
            collective=point.collective,
            method=point.method,
            parameters=point.shown_parameters,
            repetition=point.repetition,
            position=point.position,
            root=None if point.root is None else str(point.root),
            weights=None if point.weights is None else _as_text(point.weights),
            group=point.group,
            simulated=point.simulated,
            limit_s=point.limits.seconds,
            limit_memory_gb=point.limits.memory_gb,
            **{**columns, "status": Status(columns["status"])},
        )

    def by_size(self) -> list[Row]:
        """Return a row for each size of the data; the row itself if it has none."""
        return [
            dataclasses.replace(self, sizes={}, size_bytes=int(size), **values)  # type: ignore[arg-type]
            for size, values in self.sizes.items()
        ] or [self]

    def as_dict(self) -> dict[str, Any]:
        """Return the columns by name, in order; columns of :data:`RARE` only with a value."""
        columns = dataclasses.asdict(self)
        return {name: columns[name] for name in columns if name not in RARE or columns[name]}

    def to_json(self) -> str:
        """Return the row as one line of JSON."""
        return json.dumps(self.as_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> Row:
        """Parse a line; columns of a later version are ignored.

        Raises
        ------
        ValueError
            With the reason in a few words, if the line is not a row.
        """
        try:
            row = _format().validate_json(_with_current_names(line), strict=True)
        except ValidationError as error:
            raise ValueError(_problem(error)) from None
        for column in EXACT:
            exact = getattr(row, column)
            if exact is not None and not _EXACT.fullmatch(exact):
                raise ValueError(f"{reprlib.repr(exact)} is not an exact number such as 800/3")
        return row


_FORMER = re.compile("|".join(f'"{name}":' for name in COLUMNS))


def _with_current_names(line: str) -> str:
    """Return a line of an earlier version with the current names of its columns."""
    if not _FORMER.search(line):
        return line
    with contextlib.suppress(ValueError):  # the caller reports a faulty line with its place
        if isinstance(columns := json.loads(line), dict):
            return json.dumps(with_current_columns(columns))
    return line


def with_current_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns, as read from JSON, under their current names, also within ``sizes``."""
    new = {COLUMNS.get(name, name): value for name, value in columns.items()}
    if isinstance(sizes := new.get("sizes"), dict):
        new["sizes"] = {
            size: {COLUMNS.get(name, name): value for name, value in values.items()}
            for size, values in sizes.items()
            if isinstance(values, dict)
        }
    return new


def _as_text(weights: Weights) -> str:
    if isinstance(weights, Mapping):
        return ", ".join(f"{name}: {weight}" for name, weight in weights.items())
    return ", ".join(map(str, weights))


_EXACT = re.compile("[0-9]+(/[1-9][0-9]*)?")


@functools.cache
def _format() -> TypeAdapter[Row]:
    return TypeAdapter(Row)


def _problem(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    column = ".".join(map(str, fault["loc"][:1]))
    found = reprlib.repr(fault["input"])
    match fault["type"]:
        case "json_invalid":
            return "it is not JSON"
        case "enum":
            known = ", ".join(Status)
            return f"{column} is {found}, which is not of {known}; a later version may know it"
        case "missing":
            return f"{column} is missing"
        case _:
            _subject, _, wish = fault["msg"].partition(" ")
            return f"{column} is {found}; it {wish}".removeprefix(" ")


def latest(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the last row of each point, by its identity."""
    return {row.point: row for row in rows}


def read_rows(path: Path) -> list[Row]:
    """Read the finished rows of a file; a half-written last line is ignored.

    Raises
    ------
    InvalidExperimentError
        If the file cannot be read or a finished line is not a row.
    """
    content = read_at_most(path, MOST_BYTES, InvalidExperimentError, "split the experiment")
    whole, _, _ = content.rpartition(b"\n")
    rows = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            rows.append(Row.from_json(line.decode()))
        except ValueError as error:
            raise InvalidExperimentError(
                f"{path}, line {number}: not a row of results: {error}; "
                f"remove the line, or rerun with --fresh"
            ) from error
    return rows


class RowFile:
    """The rows of one experiment, open for appending; a context manager.

    Parameters
    ----------
    path : Path
        Created with its folder if missing.
    fresh : bool
        Start over: drop the existing rows.

    Raises
    ------
    InvalidExperimentError
        If another run holds the file, or it cannot be opened or read.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, _APPENDING, 0o644)
        except OSError as error:
            raise InvalidExperimentError(
                f"{path}: cannot open the rows for writing: {error.strerror}"
            ) from error
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise InvalidExperimentError(f"{path}: is not a regular file; name another folder")
            self._lock()
            self._repair(fresh)
            self.rows = read_rows(path)
        except InvalidExperimentError:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InvalidExperimentError(
                f"{self.path}: another run is writing these rows; wait for it, "
                f"or write elsewhere with --results"
            ) from error

    def _repair(self, fresh: bool) -> None:
        """Truncate the file after its last whole line."""
        keep = 0
        if not fresh:
            keep = read_at_most(self.path, MOST_BYTES, InvalidExperimentError).rfind(b"\n") + 1
        os.ftruncate(self._file, keep)
        os.fsync(self._file)
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)  # else a power failure may lose the name of a new file
        os.close(folder)

    def append(self, row: Row) -> None:
        """Append a row; it is on disk when this returns.

        Raises
        ------
        ForestCollError
            If it cannot be written (a full disk); then the file holds no part of it.
        """
        line = row.to_json().encode() + b"\n"
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes fit")
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):  # else the next run cuts it off
                os.ftruncate(self._file, before)
            raise ForestCollError(
                f"{self.path}: cannot write the row of {row.series} on {row.topology}: "
                f"{error.strerror or error}; make room and run again: finished rows are kept"
            ) from error
        self.rows.append(row)

    def close(self) -> None:
        """Close the file and release its lock."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
