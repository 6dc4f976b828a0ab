"""The tables of docs/networks/machines.md: families, constants with sources, measured rates.

``python -m experiments.machines.machines_page`` updates the page of this clone.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.machines.machine_rates import DEAD, FEWER, STUDIED, WHOLE, RateRow, read_rows
from experiments.measures.docs import piped, with_tables
from forestcoll.topology.describe import decimal
from forestcoll.topology.families.constants import CONSTANTS, Constant
from forestcoll.topology.families.machine_table import MACHINE_CONSTANTS, MACHINES

__all__ = ["constants", "families", "parts", "rates", "updated"]

PAGE = Path(__file__).parents[2] / "docs" / "networks" / "machines.md"

COMMAND = "python -m experiments.machines.machines_page"

_SHOWN = ("allgather", "broadcast", "allreduce", "all-to-all")

_INSIDE = {
    "switch": "{} GB/s to an NVSwitch",
    "mesh": "{} GB/s to each other GPU",
    "pcie": "{} GB/s to a socket",
}


def families() -> str:
    """Return a table of the machines of 8 GPUs."""
    lines = ["| family | a GPU inside its box | NICs of a box | GB/s of one |", "|---|---|---|---|"]
    for one in MACHINES:
        inside = _INSIDE[one.inside].format(decimal(one.link.value))
        if one.bridge is not None:
            inside += f", {decimal(one.bridge.value)} to its pair"
        if not one.peer_access:
            inside += ", through host memory"
        lines.append(piped((f"`{one.name}`", inside, str(one.nics), decimal(one.nic.value))))
    return "\n".join(lines)


def constants() -> str:
    """Return a list of the numbers with their sources, the same number once."""
    of_boxes = (constant for one in MACHINES for constant in one.constants)
    known = dict.fromkeys((*CONSTANTS.values(), *of_boxes, *MACHINE_CONSTANTS.values()))
    return "\n".join(_item(one) for one in known)


def _item(one: Constant) -> str:
    return (
        f"- {decimal(one.value)} {one.unit}, {one.meaning}. **{one.confidence.capitalize()}**: "
        f"{one.source}."
    )


def rates(rows: Iterable[RateRow]) -> str:
    """Return a table of the whole machines: bound, best method of NCCL's, share."""
    found = {(row.machine, row.collective): row for row in rows if row.state == WHOLE}
    lines = [
        piped(("machine", "GPUs", *_SHOWN, "best of NCCL's, share of the bound")),
        "|---|---|" + "---|" * (len(_SHOWN) + 1),
    ]
    for machine in dict.fromkeys(row for row, _ in found):
        own = [found[machine, collective] for collective in _SHOWN]
        shares = ", ".join(_share(row) for row in own)
        bounds = (row.bound_algbw_gb_s or "-" for row in own)
        lines.append(piped((f"`{machine}`", str(own[0].gpus), *bounds, shares)))
    return "\n".join(lines)


def parts(rows: Iterable[RateRow]) -> str:
    """Return a table of what is left of the allreduce bound, and of the time that answers take."""
    kept = list(rows)
    found = {(row.machine, row.state): row for row in kept if row.collective == "allreduce"}
    lines = [
        "| machine | dead part | allreduce left | with fewer GPUs | longest answer, s |",
        "|---|---|---|---|---|",
    ]
    dead = _dead()
    for machine in dict.fromkeys(row.machine for row in kept):
        whole = found[machine, WHOLE]
        left, fewer = (_left(found.get((machine, state)), whole) for state in (DEAD, FEWER))
        part = f"`{dead[machine]}`" if dead[machine] else "-"
        longest = max(float(row.cpu_s) for row in kept if row.machine == machine)
        lines.append(piped((f"`{machine}`", part, left, fewer, f"{longest:.2f}")))
    return "\n".join(lines)


def _dead() -> dict[str, str]:
    """Return the part of each machine that dies."""
    return {one.spec: one.dead for one in STUDIED}


def _share(row: RateRow) -> str:
    if not row.nccl_algbw_gb_s or not row.bound_algbw_gb_s:
        return "-"
    return f"{100 * float(row.nccl_algbw_gb_s) / float(row.bound_algbw_gb_s):.0f} % ({row.nccl})"


def _left(row: RateRow | None, whole: RateRow) -> str:
    if row is None or not row.bound_algbw_gb_s or not whole.bound_algbw_gb_s:
        return "-"
    return f"{100 * float(row.bound_algbw_gb_s) / float(whole.bound_algbw_gb_s):.1f} %"


def updated(page: str, rows: Iterable[RateRow]) -> str:
    """Return the page with these tables between its marks."""
    kept = list(rows)
    tables = {
        "families": families(),
        "rates": rates(kept),
        "parts": parts(kept),
        "constants": constants(),
    }
    return with_tables(page, tables, COMMAND)


def main() -> None:
    """Update the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(updated(page, read_rows()), encoding="utf-8")


if __name__ == "__main__":
    main()
