"""The threadblocks that run at once on the machines that there are."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.interpretation.multiprocessors import MACHINES, blocks_fault, blocks_of


def test_machines_have_the_multiprocessors_of_their_data_sheets() -> None:
    """108 SMs of an A100, 132 of an H100 SXM, 304 compute units of an MI300X."""
    assert dict(MACHINES) == {"a100": 108, "h100": 132, "mi300x": 304}


def test_a_machine_or_a_number_may_be_given_not_both() -> None:
    assert [blocks_of(name, None) for name in MACHINES] == [108, 132, 304]
    assert (blocks_of(None, 1), blocks_of(None, 100_000), blocks_of(None, None)) == (
        1,
        100_000,
        None,
    )
    for machine, number, message in (
        ("h100", 132, "leave one out"),
        ("v100", None, "machine is 'v100'; it must be one of a100, h100, mi300x"),
        (None, 0, "threadblocks is 0; it must be 1 to 100000"),
        (None, 100_001, "threadblocks is 100001"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            blocks_of(machine, number)


def test_threadblocks_beyond_a_known_machine_exceed_the_limit() -> None:
    for most in MACHINES.values():
        assert blocks_fault(most, most) is None
        fault = blocks_fault(most + 1, most)
        assert fault is not None
        assert fault[0] is Kind.LIMIT
        assert f"{most + 1} threadblocks; there must be at most {most} for" in fault[1]


def test_on_a_machine_that_nobody_names_it_is_a_note_up_to_the_largest() -> None:
    """108 run everywhere, 109 to 304 on some, 305 on none."""
    assert blocks_fault(108, None) is None
    for count in (109, 121, 304):
        fault = blocks_fault(count, None)
        assert fault is not None
        assert fault[0] is Kind.NOTE
        assert "a100 108, h100 132, mi300x 304; the file does not say the machine" in fault[1]
    fault = blocks_fault(305, None)
    assert fault is not None
    assert fault == (
        Kind.LIMIT,
        "305 threadblocks; there must be at most 304 for all to run at once",
    )
