"""Two sets of results are compared point by point, exactly where that can be."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from experiments.results.comparison import Comparison, compare, document, remarks, table
from experiments.results.rows import Status
from tests.experiments.samples import rings_of_rows
from tests.experiments.samples import rings_of_rows as some_rows


@pytest.mark.parametrize(
    ("before", "after", "ratio", "noise", "verdict"),
    [
        ([2.0], [1.0], 0.5, None, "single run"),
        ([1.0, 2.0, 4.0], [1.5, 3.0, 6.0], 1.5, (0.375, 6.0), "within noise"),
        ([1.0, 1.0, 1.25], [2.0, 2.5, 2.0], 2.0, (1.6, 2.5), "slower"),
        ([4.0, 4.0], [1.0], 0.25, (0.25, 0.25), "faster"),
    ],
)
def test_times_are_compared_by_medians_with_their_noise(
    before: list[float], after: list[float], ratio: float, noise: object, verdict: str
) -> None:
    """The noise is from least over greatest to greatest over least, by hand."""
    found = compare(some_rows(before), some_rows(after))
    time = found.pairs[0].time
    assert time is not None
    assert (time.median, time.noise, time.verdict) == (ratio, noise, verdict)
    assert found.mean_ratio == pytest.approx(ratio)


def test_compare_is_exact_about_algbw_and_names_changes() -> None:
    """One point lost bandwidth, one ended otherwise, one is missing, one is new."""
    before = some_rows()
    after = [replace(row, commit="def") for row in before]
    after[0] = replace(after[0], algbw="250", algbw_gb_s=250.0)
    after[1] = replace(after[1], status=Status.TIMEOUT)
    after[2] = replace(after[2], topology="ring:nodes=5", point="new")
    found = compare(before, after)
    results = {(pair.topology, pair.method.split()[0]): pair for pair in found.pairs}
    assert results["ring:nodes=3", "ring"].algbw == ("800/3", "250")
    assert results["ring:nodes=3", "multitree"].status == ("unsupported", "timeout")
    assert results["ring:nodes=4", "ring"].status == ("ok", "missing")
    assert results["ring:nodes=5", "ring"].status == ("missing", "ok")
    assert not results["ring:nodes=4", "multitree"].changed
    assert found.commits == ("abc", "def")


def test_compare_looks_at_every_measure_that_both_sides_have() -> None:
    """The same data crosses in other steps; rows from before that measure say nothing of it."""
    before = some_rows(algbw_synchronous="200")
    after = some_rows(algbw_synchronous="150")
    changed = {pair.method.split()[0] for pair in compare(before, after).pairs if pair.changed}
    assert changed == {"ring"}
    (first, *_) = compare(before, after).pairs
    assert first.measures_changed == ("algbw_synchronous",)
    assert first.exact("algbw_synchronous") == ("200", "150")
    assert not any(pair.changed for pair in compare(some_rows(), after).pairs)
    console = Console(width=120, record=True, file=StringIO())
    console.print(table(compare(before, after), "toy"))
    assert "synchronous 200 -> 150 GB/s" in console.export_text()


def test_another_topology_file_of_the_same_name_is_another_point() -> None:
    """The identity is of its content; the two are not compared with each other."""
    before = some_rows()
    found = compare(before, [replace(row, point=f"other-{row.point}") for row in before])
    assert len(found.pairs) == 8
    assert all("missing" in pair.status for pair in found.pairs)


def test_pairs_come_by_topology() -> None:
    """A method that only the second set has stands beside the others on its topology."""
    before = [row for row in some_rows() if row.method == "ring"]
    found = compare(before, some_rows())
    assert [pair.topology for pair in found.pairs] == ["ring:nodes=3"] * 2 + ["ring:nodes=4"] * 2


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


def test_changes_of_a_status_are_reported() -> None:
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


def test_remarks_warn_of_single_runs_and_disjoint_results() -> None:
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
