"""Rates of today's machines: whole, with a dead part, and with fewer GPUs, for every collective.

``python -m experiments.machines.machine_rates [NAME...]`` measures, prints and stores the rows of
all machines, or of some, in results/machines/rates.csv.
"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from experiments.advice.expected import ALL

__all__ = ["ROWS", "STUDIED", "RateRow", "Studied", "measured", "read_rows", "write_rows"]

ROWS = Path(__file__).parents[2] / "results" / "machines" / "rates.csv"

WHOLE, DEAD, FEWER = "whole", "a part dead", "fewer GPUs"


@dataclass(frozen=True, slots=True)
class Studied:
    """A machine and its states.

    Parameters
    ----------
    spec : str
        The whole machine.
    dead : str
        The part that dies: a NIC, a plane or a link; empty if the rest would fall apart.
    fewer : str
        The machine with fewer GPUs; empty if it has no fewer.
    """

    spec: str
    dead: str
    fewer: str

    def states(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the names of the states, each with the words that tell a command its network."""
        yield WHOLE, (self.spec,)
        if self.dead:
            yield DEAD, (self.spec, "--without", self.dead)
        if self.fewer:
            yield FEWER, (self.fewer,)


def _boxes(*names: str, dead: str = "b0.gpu0 - ib") -> tuple[Studied, ...]:
    """Two boxes, a dead NIC, and four GPUs of each box."""
    return tuple(
        Studied(f"{name}:boxes=2", dead, f"{name}:boxes=2,gpus_per_box=4") for name in names
    )


_RAILS = "dgx_h100:boxes=4,fabric=rails:spines=2"
_LEAVES = "hgx_b200:boxes=4,fabric=(leaf-spine:leaves=2,spines=2,oversubscription=2)"

STUDIED: tuple[Studied, ...] = (
    Studied("dgx_a100:boxes=2", "b0.gpu0 - ib", ""),
    Studied("dgx_h100:boxes=2", "b0.gpu0 - ib", ""),
    *_boxes("hgx_h200", "hgx_b200", "hgx_b300"),
    Studied("hgx_a800:boxes=2", "b0.nic0 - ib", ""),
    Studied("gb200_nvl72", "b0.nvswitch0", "gb200_nvl72:gpus_per_rack=64"),
    Studied("gb200_nvl72:racks=2", "b0.gpu0 - ib", "gb200_nvl72:racks=2,gpus_per_rack=64"),
    Studied("gb300_nvl72:racks=2", "b0.nvswitch0", "gb300_nvl72:racks=2,gpus_per_rack=64"),
    Studied("gb200_nvl72:racks=4", "b0.gpu0 - ib", "gb200_nvl72:racks=4,gpus_per_rack=64"),
    Studied("gb300_nvl72:racks=4", "b0.nvswitch0", "gb300_nvl72:racks=4,gpus_per_rack=64"),
    Studied("vr_nvl144", "b0.gpu0 - b0.nvswitch0", "vr_nvl144:gpus_per_rack=64"),
    Studied("mi250:boxes=2", "b0.gpu0 - ib", "mi250:boxes=2,gpus_per_box=8"),
    *_boxes("mi300x", "mi325x", "mi355x", "gaudi3"),
    *_boxes("a100_pcie", "h100_pcie", dead="b0.gpu0 - b0.gpu1"),
    *_boxes("l40s", "rtx_pro_6000", "rtx_4090", "rtx_5090", dead="b0.socket0 - ib"),
    Studied("dgx_spark", "", ""),
    Studied("tpu_v4:dims=4x4x4", "gpu0.0.0 - gpu0.0.1", "tpu_v4:dims=2x4x4"),
    Studied("tpu_v5p:dims=4x4x4", "gpu0.0.0 - gpu0.0.1", "tpu_v5p:dims=2x4x4"),
    Studied("tpu_v5e:dims=8x16", "gpu0.0 - gpu0.1", "tpu_v5e:dims=8x8"),
    Studied("tpu_v6e:dims=8x8", "gpu0.0 - gpu0.1", "tpu_v6e:dims=4x8"),
    Studied("trn2", "b0.gpu0 - b0.gpu1", ""),
    Studied("trn2_ultraserver", "b0.gpu0 - b0.gpu1", ""),
    *_boxes("aws_p4d", dead="b0.nic0 - ib"),
    *_boxes("aws_p5", "aws_p5en"),
    *_boxes("gcp_a3_high", dead="b0.nic0 - ib"),
    *_boxes("gcp_a3_mega", "gcp_a3_ultra", "gcp_a4"),
    *_boxes("azure_nd_a100_v4", "azure_nd_h100_v5", "azure_nd_mi300x_v5", "oci_h100"),
    Studied("dgx1", "b0.gpu0 - b0.gpu1", ""),
    Studied(_RAILS, "b0.gpu0 - rail0", ""),
    Studied(_LEAVES, "leaf0 - spine0", f"{_LEAVES},gpus_per_box=4"),
)
"""The machines of the table, with one part of each that dies."""


@dataclass(frozen=True, slots=True)
class RateRow:
    """One collective on one machine in one state; rates in GB/s, empty where there is none."""

    machine: str
    state: str
    gpus: int
    collective: str
    bound_algbw_gb_s: str  # of any schedule, whatever its switches can do
    forestcoll_algbw_gb_s: str  # of the best schedule of the toolkit
    nccl_algbw_gb_s: str  # of the best of NCCL's methods
    nccl: str  # which one that is
    cpu_s: str


def measured(studied: Iterable[Studied], collectives: Sequence[str] = ALL) -> Iterator[RateRow]:
    """Yield a row for each machine, state and collective.

    The seconds are the CPU time of the whole command ``forestcoll expected``, from the start of
    Python to the printed answer.

    Raises
    ------
    subprocess.CalledProcessError
        If a command fails.
    """
    for machine in studied:
        for collective in collectives:
            for state, words in machine.states():
                before = _cpu_s()
                found = _answer(*words, "--collective", collective)
                yield _row(machine.spec, state, found, _cpu_s() - before)


def _answer(*words: str) -> Mapping[str, Any]:
    command = [sys.executable, "-m", "forestcoll", "expected", *words, "--json"]
    answer: Mapping[str, Any] = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    )
    return answer


def _cpu_s() -> float:
    """CPU time of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(machine: str, state: str, found: Mapping[str, Any], seconds: float) -> RateRow:
    best, *others = found["rates"]
    rate, name = max(((_algbw(one), one["what"]) for one in others if _algbw(one)), default=(0, ""))
    return RateRow(
        machine=machine,
        state=state,
        gpus=found["gpus"],
        collective=found["collective"],
        bound_algbw_gb_s=_text(max(map(_algbw, found["bounds"]), default=0)),
        forestcoll_algbw_gb_s=_text(_algbw(best)),
        nccl_algbw_gb_s=_text(rate),
        nccl=name.removeprefix("NCCL "),
        cpu_s=f"{seconds:.2f}",
    )


def _algbw(one: Mapping[str, Any]) -> float:
    """The rate of a row of the answer, 0 if it has none."""
    return float(one["algbw_gb_s"]["value"]) if one["algbw_gb_s"] else 0.0


def _text(rate: float) -> str:
    return f"{rate:.6g}" if rate else ""


def write_rows(rows: Iterable[RateRow], path: Path = ROWS) -> None:
    """Store rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(RateRow)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read_rows(path: Path = ROWS) -> list[RateRow]:
    """Read stored rows."""
    with path.open(newline="", encoding="utf-8") as file:
        return [RateRow(gpus=int(row.pop("gpus")), **row) for row in csv.DictReader(file)]


def main(names: Sequence[str]) -> None:
    """Measure machines whose specifications begin with some names; the others keep their rows."""
    wanted = [one for one in STUDIED if not names or one.spec.startswith(tuple(names))]
    specs = {one.spec for one in wanted}
    kept = [row for row in read_rows() if row.machine not in specs] if ROWS.exists() else []
    found = []
    for row in measured(wanted):
        print(*asdict(row).values(), sep="  ", flush=True)
        found.append(row)
    order = {one.spec: i for i, one in enumerate(STUDIED)}
    rows = (row for row in (*kept, *found) if row.machine in order)
    write_rows(sorted(rows, key=lambda row: order[row.machine]))


if __name__ == "__main__":
    main(sys.argv[1:])
