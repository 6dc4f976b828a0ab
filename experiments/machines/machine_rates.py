"""Rates of today's machines: whole, with a dead part, and with fewer GPUs, for every collective.

``python -m experiments.machines.machine_rates [NAME...]`` measures, prints and stores the rows of
all machines, or of some, in results/machines/rates.csv.
"""

from __future__ import annotations

import csv
import importlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from experiments.advice.expected import ALL, Expected, expected
from forestcoll.topology import Topology, load_topology

__all__ = ["ROWS", "STUDIED", "RateRow", "Studied", "measured", "read_rows", "write_rows"]

ROWS = Path(__file__).parents[2] / "results" / "machines" / "rates.csv"

SECONDS = 60.0
"""Limit for the rows of one collective."""

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

    def states(self) -> Iterator[tuple[str, Topology]]:
        """Yield the names of the states with a new network for each."""
        yield WHOLE, load_topology(self.spec)
        if self.dead:
            yield DEAD, load_topology(self.spec).without(self.dead)
        if self.fewer:
            yield FEWER, load_topology(self.fewer)


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

    The seconds are CPU time of the answer, without the import of the libraries. Each answer gets a
    new network, so that nothing is remembered from the one before.
    """
    for library in ("highspy", "scipy.sparse.csgraph", "networkx"):  # before the clock starts
        importlib.import_module(library)
    for machine in studied:
        for collective in collectives:
            for state, topology in machine.states():
                start = time.process_time()
                found = expected(topology, collective, seconds=SECONDS)
                yield _row(machine.spec, state, found, time.process_time() - start)


def _row(machine: str, state: str, found: Expected, seconds: float) -> RateRow:
    bounds = [one.algbw_gb_s for one in found.bounds if one.algbw_gb_s is not None]
    best, *others = found.rates
    reached = [(one.algbw_gb_s, one.what) for one in others if one.algbw_gb_s is not None]
    rate, name = max(reached, default=(None, ""))
    return RateRow(
        machine=machine,
        state=state,
        gpus=found.topology.num_compute,
        collective=found.collective,
        bound_algbw_gb_s=_text(max(bounds, default=None)),
        forestcoll_algbw_gb_s=_text(best.algbw_gb_s),
        nccl_algbw_gb_s=_text(rate),
        nccl=name.removeprefix("NCCL "),
        cpu_s=f"{seconds:.2f}",
    )


def _text(rate: object) -> str:
    return "" if rate is None else f"{float(rate):.6g}"  # type: ignore[arg-type]


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
