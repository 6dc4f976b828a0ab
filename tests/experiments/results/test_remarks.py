"""What the columns of a table mean, and where ForestColl is not ahead."""

from dataclasses import replace

from experiments.results.remarks import behind_in_steps, columns
from experiments.results.rows import Row, Status
from experiments.results.tables import table
from tests.experiments.samples import clusters_of_rows


def in_steps(**rates: float) -> list[Row]:
    """A row of each method on one network, with its rate in synchronous steps."""
    one = clusters_of_rows()[0]
    return [
        replace(one, method=name.replace("_", "-"), parameters={}, algbw_synchronous_gb_s=rate)
        for name, rate in rates.items()
    ]


def test_every_column_of_a_measure_is_explained() -> None:
    """One line each, without Markdown; the columns of the run explain themselves."""
    heads = table(in_steps(forestcoll=1.0), "toy").heads
    lines = columns(heads)
    assert [line.partition("  ")[0] for line in lines] == list(heads[3:])
    assert "in sync    theoretical algbw in synchronous steps" in lines
    assert "depth of the deepest" in lines[-1]
    assert not [line for line in lines if "](" in line or "`" in line]


def test_who_is_ahead_in_steps_is_named() -> None:
    """A ring of 213 GB/s beside 92 of trees; MultiTree, equal, and a failed one are not ahead."""
    rows = in_steps(forestcoll=92.0, ring=213.0, multitree=92.0, bruck=300.0)
    rows[3] = replace(rows[3], status=Status.TIMEOUT)
    (remark,) = behind_in_steps(rows)
    assert "ahead of forestcoll: ring on 1 of 1 points" in remark
    assert behind_in_steps(in_steps(forestcoll=213.0, ring=213.0)) == []
    assert behind_in_steps(in_steps(ring=213.0)) == []
    assert behind_in_steps([]) == []
