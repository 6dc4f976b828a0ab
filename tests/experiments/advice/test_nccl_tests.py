"""The table of all programs of nccl-tests, beside rates by hand."""

import pytest

from experiments.advice.nccl_tests import PROGRAMS, nccl_tests_rates
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document, invoke


def test_two_h100_boxes_by_hand() -> None:
    """Busbw in GB/s; a GPU has 450 to its NVSwitch and 50 to its NIC.

    Eight NICs carry the one message between the boxes that sendrecv has each way: 400. The root of
    a gather or scatter has 500. Half of a GPU's 15 parts of an all-to-all cross, by 50: 16 / 8 50,
    of which 15/16 count. Of the hypercube's exchanges of 1, 2, 4 and 8 parts only the last crosses:
    (1 + 2 + 4) / 500 + 8 / 50 for 15 parts.
    """
    rows = {
        row.program: row for row in nccl_tests_rates(load_topology("dgx_h100:boxes=2"), seconds=60)
    }
    assert tuple(rows) == PROGRAMS
    busbw = {name: row.best_gb_s * row.factor for name, row in rows.items() if row.best_gb_s}
    assert busbw["sendrecv_perf"] == 400
    assert busbw["gather_perf"] == busbw["scatter_perf"] == 500
    assert busbw["alltoall_perf"] == 2 * 50 * 15 / 16
    assert busbw["hypercube_perf"] == pytest.approx(15 / (7 / 500 + 8 / 50))
    assert all(row.best_gb_s == row.bound_gb_s for row in rows.values())
    nccl = {name: row.nccl_gb_s * row.factor for name, row in rows.items() if row.nccl_gb_s}
    assert nccl["alltoall_perf"] == busbw["alltoall_perf"]
    assert nccl["sendrecv_perf"] == 50  # one NIC
    assert nccl["gather_perf"] == 50 * 15 / 8  # eight parts come in by the root's own


def test_unsupported_runs_are_reported() -> None:
    """Three GPUs are no hypercube."""
    rows = nccl_tests_rates(load_topology("ring:nodes=3"), seconds=60)
    assert rows[-1].best_gb_s is None
    assert rows[-1].note == "3 GPUs; it runs on powers of two only"


def test_the_command_prints_a_row_for_each() -> None:
    asked = ("expected", "ring:nodes=4", "--collective", "nccl-tests")
    lines = invoke(*asked).stdout.splitlines()
    assert [line.split()[0] for line in lines[3:]] == list(PROGRAMS)
    assert [row["program"] for row in document(*asked)["programs"]] == list(PROGRAMS)
    assert_refused("leave --root and --sizes away", *asked, "--sizes", "1MB")
