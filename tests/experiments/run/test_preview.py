"""What a run would do, and for how long."""

from dataclasses import replace

from experiments.config.points import Limits, Status
from experiments.run.plan import make_plan
from experiments.run.preview import make_preview
from tests.experiments.run.planned import a_point, a_row


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
    told = [(line["runs"], line["earlier"], line["estimate_s"]) for line in preview.as_json()]
    assert told == [
        (False, "ok", None), (True, "timeout", 1.0), (True, None, 1.0), (True, None, None),
    ]  # fmt: skip


def test_each_point_has_a_line_that_says_what_becomes_of_it() -> None:
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
