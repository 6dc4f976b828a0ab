"""What a comparison says: a table, remarks, and data."""

from dataclasses import replace

from experiments.results.comparison import Comparison, compare
from experiments.results.comparison_table import document, remarks, table
from experiments.results.rows import Status
from tests.experiments.samples import rings_of_rows


def compared(**changes: object) -> Comparison:
    """Three runs each of 1, 1 and 1.25 s and of 2, 2.5 and 2 s."""
    return compare(rings_of_rows((1.0, 1.0, 1.25)), rings_of_rows((2.0, 2.5, 2.0), **changes))


def cells(found: Comparison) -> list[list[str]]:
    """The rows of its table."""
    return [list(row) for row in table(found, "").rows]


def test_a_line_has_both_times_their_ratio_and_the_noise() -> None:
    """Medians of 1 and 2 s; from 2 / 1.25 to 2.5 / 1."""
    name = "ring (effort=2, fast=True, share=0.5, mode=a)"
    assert cells(compared())[:2] == [
        ["ring:nodes=3", name, "1.0 s", "2.0 s", "2.00", "1.60..2.50", "="],
        ["ring:nodes=3", "multitree", "", "", "", "", "unsupported"],
    ]


def test_a_single_run_has_no_noise() -> None:
    (line, *_) = cells(compare(rings_of_rows(), rings_of_rows()))
    assert line[-3:] == ["1.00", "single run", "="]


def test_what_has_become_of_a_point_is_said() -> None:
    """Another status before another rate, and the rate with its unit."""
    before = rings_of_rows()
    after = [replace(row, algbw="250") for row in before]
    after[1] = replace(after[1], status=Status.TIMEOUT)
    results = [line[-1] for line in cells(compare(before, after))]
    assert results[:3] == ["800/3 -> 250 GB/s", "unsupported -> timeout", "800/3 -> 250 GB/s"]


def test_remarks_sum_it_up() -> None:
    found = compared(commit="def", host={"name": "there"}, algbw="250")
    assert remarks(found) == [
        "commits: A abc, B def, abc",
        "4 points, 2 with another status or algbw",
        "generation time B/A: 2.00 (geometric mean); 2 slower",
        "times are from different hosts: A here, B there, here",
    ]


def test_remarks_say_what_one_should_know() -> None:
    """Single runs, and results that have nothing in common."""
    single = remarks(compare(rings_of_rows(), rings_of_rows()))
    assert single[-1] == "single runs say nothing of the noise; set repetitions to 3 or more"
    others = [replace(row, experiment="other", point=f"o{row.point}") for row in rings_of_rows()]
    assert "no point is in both: these are results of different experiments" in remarks(
        compare(rings_of_rows(), others)
    )


def test_data_hold_both_sides_of_every_point() -> None:
    point = document(compared(algbw="250"))["points"][0]
    assert point["topology"] == "ring:nodes=3"
    assert point["repetitions"] == [3, 3]
    assert (point["time_s"], point["time_ratio"]) == ((1.0, 2.0), 2.0)
    assert (point["time_noise"], point["time_verdict"]) == ((1.6, 2.5), "slower")
    assert (point["algbw"], point["changed"]) == (("800/3", "250"), True)
    unsupported = document(compared())["points"][1]
    assert (unsupported["time_ratio"], unsupported["changed"]) == (None, False)
