"""Tables in their four forms."""

import pytest

from experiments.results.grid import Format, Grid, show_table

GRID = Grid(
    "toy",
    ("topology", "method", "GPUs", "time", "k"),
    (
        ("ring:nodes=3", "ring", "3", "1.5 ms", "1"),
        ("ring:nodes=3", "multitree", "3", "unsupported"),
        ("a_b & [c]", "x|y", "64", "20.0 s", "123456789012"),
    ),
    "time: of one run",
)


def test_a_table_names_each_topology_once_and_keeps_its_columns() -> None:
    """What ends early runs on to the right and widens no column; a huge k is rounded."""
    assert GRID.text(Format.TABLE, 80).splitlines() == [
        "toy",
        "",
        "  method           GPUs   time       k",
        "──────────────────────────────────────",
        "ring:nodes=3",
        "  ring                3 1.5 ms       1",
        "  multitree           3 unsupported",
        "a_b & [c]",
        "  x|y                64 20.0 s 1.23e11",
        "",
        "time: of one run",
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_it_may_be(width: int) -> None:
    """Long names stand on lines of their own; columns that do not fit are named and left out."""
    heads = ("topology", "method", *(f"column {i}" for i in range(7)))
    name, place = "method (" + "parameter=1, " * 9 + ")", "line_graph:of=" + "(x)" * 40
    grid = Grid("toy", heads, ((place, name, *"1234567"), (place, "short", *"7654321")))
    lines = grid.text(Format.TABLE, width).splitlines()
    assert max(map(len, lines)) <= width
    shown = sum(f"column {i}" in lines[2] for i in range(7))
    assert shown == (width - 18) // 9
    assert f"left out in {width} characters: column {shown}" in "".join(lines)
    assert next(line for line in lines if "short" in line).split() == ["short", *"7654321"[:shown]]


def test_a_wide_table_has_everything_in_a_line() -> None:
    wide = GRID.text(Format.WIDE).splitlines()
    assert wide[2].split() == ["topology", "method", "GPUs", "time", "k"]
    assert wide[-3].split("  ")[0] == "a_b & [c]"
    assert wide[-3].endswith("  64       20.0 s  123456789012")


def test_markdown_and_latex_take_names_as_text() -> None:
    """Signs that mean something there are written so that they do not; rows are filled up."""
    markdown = GRID.text(Format.MARKDOWN).splitlines()
    assert markdown[2:4] == [
        "| topology | method | GPUs | time | k |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    assert markdown[5] == "| ring:nodes=3 | multitree | 3 | unsupported |  |"
    assert markdown[6] == r"| a\_b & \[c\] | x\|y | 64 | 20.0 s | 123456789012 |"
    latex = GRID.text(Format.LATEX)
    assert r"a\_b \& [c] & x|y & 64 & 20.0 s & 123456789012 \\" in latex
    assert r"ring:nodes=3 & multitree & 3 & unsupported &  \\" in latex
    assert r"\caption{toy: time: of one run}" in latex


@pytest.mark.parametrize("form", Format)
def test_pasted_tables_have_no_remarks(form: Format, capsys: pytest.CaptureFixture[str]) -> None:
    show_table(GRID, form, ["wrote a.csv"])
    out, err = capsys.readouterr()
    pasted = form in (Format.MARKDOWN, Format.LATEX)
    assert ("wrote a.csv" in err, "wrote a.csv" in out) == (pasted, not pasted)


def test_the_width_is_that_of_the_terminal_or_80(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe has none."""
    grid = Grid("toy", ("topology", "method", "x" * 50), (("a", "m" * 40, "1"),))
    monkeypatch.setenv("COLUMNS", "100")
    assert len(grid.text(Format.TABLE).splitlines()[3]) == 2 + 40 + 1 + 50
    monkeypatch.delenv("COLUMNS")
    assert len(grid.text(Format.TABLE).splitlines()[3]) == 80
