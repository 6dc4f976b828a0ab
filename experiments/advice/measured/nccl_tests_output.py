"""Reader of the output of nccl-tests and rccl-tests, text or JSON.

Problem: which sizes took how long, on how many GPUs.
Input:   the text that ``all_reduce_perf`` and the other programs print, with what a launcher put
         around it; or the file of their option ``-J``.
Output:  a :class:`MeasuredRun`; of out-of-place and in-place, the faster time of each size.
Cost:    linear in the lines.
Source:  NVIDIA/nccl-tests, ``src/common.cu`` and PERFORMANCE.md. busbw over algbw is a factor that
         depends on the collective: it shows a run that was read as another collective.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.advice.expected import busbw_factor
from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.reading.documents import Document, parse_json

__all__ = ["MOST_BYTES", "MeasuredRun", "MeasuredSize", "read_nccl_tests"]

MOST_BYTES = 4_000_000
"""Limit of a file: the log of a launcher with a few thousand ranks."""

_LARGEST_BYTES = 10**15
_HEADER = re.compile(r"#\s+size\s+count\b.*\btime\b")
_DEVICE = re.compile(r"#\s+Rank\s+(\d+)\b")
_PROGRAM = re.compile(r"\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce)_perf\b")
_ROW = re.compile(r"\s*(?:\[[^\]]*\](?:<\w+>)?:?)?\s*(\d{1,16})\s+(\d{1,16})\s+(.*)")
_COLLECTIVES = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "reduce": "reduce",
}
_READ = ("time", "algbw", "busbw")
_WITHIN = 0.03
"""Relative difference of busbw / algbw that rounding to two decimals leaves, at 1 GB/s and more."""


@dataclass(frozen=True, slots=True)
class MeasuredSize:
    """The time of one size, and its algbw in GB/s."""

    size_bytes: int
    time_us: float

    @property
    def algbw_gb_s(self) -> float:
        """Size over time."""
        return self.size_bytes / self.time_us / 1000


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run of one program.

    Parameters
    ----------
    collective : str or None
        None if the file does not name the program.
    gpus : int or None
        None if the file lists no devices.
    sizes : tuple of MeasuredSize
        In ascending order.
    factor : float or None
        busbw over algbw at the fastest size; None if the file has no busbw of 1 GB/s or more.
    """

    collective: str | None
    gpus: int | None
    sizes: tuple[MeasuredSize, ...]
    factor: float | None

    @property
    def fastest(self) -> MeasuredSize:
        """The size of the greatest algbw."""
        return max(self.sizes, key=lambda one: one.algbw_gb_s)

    def expect(self, collective: str, gpus: int, source: str) -> None:
        """Check that the run is of a collective on so many GPUs.

        Raises
        ------
        InvalidParameterError
            If the file says otherwise, or the ratio of busbw to algbw does.
        """
        if self.collective is not None and self.collective != collective:
            raise InvalidParameterError(
                f"{source}: is of {self.collective}; give --collective {self.collective}"
            )
        if self.gpus is not None and self.gpus != gpus:
            raise InvalidParameterError(
                f"{source}: is of {self.gpus} GPUs, as it lists its ranks, and the network has "
                f"{gpus}; name the network of the run, or its GPUs with --group"
            )
        factor = float(busbw_factor(collective, gpus))
        if self.factor is not None and abs(self.factor / factor - 1) > _WITHIN:
            raise InvalidParameterError(
                f"{source}: busbw is {self.factor:.3g} times algbw, and {factor:.3g} times for "
                f"{collective} of {gpus} GPUs; give the collective and the network of the run"
            )


def read_nccl_tests(path: Path) -> MeasuredRun:
    """Read the output of one run.

    Raises
    ------
    InvalidParameterError
        If the file cannot be read, has no measured sizes, or those of several programs; in one
        line with the file and the line or field.
    """
    text = read_text_at_most(path, MOST_BYTES, InvalidParameterError, "cut out the table")
    if text.lstrip().startswith("{"):
        return _from_json(parse_json(text, str(path), InvalidParameterError))
    return _from_text(text, str(path))


def _from_text(text: str, source: str) -> MeasuredRun:
    ranks: set[int] = set()
    programs: set[str] = set()
    columns: list[str] = []
    rows: list[tuple[int, list[float]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := _DEVICE.search(line):
            ranks.add(int(match[1]))
        programs.update(_PROGRAM.findall(line))
        if match := _HEADER.search(line):
            columns = _columns(match[0].split()[1:] + line[match.end() :].split(), source, number)
        elif columns and (found := _ROW.fullmatch(line)):
            values = [found[1], found[2], *found[3].split()]
            rows.append((int(found[1]), [*_numbers(values, columns, f"{source}, line {number}")]))
    if not rows:
        raise InvalidParameterError(
            f"{source}: has no table of nccl-tests (a header `# size count ... time algbw busbw` "
            f"and rows); give the output of all_reduce_perf, or of its option -J"
        )
    if len(programs) > 1:
        names = ", ".join(sorted(programs))
        raise InvalidParameterError(f"{source}: has runs of several programs ({names}); give one")
    return _run(
        next((_COLLECTIVES[name] for name in programs), None), len(ranks) or None, rows, source
    )


def _columns(names: list[str], source: str, number: int) -> list[str]:
    """Check that a header has time, algbw and busbw, in this order, for each half of a row."""
    read = [name for name in names if name in _READ]
    if not read or read != list(_READ) * (len(read) // 3):
        raise InvalidParameterError(
            f"{source}, line {number}: the header has the columns {' '.join(read) or 'none'}; it "
            f"must have {' '.join(_READ)}, once or twice; the file may be cut off"
        )
    return names


def _numbers(values: list[str], columns: list[str], where: str) -> Iterator[float]:
    """Yield time, algbw and busbw of each half of a row; what is not measured is left out."""
    if len(values) < len(columns):
        raise InvalidParameterError(
            f"{where}: has {len(values)} values for {len(columns)} columns; the file may be cut off"
        )
    for place, name in enumerate(columns):
        if name not in _READ:
            continue
        try:
            yield math.nan if values[place] == "N/A" else float(values[place])
        except ValueError:
            raise InvalidParameterError(
                f"{where}: {name} is {values[place][:40]!r}; it must be a number"
            ) from None


def _from_json(document: Document) -> MeasuredRun:
    data = document.data
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(results, list) or not results:
        raise document.fault(("results",), "must be a list of measured sizes")
    rows = []
    for i, entry in enumerate(results):
        size = entry.get("size") if isinstance(entry, dict) else None
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise document.fault(("results", i, "size"), "must be a number of bytes")
        found: list[float] = []
        for half in ("out_of_place", "in_place"):
            values = entry.get(half)
            if isinstance(values, dict):
                found += [
                    _json_number(document, ("results", i, half, name), values)
                    for name in ("time", "alg_bw", "bus_bw")
                ]
        rows.append((size, found))
    config = data.get("config")
    devices = config.get("devices") if isinstance(config, dict) else None
    gpus = len(devices) if isinstance(devices, list) and devices else None
    named = _PROGRAM.search(str(data.get("test_name", "")) + str(data.get("args", ""))[:1000])
    return _run(_COLLECTIVES[named[1]] if named else None, gpus, rows, document.source)


def _json_number(
    document: Document, where: tuple[str | int, ...], values: Mapping[str, Any]
) -> float:
    value = values.get(str(where[-1]))
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise document.fault(where, "must be a number") from None


def _run(
    collective: str | None, gpus: int | None, rows: list[tuple[int, list[float]]], source: str
) -> MeasuredRun:
    """Keep the least time of every size; sizes of 0 bytes are latencies of nothing."""
    least: dict[int, float] = {}
    factor, fastest = None, 1.0
    for size, numbers in rows:
        for time_us, algbw, busbw in zip(*[iter(numbers)] * 3, strict=True):
            if not size or not math.isfinite(time_us) or time_us <= 0 or size > _LARGEST_BYTES:
                continue
            least[size] = min(time_us, least.get(size, math.inf))
            if math.isfinite(busbw) and algbw >= fastest:
                factor, fastest = busbw / algbw, algbw
    if not least:
        raise InvalidParameterError(f"{source}: has no size with a time above 0")
    sizes = tuple(MeasuredSize(size, least[size]) for size in sorted(least))
    return MeasuredRun(collective, gpus, sizes, factor)
