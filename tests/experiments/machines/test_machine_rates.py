"""Rows of machines: states, columns, files."""

from dataclasses import replace
from fractions import Fraction

import pytest

from experiments.advice.expected import ALL
from experiments.machines.machine_rates import (
    DEAD,
    FEWER,
    ROWS,
    STUDIED,
    WHOLE,
    RateRow,
    Studied,
    measured,
    read_rows,
    write_rows,
)
from forestcoll.topology import Topology, load_topology, validate
from forestcoll.topology.families.machine_table import MACHINES

BOX = Studied("mi300x:boxes=2,gpus_per_box=2", "b0.gpu0 - ib", "mi300x:gpus_per_box=2")


def test_a_row_by_hand():
    """Three shards enter a GPU over 64 + 50 GB/s, or 64 with a dead NIC; one of a pair, 64."""
    rows = list(measured([BOX], ["allgather"]))
    assert [row.state for row in rows] == [WHOLE, DEAD, FEWER]
    assert [row.gpus for row in rows] == [4, 4, 2]
    bounds = [row.bound_algbw_gb_s for row in rows]
    assert bounds == [
        f"{float(rate):.6g}" for rate in (4 * Fraction(114, 3), Fraction(256, 3), 128)
    ]
    for row in rows:
        assert row.forestcoll_algbw_gb_s == row.bound_algbw_gb_s
        assert float(row.nccl_algbw_gb_s) <= float(row.bound_algbw_gb_s)
        assert row.nccl == "ring"


def test_rows_are_stored_and_read(tmp_path):
    row = RateRow("dgx_h100:boxes=2", DEAD, 16, "broadcast", "350", "350", "", "", "0.31")
    rows = [row, replace(row, nccl_algbw_gb_s="175.5", nccl="ring")]
    write_rows(rows, tmp_path / "new" / "rates.csv")
    assert read_rows(tmp_path / "new" / "rates.csv") == rows


def _network(spec: str, option: str = "--without", part: str = "") -> Topology:
    assert option == "--without"
    return load_topology(spec).without(part) if part else load_topology(spec)


@pytest.mark.parametrize("machine", STUDIED, ids=lambda machine: machine.spec)
def test_every_state_exists(machine):
    """The dead part is there and leaves the rest in one piece; fewer GPUs are fewer."""
    found = {state: _network(*words) for state, words in machine.states()}
    assert set(found) == {WHOLE, *([DEAD] * bool(machine.dead)), *([FEWER] * bool(machine.fewer))}
    for topology in found.values():
        validate(topology)
    if DEAD in found:
        assert len(found[DEAD].links) < len(found[WHOLE].links)
    if FEWER in found:
        assert found[FEWER].num_compute < found[WHOLE].num_compute


def test_every_machine_of_the_table_is_studied():
    names = {one.spec.partition(":")[0] for one in STUDIED}
    assert {machine.name for machine in MACHINES} <= names
    assert len(STUDIED) >= 40


def test_the_stored_rows_are_of_these_machines_and_complete():
    """A row for each machine, state and collective, each with a bound that nothing exceeds."""
    rows = read_rows(ROWS)
    states = {
        (one.spec, state) for one in STUDIED
        for state, there in ((WHOLE, True), (DEAD, one.dead), (FEWER, one.fewer)) if there
    }  # fmt: skip
    assert {(row.machine, row.state, row.collective) for row in rows} == {
        (*state, collective) for state in states for collective in ALL
    }
    assert len(rows) == len(states) * len(ALL)
    for row in rows:
        bound = float(row.bound_algbw_gb_s)
        for rate in (row.forestcoll_algbw_gb_s, row.nccl_algbw_gb_s):
            assert not rate or float(rate) <= bound * (1 + 1e-5)
        assert float(row.cpu_s) < 60


def test_a_stored_row_is_that_of_today():
    stored = {(r.machine, r.state, r.collective): r for r in read_rows(ROWS)}
    (one,) = (one for one in STUDIED if one.spec == "mi300x:boxes=2")
    for row in measured([replace(one, dead="", fewer="")], ["allgather", "all-to-all"]):
        kept = stored[row.machine, row.state, row.collective]
        assert kept.bound_algbw_gb_s == row.bound_algbw_gb_s
        assert kept.nccl_algbw_gb_s == row.nccl_algbw_gb_s
    assert load_topology(one.spec).num_compute == 16
