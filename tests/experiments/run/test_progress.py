"""The display of a run, on a terminal and in a file."""

from io import StringIO

from rich.console import Console

from experiments.config.points import Status
from experiments.run.plan import make_plan
from experiments.run.progress import Display
from tests.experiments.run.planned import a_point, a_row

POINTS = [a_point(nodes=nodes) for nodes in (3, 4, 5)]


def shown(display: Display, *, terminal: bool = True) -> str:
    """What is under way, as it would be printed."""
    console = Console(file=StringIO(), width=100, force_terminal=terminal)
    with console.capture() as printed:
        console.print(display._running)
    return printed.get()


def test_into_a_file_goes_a_line_for_each_finished_point() -> None:
    """With the count of all points, of which one is done already; names are never markup."""
    file = StringIO()
    display = Display(Console(file=file, width=30), make_plan(POINTS, [a_row(POINTS[0])]))
    with display:
        display.stage(POINTS[1], "starting")
        display.stage(POINTS[1], "generate")
        assert file.getvalue() == ""
        display.finished(POINTS[1], a_row(POINTS[1]))
        odd = a_point("[red]", nodes=5)
        display.finished(POINTS[2], a_row(odd, Status.TIMEOUT))
    assert file.getvalue().splitlines() == [
        "2/3 ring on ring:nodes=4: ok",
        "3/3 [red] on ring:nodes=5: timeout",
    ]
    assert (display.done, display.total) == (3, 3)


def test_a_running_point_has_a_line_with_its_stage() -> None:
    """Until it has finished; on a terminal nothing else is printed then."""
    console = Console(file=StringIO(), force_terminal=True, width=100)
    display = Display(console, make_plan(POINTS, []))
    display.stage(POINTS[0], "starting")
    display.stage(POINTS[1], "starting")
    display.stage(POINTS[0], "optimality")
    text = shown(display)
    assert "ring on ring:nodes=3: optimality" in text
    assert "ring on ring:nodes=4: starting" in text
    display.finished(POINTS[0], a_row(POINTS[0]))
    assert "nodes=3" not in shown(display)
    assert "ok" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_point_that_another_machine_takes_over_has_one_line() -> None:
    """It starts twice then; a stage of a point that is not known is passed over."""
    display = Display(Console(file=StringIO()), make_plan(POINTS, []))
    display.stage(POINTS[0], "starting")
    display.stage(POINTS[0], "generate")
    display.stage(POINTS[0], "starting")
    display.stage(POINTS[2], "generate")
    assert shown(display).count("ring on") == 1
    assert "ring:nodes=3: starting" in shown(display)
