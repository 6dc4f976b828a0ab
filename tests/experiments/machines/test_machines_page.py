"""The tables of docs/networks/machines.md are those of the registry and of the stored rows."""

from experiments.machines.machine_rates import DEAD, WHOLE, RateRow, read_rows
from experiments.machines.machines_page import PAGE, constants, families, parts, rates, updated
from forestcoll.topology import FAMILIES
from forestcoll.topology.families.machine_table import MACHINES


def test_the_page_is_current():
    """If this fails: python -m experiments.machines.machines_page."""
    page = PAGE.read_text(encoding="utf-8")
    assert updated(page, read_rows()) == page
    for table in (families(), constants(), rates(read_rows()), parts(read_rows())):
        assert table in page


def test_every_family_with_a_machine_is_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    racks = ["gb200_nvl72", "gb300_nvl72", "vr_nvl144", "dgx_spark", "trn2", "trn2_ultraserver"]
    slices = ["tpu_v4", "tpu_v5p", "tpu_v5e", "tpu_v6e"]
    for name in (*racks, *slices, *(one.name for one in MACHINES)):
        assert f"`{name}`" in page
        assert name in FAMILIES


def row(state: str, collective: str, bound: str, nccl: str, seconds: str) -> RateRow:
    return RateRow("m", state, 8, collective, bound, bound, nccl, "ring" if nccl else "", seconds)


ROWS = [
    row(WHOLE, "allgather", "200", "150", "0.10"),
    row(WHOLE, "broadcast", "90", "45", "0.15"),
    row(WHOLE, "allreduce", "100", "", "0.20"),
    row(WHOLE, "all-to-all", "50", "50", "0.30"),
    row(DEAD, "allreduce", "75", "", "0.40"),
]


def test_rates_by_hand():
    last = rates(ROWS).splitlines()[-1]
    assert last == "| `m` | 8 | 200 | 90 | 100 | 50 | 75 % (ring), 50 % (ring), -, 100 % (ring) |"


def test_parts_by_hand(monkeypatch):
    """75 of 100 is left; the longest answer took 0.4 s."""
    monkeypatch.setattr("experiments.machines.machines_page._dead", lambda: {"m": "nic"})
    assert parts(ROWS).splitlines()[-1] == "| `m` | `nic` | 75.0 % | - | 0.40 |"


def test_bounds_of_reductions_are_those_of_their_reverse():
    """As the page says, with its one exception."""
    bounds = {(r.machine, r.state, r.collective): r.bound_algbw_gb_s for r in read_rows()}
    pairs = {"reduce-scatter": "allgather", "reduce": "broadcast"}
    others = {
        (machine, state, bound)
        for (machine, state, collective), bound in bounds.items()
        if collective in pairs and bound != bounds[machine, state, pairs[collective]]
    }
    assert others == {("rtx_5090:boxes=2", WHOLE, "40.96")}
