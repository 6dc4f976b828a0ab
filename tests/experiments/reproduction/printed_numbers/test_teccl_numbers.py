"""TE-CCL's tables come out as printed, but for what is named here and in docs/papers."""

import pytest

from experiments.published import printed
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.difference import Difference
from experiments.reproduction.printed_numbers.teccl_numbers import differences

LONGER_EPOCHS = (("fastest", "4000 bytes"), ("fastest", "1000 bytes"), ("slowest", "1000 bytes"))
"""For which table 8 makes epochs two or four times as long, and we five times, as its text says."""


def of(coverage: Coverage, begins: str, item: str) -> list[Difference]:
    found = [d for d in differences(coverage.rows) if d.item == item]
    return [d for d in found if d.what.startswith(begins)]


def test_allgathers_take_the_printed_times(coverage: Coverage) -> None:
    """Tables 3 and 8, to the digits of the epochs printed (1280.41 us for 1280).

    The third of table 3 is printed as 6.1 us; its public code has 6.
    """
    third = of(coverage, "time, allgather", "ET6")
    assert [d.ours for d in third] == [4, 5, 6]
    eighth = of(coverage, "time, allgather", "ET19")
    assert len(third) + len(eighth) == 25
    for d in eighth:
        longer = any(size in d.what and f"{link}-link" in d.what for link, size in LONGER_EPOCHS)
        assert abs(d.share) < (0.03 if longer else 4e-4), d


def test_all_to_alls_are_proved_the_least_and_below_the_printed_times(coverage: Coverage) -> None:
    """Table 3 exactly; table 8 by .07 to 9.5 % at all points but one, where .35 % are missing."""
    (third,) = of(coverage, "time, all-to-all", "ET6")
    assert third.equal
    eighth = of(coverage, "time, all-to-all", "ET19")
    assert len(eighth) == 22
    assert all(-0.1 < d.share < 0.004 for d in eighth)
    (above,) = (d for d in eighth if d.share > 0)
    assert "1000 bytes" in above.what
    its = coverage.rows["teccl-table8-all-to-all"]
    assert all(row.verified and row.search_status == "optimal" for row in its)


def test_epochs_are_those_of_table_7_and_all_are_proved(coverage: Coverage) -> None:
    """But for an all-to-all of 8 chunks: 30 printed, 22 are enough."""
    found = of(coverage, "epochs", "ET18")
    assert len(found) == len(printed("teccl_epochs.csv")) == 9
    (fewer,) = (d for d in found if not d.equal)
    assert (fewer.printed, fewer.ours) == ("30", 22)
    assert "all-to-all" in fewer.what
    for name in ("teccl-table7", "teccl-table7-all-to-all"):
        done = [row for row in coverage.rows[name] if row.method == "teccl" and row.verified]
        assert any(row.search_status == "optimal" for row in done)


def test_sccl_is_as_fast_as_teccl_without_latencies(coverage: Coverage) -> None:
    """Rounds are epochs, in all six allgathers as printed and in the all-to-all, where 33 % are.

    33 % are 100 (SCCL - TECCL) / SCCL: two of SCCL's three rounds, a ratio of 1.49.
    """
    found = of(coverage, "time that TE-CCL saves over SCCL", "ET18")
    assert [d.ours for d in found] == [pytest.approx(0, abs=1e-9)] * 7
    assert [(d.printed, d.unit) for d in found if not d.equal] == [("33", "%")]


@pytest.mark.parametrize("item", ["ET18", "ET19"])
def test_solver_times_stand_beside_the_printed_ones(coverage: Coverage, item: str) -> None:
    found = of(coverage, "solver time", item)
    assert found
    assert all(d.kind == "time" and d.unit == "s" for d in found)
