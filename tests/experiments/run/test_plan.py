"""What runs, what is done, and how long it may take."""

from dataclasses import replace

import pytest

from experiments.config.points import Limits, Status
from experiments.run.plan import estimate, is_done, make_plan, make_preview, select_points
from forestcoll.errors import InvalidExperimentError
from tests.experiments.run.planned import a_point, a_row


def test_a_raised_limit_reruns_only_points_that_had_reached_it() -> None:
    """A timeout is final until it gets more time; so is a lack of memory."""
    point = a_point()
    late, starved = a_row(point, Status.TIMEOUT), a_row(point, Status.OUT_OF_MEMORY)
    more_time = replace(point, limits=Limits(10.0, 4.0))
    more_memory = replace(point, limits=Limits(1.0, 8.0))
    assert [is_done(p, late) for p in (point, more_time, more_memory)] == [True, False, True]
    assert [is_done(p, starved) for p in (point, more_time, more_memory)] == [True, True, False]


def test_failures_are_final_unless_they_were_not_the_method_s() -> None:
    """A crash counts until it is to be retried; a kill from outside never does."""
    point = a_point()
    crashed, killed = a_row(point, Status.FAILED), a_row(point, Status.FAILED, killed=True)
    assert is_done(point, crashed)
    assert not is_done(point, crashed, retry_failed=True)
    assert not is_done(point, killed)
    for status in (Status.OK, Status.UNSUPPORTED):
        assert is_done(point, a_row(point, status), retry_failed=True)


def test_a_plan_has_the_points_without_rows() -> None:
    """Of two points one has a row; starting over, none has."""
    points = [a_point(nodes=3), a_point(nodes=4)]
    rows = [a_row(points[0])]
    plan = make_plan(points, rows)
    assert plan.to_run == (points[1],)
    assert plan.done == {points[0].identity: rows[0]}
    assert make_plan(points, rows, fresh=True).to_run == tuple(points)


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], [0, 1, 2, 3]),
        (["multitree"], [1, 2]),
        (["multitree (unit=2)"], [2]),
        (["*nodes=8"], [3]),
        (["ring"], [0, 1, 2, 3]),
        (["ring:*", "multi*"], [1, 2]),
    ],
)
def test_only_takes_whole_names_and_narrows(patterns: list[str], chosen: list[int]) -> None:
    """``ring`` is a method and a cluster here; two patterns must both be met."""
    points = [a_point(), a_point("multitree"), a_point("multitree", unit=2), a_point(nodes=8)]
    assert list(select_points(points, patterns)) == [points[n] for n in chosen]


def test_only_nothing_is_a_mistake() -> None:
    """The names that there are come with the error."""
    with pytest.raises(InvalidExperimentError, match=r'did you mean "multitree"'):
        select_points([a_point("multitree")], ["multitre"])


def test_estimates_come_from_the_most_alike_row() -> None:
    """The same parameters before others, then the nearest size by ratio: 8 is nearer to 16 than 3.

    A killed row gives no estimate, and a method without rows is unknown.
    """
    rows = [
        a_row(a_point(nodes=3), gpus=3, wall_s=1.0),
        a_row(a_point(nodes=16), gpus=16, wall_s=5.0),
        a_row(a_point(nodes=8), Status.FAILED, gpus=8, wall_s=9.0, killed=True),
        a_row(a_point(nodes=8, unit=2), gpus=8, wall_s=7.0),
    ]
    points = [a_point(nodes=8), a_point(nodes=6, unit=2), a_point("multitree"), a_point(nodes=4)]
    assert estimate(points, rows) == [5.0, 7.0, None, 1.0]


def test_a_point_that_was_spared_runs_once_nothing_is_spared() -> None:
    """Its row is final only as long as the experiment asks for ``once``."""
    for once in (True, False):
        point = replace(a_point(), limits=Limits(60.0, 4.0, once))
        row = replace(a_row(point), status=Status.TIMEOUT, reason="not run: over 60 s on x")
        assert is_done(point, row) is once


def test_a_preview_adds_up() -> None:
    """Done, to run again, to run, and unknown: 1 + 3 seconds, two at a time."""
    limited = replace(a_point(nodes=4), limits=Limits(2.0, 4.0))
    points = [a_point(nodes=3), limited, a_point(nodes=12), a_point("multitree")]
    rows = [
        a_row(a_point(nodes=3), gpus=3, wall_s=3.0),
        a_row(a_point(nodes=4), Status.TIMEOUT, gpus=4, wall_s=1.0),
    ]
    preview = make_preview(make_plan(points, rows), rows, jobs=2)
    assert preview.summary() == "1 done, 3 to run: about 1.0 s, 1 of unknown time"
    reported = [(line["runs"], line["earlier"], line["estimate_s"]) for line in preview.as_json()]
    assert reported == [
        (False, "ok", None), (True, "timeout", 1.0), (True, None, 1.0), (True, None, None),
    ]  # fmt: skip


def test_each_point_has_a_line_with_its_action() -> None:
    """Done, to run again, to run; times in minutes and hours; names are never markup."""
    points = [a_point(nodes=3), a_point(nodes=4), a_point(nodes=12), a_point("[red]")]
    rows = [
        a_row(a_point(nodes=3), gpus=3, wall_s=95.0),
        a_row(a_point(nodes=4), Status.TIMEOUT, gpus=4, wall_s=8000.0),
    ]
    rows[1] = replace(rows[1], limit_s=0.5)  # it has been raised since
    preview = make_preview(make_plan(points, rows), rows)
    table = preview.table("[/toy]")
    cells = [list(column) for column in zip(*table.rows, strict=True)]
    assert cells[0] == ["ring:nodes=3", "ring:nodes=4", "ring:nodes=12", "ring:nodes=4"]
    assert cells[1] == ["ring", "ring", "ring", "[red]"]
    assert cells[2] == ["done: ok", "run again: timeout", "run", "run"]
    assert cells[3] == ["", "2 h 13 min", "2 h 13 min", "unknown"]
    assert table.title == "[/toy]"


def test_side_by_side_no_run_is_shorter_than_its_longest_point() -> None:
    """One of 95 s and one of 5 s, four at a time."""
    points = [a_point("slow"), a_point("quick")]
    rows = [a_row(points[0], gpus=4, wall_s=95.0), a_row(points[1], gpus=4, wall_s=5.0)]
    summary = make_preview(make_plan(points, rows, fresh=True), rows, jobs=4).summary()
    assert summary == "0 done, 2 to run: about 1 min 35 s"


def test_with_nothing_to_run_there_is_no_guess() -> None:
    points = [a_point()]
    rows = [a_row(points[0])]
    assert make_preview(make_plan(points, rows), rows).summary() == "1 done, 0 to run"
